"""The place of a failure, found by quick verdicts on parts of a value, for values of which `Judge` takes too long.

Only `properties`, `items` and `additionalProperties` are followed, since their parts fail by themselves.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ..types import Schema
from .judge import Path
from .quick import QuickValidator
from .references import references_of

_MAX_COMPILED: Final = 64
"""Schemas of parts that are compiled in one search; each has all definitions of the whole."""


class RefusedPart(NamedTuple):
    """A part of a value that does not conform to its schema."""

    path: Path
    schema: Any
    value: Any


def refused_part(root: Schema, value: Any) -> RefusedPart:
    """Return the deepest part that is found of a value which does not conform to `root`."""
    search = _Parts(root)
    place = RefusedPart((), root, value)
    while (inner := search.within(place)) is not None:
        place = inner
    return place


class _Parts:
    def __init__(self, root: Schema) -> None:
        self._definitions = root.get("$defs", {})
        self._references = references_of(root)
        self._compiled: dict[int, QuickValidator | None] = {}

    def within(self, place: RefusedPart) -> RefusedPart | None:
        """Return the first part of a part that is refused."""
        return next((each for each in self._parts(place) if self._refuses(each)), None)

    def _parts(self, place: RefusedPart) -> Iterator[RefusedPart]:
        path, schema, value = place
        for _ in range(len(self._definitions)):
            if isinstance(schema, dict) and schema.keys() == {"$ref"}:
                schema = self._references.target(schema["$ref"])
        if not isinstance(schema, dict):
            return
        if isinstance(value, dict):
            properties, others = schema.get("properties", {}), schema.get("additionalProperties")
            for name, item in value.items():
                yield RefusedPart((*path, name), properties.get(name, others), item)
        elif isinstance(value, list):
            for index in range(len(schema.get("prefixItems", ())), len(value)):
                yield RefusedPart((*path, index), schema.get("items"), value[index])

    def _refuses(self, place: RefusedPart) -> bool:
        if not isinstance(place.schema, dict):
            return False
        key = id(place.schema)
        if key not in self._compiled:
            self._compiled[key] = self._compile(place.schema) if len(self._compiled) < _MAX_COMPILED else None
        quick = self._compiled[key]
        try:
            return quick is not None and quick.accepts(place.value) is False
        except (ValueError, RecursionError):
            return False

    def _compile(self, schema: Schema) -> QuickValidator | None:
        try:
            return QuickValidator({"$defs": self._definitions, **schema})
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None
