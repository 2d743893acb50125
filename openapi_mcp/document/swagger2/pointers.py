"""Translate JSON pointers of a converted Swagger 2.0 document to those of the document as its author wrote it.

The conversion (`swagger2`) moves shared parts, makes a request body of parameters, and puts schemas into media types;
`original_pointer` undoes that for a pointer, token by token. A token that the original does not have ends the pointer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ...runtime.types import JsonObject
from ..model import join
from ..objects import METHODS

Follow: TypeAlias = Callable[[Any, str], tuple[Any, str]]
"""Function that follows the references from a value at a pointer, as `Resolver.follow` does."""

_SECTIONS: Final = {
    "schemas": "definitions",
    "parameters": "parameters",
    "requestBodies": "parameters",
    "responses": "responses",
    "securitySchemes": "securityDefinitions",
}
"""Fields of `components`, and the root's fields that they are converted from."""

_SERVER_FIELDS: Final = ("host", "basePath", "schemes")


def original_pointer(tokens: Sequence[str], source: JsonObject, follow: Follow) -> str:
    """Return the pointer in `source`, a Swagger 2.0 document, of the part that `tokens` lead to after its conversion.

    `tokens` are those of a pointer from the root, decoded.
    """
    match tokens:
        case ["components", kind, name, *rest] if kind in _SECTIONS:
            pointer = join("#", _SECTIONS[kind], name)
            node = _member(source, _SECTIONS[kind], name)
            if kind == "requestBodies":
                return _body(rest, [(node, pointer)], pointer)
            translate = {"parameters": _parameter, "responses": _response}.get(kind, _unchanged)
            return join(pointer, *translate(rest, node))
        case ["paths", path, *rest] if rest:
            return _path_item(rest, _member(source, "paths", path), join("#/paths", path), follow)
        case ["servers", *_]:
            return join("#", *[field for field in _SERVER_FIELDS if field in source][:1])
        case ["openapi"]:
            return "#/swagger"
    return join("#", *tokens)


def _path_item(tokens: Sequence[str], node: Any, pointer: str, follow: Follow) -> str:
    item, pointer = follow(node, pointer)
    if tokens[0] not in METHODS:
        return _fields(tokens, [(item, pointer)], follow)
    operation, location = follow(_member(item, tokens[0]), join(pointer, tokens[0]))
    return _fields(tokens[1:], [(item, pointer), (operation, location)], follow)


_Located: TypeAlias = tuple[Any, str]
"""A value and its pointer."""


def _fields(tokens: Sequence[str], levels: Sequence[_Located], follow: Follow) -> str:
    """Translate the tokens after the last of `levels`: a path item, and an operation of it if that is meant."""
    node, pointer = levels[-1]
    match tokens:
        case ["parameters", index, *rest] if index.isdecimal():
            own = _list(node, join(pointer, "parameters"), follow)
            sent_elsewhere = [item for item in own if not _is_payload(item[0])]
            if int(index) < len(sent_elsewhere):
                parameter, location = sent_elsewhere[int(index)]
                return join(location, *_parameter(rest, parameter))
        case ["requestBody", *rest]:
            payload = [item for level, at in levels for item in _list(level, join(at, "parameters"), follow)]
            return _body(rest, payload, pointer)
        case ["responses", status, *rest]:
            start = join(pointer, "responses", status)
            response, location = follow(_member(node, "responses", status), start)
            return join(location, *_response(rest, response))
        case ["servers", *_]:
            return join(pointer, "schemes")
    return join(pointer, *tokens)


def _body(tokens: Sequence[str], parameters: Sequence[_Located], pointer: str) -> str:
    """Translate the tokens after a request body: to those of its parameter, or to the form field that they name."""
    located = [item for item in parameters if _is_payload(item[0])]
    for node, location in reversed(located):
        if node.get("in") == "body":
            return join(location, *(tokens[2:] if tokens[:1] == ["content"] else ()))
    match tokens:
        case ["content", _, "schema", "properties", name, *rest]:
            for node, location in reversed(located):
                if str(node.get("name")) == name:
                    return join(location, *rest)
    return located[0][1] if len(located) == 1 else join(pointer, "parameters") if located else pointer


def _parameter(tokens: Sequence[str], node: Any) -> Sequence[str]:
    """Return the tokens after a parameter or header, whose schema 2.0 writes as fields of its own."""
    is_moved = tokens[:1] == ["schema"] and not (isinstance(node, Mapping) and "schema" in node)
    return tokens[1:] if is_moved else tokens


def _response(tokens: Sequence[str], node: Any) -> Sequence[str]:
    match tokens:
        case ["content", _, "schema", *rest]:
            return ["schema", *rest]
        case ["content", *_]:
            return []
        case ["headers", name, *rest]:
            return ["headers", name, *_parameter(rest, _member(node, "headers", name))]
    return tokens


def _unchanged(tokens: Sequence[str], _node: Any) -> Sequence[str]:
    return tokens


def _list(node: Any, pointer: str, follow: Follow) -> list[_Located]:
    """Return the parameters of an operation or path item, references followed, each with its pointer."""
    parameters = _member(node, "parameters")
    nodes = parameters if isinstance(parameters, list) else []
    return [follow(inner, join(pointer, index)) for index, inner in enumerate(nodes)]


def _is_payload(node: Any) -> bool:
    return isinstance(node, Mapping) and node.get("in") in ("body", "formData")


def _member(node: Any, *names: str) -> Any:
    for name in names:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node
