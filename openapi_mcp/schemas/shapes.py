"""Read the shape of the values that a schema of an answer describes: types, properties, items and a short description.

A shape is never narrower than its schema: what one of several alternatives allows is allowed. Bounds and `required` are
left out. Specification: OpenAPI 3.2 Schema Object; JSON Schema 2020-12 Core section 10.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType, NoneType
from typing import Any, Final, Self

from .. import plain_text
from ..document.model import join
from ..document.resolver import Resolver
from ..runtime import jsontext
from ..runtime.types import Schema
from . import keywords
from .subschemas import has_flag

SchemaNodes = dict[str | int, Any]
"""Alternative schemas of one value by their pointers, or shapes that were read from them by their ids."""

MAX_ALTERNATIVES: Final = 1000
"""Schemas that one value may have; a value with more may be anything."""

MAX_SHAPE_DEPTH: Final = 32
"""Nested unions that are read; a deeper value may be anything."""

_TYPE_NAMES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",  # an API may send 1.0 for an enum's 1
    float: "number",
    type(None): "null",
    list: "array",
    dict: "object",
}
"""JSON Schema's names of the types of a document's values."""

_TYPE_SETS: Final = {name: frozenset({name}) for name in keywords.TYPES}

_MAX_DESCRIPTION_LENGTH: Final = 100
"""Characters of a description: one short sentence, or no description."""


_NOTHING: Final[Any] = MappingProxyType({})
"""The inner schemas of most shapes, which are those of strings and numbers. Only a dict is ever changed."""


class Shape:
    """The shape of a value. `types` is None where any is allowed; `additional` are schemas of undeclared properties.

    `head` is the output schema without inner ones, once it has been asked for (the shape does not change any more
    then), `head_length` the characters of it as JSON in ASCII.
    """

    __slots__ = ("additional", "description", "head", "head_length", "items", "properties", "types")

    def __init__(self) -> None:
        self.types: frozenset[str] | None = None
        self.properties: dict[str, SchemaNodes | Shape] = _NOTHING
        self.items: SchemaNodes = _NOTHING
        self.additional: SchemaNodes = _NOTHING
        self.description = ""
        self.head: Schema | None = None
        self.head_length = 0

    def merge(self, other: Self) -> None:
        """Add the properties, items and description of another shape of the same value."""
        if other.properties and self.properties is _NOTHING:
            self.properties = {}
        for name, nodes in other.properties.items():
            own = self.properties.get(name)
            if own is None:
                self.properties[name] = nodes if isinstance(nodes, Shape) else nodes.copy()
            elif own is not nodes:
                self.properties[name] = own = _nodes(own)
                own |= _nodes(nodes)
        if other.items:
            self.items = {} if self.items is _NOTHING else self.items
            self.items |= other.items
        if other.additional:
            self.additional = {} if self.additional is _NOTHING else self.additional
            self.additional |= other.additional
        self.description = self.description or other.description

    def restrict_types(self, types: frozenset[str] | None) -> None:
        """Keep the types that both allow; the first ones where a contradictory document allows none."""
        if types is not None:
            self.types = types if self.types is None else self.types & types or self.types


def _nodes(alternatives: SchemaNodes | Shape) -> SchemaNodes:
    return {id(alternatives): alternatives} if isinstance(alternatives, Shape) else alternatives


class ShapeReader:
    """A reader of the shapes of one document's schemas, each read once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._cache: dict[str | int, Shape] = {}
        self._simple: dict[tuple[Any, ...], Shape] = {}

    def of(self, nodes: SchemaNodes | Shape, depth: int = 0) -> Shape:
        """Return the shape of a value to which any of these schemas applies. Raises BrokenReference."""
        if isinstance(nodes, Shape):
            return nodes
        if len(nodes) == 1:
            ((pointer, node),) = nodes.items()
            return self._cache.get(pointer) or self._one(node, pointer, depth)
        if len(nodes) > MAX_ALTERNATIVES:
            return Shape()
        shapes = [self._one(node, pointer, depth) for pointer, node in nodes.items()]
        return _union(shapes) if self._resolver.spend(sum(map(_width, shapes))) else Shape()

    def _one(self, node: Any, pointer: str | int, depth: int) -> Shape:
        if isinstance(node, Shape):
            return node
        pointer = str(pointer)
        if pointer not in self._cache:
            self._cache[pointer] = Shape()  # a recursive schema adds nothing to itself
            self._cache[pointer] = self._read(node, pointer, depth)
        return self._cache[pointer]

    def _read(self, node: Any, pointer: str, depth: int) -> Shape:
        """Return the shape of one schema with its reference, `allOf` and unions."""
        shape = Shape()
        if not isinstance(node, dict) or depth > MAX_SHAPE_DEPTH:
            return shape
        shape.types = _types(node)
        if "description" in node:
            shape.description = plain_text.sentence(node["description"], _MAX_DESCRIPTION_LENGTH)
        if not INNER.isdisjoint(node):
            self._parts(shape, node, pointer)
            self._merge_others(shape, node, pointer, depth)
        if shape.types is None:
            shape.types = _implied_types(shape)
        if shape.types is not None and _is_nullable(node):
            shape.types |= {"null"}
        return shape

    def _merge_others(self, shape: Shape, node: Mapping[str, Any], pointer: str, depth: int) -> None:
        """Add the shapes of the reference, of `allOf` and of unions."""
        unions: list[SchemaNodes] = [{location: part} for location, part in self._applied(node, pointer).items()]
        unions += [_listed(node, keyword, pointer) for keyword in ("anyOf", "oneOf") if keyword in node]
        for nodes in unions:
            if nodes:
                inner = self.of(nodes, depth + 1)
                shape.restrict_types(inner.types)
                if self._resolver.spend(_width(inner)):
                    shape.merge(inner)

    def _parts(self, shape: Shape, node: Mapping[str, Any], pointer: str) -> None:
        """Add properties and items. Properties that a server never sends (`writeOnly`) are left out."""
        properties, inside = node.get("properties"), join(pointer, "properties")
        if isinstance(properties, dict):
            shape.properties = {
                name: self._simple_shape(value) or {join(inside, name): value}
                for name, value in properties.items()
                if not has_flag(self._resolver, value, pointer, name, "writeOnly")
            }
        if isinstance(node.get("items"), dict) and "prefixItems" not in node:
            shape.items = {join(pointer, "items"): node["items"]}
        if isinstance(node.get("additionalProperties"), dict):
            shape.additional = {join(pointer, "additionalProperties"): node["additionalProperties"]}

    def _simple_shape(self, node: Any) -> Shape | None:
        """Return the shape of a schema of a string, a number or the like, which many properties share; else None."""
        if not isinstance(node, dict) or not _NOT_SIMPLE.isdisjoint(node):
            return None
        kind, description = node.get("type"), node.get("description")
        if not isinstance(kind, str | NoneType) or not isinstance(description, str | NoneType):
            return None
        key = kind, description, node.get("nullable") is True
        if key not in self._simple:
            self._simple[key] = shape = self._read(node, "", 0)
            complete(shape)
        return self._simple[key]

    def _applied(self, node: Mapping[str, Any], pointer: str) -> SchemaNodes:
        """Return the schemas that apply as well: the target of `$ref`, and `allOf`."""
        parts = _listed(node, "allOf", pointer) if "allOf" in node else {}
        if "$ref" in node:
            target, location = self._resolver.lookup(node["$ref"], pointer)
            parts = {location: target, **parts}
        return parts


