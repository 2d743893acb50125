"""Candidates for strings and numbers of a schema, the simplest first; the caller takes the first that is valid.

The same schema always gives the same candidates. `salt` makes the values of one array differ.

Strings for a pattern are made from its parse tree: the first alternative, the simplest character of a class, as few
repetitions as allowed or as many as the length needs. Lookaround assertions are ignored.
"""

import importlib
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..types import Schema

_PREFERRED: Final = "a0A1b-_ ./:@" + "".join(map(chr, range(32, 127)))
"""Characters for a class, the simplest first."""

_MAX_MATCHES: Final = 1000
"""Repetitions of one node: samples need no longer strings."""


def pattern_strings(pattern: str, min_length: int = 0) -> Iterator[str]:
    """Yield candidates for a pattern: the shortest string, then longer ones of at least `min_length` characters."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = importlib.import_module("re._parser").parse(pattern)
        for extra in (0, 1, min_length, max(min_length - 1, 0), max(min_length - 2, 0)):
            yield _string(parsed, extra, {})
    except (re.error, OverflowError, RecursionError, KeyError):
        return


def _string(parsed: Any, extra: int, groups: dict[int, str]) -> str:
    return "".join(_piece(str(code), value, extra, groups) for code, value in parsed)


def _piece(code: str, value: Any, extra: int, groups: dict[int, str]) -> str:
    """Return the text for a node of the parse tree, with `extra` repetitions where they are allowed."""
    match code:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return _character(code, value)
        case "BRANCH":
            return _string(value[1][0], extra, groups)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            low, high, inner = value
            return "".join(_string(inner, 0, groups) for _ in range(min(max(low, min(extra, high)), _MAX_MATCHES)))
        case "SUBPATTERN":
            groups[value[0]] = _string(value[-1], extra, groups)
            return groups[value[0]]
        case "GROUPREF":
            return groups[value]
        case _:
            return ""  # an anchor or a lookaround assertion


def _character(code: str, value: Any) -> str:
    if code == "LITERAL":
        return chr(value)
    if code == "NOT_LITERAL":
        return next(character for character in _PREFERRED if ord(character) != value)
    return "a" if code == "ANY" else _member(value)


def _member(items: Any) -> str:
    """Return the simplest character of a class, or its last literal or range where it has no simple one."""
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    for character in _PREFERRED:
        if any(_holds(str(code), value, character) for code, value in items) is not negated:
            return character
    code, value = items[-1]
    return chr(value if str(code) == "LITERAL" else value[0]) if str(code) in {"LITERAL", "RANGE"} else ""


_CATEGORIES: Final = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


def _holds(code: str, value: Any, character: str) -> bool:
    if code == "CATEGORY":
        _, _, name = str(value).partition("CATEGORY_")
        inside = re.match(_CATEGORIES.get(name.removeprefix("NOT_"), "$^"), character) is not None
        return inside is not name.startswith("NOT_")
    if code == "RANGE":
        return bool(value[0] <= ord(character) <= value[1])
    return bool(code == "LITERAL" and value == ord(character))


FORMATS: Final[Mapping[str, str]] = {
    "date-time": "2024-02-29T12:30:00Z",
    "date": "2024-02-29",
    "time": "12:30:00Z",
    "duration": "P1D",
    "uuid": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "uri": "https://example.com/a",
    "uri-reference": "/a",
    "iri": "https://example.com/a",
    "url": "https://example.com/a",
    "email": "pet@example.com",
    "idn-email": "pet@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "aGVsbG8=",
    "json-pointer": "/a",
    "regex": "a",
}
"""A value of each format of JSON Schema, and of others in use."""

_DESCRIBED_FORMAT: Final = re.compile(r"Format: (\S+)\.")
"""Formats unknown to JSON Schema are in the description, where the model reads them."""

_BASE64: Final = "aGVsbG8="
_PLAIN: Final = ("text", "a", "1", "A", "10", "abc123", "0", *FORMATS.values())
"""Candidates before strings that are made from a pattern: legible values."""


def strings(schema: Schema, salt: int) -> Iterator[str]:
    """Yield candidates for a string: of its format, simple ones, these with a valid length, those of its pattern."""
    least, most = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    if schema.get("contentEncoding") == "base64":
        yield _BASE64
    described = _DESCRIBED_FORMAT.search(str(schema.get("description", "")))
    kind = schema.get("format") or (described[1] if described else "")
    if kind in FORMATS:
        yield FORMATS[kind]
    if salt:
        yield from (f"{text}{salt}" for text in _PLAIN)
    yield from _PLAIN
    for text in _PLAIN:
        if len(text) < least:
            yield (text * (least // len(text) + 1))[:least]
        elif len(text) > most:
            yield text[: int(most)]
    if "pattern" in schema:
        yield from pattern_strings(schema["pattern"], least)


def numbers(schema: Schema, salt: int, *, is_integer: bool) -> Iterator[float]:
    """Yield candidates for a number: small ones, then multiples of `multipleOf` from the lowest value on."""
    step = schema.get("multipleOf", 1 if is_integer else 0.5)
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    yield from (1 + salt, 10 + salt)
    start = low if low is not None else high - 3 * step if high is not None else 0
    for number in range(4):
        value = (math.ceil(start / step) + number + salt) * step
        yield int(value) if is_integer or float(value).is_integer() else value
    yield 0
    if low is not None and high is not None and not is_integer:
        yield (low + high) / 2
