"""Strings and numbers that a schema may want, the plainest first; whoever asks takes the first that conforms.

The same schema always gives the same values. `salt` makes the values of one array differ.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from .matching import matching
from .runtime.types import Schema

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
"""A value of each format: JSON Schema's, and what else is in use."""

_SAID_FORMAT: Final = re.compile(r"Format: (\S+)\.")
"""Formats that JSON Schema does not know stand in the description, where a model reads them too."""

_BASE64: Final = "aGVsbG8="
_PLAIN: Final = ("text", "a", "1", "A", "10", "abc123", "0", *FORMATS.values())
"""Tried before a string is generated from a pattern: a value that reads like one is easier to follow."""


def strings(schema: Schema, salt: int) -> Iterator[str]:
    """Candidates for a string: of its format, plain ones, these at the length that is wanted, one of its pattern."""
    least, most = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    if schema.get("contentEncoding") == "base64":
        yield _BASE64
    said = _SAID_FORMAT.search(str(schema.get("description", "")))
    kind = schema.get("format") or (said[1] if said else "")
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
        yield from matching(schema["pattern"], least)


def numbers(schema: Schema, salt: int, *, whole: bool) -> Iterator[float]:
    """Candidates for a number: small ones, then multiples of what is wanted from the lowest on."""
    step = schema.get("multipleOf", 1 if whole else 0.5)
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    yield from (1 + salt, 10 + salt)
    start = low if low is not None else high - 3 * step if high is not None else 0
    for number in range(4):
        value = (math.ceil(start / step) + number + salt) * step
        yield int(value) if whole or float(value).is_integer() else value
    yield 0
    if low is not None and high is not None and not whole:
        yield (low + high) / 2
