"""What each MCP revision lets a server say: one table, and the rendering that reads it. No other file names a revision.

Specification: the schema of each revision (`Tool`, `CallToolResult`, `Implementation`), 2024-11-05 to 2026-07-28.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from ..types import MISSING, CallToolResult, Implementation, JsonObject, Schema, ToolDescription, text_content
from . import jsonrpc

WRAPPER: Final = "result"
"""The property that holds structured content which is no object, where a revision demands an object."""


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object"


def _object_schema(schema: Schema) -> Schema:
    """An outputSchema whose root is `type: object`: itself, or one that holds it as the property `result`.

    `$defs` move to the new root, so that `#/$defs/…` keeps its meaning; a Tool's schemas have no other references.
    """
    if _is_object(schema):
        return schema
    root: Schema = {key: schema[key] for key in ("$schema", "$defs") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in root}
    return {**root, "type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER]}


def _object_content(value: Any, schema: Schema | None) -> JsonObject:
    """Structured content as an object: wrapped exactly when its outputSchema is, or when it is no object."""
    if isinstance(value, dict) and (schema is None or _is_object(schema)):
        return value
    return {WRAPPER: value}


def _audio_as_resource(block: JsonObject) -> JsonObject:
    """The bytes of an AudioContent block for a revision that has none; the block does not know where they came from."""
    resource = {"uri": "attachment:audio", "mimeType": block.get("mimeType"), "blob": block.get("data")}
    return {"type": "resource", "resource": resource}


def _said(result: CallToolResult) -> Sequence[JsonObject]:
    """What a result without content says all the same."""
    if result.structured_content is not MISSING:
        return (text_content(jsonrpc.encode(result.structured_content).decode()),)
    return (text_content("It failed and does not say why." if result.is_error else "Done; there is no content."),)


def _annotations(tool: ToolDescription) -> Any:
    return dict(tool.annotations) or MISSING


def _annotations_with_title(tool: ToolDescription) -> Any:
    return ({"title": tool.title} if tool.title else {}) | dict(tool.annotations) or MISSING


_Field = Callable[[ToolDescription], Any]
_OLDEST_TOOL: Final[Mapping[str, _Field]] = {
    "name": lambda tool: tool.name,
    "description": lambda tool: tool.description,
    "inputSchema": lambda tool: tool.input_schema,
}
_TITLED_TOOL: Final[Mapping[str, _Field]] = {
    "name": lambda tool: tool.name,
    "title": lambda tool: tool.title or MISSING,
    "description": lambda tool: tool.description,
    "inputSchema": lambda tool: tool.input_schema,
    "outputSchema": lambda tool: MISSING if tool.output_schema is None else _object_schema(tool.output_schema),
    "annotations": _annotations,
}
_ANY_OUTPUT: Final[Mapping[str, _Field]] = {
    "outputSchema": lambda tool: MISSING if tool.output_schema is None else tool.output_schema,
}


_NAMED: Final = ("name", "version")
_TITLED: Final = (*_NAMED, "title")
_DESCRIBED: Final = (*_TITLED, "description", "websiteUrl", "icons")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One revision: a row of the table.

    `tool_fields` maps the fields of a listed tool to what they hold; `structured` renders structuredContent under its
    outputSchema, or is None where the revision has none; `downgrades` replaces content blocks it does not know;
    `logging` is whether it has notifications/message that this server sends.
    """

    name: str
    tool_fields: Mapping[str, _Field]
    structured: Callable[[Any, Schema | None], Any] | None
    implementation_fields: tuple[str, ...] = _DESCRIBED
    logging: bool = True
    downgrades: Mapping[str, Callable[[JsonObject], JsonObject]] = field(default_factory=dict)
    batches: bool = False
    progress_messages: bool = True

    def tool(self, tool: ToolDescription) -> JsonObject:
        """A tool as `tools/list` shows it."""
        fields = {name: field(tool) for name, field in self.tool_fields.items()}
        return {name: value for name, value in fields.items() if value is not MISSING}

    def tool_list(self, tools: Iterable[ToolDescription], next_cursor: str | None) -> JsonObject:
        """The result of `tools/list`; no cursor means that this is the last page."""
        listed = [self.tool(tool) for tool in tools]
        return {"tools": listed} if next_cursor is None else {"tools": listed, "nextCursor": next_cursor}

    def call_result(
        self, result: CallToolResult, output_schema: Schema | None, *, explicit: bool = False
    ) -> JsonObject:
        """The result of `tools/call` for a tool that was listed with this outputSchema.

        `explicit` gives structured content also to a result that has none. Content is never empty: models and clients
        take an empty list for a failure.
        """
        wire: JsonObject = {"content": [self._block(block) for block in result.content or _said(result)]}
        if self.structured is not None and result.structured_content is not MISSING:
            wire["structuredContent"] = self.structured(result.structured_content, output_schema)
        elif self.structured is not None and explicit:
            wire["structuredContent"] = {}
        return {**wire, "isError": result.is_error}

    def capabilities(self, *, list_changed: bool) -> JsonObject:
        """What the server can do, beside what every server can."""
        tools = {"tools": {"listChanged": list_changed}}
        return {**tools, "logging": {}} if self.logging else tools

    def progress_message(self, message: str) -> JsonObject:
        """The member of a progress notification that people read, where this revision has one."""
        return {"message": message} if self.progress_messages else {}

    def implementation(self, implementation: Implementation) -> JsonObject:
        """Who the server is, as far as this revision asks."""
        wire = implementation.to_wire()
        return {name: wire[name] for name in self.implementation_fields if name in wire}

    def _block(self, block: JsonObject) -> JsonObject:
        downgrade = self.downgrades.get(block.get("type", ""))
        return block if downgrade is None else downgrade(block)


def _by_name(*revisions: Revision) -> Mapping[str, Revision]:
    return MappingProxyType({revision.name: revision for revision in revisions})


HANDSHAKE: Final = _by_name(
    Revision(
        name="2024-11-05",
        tool_fields=_OLDEST_TOOL,
        structured=None,
        implementation_fields=_NAMED,
        downgrades={"audio": _audio_as_resource},
        progress_messages=False,
    ),
    Revision(
        name="2025-03-26",
        tool_fields={**_OLDEST_TOOL, "annotations": _annotations_with_title},
        structured=None,
        implementation_fields=_NAMED,
        batches=True,
    ),
    Revision(name="2025-06-18", tool_fields=_TITLED_TOOL, structured=_object_content, implementation_fields=_TITLED),
    Revision(name="2025-11-25", tool_fields=_TITLED_TOOL, structured=_object_content),
)
"""The revisions that `initialize` negotiates, oldest first."""

STATELESS: Final = _by_name(
    Revision(
        name="2026-07-28",
        tool_fields={**_TITLED_TOOL, **_ANY_OUTPUT},
        structured=lambda value, _schema: value,
        logging=False,
    ),
)
"""The revisions whose every request stands alone."""

LATEST_HANDSHAKE: Final = HANDSHAKE["2025-11-25"]
"""What `initialize` answers when it is asked for a revision it does not know (lifecycle, "Version Negotiation")."""

ASSUMED: Final = HANDSHAKE["2025-03-26"]
"""What an HTTP request without `MCP-Protocol-Version` speaks (transports, "Protocol Version Header")."""
