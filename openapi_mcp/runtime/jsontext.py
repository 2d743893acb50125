"""JSON text: the only writer of compact JSON outside `protocol.jsonrpc`, and the reader of what APIs and models send.

What is sent is always valid (RFC 8259): no NaN, no lone surrogate. APIs send JSON that breaks these rules;
`read` accepts it and repairs the value: NaN and infinities become null.

`quick_read` and `quick_write` are orjson where it does exactly what `json` does; `json` is asked where it might not.
That saves 6 % of a call. orjson is no dependency of generated packages: without it, `json` does all of it.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, Final

from . import background
from .errors import ArgumentError
from .types import MISSING

_COMPACT: Final = (",", ":")
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=_COMPACT, allow_nan=False)
_ASCII_ENCODER: Final = json.JSONEncoder(separators=_COMPACT)
_MEASURING_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=_COMPACT)
_PLAIN_NAME: Final = re.compile(r'[^.\[\]"`\s]+')


_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER: Final = b"0" * 19
"""An integer, once its digits are zeros, that may have more than 64 bits: orjson makes a float of it."""

_SMALL_NUMBER: Final = re.compile(rb"0\.0000|[0-9]e-[0-9](?![0-9])")
"""Numbers that `json` writes with an exponent of two digits, as `1e-05`."""


class NotQuick(ValueError):
    """A text or a value that `json` has to judge: it is not valid, or orjson reads or writes it differently."""


def quick_read(data: bytes) -> Any:
    """Return the value of a JSON text in UTF-8. Raises NotQuick."""
    if data.translate(_DIGITS).find(_LONG_INTEGER) >= 0:  # `in` would first try whether the bytes are a number
        raise NotQuick
    try:
        return _quick_functions()[0](data)
    except ValueError:
        raise NotQuick from None


def quick_write(value: Any) -> bytes:
    """Return compact JSON in UTF-8, characters not escaped, and null for NaN and infinities. Raises NotQuick."""
    try:
        data = _quick_functions()[1](value)
    except TypeError:
        raise NotQuick from None
    if (data.find(b"e-") >= 0 or data.find(b"0.0000") >= 0) and _SMALL_NUMBER.search(data):
        raise NotQuick
    return data


@cache
def _quick_functions() -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    """Return the functions of orjson that read and write; without it, functions that raise NotQuick."""
    try:
        import orjson
    except ImportError:
        return _json_only, _json_only
    only_json = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
    return orjson.loads, partial(orjson.dumps, option=only_json)


def _json_only(_: Any) -> Any:
    raise NotQuick


def write(value: Any) -> str:
    """Return compact JSON text, characters not escaped. Raises ArgumentError for NaN and infinities."""
    try:
        return "".join(_pieces(value)) if background.is_aside() else _ENCODER.encode(value)
    except ValueError as error:
        raise ArgumentError("NaN and infinity are not JSON and cannot be sent.") from error


MAX_PIECE: Final = 20_000
"""Parts of a value that are written at once: about two milliseconds, in which no other thread runs."""


def _pieces(value: Any) -> Iterator[str]:
    """Yield the compact JSON text of a value in pieces."""
    if not isinstance(value, dict | list) or _parts(value) < MAX_PIECE:
        yield _ENCODER.encode(value)
        return
    separator, brackets = "", "{}" if isinstance(value, dict) else "[]"
    yield brackets[0]
    for batch in _batches(value):
        yield separator
        separator = ","
        if isinstance(batch, tuple):  # a large item, and its name in an object
            name, item = batch
            yield "" if name is None else f"{_ENCODER.encode(name)}:"
            yield from _pieces(item)
        else:
            yield _ENCODER.encode(batch)[1:-1]
    yield brackets[1]


def _batches(value: dict[str, Any] | list[Any]) -> Iterator[dict[str, Any] | list[Any] | tuple[str | None, Any]]:
    """Yield the items of an array or object, small ones together as an array or object, and each large one alone."""
    batch, count = list[Any](), 0
    join: Callable[[list[Any]], Any] = dict if isinstance(value, dict) else list
    for entry in value.items() if isinstance(value, dict) else value:
        name, item = entry if isinstance(value, dict) else (None, entry)
        parts = _parts(item)
        if batch and count + parts >= MAX_PIECE:
            yield join(batch)
            batch, count = [], 0
        if parts >= MAX_PIECE:
            yield name, item
        else:
            batch.append(entry)
            count += parts
    if batch:
        yield join(batch)


def _parts(value: Any) -> int:
    """Return how many parts a value has, up to about `MAX_PIECE`; 64 characters count as one."""
    count, waiting = 1, [value]
    while waiting and count < MAX_PIECE:
        node = waiting.pop()
        if isinstance(node, str):
            count += len(node) // 64
        elif isinstance(node, dict | list):
            count += len(node)
            waiting += node.values() if isinstance(node, dict) else node
    return count


def write_bytes(value: Any) -> bytes:
    """Return compact JSON in UTF-8; a lone surrogate, which UTF-8 cannot encode, is escaped. Raises as `write`."""
    text = write(value)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return write_ascii(value).encode("ascii")


def write_ascii(value: Any) -> str:
    """Return compact JSON text with all other characters escaped, for values without NaN and infinities."""
    return _ASCII_ENCODER.encode(value)


def write_beginning(value: Any, length: int) -> str:
    """Return the first `length` characters of a value's JSON text, or a few more; NaN is no error."""
    if isinstance(value, str):
        value = value[:length]
    parts, written = list[str](), 0
    for part in _MEASURING_ENCODER.iterencode(value):  # a generator: what is not asked for is not written
        parts.append(part)
        written += len(part)
        if written >= length:
            break
    return "".join(parts)


