"""Read the responses of an operation: the output schema of its success, and the Accept header.

An output schema describes the shape of the documented answer (types, properties, items), without references, down to
the depth that a budget allows; the rest is open. A shape is never narrower than its schema: what one of several
alternatives allows is allowed; bounds, enums and `required` are left out. The server lists it without the types, see
`runtime.protocol.output_schemas`, so that no answer is refused. A broken response schema costs only itself.

Specification: OpenAPI 3.2 Responses Object, Response Object and Schema Object; RFC 9110 section 12.5.1 (Accept); JSON
Schema 2020-12 Core section 10; MCP server/tools ("Output Schema").
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ..document.model import join
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..runtime import jsontext, media_types
from ..runtime.types import JsonObject, Schema
from ..schemas.shapes import INNER, SchemaNodes, Shape, ShapeReader, complete
from ..token_budget import FULL
from .operations import Operation

ACCEPT_ANY: Final = "application/json, */*;q=0.5"
"""The Accept header where the document names no media type."""

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_MAX_HEADERS: Final = 20
"""Declared headers of one operation that are shown."""

_MAX_CACHED: Final = 1024
"""Accept headers that are kept: nearly all operations of a document have the same few."""

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
        for content, pointer in contents:
            name = next((name for name in content if media_types.is_json(name)), None)
            if name is not None:
                schema = self._schema(content[name], join(pointer, name))
                return DocumentedResponse(schema, accept_header(names), names, headers)
        return DocumentedResponse(None, accept_header(names), names, headers)

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


@lru_cache(maxsize=_MAX_CACHED)
def accept_header(names: tuple[str, ...]) -> str:
    """Return the Accept header for these media types: JSON first, then the others, then any (errors may differ)."""
    sendable = [name for name in names if name.isascii() and name.isprintable() and "/" in name]
    media = list(dict.fromkeys(name for name in sendable if not media_types.is_range(name)))
    media.sort(key=lambda name: not media_types.is_json(name))
    if not media:
        return ACCEPT_ANY
    others = [f"{name};q=0.8" for name in media[1:_MAX_MEDIA_TYPES]]
    return ", ".join([media[0], *others, "*/*;q=0.5"])


MAX_OUTPUT_DEPTH: Final = 12
"""Levels of objects and arrays. Four kilobytes, the usual budget, seldom hold more than five."""


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
        added: list[tuple[Schema, Shape]] = []
        writer = _OutputSchemaWriter(self._shapes, self._budget)
        try:
            root = {**writer.outer(nodes), "type": kind}
            writer.outermost = [(root, shape) for _, shape in writer.outermost]
            for _ in range(MAX_OUTPUT_DEPTH):
                added = writer.outermost
                writer.add_level()
                writer.check(root)
                best = root
                if not writer.outermost:
                    break
        except _TooLarge:
            for schema, _ in added:
                for keyword in INNER.intersection(schema):
                    del schema[keyword]
        return best


class _OutputSchemaWriter:
    """A writer of one output schema, level by level; `outermost` are the schemas whose inner ones are not written."""

    def __init__(self, shapes: ShapeReader, budget: int) -> None:
        self.outermost: list[tuple[Schema, Shape]] = []
        self._shapes = shapes
        self._budget = self._remaining = budget

    def outer(self, nodes: SchemaNodes | Shape) -> Schema:
        """Return the schema of a value that any of these nodes describes, without its inner schemas.

        Raises BrokenReference and _TooLarge.
        """
        shape = self._shapes.of(nodes)
        head = complete(shape)
        self._spend(shape.head_length)
        if not (shape.properties or shape.items or shape.additional):
            return head
        schema = head.copy()
        self.outermost.append((schema, shape))
        return schema

    def add_level(self) -> None:
        """Write the next level."""
        outer, self.outermost = self.outermost, []
        for schema, shape in outer:
            if shape.properties:
                self._spend(sum(map(len, shape.properties)))
                schema["properties"] = {name: self.outer(inner) for name, inner in shape.properties.items()}
            if shape.items:
                schema["items"] = self.outer(shape.items)
            if shape.additional and not shape.properties:
                schema["additionalProperties"] = self.outer(shape.additional)

    def check(self, schema: Schema) -> None:
        """Raise _TooLarge for a schema of more bytes than the budget."""
        if jsontext.byte_length(schema) > self._budget:
            raise _TooLarge

    def _spend(self, count: int) -> None:
        self._remaining -= count
        if self._remaining < 0:
            raise _TooLarge
