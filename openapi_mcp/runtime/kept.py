"""`Kept`: what is made of schemas, once each; they are dictionaries, cannot be hashed, and so are known by identity."""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from .types import Schema

MOST: Final = 4096
"""Enough for the tools of a large document (GitHub has 1,223), each with its two schemas."""

_Made = TypeVar("_Made")


class Kept(Generic[_Made]):
    """What `make` makes of schemas, which must not change afterwards; of too many the oldest is forgotten."""

    def __init__(self, make: Callable[[Schema], _Made]) -> None:
        self._make = make
        self._made: dict[int, tuple[Schema, _Made]] = {}  # who holds a schema keeps its identity its own

    def of(self, schema: Schema) -> _Made:
        """What was made of it."""
        kept = self._made.get(id(schema))
        if kept is None:
            kept = self._made[id(schema)] = (schema, self._make(schema))
            if len(self._made) > MOST:
                del self._made[next(iter(self._made))]
        return kept[1]
