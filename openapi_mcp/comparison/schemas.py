"""Compare two converted schemas: which values a caller may give, or get, that it could not before, and which not.

Definitions are compared once for each pair of them; the work for one document is bounded by `MAX_STEPS`, and depth by
`MAX_DEPTH`: what lies beyond is compared for equality alone. Specification: JSON Schema 2020-12 Validation §6.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, NamedTuple

from .. import plain_text
from ..runtime.types import Schema
from .changes import Side

MAX_STEPS: Final = 500_000
"""Pairs of schemas that are compared for two documents: a few seconds."""

MAX_DEPTH: Final = 12
"""Levels of properties and items."""

MAX_SHOWN: Final = 100
"""Characters of a value in a change: two of them fit in a line or two."""

_MAX_REFERENCES: Final = 20
"""References and parts of `allOf` that are followed for one schema."""

_MAX_NESTED: Final = 3
"""Unions within unions that are read as one."""

_MAX_OPTIONS: Final = 100
"""Alternatives of a union that are compared."""

_NULL: Final[Schema] = {"type": "null"}
_ANNOTATIONS: Final = frozenset({"description", "default", "deprecated", "examples"})

_LOWER: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_UPPER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_FORMS: Final = ("format", "pattern", "multipleOf", "uniqueItems", "contentEncoding", "contentMediaType")
_STORED: Final = frozenset({None, "int32", "int64", "float", "double"})
"""Formats that say how the API stores a number; they refuse nothing that their type accepts."""

_DEFINITIONS: Final = "#/$defs/"


class SchemaChange(NamedTuple):
    """A change below the schema that is compared: its kind without the side, and its place relative to that schema."""

    kind: str
    place: str
    before: str = ""
    after: str = ""


@dataclass(slots=True)
class Meter:
    """The steps that are left for the schemas of two documents."""

    steps: int = MAX_STEPS

    def spend(self) -> bool:
        """Spend a step; return whether there was one."""
        self.steps -= 1
        return self.steps >= 0


@dataclass(frozen=True, slots=True)
class LocatedSchema:
    """A schema, the definitions that it refers to, and the steps for reading both."""

    schema: Schema
    definitions: Mapping[str, Schema]
    meter: Meter

    def at(self, schema: Any) -> "LocatedSchema":
        """Return a schema within this one."""
        return replace(self, schema=schema if isinstance(schema, dict) else {})

    def flat(self, nested: int = 0) -> "LocatedSchema":
        """Return the schema with what it refers to, with the parts of `allOf`, and with a union in its simplest form.

        A union is `anyOf` with no union and no null in it; beside it stands the `type` of all alternatives, null too.
        """
        merged = self._merged()
        alternatives = merged.get("anyOf", merged.get("oneOf"))
        if not self.meter.spend() or not isinstance(alternatives, list) or nested > _MAX_NESTED:
            return self.at(merged)
        rest = {key: value for key, value in merged.items() if key not in ("anyOf", "oneOf")}
        options = list(self._options(alternatives, nested))
        values = [schema for schema, _ in options if schema.get("type") != "null"]
        kinds = [_types(flat) for _, flat in options]
        is_nullable = any("null" in each for each in kinds)
        if len(values) == 1 and rest.keys() <= _ANNOTATIONS:
            only = next(flat for schema, flat in options if schema is values[0])
            types = {"type": sorted(_types(only) | {"null"})} if is_nullable and _types(only) else {}
            return self.at({**only, **rest, **types})
        types = {"type": sorted(frozenset().union(*kinds))} if all(kinds) else {}
        are_types = bool(types) and all(schema.keys() <= {"type", *_ANNOTATIONS} for schema in values)
        return self.at({**types, **rest} if are_types else {**types, **rest, "anyOf": values})

    def _merged(self) -> Schema:
        if "$ref" not in self.schema and "allOf" not in self.schema:
            return self.schema
        merged: Schema = {}
        for part in self._parts():
            properties = {**merged.get("properties", {}), **_mapping(part.get("properties"))}
            required = list(dict.fromkeys([*merged.get("required", ()), *part.get("required", ())]))
            merged |= part
            merged |= ({"properties": properties} if properties else {}) | ({"required": required} if required else {})
        return merged

    def _options(self, alternatives: Iterable[Any], nested: int) -> Iterator[tuple[Schema, Schema]]:
        """Yield the alternatives of a union and of the unions in it, as they are and flat; a null is `type: null`."""
        for each in islice(alternatives, _MAX_OPTIONS):
            flat = self.at(each).flat(nested + 1).schema
            inner = flat.get("anyOf")
            if not isinstance(inner, list):
                yield self.at(each).schema if _types(flat) != {"null"} else _NULL, flat
                continue
            yield from ((option, self.at(option).flat(_MAX_NESTED).schema) for option in inner[:_MAX_OPTIONS])
            if "null" in _types(flat):
                yield _NULL, _NULL

    def _parts(self) -> Iterator[Schema]:
        """Yield the schemas that apply together, each without its reference and its `allOf`, the outermost last."""
        waiting, parts = [self.schema], list[Schema]()
        while waiting and len(parts) < _MAX_REFERENCES:
            schema = waiting.pop()
            parts.append({key: value for key, value in schema.items() if key not in ("$ref", "allOf")})
            target = self.definitions.get(str(schema.get("$ref", "")).removeprefix(_DEFINITIONS))
            waiting += [part for part in (target, *schema.get("allOf", ())) if isinstance(part, dict)]
        return reversed(parts)


class SchemaComparison:
    """The comparison of the schemas of two documents, with a memory of definitions, and steps for all of them."""

    def __init__(self) -> None:
        self.meter = Meter()
        # The definitions are kept beside their changes: while they live, no others can have their ids.
        self._known: dict[tuple[int, int, Side], tuple[Schema, Schema, list[SchemaChange]]] = {}

    def changes(self, old: LocatedSchema, new: LocatedSchema, side: Side, depth: int = 0) -> list[SchemaChange]:
        """Return the changes from one schema to another, with places relative to them."""
        if not self.meter.spend() or depth > MAX_DEPTH:
            return []
        before, after = _only_target(old), _only_target(new)
        if before is None or after is None:
            return list(self._compared(old.flat(), new.flat(), side, depth))
        key = id(before), id(after), side
        if key not in self._known:
            self._known[key] = before, after, []  # for a definition that leads back to itself
            found = list(self._compared(old.flat(), new.flat(), side, depth))
            self._known[key] = before, after, found
        return self._known[key][2]

    @property
    def is_exhausted(self) -> bool:
        """True if the limit of steps ended the comparison."""
        return self.meter.steps < 0

    def _compared(self, old: LocatedSchema, new: LocatedSchema, side: Side, depth: int) -> Iterator[SchemaChange]:
        before, after = old.schema, new.schema
        yield from _of_types(before, after)
        yield from _of_values(before, after)
        yield from _of_limits(before, after)
        yield from _of_texts(before, after)
        yield from self._of_properties(old, new, side, depth)
        for keyword, mark in (("items", "[]"), ("additionalProperties", "{}")):
            if isinstance(before.get(keyword), dict) and isinstance(after.get(keyword), dict):
                yield from self._below(mark, old.at(before[keyword]), new.at(after[keyword]), side, depth)
        yield from self._of_alternatives(old, new, side, depth)

    def _of_properties(self, old: LocatedSchema, new: LocatedSchema, side: Side, depth: int) -> Iterator[SchemaChange]:
        before, after = _mapping(old.schema.get("properties")), _mapping(new.schema.get("properties"))
        required = [frozenset(each.schema.get("required", ())) for each in (old, new)]
        for name in before:
            if name not in after:
                yield SchemaChange("removed", _dotted(name))
                continue
            if (name in required[0]) != (name in required[1]):
                yield SchemaChange("required" if name in required[1] else "optional", _dotted(name))
            yield from self._below(_dotted(name), old.at(before[name]), new.at(after[name]), side, depth)
        for name in after:
            if name not in before:
                yield SchemaChange("added-required" if name in required[1] else "added", _dotted(name))

    def _below(
        self, place: str, old: LocatedSchema, new: LocatedSchema, side: Side, depth: int
    ) -> Iterator[SchemaChange]:
        for change in self.changes(old, new, side, depth + 1):
            yield change._replace(place=place + change.place)

    def _of_alternatives(
        self, old: LocatedSchema, new: LocatedSchema, side: Side, depth: int
    ) -> Iterator[SchemaChange]:
        """Yield the changes of unions: of the alternatives that are paired, and of their number."""
        before, after = _alternatives(old.schema), _alternatives(new.schema)
        if not before or not after:
            if len(before) != len(after):
                kind = "type-narrowed" if before else "type-widened"
                yield SchemaChange(kind, "", *(f"one of {len(each) or 1}" for each in (before, after)))
            return
        pairs = _paired(before, after)
        for one, other in pairs:
            yield from self._below("", old.at(one), new.at(other), side, depth)
        if len(pairs) < len(before) or len(pairs) < len(after):
            kind = "type-narrowed" if len(pairs) < len(before) else "type-widened"
            yield SchemaChange(kind, "", f"one of {len(before)}", f"one of {len(after)}")


def _paired(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return pairs of alternatives: equal ones, such as references of one name, then the others in their order."""
    keys = {_json(each): each for each in after}
    equal = [(each, keys[_json(each)]) for each in before if _json(each) in keys]
    known = {_json(each) for each, _ in equal}
    rest = [[each for each in side if _json(each) not in known] for side in (before, after)]
    return [*equal, *zip(*rest, strict=False)]


