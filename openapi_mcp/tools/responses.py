"""Read the responses of an operation: the output schema of its success, and the Accept header.

An output schema describes the shape of the documented answer (types, properties, items), without references, down to
the depth that a budget allows; the rest is open. A shape is never narrower than its schema: what one of several
alternatives allows is allowed; bounds, enums and `required` are left out. The server lists it without the types, see
`runtime.protocol.output_schemas`, so that no answer is refused. A broken response schema costs only itself.

Specification: OpenAPI 3.2 Responses Object, Response Object and Schema Object; RFC 9110 section 12.5.1 (Accept); JSON
Schema 2020-12 Core section 10; MCP server/tools ("Output Schema").
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from .. import plain_text
from ..document.model import join
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..runtime import jsontext, media_types
from ..runtime.types import JsonObject, Schema
from ..schemas import keywords
from ..schemas.subschemas import has_flag
from ..token_budget import FULL
from .operations import Operation

SchemaNodes = dict[str, Any]
"""Alternative schemas of one value, by their pointers."""

ACCEPT_ANY: Final = "application/json, */*;q=0.5"
"""The Accept header where the document names no media type."""

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_MAX_HEADERS: Final = 20
"""Declared headers of one operation that are shown."""

_MAX_MEDIA_TYPES: Final = 6
"""Media types in an Accept header; `*/*` covers the additional."""


@dataclass(frozen=True, slots=True)
class DocumentedResponse:
    """The output schema and Accept header of an operation, the media types of its success, and all declared headers."""

    output_schema: Schema | None
    accept: str
    media_types: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


class Responses:
    """The responses of one document's operations."""

    def __init__(self, resolver: Resolver, output_bytes: int) -> None:
        self.problems: list[Problem] = []
        self._resolver = resolver
        self._outputs = OutputSchemas(resolver, output_bytes) if output_bytes else None

    def of(self, operation: Operation) -> DocumentedResponse:
        """Return the documented response of an operation."""
        contents = list(self._successes(operation))
        headers = self._headers(operation)
        names = tuple(name for content, _ in contents for name in content if isinstance(name, str))
        accept = accept_header(names)
        for content, pointer in contents:
            name = next((name for name in content if media_types.is_json(name)), None)
            if name is not None:
                schema = self._schema(content[name], join(pointer, name))
                return DocumentedResponse(schema, accept_header(names), tuple(names), headers)
        return DocumentedResponse(None, accept, names, headers)

    def all_problems(self) -> list[Problem]:
        """Return the problems of all responses read so far."""
        return [*self.problems, *(self._outputs.problems if self._outputs else ())]

    def _successes(self, operation: Operation) -> Iterator[tuple[JsonObject, str]]:
        """Yield the `content` of each response with a 2xx status and its pointer, in the document's order."""
        responses = operation.value.get("responses")
        for status, response in responses.items() if isinstance(responses, dict) else ():
            if status[:1] != "2":
                continue
            try:
                node, pointer = self._resolver.follow(response, join(operation.pointer, "responses", status))
            except BrokenReference as error:
                self.problems.append(error.problem)
                continue
            content = node.get("content") if isinstance(node, Mapping) else None
            if isinstance(content, dict):
                yield content, join(pointer, "content")

    def _headers(self, operation: Operation) -> tuple[str, ...]:
        """Return the declared headers of all responses; a broken response is reported by `_successes`."""
        responses = operation.value.get("responses")
        names: dict[str, None] = {}
        for status, response in responses.items() if isinstance(responses, dict) else ():
            try:
                node, _ = self._resolver.follow(response, join(operation.pointer, "responses", status))
            except BrokenReference:
                continue
            declared = node.get("headers") if isinstance(node, Mapping) else None
            for name in declared if isinstance(declared, dict) else ():
                if isinstance(name, str) and _HEADER_NAME.fullmatch(name):
                    names[name.lower()] = None
        return tuple(names)[:_MAX_HEADERS]

    def _schema(self, media: Any, pointer: str) -> Schema | None:
        try:
            media, pointer = self._resolver.follow(media, pointer)
        except BrokenReference as error:
            self.problems.append(error.problem)
            return None
        node = media.get("schema") if isinstance(media, dict) else None
        return None if node is None or self._outputs is None else self._outputs.schema(node, join(pointer, "schema"))