def byte_length(value: Any) -> int:
    """Return the size of compact JSON in UTF-8, for limits; NaN and lone surrogates are counted and no error."""
    text = _MEASURING_ENCODER.encode(value)
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def read(text: str | bytes) -> Any:
    """Return the value of a JSON text; bytes may be UTF-8, UTF-16 or UTF-32, with or without a byte order mark.

    Raises ValueError if it is not JSON, and RecursionError if it is nested too deeply.
    """
    try:
        return quick_read(text if isinstance(text, bytes) else text.encode())
    except ValueError:
        pass
    if isinstance(text, str):
        value = _DECODER.decode(text.removeprefix("\ufeff"))
    else:
        value = json.loads(text, parse_constant=_null, parse_float=_finite)
    return _without_surrogates(value) if _may_hold_surrogates(text) else value


_WHITE_SPACE: Final = " \n\r\t"
_WHITE_BYTES: Final = _WHITE_SPACE.encode()
_STRING_OR_TOKENS: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^" \t\r\n]+')


def minify(text: str, value: Any = MISSING) -> str:
    """Return a JSON text without the white space between its tokens; its numbers keep their digits.

    If its `value` is given and is written with the same characters, what is written is the answer, in half the time.
    Else, where no string holds a quotation mark, these tell strings from the rest, in a fifth of the time.
    """
    if value is not MISSING:
        try:
            written = quick_write(value)
            if written.translate(None, _WHITE_BYTES) == text.encode().translate(None, _WHITE_BYTES):
                return written.decode()
        except ValueError:  # to be written otherwise, or with half of a character
            pass
    text = text.removeprefix("\ufeff")
    if '\\"' in text:
        return "".join(_STRING_OR_TOKENS.findall(text))
    parts = text.split('"')
    between = '"'.join(parts[::2])
    for character in _WHITE_SPACE:
        between = between.replace(character, "")
    parts[::2] = between.split('"')
    return '"'.join(parts)


def read_strictly(text: str) -> Any:
    """Return the value of a JSON text; unlike `read`, raises ValueError for NaN and infinities. For a model's text."""
    return json.loads(text, parse_constant=_reject_constant)


def is_shallow(text: str, value: Any, levels: int) -> bool:
    """Return whether the value of a JSON text has at most so many levels of arrays and objects."""
    if text.count("[") + text.count("{") <= levels:
        return True
    containers = _containers([value])
    for _ in range(levels):
        containers = [inner for each in containers for inner in _containers(each)]
    return not containers


def _containers(value: dict[str, Any] | list[Any]) -> list[Any]:
    """Return the arrays and objects directly in an array or object."""
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if isinstance(item, dict | list)]


def number(value: float) -> str:
    """Return a number in plain decimal digits, exact and without an exponent, which few APIs accept in a URL (`1e21`).

    A float without a fraction is written as an integer (JSON has one kind of number). Raises ArgumentError for NaN and
    infinities.
    """
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise ArgumentError("NaN and infinity cannot be sent.")
    return str(int(value)) if value.is_integer() else _positional(repr(value))


def _positional(digits: str) -> str:
    mantissa, _, exponent = digits.partition("e")
    if not exponent:
        return digits
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    integer, _, fraction = mantissa.partition(".")
    return f"{sign}0.{'0' * (-int(exponent) - len(integer))}{integer}{fraction}"


def _null(_: str) -> None:
    return None


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


_DECODER: Final = json.JSONDecoder(parse_constant=_null, parse_float=_finite)


def _reject_constant(text: str) -> None:
    raise ValueError(text)


def _may_hold_surrogates(text: str | bytes) -> bool:
    if isinstance(text, bytes):
        return b"\\ud" in text or b"\\uD" in text
    return "\\ud" in text or "\\uD" in text


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def format_path(path: Iterable[str | int]) -> str:
    """Return a path within a JSON value as text (`body.items[0].name`, `labels[""]`); empty for the value itself.

    The first name stands as it is: it is an argument's. Further ones that would be misread are quoted.
    """
    return "".join(_format_step(step, is_first=index == 0) for index, step in enumerate(path))


def _format_step(step: str | int, *, is_first: bool) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if not step or not (is_first or _PLAIN_NAME.fullmatch(step)):
        return f"[{write(step)}]"
    return step if is_first else f".{step}"