INNER: Final = frozenset({"properties", "items", "additionalProperties", "$ref", "allOf", "anyOf", "oneOf"})
"""Keywords with other schemas, of the same value or inside it."""


_NOT_SIMPLE: Final = INNER | {"enum", "const", "prefixItems"}


def _listed(node: Mapping[str, Any], keyword: str, pointer: str) -> SchemaNodes:
    """Return the schemas of a list, one more than are read of them."""
    value = node.get(keyword)
    listed = enumerate(value[: MAX_ALTERNATIVES + 1]) if isinstance(value, list) else ()
    return {join(pointer, keyword, i): part for i, part in listed}


def _width(shape: Shape) -> int:
    """Return the number of schemas that merging a shape copies."""
    nodes = sum(1 if isinstance(each, Shape) else len(each) for each in shape.properties.values())
    return 1 + nodes + len(shape.items) + len(shape.additional)


def _types(node: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the types that a schema names, or else those of its `enum` or `const`."""
    kind = node.get("type")
    if isinstance(kind, str) and kind in _TYPE_SETS:
        return _TYPE_SETS[kind]
    names = ["string"] if kind == "file" else keywords.types(kind)
    values = node.get("enum", [node["const"]] if "const" in node else [])
    if not names and isinstance(values, list):
        names = [_TYPE_NAMES[type(value)] for value in values if type(value) in _TYPE_NAMES]
    return frozenset(names) or None


def _is_nullable(node: Mapping[str, Any]) -> bool:
    values = node.get("enum")
    return node.get("nullable") is True or (isinstance(values, list) and None in values)


def _implied_types(shape: Shape) -> frozenset[str] | None:
    """Return the type that the keywords of a schema without `type` imply."""
    if shape.properties or shape.additional:
        return frozenset({"object"})
    return frozenset({"array"}) if shape.items else None


def _union(shapes: Iterable[Shape]) -> Shape:
    """Return the shape of a value that has any of these shapes."""
    union, is_typed = Shape(), True
    types = frozenset[str]()
    for shape in shapes:
        union.merge(shape)
        is_typed = is_typed and shape.types is not None
        types |= shape.types or frozenset()
    union.types = types if is_typed and types else None
    return union


_TYPE_ORDER: Final = {name: index for index, name in enumerate(keywords.TYPES)}


def complete(shape: Shape) -> Schema:
    """Return the head of a shape that is not changed any more."""
    if shape.head is None:
        shape.head = _schema_without_children(shape)
        shape.head_length = len(jsontext.write_ascii(shape.head))
    return shape.head


def _schema_without_children(shape: Shape) -> Schema:
    schema: Schema = {}
    names = sorted(shape.types or (), key=_TYPE_ORDER.__getitem__)
    if "number" in names and "integer" in names:
        names.remove("integer")
    if names:
        schema["type"] = names[0] if len(names) == 1 else names
    if shape.description:
        schema["description"] = shape.description
    return schema
