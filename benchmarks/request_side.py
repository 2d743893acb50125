"""What a document says about requests, as one JSON value: the document that a referee of requests is given.

Of each operation the answers and callbacks go, so that the referee can say nothing about them and calls nobody; of the
shared parts stays what requests reach. Nothing about requests is changed: of Swagger 2.0 it is the original.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from openapi_mcp.document import FILES, Document, step
from openapi_mcp.grammar import METHODS
from openapi_mcp.runtime.types import JsonObject

_SHARED: Final = {"components": 3, "definitions": 2, "parameters": 2, "responses": 2, FILES: 2}
"""Parts of the root that are given only as far as requests reach them, and at which depth they fall into pieces."""

_ANSWER: Final = {"200": {"description": "OK"}}
"""`responses` is required; without content, whatever the referee makes of a right request is empty."""


def request_side(document: Document) -> JsonObject:
    """A document for a referee; it shares nothing with the one it is made of."""
    root: JsonObject = json.loads(json.dumps(document.source or document.root))
    for operation in _operations(root):
        operation["responses"] = _ANSWER
        operation.pop("callbacks", None)
    kept = {key: value for key, value in root.items() if key not in _SHARED and key != "webhooks"}
    if "securitySchemes" in root.get("components", {}):
        kept["components"] = {"securitySchemes": root["components"]["securitySchemes"]}
    if FILES in root:
        kept[FILES] = [{} for _ in root[FILES]]
    waiting: list[Any] = [value for key, value in kept.items() if key != FILES]
    reached: set[tuple[str, ...]] = set()
    while waiting:
        for tokens in _references(waiting.pop(), root):
            piece = tokens[: _SHARED.get(tokens[0], 0)]
            if piece and piece not in reached:
                reached.add(piece)
                waiting.append(_copy(root, kept, piece))
    return kept


def _operations(root: JsonObject) -> Iterator[JsonObject]:
    items = (_followed(root, item) for path, item in root.get("paths", {}).items() if path.startswith("/"))
    for item in items:
        operations = (_followed(root, item.get(method)) for method in METHODS if isinstance(item, dict))
        yield from (operation for operation in operations if isinstance(operation, dict))


def _followed(root: JsonObject, node: Any) -> Any:
    """What a node is, or refers to; None where that leads nowhere."""
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
    """The references below a node. One that leads nowhere is taken out: the referee would not start."""
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


def _copy(root: JsonObject, kept: Any, piece: tuple[str, ...]) -> Any:
    """Put one piece of the root where it was, and return it."""
    source: Any = root
    target: Any = kept
    for token in piece[:-1]:
        source, name = step(source, token)
        target = target.setdefault(_key(name), {})
    value, name = step(source, piece[-1])
    target[int(name) if isinstance(target, list) else _key(name)] = value
    return value


def _key(token: str) -> str:
    """The key that an escaped token stands for."""
    return token.replace("%25", "%").replace("~1", "/").replace("~0", "~")
