"""How often the schemas of one value are applied to it: what a quick verdict costs, estimated from the schema."""

from typing import Any, Final

from ..types import Schema

_SAME_VALUE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
_PARTS: Final = (
    "additionalProperties", "propertyNames", "unevaluatedProperties", "items", "contains", "unevaluatedItems"
)  # fmt: skip


_UNIQUE: Final = 20
"""Schemas whose application takes as long as the comparison of an item, or of a part of one, with the others."""


def repetition(root: Schema) -> int:
    """Return a bound for the number of schemas that are applied to one part of a value and to what contains it.

    The schemas of one value are added up; each property of an object has one of them. A definition within itself counts
    once, since what it judged is remembered. Raises TypeError and AttributeError for a schema that is none.
    """
    return _Repetition(root).of(root)


class _Repetition:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._counts: dict[str, int] = {}

    def of(self, schema: Any) -> int:
        """Return the bound for one schema."""
        if not isinstance(schema, dict):
            return 1
        own = 1 + sum(self._of_same_value(keyword, value) for keyword, value in schema.items())
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            own *= 2  # each schema of the value is asked again what it evaluates
        names = max(map(self.of, schema.get("properties", {}).values()), default=0)
        items = max(map(self.of, schema.get("prefixItems", ())), default=0)
        return own + names + items + sum(self.of(schema[keyword]) for keyword in _PARTS if keyword in schema)

    def _of_same_value(self, keyword: str, value: Any) -> int:
        if keyword == "$ref":
            return self._of_reference(value)
        if keyword == "enum":
            return sum(_size(choice) for choice in value if not isinstance(choice, str))
        if keyword == "const":
            return _size(value)
        if keyword == "uniqueItems":
            return _UNIQUE if value is True else 0
        if keyword == "dependentSchemas":
            return sum(map(self.of, value.values()))
        if keyword not in _SAME_VALUE:
            return 0
        return sum(map(self.of, value if isinstance(value, list) else [value]))

    def _of_reference(self, reference: str) -> int:
        if reference not in self._counts:
            self._counts[reference] = 1
            name = reference.removeprefix("#/$defs/")
            target = self._root if reference == "#" else self._root.get("$defs", {}).get(name)
            self._counts[reference] = self.of(target)
        return self._counts[reference]


def _size(value: Any) -> int:
    """Return the parts of a JSON value that others are compared with."""
    if not isinstance(value, dict | list):
        return 1
    return 1 + sum(map(_size, value.values() if isinstance(value, dict) else value))
