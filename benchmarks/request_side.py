"""Reduce a document to the part about requests, as one JSON value for a referee of requests.

Responses and callbacks are removed, so that the referee judges requests only and calls nobody; shared parts that no
request reaches are removed too. Everything about requests is unchanged, Swagger 2.0 included.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from openapi_mcp.document.model import FILES, Document, step
from openapi_mcp.document.objects import METHODS
from openapi_mcp.runtime.types import JsonObject

_SHARED: Final = {"components": 3, "definitions": 2, "parameters": 2, "responses": 2, FILES: 2}
"""Shared parts of the root, with the depth at which their entries stand."""

_ANSWER: Final = {"200": {"description": "OK"}}
"""`responses` is required; without content the referee's answer to a valid request is empty."""


def request_side(document: Document) -> JsonObject:
    """Return a document for a referee, as a deep copy."""
    root: JsonObject = json.loads(json.dumps(document.source or document.root))
    for operation in _operations(root):
        operation["responses"] = _ANSWER
        operation.pop("callbacks", None)
    reduced = {key: value for key, value in root.items() if key not in _SHARED and key != "webhooks"}
    if "securitySchemes" in root.get("components", {}):
        reduced["components"] = {"securitySchemes": root["components"]["securitySchemes"]}
    if FILES in root:
        reduced[FILES] = [{} for _ in root[FILES]]
    waiting: list[Any] = [value for key, value in reduced.items() if key != FILES]
    reached: set[tuple[str, ...]] = set()
    while waiting:
        for tokens in _references(waiting.pop(), root):
            piece = tokens[: _SHARED.get(tokens[0], 0)]
            if piece and piece not in reached:
                reached.add(piece)
                waiting.append(_copy(root, reduced, piece))
    return reduced


def _operations(root: JsonObject) -> Iterator[JsonObject]:
    items = (_followed(root, item) for path, item in root.get("paths", {}).items() if path.startswith("/"))
    for item in items:
        operations = (_followed(root, item.get(method)) for method in METHODS if isinstance(item, dict))
        yield from (operation for operation in operations if isinstance(operation, dict))


def _followed(root: JsonObject, node: Any) -> Any:
    """Return a node or the target of its reference; None if that is broken."""
    while isinstance(node, dict) and isinstance(node.get("$ref"), str):
        try:
            node = _at(root, _tokens(node["$ref"]))
        except LookupError:
            return None
    return node


def _tokens(reference: str) -> list[str]:
    if not reference.startswith("#/"):
        raise LookupError(reference)
    return reference[2:].split("/")


def _at(root: JsonObject, tokens: list[str]) -> Any:
    node: Any = root
    for token in tokens:
        node, _ = step(node, token)
    return node


def _references(node: Any, root: JsonObject) -> Iterator[tuple[str, ...]]:
    """Yield the references below a node; remove broken ones, with which the referee would not start."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str):
                try:
                    tokens = _tokens(reference)
                    _at(root, tokens)
                    yield tuple(tokens)
                except LookupError:
                    del node["$ref"]
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _copy(root: JsonObject, document: Any, piece: tuple[str, ...]) -> Any:
    """Copy one part of the root to its place, and return it."""
    source: Any = root
    target: Any = document
    for token in piece[:-1]:
        source, name = step(source, token)
        target = target.setdefault(_key(name), {})
    value, name = step(source, piece[-1])
    target[int(name) if isinstance(target, list) else _key(name)] = value
    return value


def _key(token: str) -> str:
    """Return the key of an escaped token."""
    return token.replace("%25", "%").replace("~1", "/").replace("~0", "~")
