"""What leaves a sandbox, made JSON: copied value by value up to a size, since a small program can hold a huge value.

A list of a list of a list, each a thousand times the same, is a few kilobytes there and gigabytes once it is written.
"""

import base64
import datetime as dt
import decimal
import json
import math
from dataclasses import dataclass
from typing import Any, Final

MAX_SIZE: Final = 8 * 1024 * 1024
"""About so many bytes of JSON: as much as an upload may have, and made in well under a second."""

_MAX_DEPTH: Final = 100
_MAX_BITS: Final = 14_000
"""Of an integer: Python writes no more than 4,300 digits."""

_EACH: Final = 8
"""Counted for a value besides its text."""


class NotPlain(Exception):
    """A value cannot be made JSON; the text says why."""


def plain(value: Any, max_size: int = MAX_SIZE) -> Any:
    """A JSON value of its own. Raises NotPlain for what JSON cannot say, and above a size.

    Tuples and sets are arrays; dates, times and decimals their texts; bytes their base64; of an object its attributes.
    """
    return _Copy(max_size).of(value, 0)


@dataclass(slots=True)
class _Copy:
    left: int

    def of(self, value: Any, depth: int) -> Any:
        self._take(_EACH)
        if depth > _MAX_DEPTH:
            raise NotPlain(f"it is nested more than {_MAX_DEPTH} deep")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, list | tuple | set | frozenset):
            return [self.of(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self._key(key, depth): self.of(item, depth + 1) for key, item in value.items()}
        return self._scalar(value, depth)

    def _scalar(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            self._take(len(value))
            return value
        if isinstance(value, int):
            if value.bit_length() > _MAX_BITS:
                raise NotPlain("it has a number of more than 4,300 digits")
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, bytes):
            self._take(len(value))
            return base64.b64encode(value).decode()
        if isinstance(value, dt.date | dt.time):
            return value.isoformat()
        if isinstance(value, decimal.Decimal | dt.timedelta | dt.timezone):
            return str(value)
        return self._object(value, depth)

    def _object(self, value: Any, depth: int) -> Any:
        """An instance of a class of the program."""
        attributes = getattr(value, "attributes", None)
        if not isinstance(attributes, dict):
            raise NotPlain(f"{getattr(value, 'name', None) or type(value).__name__} is no data")
        return self.of(attributes, depth + 1)

    def _key(self, key: Any, depth: int) -> str:
        made = self.of(key, depth + 1)
        return made if isinstance(made, str) else json.dumps(made)

    def _take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise NotPlain("it is too large")
