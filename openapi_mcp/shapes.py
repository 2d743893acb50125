"""The shape of a value as its schema describes it: types, properties, items, with references and unions read.

A shape is never narrower than its schema: what one of several alternatives allows is allowed. Everything that is not
shape (bounds, enums, what is required) is left out. Specification: JSON Schema 2020-12 Core section 10; OpenAPI 3.2
Schema Object.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from . import keywords, prose
from .document import join
from .resolver import Resolver
from .schema_parts import flagged

DEEPEST: Final = 32
"""Unions in unions that are read; of what is deeper nothing is known."""

_TYPE_NAMES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",  # a value that is listed as 1 may be sent as 1.0
    float: "number",
    type(None): "null",
    list: "array",
    dict: "object",
}
"""JSON Schema's names of what a document's values are."""

_DESCRIPTION: Final = 100
"""Characters of a description: one sentence that is to the point, or none."""

Places = dict[str, Any]
"""Schemas of which any may apply, by their pointers."""


@dataclass(slots=True)
class Shape:
    """What is known of a value. `types` is None where it may be anything; `others` are undeclared properties."""

    types: frozenset[str] | None = None
    properties: dict[str, Places] = field(default_factory=dict)
    items: Places = field(default_factory=dict)
    others: Places = field(default_factory=dict)
    description: str = ""

    def take(self, other: Self) -> None:
        """Add the parts that another shape of the same value knows."""
        for name, places in other.properties.items():
            self.properties.setdefault(name, {}).update(places)
        self.items |= other.items
        self.others |= other.others
        self.description = self.description or other.description

    def narrow(self, types: frozenset[str] | None) -> None:
        """Keep the types that both know; of a document that contradicts itself, the first ones."""
        if types is not None:
            self.types = types if self.types is None else self.types & types or self.types


class Shapes:
    """The shapes of one document's answers, each read once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._known: dict[str, Shape] = {}

    def of(self, places: Places, depth: int = 0) -> Shape:
        """The shape of a value to which any of these schemas applies. Raises BrokenReference."""
        shapes = [self._one(node, pointer, depth) for pointer, node in places.items()]
        return shapes[0] if len(shapes) == 1 else _either(shapes)

    def _one(self, node: Any, pointer: str, depth: int) -> Shape:
        if pointer not in self._known:
            self._known[pointer] = Shape()  # a schema that takes itself to be known says nothing more
            self._known[pointer] = self._read(node, pointer, depth)
        return self._known[pointer]

    def _read(self, node: Any, pointer: str, depth: int) -> Shape:
        """What one schema says, with what it refers to and its unions."""
        shape = Shape()
        if not isinstance(node, dict) or depth > DEEPEST:
            return shape
        shape.types = _types(node)
        shape.description = prose.sentence(node.get("description"), _DESCRIPTION)
        self._parts(shape, node, pointer)
        unions = [{place: part} for place, part in self._all(node, pointer).items()]
        unions += [_listed(node, keyword, pointer) for keyword in ("anyOf", "oneOf")]
        for places in unions:
            if places:
                inner = self.of(places, depth + 1)
                shape.narrow(inner.types)
                shape.take(inner)
        if shape.types is None:
            shape.types = _implied(shape)
        if shape.types is not None and _nullable(node):
            shape.types |= {"null"}
        return shape

    def _parts(self, shape: Shape, node: Mapping[str, Any], pointer: str) -> None:
        """Properties and items. What a server never sends is left out."""
        properties = node.get("properties")
        for name, value in properties.items() if isinstance(properties, dict) else ():
            place = join(pointer, "properties", name)
            if not flagged(self._resolver, value, place, "writeOnly"):
                shape.properties[name] = {place: value}
        if isinstance(node.get("items"), dict) and "prefixItems" not in node:
            shape.items = {join(pointer, "items"): node["items"]}
        if isinstance(node.get("additionalProperties"), dict):
            shape.others = {join(pointer, "additionalProperties"): node["additionalProperties"]}

    def _all(self, node: Mapping[str, Any], pointer: str) -> Places:
        """The schemas that apply as well."""
        parts = _listed(node, "allOf", pointer)
        if "$ref" in node:
            target, place = self._resolver.lookup(node["$ref"], pointer)
            parts = {place: target, **parts}
        return parts


def _listed(node: Mapping[str, Any], keyword: str, pointer: str) -> Places:
    value = node.get(keyword)
    return {join(pointer, keyword, i): part for i, part in enumerate(value)} if isinstance(value, list) else {}


def _types(node: Mapping[str, Any]) -> frozenset[str] | None:
    """The types that a schema names, or else those of the values that it lists."""
    names = ["string"] if node.get("type") == "file" else keywords.types(node.get("type"))
    values = node.get("enum", [node["const"]] if "const" in node else [])
    if not names and isinstance(values, list):
        names = [_TYPE_NAMES[type(value)] for value in values if type(value) in _TYPE_NAMES]
    return frozenset(names) or None


def _nullable(node: Mapping[str, Any]) -> bool:
    values = node.get("enum")
    return node.get("nullable") is True or (isinstance(values, list) and None in values)


def _implied(shape: Shape) -> frozenset[str] | None:
    """The type that a schema without one means by its parts."""
    if shape.properties or shape.others:
        return frozenset({"object"})
    return frozenset({"array"}) if shape.items else None


def _either(shapes: Iterable[Shape]) -> Shape:
    """The shape of a value that has any of these."""
    whole, known = Shape(), True
    types = frozenset[str]()
    for shape in shapes:
        whole.take(shape)
        known = known and shape.types is not None
        types |= shape.types or frozenset()
    whole.types = types if known and types else None
    return whole