def accept_header(names: Iterable[str]) -> str:
    """Return the Accept header for these media types: JSON first, then the others, then any (errors may differ)."""
    sendable = [name for name in names if name.isascii() and name.isprintable() and "/" in name]
    media = list(dict.fromkeys(name for name in sendable if not media_types.is_range(name)))
    media.sort(key=lambda name: not media_types.is_json(name))
    if not media:
        return ACCEPT_ANY
    others = [f"{name};q=0.8" for name in media[1:_MAX_MEDIA_TYPES]]
    return ", ".join([media[0], *others, "*/*;q=0.5"])


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

_MAX_DESCRIPTION_LENGTH: Final = 100
"""Characters of a description: one short sentence, or no description."""


@dataclass(slots=True)
class Shape:
    """The shape of a value. `types` is None where any is allowed; `additional` are schemas of undeclared properties."""

    types: frozenset[str] | None = None
    properties: dict[str, SchemaNodes] = field(default_factory=dict)
    items: SchemaNodes = field(default_factory=dict)
    additional: SchemaNodes = field(default_factory=dict)
    description: str = ""

    def merge(self, other: Self) -> None:
        """Add the properties, items and description of another shape of the same value."""
        for name, nodes in other.properties.items():
            self.properties.setdefault(name, {}).update(nodes)
        self.items |= other.items
        self.additional |= other.additional
        self.description = self.description or other.description

    def restrict_types(self, types: frozenset[str] | None) -> None:
        """Keep the types that both allow; the first ones where a contradictory document allows none."""
        if types is not None:
            self.types = types if self.types is None else self.types & types or self.types


class ShapeReader:
    """A reader of the shapes of one document's schemas, each read once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._cache: dict[str, Shape] = {}

    def of(self, nodes: SchemaNodes, depth: int = 0) -> Shape:
        """Return the shape of a value to which any of these schemas applies. Raises BrokenReference."""
        if len(nodes) > MAX_ALTERNATIVES:
            return Shape()
        shapes = [self._one(node, pointer, depth) for pointer, node in nodes.items()]
        if len(shapes) == 1:
            return shapes[0]
        return _union(shapes) if self._resolver.spend(sum(map(_width, shapes))) else Shape()

    def _one(self, node: Any, pointer: str, depth: int) -> Shape:
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
        shape.description = plain_text.sentence(node.get("description"), _MAX_DESCRIPTION_LENGTH)
        self._parts(shape, node, pointer)
        unions = [{location: part} for location, part in self._applied(node, pointer).items()]
        unions += [_listed(node, keyword, pointer) for keyword in ("anyOf", "oneOf")]
        for nodes in unions:
            if nodes:
                inner = self.of(nodes, depth + 1)
                shape.restrict_types(inner.types)
                if self._resolver.spend(_width(inner)):
                    shape.merge(inner)
        if shape.types is None:
            shape.types = _implied_types(shape)
        if shape.types is not None and _is_nullable(node):
            shape.types |= {"null"}
        return shape

    def _parts(self, shape: Shape, node: Mapping[str, Any], pointer: str) -> None:
        """Add properties and items. Properties that a server never sends (`writeOnly`) are left out."""
        properties = node.get("properties")
        for name, value in properties.items() if isinstance(properties, dict) else ():
            location = join(pointer, "properties", name)
            if not has_flag(self._resolver, value, location, "writeOnly"):
                shape.properties[name] = {location: value}
        if isinstance(node.get("items"), dict) and "prefixItems" not in node:
            shape.items = {join(pointer, "items"): node["items"]}
        if isinstance(node.get("additionalProperties"), dict):
            shape.additional = {join(pointer, "additionalProperties"): node["additionalProperties"]}

    def _applied(self, node: Mapping[str, Any], pointer: str) -> SchemaNodes:
        """Return the schemas that apply as well: the target of `$ref`, and `allOf`."""
        parts = _listed(node, "allOf", pointer)
        if "$ref" in node:
            target, location = self._resolver.lookup(node["$ref"], pointer)
            parts = {location: target, **parts}
        return parts


def _listed(node: Mapping[str, Any], keyword: str, pointer: str) -> SchemaNodes:
    """Return the schemas of a list, one more than are read of them."""
    value = node.get(keyword)
    listed = enumerate(value[: MAX_ALTERNATIVES + 1]) if isinstance(value, list) else ()
    return {join(pointer, keyword, i): part for i, part in listed}


def _width(shape: Shape) -> int:
    """Return the number of schemas that merging a shape copies."""
    return 1 + sum(map(len, shape.properties.values())) + len(shape.items) + len(shape.additional)


def _types(node: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the types that a schema names, or else those of its `enum` or `const`."""
    names = ["string"] if node.get("type") == "file" else keywords.types(node.get("type"))
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