def _only_target(located: LocatedSchema) -> Schema | None:
    """Return the definition that a schema is nothing but a reference to."""
    if located.schema.keys() != {"$ref"}:
        return None
    return located.definitions.get(str(located.schema["$ref"]).removeprefix(_DEFINITIONS))


def _alternatives(schema: Schema) -> list[Any]:
    found = schema.get("anyOf")
    return found if isinstance(found, list) else []


def _types(schema: Schema) -> frozenset[str]:
    """Return the types that a schema names; empty where it takes any."""
    kinds = schema.get("type", [])
    return frozenset([kinds] if isinstance(kinds, str) else kinds)


def _of_types(before: Schema, after: Schema) -> Iterator[SchemaChange]:
    old, new = _types(before), _types(after)
    if old == new:
        return
    kind = "type-widened" if _takes_all(new, old) else "type-narrowed" if _takes_all(old, new) else "type-changed"
    yield SchemaChange(kind, "", *(" or ".join(sorted(each)) or "any" for each in (old, new)))


def _takes_all(types: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether values of all the others are of one of these types; none stands for any."""
    return not types or (
        bool(others) and all(kind in types or (kind == "integer" and "number" in types) for kind in others)
    )


def _of_values(before: Schema, after: Schema) -> Iterator[SchemaChange]:
    old, new = _values(before), _values(after)
    if old == new:
        return
    if old is None or new is None:
        kind = "type-narrowed" if old is None else "type-widened"
        yield SchemaChange(kind, "", *("any value" if each is None else _listed(each) for each in (old, new)))
        return
    if gone := [value for value in old if value not in new]:
        yield SchemaChange("values-removed", "", before=_listed(gone))
    if added := [value for value in new if value not in old]:
        yield SchemaChange("values-added", "", after=_listed(added))


def _values(schema: Schema) -> dict[str, None] | None:
    """Return the values of an enum as JSON, in their order; None where there is none."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    return dict.fromkeys(map(_json, values)) if isinstance(values, list) else None


def _listed(values: Iterable[str]) -> str:
    return plain_text.line(", ".join(values), MAX_SHOWN)


def _of_limits(before: Schema, after: Schema) -> Iterator[SchemaChange]:
    limits: tuple[tuple[Iterable[str], Callable[[float, float], bool]], ...] = (
        (_LOWER, lambda old, new: new > old),
        (_UPPER, lambda old, new: new < old),
    )
    for keywords, is_narrower in limits:
        for keyword in keywords:
            old, new = before.get(keyword), after.get(keyword)
            if old != new:
                narrower = old is None or (new is not None and is_narrower(old, new))
                shown = [f"{keyword} {value}" if value is not None else f"no {keyword}" for value in (old, new)]
                yield SchemaChange("limit-narrowed" if narrower else "limit-widened", "", *shown)
    closed = [each.get("additionalProperties") is False for each in (before, after)]
    if closed[0] != closed[1]:
        shown = ["no other properties" if each else "other properties" for each in closed]
        yield SchemaChange("limit-narrowed" if closed[1] else "limit-widened", "", *shown)
    for keyword in _FORMS:
        if before.get(keyword) != after.get(keyword) and not {before.get(keyword), after.get(keyword)} <= _STORED:
            shown = [f"{keyword} {each[keyword]}" if keyword in each else f"no {keyword}" for each in (before, after)]
            kind = "limit-widened" if keyword not in after else "form-changed"
            yield SchemaChange(kind, "", *(plain_text.line(text, MAX_SHOWN) for text in shown))


def _of_texts(before: Schema, after: Schema) -> Iterator[SchemaChange]:
    if _json(before.get("default")) != _json(after.get("default")):
        shown = [
            _listed([_json(each["default"])]) if "default" in each else "not documented" for each in (before, after)
        ]
        yield SchemaChange("default-changed", "", *shown)
    old, new = before.get("description", ""), after.get("description", "")
    if old.split() != new.split():
        yield SchemaChange("description-changed", "", *excerpts(old, new))
    if after.get("deprecated") is True and before.get("deprecated") is not True:
        yield SchemaChange("deprecated", "")


def excerpts(old: str, new: str) -> tuple[str, str]:
    """Return two texts in one line each, from the word before the first difference on."""
    words = old.split(), new.split()
    same = next((i for i, (a, b) in enumerate(zip(*words, strict=False)) if a != b), min(map(len, words)))
    start = max(0, same - 2) if same > 4 else 0
    shown = [plain_text.line(("… " if start else "") + " ".join(each[start:]), MAX_SHOWN) for each in words]
    return shown[0], shown[1]


def _dotted(name: str) -> str:
    return f".{name}"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
