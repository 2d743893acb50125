"""JSON text written and read so that what is written is always JSON (RFC 8259): no NaN, no lone surrogate, no surprise.

What an upstream sends may break these rules; it is read all the same, and mended: what is not a number becomes null.
"""

import json
import math
from typing import Any, Final

from .errors import ArgumentError

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write(value: Any) -> str:
    """Compact JSON text of `value`, characters as they are. Raises ArgumentError for NaN and infinities."""
    try:
        return _ENCODER.encode(value)
    except ValueError as error:
        raise ArgumentError("NaN and infinity are not JSON and cannot be sent.") from error


def write_bytes(value: Any) -> bytes:
    """UTF-8 JSON text; half a surrogate pair, which UTF-8 cannot carry, is written as its escape."""
    text = write(value)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def read(text: str | bytes) -> Any:
    """The value of a JSON text; bytes may be UTF-8, UTF-16 or UTF-32, with or without a byte order mark.

    Raises ValueError (or RecursionError, where it is nested beyond reason) when it is not JSON.
    """
    if isinstance(text, str):
        value = _DECODER.decode(text.removeprefix("\ufeff"))
    else:
        value = json.loads(text, parse_constant=_nothing, parse_float=_finite)
    return _without_surrogates(value) if _may_hold_surrogates(text) else value


def read_strictly(text: str) -> Any:
    """Like `read`, but NaN and infinities are a ValueError: for what a model sent as text."""
    return json.loads(text, parse_constant=_refuse)


def number(value: float) -> str:
    """A number in plain decimal digits, exactly and without an exponent (`1e21` would be a surprise in a URL).

    A float without a fraction is an integer (JSON has one kind of number). Raises ArgumentError for NaN and infinities.
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
    whole, _, fraction = mantissa.partition(".")
    return f"{sign}0.{'0' * (-int(exponent) - len(whole))}{whole}{fraction}"


def _nothing(_: str) -> None:
    return None


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


_DECODER: Final = json.JSONDecoder(parse_constant=_nothing, parse_float=_finite)


def _refuse(text: str) -> None:
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
