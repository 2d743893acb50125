"""Decode the bytes of a file and parse its JSON or YAML, which its content tells apart, not its name.

The result can always be written as JSON: keys are strings, numbers are finite, nothing is nested deeper than the limit.
A value that had to be left out is a Problem with its pointer.

JSON and YAML are Unicode by specification, but real files are not always. UTF-8, UTF-16 and UTF-32 are detected with
certainty; any other encoding is a guess and reported as a Problem: the charset of the HTTP response, or what prance's
`detect_encoding` takes a local file to be.

Specification: RFC 8259 (section 8.1: encoding); YAML 1.2.2 (section 5.2); OpenAPI 3.2 section 4.2.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..errors import DocumentError, Problem
from ..runtime.types import JsonObject
from . import yaml
from .model import DEFAULT_LIMITS, Limits, join
from .objects import ScalarTexts
from .yaml import has_lone_surrogate, join_surrogates


def text_of(data: bytes, uri: str = "", charset: str | None = None) -> tuple[str, tuple[Problem, ...]]:
    """Return the text of a file, and a Problem if its encoding is a guess; `charset` is that of the HTTP response.

    Raises DocumentError with the line of the first invalid byte if no encoding fits.
    """
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding).removeprefix("\ufeff"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        defect = f"the byte {data[error.start]:#04x} is not {encoding.upper()}"
    text, how = _guess(data, charset or _detected(uri))
    if text is None:
        raise DocumentError(defect, where=f"line {line}", hint="save it as UTF-8")
    problem = Problem(pointer="#", kind="syntax", message=f"line {line}: {defect}; {how}", hint="save it as UTF-8")
    return text, (problem,)


def _guess(data: bytes, encoding: str | None) -> tuple[str | None, str]:
    """Return the text of bytes that are not valid Unicode (None if no encoding fits), and how they were decoded."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    if sum(not character.isascii() for character in text) > 2 * broken:  # UTF-8 with a few damaged bytes
        return text, f"{broken} such characters are replaced"
    try:
        return (data.decode(encoding), f"it is read as {encoding}") if encoding else (None, "")
    except (LookupError, UnicodeError):
        return None, ""


def _detected(uri: str) -> str | None:
    """Return the encoding of a local file as detected by prance."""
    if urlsplit(uri).scheme != "file":
        return None
    from prance.util.fs import detect_encoding

    try:
        return str(detect_encoding(url2pathname(urlsplit(uri).path)))
    except (OSError, AttributeError):  # prance calls lower() on the None of an undecided detector
        return None


_DROPPED: Final = object()
"""Stands for a number that JSON does not allow, until it is removed."""

_MAX_NOT_FINITE: Final = 1_000
"""Numbers that are not finite and have a Problem of their own."""

