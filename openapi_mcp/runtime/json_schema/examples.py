"""An example of a JSON Schema: a small value that conforms to it, for a person or a model that has to make one.

What the document gives (`examples`, `default`, `const`, `enum`) has precedence; objects have their required properties.
The search ends with the steps of the judge that decides what conforms.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from ..types import MISSING, Missing, Schema
from .judge import BudgetSpent, Judge
from .references import references_of
from .sample_values import numbers, strings

MAX_STEPS: Final = 20_000
"""Steps of the judge for one example: some hundredths of a second."""

_MAX_DEPTH: Final = 8
"""Levels of an example, references included; a deeper one explains nothing."""

_MAX_CANDIDATES: Final = 40
"""Values that are tried for one schema."""

_MAX_BRANCHES: Final = 6
_MAX_PROPERTIES: Final = 20
_MAX_ITEMS: Final = 5


def example_of(root: Schema, schema: Any, steps: int = MAX_STEPS) -> Any | Missing:
    """Return a value that conforms to `schema`, a part of `root`; MISSING where none is found in time."""
    try:
        return ExampleMaker(root, steps).example(schema)
    except (BudgetSpent, RecursionError):
        return MISSING


class ExampleMaker:
    """The examples of the parts of one schema; `judge` bounds the work for all of them."""

    def __init__(self, root: Schema, steps: int = MAX_STEPS) -> None:
        self.judge = Judge(root, steps)
        self._references = references_of(root)

    def example(self, schema: Any, depth: int = 0, salt: int = 0) -> Any | Missing:
        """Return the first candidate that conforms; `salt` makes the items of a list differ. Raises BudgetSpent."""
        candidates = islice(self._candidates(schema, depth, salt), _MAX_CANDIDATES)
        return next((value for value in candidates if self.judge.fits(schema, value)), MISSING)

    def flat(self, schema: Any, depth: int = 0) -> Schema:
        """Return a schema with what it refers to and with the parts of `allOf`, as far as examples need them."""
        self.judge.spend(1)
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return {}
        parts = [self._references.target(schema["$ref"])] if isinstance(schema.get("$ref"), str) else []
        parts += schema["allOf"][:_MAX_PROPERTIES] if isinstance(schema.get("allOf"), list) else []
        if not parts:
            return schema
        whole: Schema = {}
        for part in (*(self.flat(each, depth + 1) for each in parts), schema):
            whole = merged(whole, part)
        return {name: value for name, value in whole.items() if name not in {"$ref", "allOf"}}

    def _candidates(self, schema: Any, depth: int, salt: int) -> Iterator[Any]:
        if depth > _MAX_DEPTH or schema is False:
            return
        flat = self.flat(schema)
        for keyword in ("examples", "enum"):
            if isinstance(values := flat.get(keyword), list):
                start = salt % len(values) if values else 0
                yield from islice((each for each in values[start:] if each is not None), _MAX_BRANCHES)
        yield from (flat[keyword] for keyword in ("example", "const", "default") if flat.get(keyword) is not None)
        if "enum" in flat or "const" in flat:
            return
        for keyword in ("oneOf", "anyOf"):
            if isinstance(branches := flat.get(keyword), list):
                rest = {name: value for name, value in flat.items() if name != keyword}
                for branch in branches[:_MAX_BRANCHES]:
                    yield from islice(self._candidates(merged(rest, self.flat(branch)), depth + 1, salt), _MAX_ITEMS)
                return
        try:
            for kind in _kinds(flat):
                yield from self._of_type(kind, flat, depth, salt)
        except (TypeError, ValueError, ArithmeticError, AttributeError):
            return  # a keyword has a value that it cannot have

    def _of_type(self, kind: str, schema: Schema, depth: int, salt: int) -> Iterator[Any]:
        if kind == "object":
            yield from self._objects(schema, depth)
        elif kind == "array":
            yield from self._arrays(schema, depth)
        elif kind == "string":
            yield from strings(schema, salt)
        elif kind in {"integer", "number"}:
            yield from numbers(schema, salt, is_integer=kind == "integer")
        elif kind in {"boolean", "null"}:
            yield True if kind == "boolean" else None

    def _objects(self, schema: Schema, depth: int) -> Iterator[dict[str, Any]]:
        """Yield an object with the required properties, or with the first optional ones where none is required."""
        declared: Mapping[str, Any] = schema.get("properties", {})
        required = list(schema.get("required", ()))[:_MAX_PROPERTIES]
        value = {name: self.example(declared.get(name, {}), depth + 1) for name in required}
        if MISSING in value.values():
            return
        least = max(schema.get("minProperties", 0), 0 if required else 1)
        for name in islice((each for each in declared if each not in value), _MAX_PROPERTIES):
            if len(value) >= least:
                break
            if (inner := self.example(declared[name], depth + 1)) is not MISSING:
                value[name] = inner
        others = schema.get("additionalProperties")
        if not value and isinstance(others, dict) and (inner := self.example(others, depth + 1)) is not MISSING:
            value = {"name": inner}
        yield value
        yield {}

    def _arrays(self, schema: Schema, depth: int) -> Iterator[list[Any]]:
        prefix = schema.get("prefixItems", [])
        for length in (min(max(schema.get("minItems", 1), len(prefix), 1), _MAX_ITEMS), 0):
            items = [
                self.example(prefix[index] if index < len(prefix) else schema.get("items", {}), depth + 1, index)
                for index in range(length)
            ]
            if MISSING not in items:
                yield items


def merged(left: Schema, right: Schema) -> Schema:
    """Return the keywords of both; those that declare properties are joined, of others the right one wins."""
    both = {**left, **right}
    if isinstance(left.get("properties"), dict) and isinstance(right.get("properties"), dict):
        both["properties"] = {**left["properties"], **right["properties"]}
    if isinstance(left.get("required"), list) and isinstance(right.get("required"), list):
        both["required"] = [*left["required"], *right["required"]]
    return both


def _kinds(schema: Schema) -> list[str]:
    """Return the types to try, null last. Without `type`, that which the keywords are for, else a string."""
    declared = schema.get("type")
    if declared is None:
        kinds = (kind for kind, keywords in _KEYWORDS.items() if any(keyword in schema for keyword in keywords))
        return [next(kinds, "string"), "string", "integer", "object"]
    return sorted([declared] if isinstance(declared, str) else declared, key=lambda kind: str(kind) == "null")


_KEYWORDS: Final = {
    "object": ("properties", "required", "additionalProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}
