"""`json_value`: a value of a program as JSON of a limited size.

A list of a list of a list, each a thousand times the same, is a few kilobytes in the program and gigabytes as text.
"""

import base64
import datetime as dt
import decimal
import json
import math
from dataclasses import dataclass
from typing import Any, Final

MAX_JSON_BYTES: Final = 8 * 1024 * 1024
"""Approximate bytes of a value as JSON: as much as an upload may have, and converted in well under a second."""

_MAX_DEPTH: Final = 100
_MAX_INTEGER_BITS: Final = 14_000
"""Python converts integers of at most 4,300 digits to text."""

MAX_SMALL_CHARACTERS: Final = 64 * 1024
"""Characters of a text that is read and written in a moment."""

_MAX_SMALL_PARTS: Final = 1000

_BYTES_PER_VALUE: Final = 16
"""Counted for each value besides its text: 524,288 values are converted in half a second."""

_MAX_PLAIN_INTEGER: Final = 2**63


class NotSerializableError(Exception):
    """A value cannot be converted to JSON, for the reason in the message."""


def is_small_value(value: Any) -> bool:
    """Return whether a JSON value is written in a moment: it has few parts and little text."""
    pending, parts, characters = [value], 0, 0
    while pending and parts <= _MAX_SMALL_PARTS and characters <= MAX_SMALL_CHARACTERS:
        part = pending.pop()
        parts += 1
        if isinstance(part, str):
            characters += len(part)
        elif isinstance(part, dict | list):
            if len(part) > _MAX_SMALL_PARTS:
                return False
            pending += part.values() if isinstance(part, dict) else part
    return not pending and characters <= MAX_SMALL_CHARACTERS


def json_value(value: Any, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Return an independent JSON copy of a value. Raises NotSerializableError for values without JSON, or too large.

    Tuples and sets become arrays; dates, times and decimals text; bytes base64; an object the object of its attributes;
    an exception, as `gather(return_exceptions=True)` returns it, its type and message.
    """
    return _JsonCopy(max_bytes).of(value, 0)


@dataclass(slots=True)
class _JsonCopy:
    remaining_bytes: int

    def of(self, value: Any, depth: int) -> Any:
        self.remaining_bytes -= _BYTES_PER_VALUE
        kind = type(value)
        if kind is str:
            self.remaining_bytes -= len(value)
        if self.remaining_bytes < 0:
            raise NotSerializableError("it is too large")
        if kind is str or value is None or kind is bool or (kind is int and abs(value) < _MAX_PLAIN_INTEGER):
            return value
        if depth > _MAX_DEPTH:
            raise NotSerializableError(f"it is nested more than {_MAX_DEPTH} deep")
        if isinstance(value, list | tuple | set | frozenset):
            return [self.of(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self._key(key, depth): self.of(item, depth + 1) for key, item in value.items()}
        return self._scalar(value, depth)

    def _scalar(self, value: Any, depth: int) -> Any:
        if isinstance(value, int):
            if value.bit_length() > _MAX_INTEGER_BITS:
                raise NotSerializableError("it has a number of more than 4,300 digits")
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, bytes):
            return self.of(base64.b64encode(value).decode(), depth)
        if isinstance(value, dt.date | dt.time):
            return value.isoformat()
        if isinstance(value, decimal.Decimal | dt.timedelta | dt.timezone):
            return str(value)
        if isinstance(value, BaseException):
            return self.of(f"{type(value).__name__}: {value}", depth)
        return self._object(value, depth)

    def _object(self, value: Any, depth: int) -> Any:
        """Return the attributes of an instance of a class of the program."""
        attributes = getattr(value, "attributes", None)
        if not isinstance(attributes, dict):
            raise NotSerializableError(f"{getattr(value, 'name', None) or type(value).__name__} is not data")
        return self.of(attributes, depth + 1)

    def _key(self, key: Any, depth: int) -> str:
        if type(key) is str:
            self.remaining_bytes -= len(key)
            return key
        copy = self.of(key, depth + 1)
        return copy if isinstance(copy, str) else json.dumps(copy)