_LOOKS_LIKE_JSON: Final = re.compile(r"\s*[{\[]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The value of one file, with the number of values in it. `texts` has the spelling of its scalars if it is YAML."""

    value: Any
    problems: tuple[Problem, ...] = ()
    texts: ScalarTexts | None = None
    values: int = 0


def parse(text: str, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse JSON or YAML. Raises DocumentError with line and column."""
    if _LOOKS_LIKE_JSON.match(text):
        try:
            return _parse_json(text, limits)
        except json.JSONDecodeError as error:
            return _parse_flow_yaml(text, limits, error)
    return Parsed(*yaml.parse(text, limits))


def _parse_flow_yaml(text: str, limits: Limits, error: json.JSONDecodeError) -> Parsed:
    """Parse as YAML, whose flow style looks like JSON; if that fails too, raise the JSON error."""
    try:
        return Parsed(*yaml.parse(text, limits))
    except DocumentError as other:
        if other.__cause__ is None:  # valid YAML, but beyond a limit
            raise
        where = f"line {error.lineno}, column {error.colno}"
        raise DocumentError(f"this is neither JSON nor YAML: {error.msg}", where=where) from error


_SEPARATORS: Final = (",", "[", "{")
"""Characters before which or after which each value of JSON begins; strings may hold them too."""

_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


_PIECE: Final = 1 << 20
"""Characters in which strings are looked for at once: what lies between them takes up to 30 MB for a time."""


def _check_count(text: str, limits: Limits) -> None:
    """Raise DocumentError for JSON with too many values, before any of them is made."""
    if _separators(text) <= limits.values:
        return
    count = 0
    for piece in _without_strings(text):
        count += _separators(piece)
        if count > limits.values:
            raise _too_many(limits)


def _without_strings(text: str) -> Iterator[str]:
    """Yield JSON without its strings, in pieces: each string that is left out from one text takes memory for a time."""
    start = 0
    while start < len(text):
        end = min(start + _PIECE, len(text))
        piece, quote, unfinished = _STRING.sub("", text[start:end]).partition('"')
        start = end
        if quote:  # of a string that goes on behind the piece
            string = _STRING.match(text, end - len(unfinished) - 1)
            start = string.end() if string else len(text)
        elif piece.endswith(("[", "{")) and end < len(text):  # perhaps one that is empty
            piece, start = piece[:-1], end - 1
        yield piece


def _separators(text: str) -> int:
    """Count the characters with which values begin, in pieces: other threads wait for each count."""
    return sum(_separators_between(text, start, start + _PIECE) for start in range(0, len(text), _PIECE))


def _separators_between(text: str, start: int, end: int) -> int:
    empty = text.count("{}", start, end + 1) + text.count("[]", start, end + 1)
    return sum(text.count(separator, start, end) for separator in _SEPARATORS) - empty


def _parse_json(text: str, limits: Limits) -> Parsed:
    objects = _Objects(limits.key_characters)
    dropped: list[str] = []

    def number(literal: str) -> Any:
        value = float(literal)
        return value if math.isfinite(value) else drop(literal)

    def drop(literal: str) -> Any:
        dropped.append(literal)
        return _DROPPED

    _check_count(text, limits)
    if has_lone_surrogate(text):
        text = join_surrogates(text)
    try:
        value = json.loads(text, object_pairs_hook=objects.of, parse_float=number, parse_constant=drop)
    except RecursionError as error:
        raise _too_deep(limits) from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # an integer of more digits than Python converts (4,300)
        raise DocumentError(f"this JSON cannot be read: {error}") from error
    count, depth = _measure(value)
    if count > limits.values:
        raise _too_many(limits)
    if depth > limits.depth:
        raise _too_deep(limits)
    problems = [*_key_problems(value, objects.defects), *(_without_dropped(value) if dropped else ())]
    return Parsed(value, tuple(problems), values=count)


def _too_many(limits: Limits) -> DocumentError:
    return DocumentError(f"there are more than {limits.values:,} values in it")


def _too_deep(limits: Limits) -> DocumentError:
    return DocumentError(f"objects and arrays are nested deeper than {limits.depth} levels")


def _measure(value: Any) -> tuple[int, int]:
    """Return the number of values in a JSON value, and how deep its objects and arrays are nested."""
    count, depth, level = 1, 0, [value]
    while level:
        depth += 1
        count += sum(map(len, level)) if depth > 1 or isinstance(value, dict | list) else 0
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer if type(outer) is list else ())
            if type(inner) is dict or type(inner) is list
        ]
    return count, depth


_KeyDefect: TypeAlias = tuple[JsonObject, tuple[str, ...], str]
"""An object with a defect in its keys, the tokens from its pointer to that of the Problem, and the message."""


class _Objects:
    """Maker of the objects of a JSON text from their pairs; `defects` are those of their keys."""

    def __init__(self, most_characters: int) -> None:
        self.defects: list[_KeyDefect] = []
        self._most = most_characters

    def of(self, pairs: list[tuple[str, Any]]) -> JsonObject:
        """Return the object with these pairs, the last one of each key, without those whose key is too long."""
        value = dict(pairs)
        if len(value) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            self.defects += [(value, (key,), yaml.REPEATED.format(key)) for key, count in counts.items() if count > 1]
        for key in value:
            if len(key) > self._most:
                return self._without_long_keys(value)
        return value

    def _without_long_keys(self, value: JsonObject) -> JsonObject:
        short = {key: inner for key, inner in value.items() if len(key) <= self._most}
        long = [yaml.LONG_KEY.format(f"{key[:40]}…", self._most) for key in value if len(key) > self._most]
        self.defects += [(short, (), message) for message in long]
        return short


def _key_problems(value: Any, defects: list[_KeyDefect]) -> Iterator[Problem]:
    """Yield a Problem for each defect of a key; the JSON parser does not know the pointers."""
    if not defects:
        return
    by_object: dict[int, list[_KeyDefect]] = {}
    for defect in defects:
        by_object.setdefault(id(defect[0]), []).append(defect)
    for container, pointer in _containers(value):
        for _, tokens, message in by_object.get(id(container), ()):
            yield Problem(pointer=join(pointer, *tokens), kind="syntax", message=message)


def _without_dropped(value: Any) -> Iterator[Problem]:
    """Remove the numbers that are not finite from `value`; yield a Problem for the first ones, and one for the rest."""
    places = _remove_dropped(value)
    for pointer in islice(places, _MAX_NOT_FINITE):
        yield yaml.not_finite(pointer)
    if rest := sum(1 for _ in places):
        message = f"{rest:,} more numbers are not finite; they are left out"
        yield Problem(pointer="#", kind="syntax", message=message)


def _remove_dropped(value: Any) -> Iterator[str]:
    """Remove the numbers that are not finite from `value`, and yield the pointer to each."""
    for container, pointer in _containers(value):
        entries = container.items() if isinstance(container, dict) else enumerate(container)
        keys = [key for key, inner in entries if inner is _DROPPED]
        if keys and isinstance(container, list):
            container[:] = [inner for inner in container if inner is not _DROPPED]
        elif keys:
            for key in keys:
                del container[key]
        yield from (join(pointer, key) for key in keys)


def _containers(value: Any) -> Iterator[tuple[Any, str]]:
    """Yield every object and array of a JSON value with its pointer, in document order."""
    if not isinstance(value, dict | list):
        return
    yield value, "#"
    stack = [("#", _items(value))]
    while stack:
        pointer, items = stack[-1]
        for key, inner in items:
            if isinstance(inner, dict | list):
                inside = join(pointer, key)
                yield inner, inside
                stack.append((inside, _items(inner)))
                break
        else:
            stack.pop()


def _items(container: Any) -> Iterator[tuple[Any, Any]]:
    """Return the entries of an object or array; entries of it may be removed meanwhile."""
    return iter(list(container.items())) if isinstance(container, dict) else iter(list(enumerate(container)))
