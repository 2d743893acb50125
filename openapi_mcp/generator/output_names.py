"""The document's names for output schemas and for the objects in them, which the schemas themselves no longer have.

An output schema and the schema of a response have the same structure: the names are those of the references at the same
place. Where several alternatives describe a value, only a name that all of them share counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..bridge import Bridge
from ..document.model import join
from ..document.resolver import BrokenReference, Resolver
from ..runtime import media_types
from ..runtime.tool import Tool
from ..runtime.types import Schema
from ..tools.operations import Operation, operations
from .python_types import NAME

_Nodes = list[tuple[Any, str]]
"""Schemas that apply to one value, each with its pointer."""

MAX_UNION_DEPTH: Final = 8
"""Nested `allOf`, `anyOf` and `oneOf` that are followed for names."""

_UNIONS: Final = ("allOf", "anyOf", "oneOf")


class OutputNames:
    """The names of one document's output schemas."""

    def __init__(self, bridge: Bridge) -> None:
        self._resolver = Resolver(bridge.document)
        found, _ = operations(bridge.document, self._resolver)
        self._operations = {operation.label: operation for operation in found}

    def named(self, tool: Tool) -> Schema:
        """Return a tool's output schema in which each object that the document names has its name as NAME."""
        nodes = self._success(tool)
        return self._named(tool.output_schema or {}, nodes)

    def name(self, tool: Tool) -> str:
        """Return the name for a tool's output schema, or an empty text; a list has the name of its items and `list`."""
        nodes = self._success(tool)
        if name := self._name(nodes):
            return name
        items = self._name(self._children(nodes, "items"))
        return f"{items} list" if items else ""

    def _success(self, tool: Tool) -> _Nodes:
        """Return the schema of the first successful response that is JSON."""
        operation = self._operations.get(f"{tool.method} {tool.path}")
        return next(self._schemas(operation), []) if operation else []

    def _schemas(self, operation: Operation) -> Iterator[_Nodes]:
        responses = operation.value.get("responses")
        for status, response in responses.items() if isinstance(responses, dict) else ():
            node, pointer = self._follow(response, join(operation.pointer, "responses", status))
            content = node.get("content") if str(status)[:1] == "2" and isinstance(node, dict) else None
            for name, media in content.items() if isinstance(content, dict) else ():
                value, location = self._follow(media, join(pointer, "content", name))
                if media_types.is_json(str(name)) and isinstance(value, dict) and "schema" in value:
                    yield [(value["schema"], join(location, "schema"))]

    def _named(self, schema: Schema, nodes: _Nodes) -> Schema:
        """Return the schema with the names of the objects in it."""
        named = dict(schema)
        if "properties" in schema and (name := self._name(nodes)):
            named[NAME] = name
        for keyword in ("items", "additionalProperties"):
            if isinstance(schema.get(keyword), dict):
                named[keyword] = self._named(schema[keyword], self._children(nodes, keyword))
        if isinstance(schema.get("properties"), Mapping):
            named["properties"] = {
                property_name: self._named(inner, self._children(nodes, "properties", property_name))
                for property_name, inner in schema["properties"].items()
            }
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                named[keyword] = [self._named(inner, nodes) for inner in schema[keyword]]
        return named

    def _name(self, nodes: _Nodes) -> str:
        """Return the name that all of these schemas have, or an empty text."""
        names = {self._name_of(node, pointer) for node, pointer in nodes}
        return names.pop() if len(names) == 1 else ""

    def _name_of(self, node: Any, pointer: str, depth: int = 0) -> str:
        """Return the name in a reference, alone or as the only one of `allOf` and its kind; null does not count."""
        if not isinstance(node, dict) or depth > MAX_UNION_DEPTH:
            return ""
        if isinstance(node.get("$ref"), str):
            return str(node["$ref"].rpartition("/")[2].replace("~1", "/").replace("~0", "~"))
        parts = [part for keyword in _UNIONS for part in _list(node.get(keyword)) if part != {"type": "null"}]
        return self._name_of(parts[0], pointer, depth + 1) if len(parts) == 1 and "properties" not in node else ""

    def _children(self, nodes: _Nodes, *tokens: str) -> _Nodes:
        """Return the schemas at `tokens` below each of these schemas and of those that apply with them."""
        children: _Nodes = []
        for node, pointer in self._applied(nodes, set()):
            value = node
            for token in tokens:
                value = value.get(token) if isinstance(value, dict) else None
            if isinstance(value, dict):
                children.append((value, join(pointer, *tokens)))
        return children

    def _applied(
        self, nodes: Iterable[tuple[Any, str]], visited: set[str], depth: int = 0
    ) -> Iterator[tuple[Any, str]]:
        """Yield the schemas with the targets of their references and with the parts of their unions, each once."""
        for value, location in nodes:
            node, pointer = self._follow(value, location)
            if isinstance(node, dict) and depth <= MAX_UNION_DEPTH and pointer not in visited:
                visited.add(pointer)
                yield node, pointer
                for keyword in _UNIONS:
                    parts = [(part, join(pointer, keyword, i)) for i, part in enumerate(_list(node.get(keyword)))]
                    yield from self._applied(parts, visited, depth + 1)

    def _follow(self, node: Any, pointer: str) -> tuple[Any, str]:
        try:
            return self._resolver.follow(node, pointer)
        except BrokenReference:
            return None, pointer


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