MAX_OUTPUT_DEPTH: Final = 12
"""Levels of objects and arrays. Four kilobytes, the usual budget, seldom hold more than five."""

_TYPE_ORDER: Final = {name: index for index, name in enumerate(keywords.TYPES)}


class _TooLarge(Exception):
    """An output schema exceeds the budget."""


class OutputSchemas:
    """The output schemas of one document, each within `budget` bytes."""

    def __init__(self, resolver: Resolver, budget: int = FULL.output) -> None:
        self.problems: list[Problem] = []
        self._resolver = resolver
        self._shapes = ShapeReader(resolver)
        self._budget = budget
        self._cache: dict[str, Schema | None] = {}

    def schema(self, node: Any, pointer: str) -> Schema | None:
        """Return the output schema for a schema of the document; None where that is neither an object nor an array."""
        try:
            node, pointer = self._resolver.follow(node, pointer)
            if pointer not in self._cache:
                self._cache[pointer] = None
                self._cache[pointer] = self._deepest({pointer: node})
        except BrokenReference as error:
            self.problems.append(error.problem)
            return None
        return self._cache[pointer]

    def _deepest(self, nodes: SchemaNodes) -> Schema | None:
        """Return the output schema with as many complete levels as the budget allows."""
        types = (self._shapes.of(nodes).types or frozenset()) - {"null"}
        if types not in ({"object"}, {"array"}):
            return None
        (kind,) = types
        best: Schema = {"type": kind}
        for depth in range(1, MAX_OUTPUT_DEPTH + 1):
            writer = _OutputSchemaWriter(self._shapes, depth, self._budget)
            try:
                schema = {**writer.schema(nodes), "type": kind}
            except _TooLarge:
                return best
            if jsontext.byte_length(schema) > self._budget:
                return best
            best = schema
            if not writer.truncated:
                return best
        return best


class _OutputSchemaWriter:
    """A writer of one output schema of limited depth and bytes. `truncated` is true where deeper levels are missing."""

    def __init__(self, shapes: ShapeReader, depth: int, budget: int) -> None:
        self.truncated = False
        self._shapes = shapes
        self._depth = depth
        self._remaining = budget

    def schema(self, nodes: SchemaNodes, level: int = 0) -> Schema:
        """Return the schema of a value that any of these nodes describes. Raises BrokenReference and _TooLarge."""
        shape = self._shapes.of(nodes)
        schema = _schema_without_children(shape)
        self._spend(len(jsontext.write_ascii(schema)))
        if not (shape.properties or shape.items or shape.additional):
            return schema
        if level >= self._depth:
            self.truncated = True
            return schema
        if shape.properties:
            schema["properties"] = {}
        for name, inner in shape.properties.items():
            self._spend(len(name))
            schema["properties"][name] = self.schema(inner, level + 1)
        if shape.items:
            schema["items"] = self.schema(shape.items, level + 1)
        if shape.additional and not shape.properties:
            schema["additionalProperties"] = self.schema(shape.additional, level + 1)
        return schema

    def _spend(self, count: int) -> None:
        self._remaining -= count
        if self._remaining < 0:
            raise _TooLarge


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
