"""`JudgedDocument`: what `check` judges, with all that rules and signals ask for, computed once."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..adaptation import named
from ..bridge import Bridge
from ..clients.profiles import GENERIC
from ..document.model import Document, join
from ..document.resolver import BrokenReference, Resolver
from ..runtime.tool import Tool
from ..runtime.types import JsonObject
from ..tools.operations import LocatedNode, Operation, operations


@dataclass(frozen=True)
class JudgedDocument:
    """A document as a bridge loaded it, and its tools."""

    bridge: Bridge

    @property
    def document(self) -> Document:
        """The document as OpenAPI 3.x."""
        return self.bridge.document

    @property
    def root(self) -> JsonObject:
        """The root of the document."""
        return self.document.root

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, which are those that options selected."""
        return self.bridge.tools

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the tools would have for any client."""
        config = self.bridge.config
        tools = self.bridge.compilation.tools
        return tuple(tool.name for tool in named(tools, config.prefix, GENERIC, self.bridge.implementation.name))

    @cached_property
    def resolver(self) -> Resolver:
        """The follower of the document's references."""
        return Resolver(self.document)

    @cached_property
    def operations(self) -> list[Operation]:
        """The operations that became tools, in the document's order."""
        labels = {(tool.method, tool.path) for tool in self.tools}
        found, _ = operations(self.document, self.resolver)
        return [each for each in found if (each.method, each.path) in labels]

    @cached_property
    def operations_by_label(self) -> dict[str, Operation]:
        """The operations by `GET /pets`."""
        return {operation.label: operation for operation in self.operations}

    def operation_of(self, tool: Tool) -> Operation | None:
        """Return the operation of a tool."""
        return self.operations_by_label.get(f"{tool.method} {tool.path}")

    def follow(self, node: Any, pointer: str) -> LocatedNode:
        """Return an object and its pointer at the end of its references; an empty one where these are broken."""
        try:
            found, place = self.resolver.follow(node, pointer)
        except BrokenReference:
            return {}, pointer
        return (found, place) if isinstance(found, dict) else ({}, place)

    def parameters(self, operation: Operation) -> Iterator[LocatedNode]:
        """Yield the Parameter Objects of an operation."""
        for nodes, pointer in operation.parameters:
            for index, node in enumerate(nodes if isinstance(nodes, list) else []):
                yield self.follow(node, join(pointer, index))

    def responses(self, operation: Operation) -> Iterator[tuple[str, Any, str]]:
        """Yield status, Response Object and pointer of each response."""
        responses = operation.value.get("responses")
        for status, node in (responses if isinstance(responses, dict) else {}).items():
            if not str(status).startswith("x-"):
                yield str(status), *self.follow(node, join(operation.pointer, "responses", str(status)))

    def request_body(self, operation: Operation) -> LocatedNode:
        """Return the Request Body Object, an empty one where there is none."""
        return self.follow(operation.value.get("requestBody"), join(operation.pointer, "requestBody"))

    def media_types(self, node: Any, pointer: str) -> Iterator[tuple[str, Any, str]]:
        """Yield name, Media Type Object and pointer of each media type of a body or response."""
        content = node.get("content")
        for name, media in (content if isinstance(content, dict) else {}).items():
            if isinstance(media, dict):
                yield str(name), *self.follow(media, join(pointer, "content", str(name)))

    def display(self, pointer: str) -> str:
        """Return a pointer for users."""
        return self.resolver.display(pointer)
