"""The number of times that schemas are applied to one part of a value: the cost of a quick verdict, estimated."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ..types import Schema

_SAME_VALUE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
_OF_OBJECTS: Final = ("additionalProperties", "propertyNames", "unevaluatedProperties")
_OF_ARRAYS: Final = ("items", "contains", "unevaluatedItems")

_UNIQUE: Final = 8
"""Schemas whose application takes as long as the comparison of an item, or of a part of one, with the others."""


def repetition(root: Schema) -> int:
    """Return a bound for the number of schemas that are applied to one part of a value.

    The schemas of one value are added up, and so are those of its items and properties; each property of an object has
    one. A definition within itself counts once, since what it judged is remembered. Raises TypeError and AttributeError
    for a schema that is none.
    """
    return _Repetition(root).of(root).most


class _Count(NamedTuple):
    """Bounds for the schemas that are applied to a value, and to one part within it."""

    value: int
    part: int

    @property
    def most(self) -> int:
        return max(self)


_ONCE: Final = _Count(1, 1)


class _Repetition:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._counts: dict[str, _Count] = {}

    def of(self, schema: Any) -> _Count:
        """Return the bounds for one schema."""
        if not isinstance(schema, dict):
            return _ONCE
        counts = [self.of(each) for each in _of_same_value(schema)]
        if "$ref" in schema:
            counts.append(self._of_reference(schema["$ref"]))
        unique = _UNIQUE if schema.get("uniqueItems") is True else 0
        value = 1 + unique + _compared(schema) + sum(count.value for count in counts)
        part = unique + self._of_parts(schema) + sum(count.part for count in counts)
        times = 2 if "unevaluatedProperties" in schema or "unevaluatedItems" in schema else 1
        return _Count(value * times, part * times)  # each schema of the value is asked again what it evaluates

    def _of_parts(self, schema: Schema) -> int:
        """Return the bound for the items or properties to which a schema applies others."""
        names = max((self.of(each).most for each in schema.get("properties", {}).values()), default=0)
        names += sum(self.of(schema[keyword]).most for keyword in _OF_OBJECTS if keyword in schema)
        items = max((self.of(each).most for each in schema.get("prefixItems", ())), default=0)
        items += sum(self.of(schema[keyword]).most for keyword in _OF_ARRAYS if keyword in schema)
        return max(names, items, 1)

    def _of_reference(self, reference: str) -> _Count:
        if reference not in self._counts:
            self._counts[reference] = _ONCE
            name = reference.removeprefix("#/$defs/")
            target = self._root if reference == "#" else self._root.get("$defs", {}).get(name)
            self._counts[reference] = self.of(target)
        return self._counts[reference]


def _of_same_value(schema: Schema) -> Iterator[Any]:
    """Yield the schemas that a schema applies to its own value, but for that of a reference."""
    for keyword in _SAME_VALUE.intersection(schema):
        yield from schema[keyword] if isinstance(schema[keyword], list) else [schema[keyword]]
    yield from schema.get("dependentSchemas", {}).values()


def _compared(schema: Schema) -> int:
    """Return how many values the value is compared with; strings are found by their hash."""
    choices = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    return sum(_size(choice) for choice in choices if not isinstance(choice, str))


def _size(value: Any) -> int:
    """Return the parts of a JSON value that others are compared with."""
    if not isinstance(value, dict | list):
        return 1
    return 1 + sum(map(_size, value.values() if isinstance(value, dict) else value))
