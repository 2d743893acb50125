"""A document with one operation set apart, for openapi-core to judge messages by without having to find it.

Of that operation only what openapi-core reads wrongly is left out: security, and parameters whose values it cannot read
back from a request (objects in a style, unions). References stay, since the whole document is still there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .document import Document, join
from .operations import Operation, operations
from .parameters import Parameter, parameters
from .resolver import BrokenReference, Resolver
from .runtime import media_types
from .runtime.models import Tool
from .runtime.types import JsonObject

APART: Final = "x-openapi-mcp-operation"
"""The key of the root under which the operation stands."""

_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})
_READABLE: Final = {"simple": "simple", "label": "label", "matrix": "matrix", "form": "form", "cookie": "form"}
"""Styles that openapi-core reads, by what it calls them; it wants the delimiters of the others as nobody sends them."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A document with an operation set apart, and the media types of its requests, and of its answers by status."""

    root: JsonObject
    request_types: tuple[str, ...]
    answer_types: Mapping[str, tuple[str, ...]]

    def types_of_answer(self, status: int) -> tuple[str, ...]:
        """The media types documented for a status: its own, its range's (`4XX`), or the default's."""
        keys = (str(status), f"{str(status)[0]}XX", "default")
        return next((self.answer_types[key] for key in keys if key in self.answer_types), ())


class Excerpts:
    """The excerpts of one document, each made when it is first asked for."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._resolver = Resolver(document)
        self._operations: Mapping[tuple[str, str], Operation] | None = None
        self._made: dict[tuple[str, str], Excerpt] = {}

    def of(self, tool: Tool) -> Excerpt:
        """The excerpt of a tool's operation. Raises LookupError and BrokenReference."""
        key = (tool.method, tool.path)
        if self._operations is None:
            found, _ = operations(self._document, self._resolver)
            self._operations = {(operation.method, operation.path): operation for operation in found}
        if key not in self._made:
            self._made[key] = self._excerpt(self._operations[key], tool)
        return self._made[key]

    def _excerpt(self, operation: Operation, tool: Tool) -> Excerpt:
        written = operation.value.get("responses")
        responses = {str(status): response for status, response in written.items()} if isinstance(written, dict) else {}
        value = {
            "parameters": list(self._parameters(operation, tool)),
            "responses": responses or {"default": {}},  # where nothing is said of answers, none is wrong
            "security": [],
        }
        if operation.value.get("requestBody") is not None:
            value["requestBody"] = operation.value["requestBody"]
        place = operation.pointer
        return Excerpt(
            root={**self._document.root, APART: value},
            request_types=self._types(value.get("requestBody"), join(place, "requestBody")),
            answer_types={key: self._types(each, join(place, "responses", key)) for key, each in responses.items()},
        )

    def _types(self, node: Any, pointer: str) -> tuple[str, ...]:
        """The media types of a Request Body or Response Object; none where it has none, or cannot be found."""
        try:
            node, _ = self._resolver.follow(node, pointer)
        except BrokenReference:
            return ()
        content = node.get("content") if isinstance(node, dict) else None
        return tuple(content) if isinstance(content, dict) else ()

    def _parameters(self, operation: Operation, tool: Tool) -> Iterable[JsonObject]:
        """The parameters that a caller sets, as far as openapi-core can read them from a request."""
        secrets = [(scheme.location or "", scheme.parameter or "") for some in tool.security for scheme in some]
        for parameter in parameters(operation, self._resolver, secrets)[0]:
            said = self._said(parameter)
            if said is not None and parameter.location != "querystring":
                common = {"name": parameter.name, "in": parameter.location, "required": parameter.required}
                yield common | said

    def _said(self, parameter: Parameter) -> JsonObject | None:
        """What a parameter's value is, and how it is written."""
        if parameter.content_type is not None:
            content = {parameter.content_type: {"schema": parameter.node}}
            return {"content": content} if media_types.is_json(parameter.content_type) else None
        schema = self._schema(parameter.node, parameter.pointer)
        if schema is None or parameter.style not in _READABLE or parameter.items_style is not None:
            return None
        return {"style": _READABLE[parameter.style], "explode": parameter.explode, "schema": schema}

    def _schema(self, node: Any, pointer: str) -> JsonObject | None:
        """A schema of one scalar type, or of an array of one; None of anything else."""
        schema = self._typed(node, pointer)
        if schema is None or schema["type"] in _SCALARS:
            return schema
        items = self._typed(schema.get("items"), join(pointer, "items")) if schema["type"] == "array" else None
        return schema | {"items": items} if items is not None and items["type"] in _SCALARS else None

    def _typed(self, node: Any, pointer: str) -> JsonObject | None:
        """A schema with exactly one type. `null` does not count: no text of a request is null."""
        try:
            node, pointer = self._resolver.follow(node, pointer)
        except BrokenReference:
            return None
        if not isinstance(node, dict):
            return None
        for keyword in ("anyOf", "oneOf"):
            branches = node.get(keyword)
            if isinstance(branches, list) and "type" not in node:
                given = [pair for pair in enumerate(branches) if pair[1] != {"type": "null"}]
                return self._typed(given[0][1], join(pointer, keyword, given[0][0])) if len(given) == 1 else None
        kinds = node.get("type")
        names = [kind for kind in kinds if kind != "null"] if isinstance(kinds, list) else [kinds]
        return node | {"type": names[0]} if len(names) == 1 and isinstance(names[0], str) else None
