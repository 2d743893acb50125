"""The MCP revisions: one table of their differences, and the rendering that reads it.

No other module names a revision. The differences concern the fields of `Tool`, `CallToolResult` and `Implementation`.

Specification: the schema of each revision, 2024-11-05 to 2026-07-28.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from ..types import MISSING, CallToolResult, Implementation, JsonObject, Schema, ToolDescription, text_content
from . import jsonrpc
from .output_schemas import listed_schema

WRAPPER: Final = "result"
"""The property that holds structured content that is not an object, in revisions that demand an object."""


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object"


def _object_schema(schema: Schema | None) -> Any:
    """Return the listed outputSchema with a root of `type: object`: an object as it is, else as property `result`.

    `$defs` move to the new root, so that `#/$defs/…` keeps its meaning. A Tool's schemas have no other references.
    """
    if schema is None:
        return MISSING
    is_object = _is_object(schema)
    opened = listed_schema({key: value for key, value in schema.items() if key != "type"} if is_object else schema)
    if opened is None:
        return MISSING
    if is_object:
        return {"type": "object", **opened}
    root: Schema = {key: opened[key] for key in ("$schema", "$defs") if key in opened}
    inner = {key: value for key, value in opened.items() if key not in root}
    return {**root, "type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER]}


def _any_schema(schema: Schema | None) -> Any:
    """Return the listed outputSchema, of whatever type."""
    opened = None if schema is None else listed_schema(schema)
    return MISSING if opened is None else opened


def _object_content(value: Any, schema: Schema | None) -> JsonObject:
    """Return structured content as an object: wrapped exactly if its schema is wrapped or it is no object.

    The listed root of an object allows the property `result` too, so that an array in its stead arrives whole.
    """
    if isinstance(value, dict) and (schema is None or _is_object(schema)):
        return value
    return {WRAPPER: value}


def _audio_as_resource(block: JsonObject) -> JsonObject:
    """Return an AudioContent block as an embedded resource, for a revision without audio.

    The URI is a placeholder: the block does not name the source of its bytes.
    """
    resource = {"uri": "attachment:audio", "mimeType": block.get("mimeType"), "blob": block.get("data")}
    return {"type": "resource", "resource": resource}


def _link_as_text(block: JsonObject) -> JsonObject:
    """Return a ResourceLink block as text, for a revision without links."""
    return text_content(f"{block.get('name')}: {block.get('uri')}")


def _default_content(result: CallToolResult) -> Sequence[JsonObject]:
    """Return the content of a result that has none: its structured content as text, or a short sentence."""
    if result.structured_content is not MISSING:
        return (text_content(jsonrpc.encode(result.structured_content).decode()),)
    text = "The call failed and gave no reason." if result.is_error else "The call succeeded without content."
    return (text_content(text),)


def _annotations(tool: ToolDescription) -> Any:
    return dict(tool.annotations) or MISSING


def _title(tool: ToolDescription) -> Any:
    """Return the title, unless it repeats the beginning of the description or the words of the name."""
    title = tool.title or ""
    if not title or _plain(tool.description).startswith(_plain(title)) or _plain(title) == _plain(tool.name):
        return MISSING
    return title


def _plain(text: str) -> str:
    """Return the letters and digits of a text in lower case, as far as a title may be long."""
    return _NO_LETTERS.sub("", text[:_MAX_COMPARED]).lower()


_NO_LETTERS: Final = re.compile(r"[\W_]+")
_MAX_COMPARED: Final = 1000
"""Characters that are compared: more than a title has."""


def _annotations_with_title(tool: ToolDescription) -> Any:
    title = _title(tool)
    return ({} if title is MISSING else {"title": title}) | dict(tool.annotations) or MISSING


_Field = Callable[[ToolDescription], Any]
_OLDEST_TOOL: Final[Mapping[str, _Field]] = {
    "name": lambda tool: tool.name,
    "description": lambda tool: tool.description,
    "inputSchema": lambda tool: tool.input_schema,
}
_TITLED_TOOL: Final[Mapping[str, _Field]] = {
    "name": lambda tool: tool.name,
    "title": _title,
    "description": lambda tool: tool.description,
    "inputSchema": lambda tool: tool.input_schema,
    "outputSchema": lambda tool: _object_schema(tool.output_schema),
    "annotations": _annotations,
}
_ANY_OUTPUT: Final[Mapping[str, _Field]] = {
    "outputSchema": lambda tool: _any_schema(tool.output_schema),
}


_NAME_FIELDS: Final = ("name", "version")
_TITLE_FIELDS: Final = (*_NAME_FIELDS, "title")
_ALL_FIELDS: Final = (*_TITLE_FIELDS, "description", "websiteUrl", "icons")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A revision: a row of the table.

    `tool_fields` maps each field of a listed tool to the function that returns its value. `structured` renders
    structuredContent under its outputSchema; it is None in a revision without structuredContent. `downgrades` replaces
    content blocks that the revision does not have. `logging` tells whether this server sends notifications/message.
    `batches` tells whether JSON-RPC batches exist, and `progress_messages` whether a progress notification has a
    message. `elicitation` names the modes of elicitation that exist, and `asks_by_result` tells whether a server asks
    with the result of a call, which the client repeats, in place of a request of its own.
    """

    name: str
    tool_fields: Mapping[str, _Field]
    structured: Callable[[Any, Schema | None], Any] | None
    implementation_fields: tuple[str, ...] = _ALL_FIELDS
    logging: bool = True
    downgrades: Mapping[str, Callable[[JsonObject], JsonObject]] = field(default_factory=dict)
    batches: bool = False
    progress_messages: bool = True
    elicitation: tuple[str, ...] = ()
    asks_by_result: bool = False

    def tool(self, tool: ToolDescription) -> JsonObject:
        """Return a tool as `tools/list` shows it."""
        fields = {name: field(tool) for name, field in self.tool_fields.items()}
        return {name: value for name, value in fields.items() if value is not MISSING}

    def tool_list(self, tools: Iterable[ToolDescription], next_cursor: str | None) -> JsonObject:
        """Return the result of `tools/list`; the last page has no cursor."""
        listed = [self.tool(tool) for tool in tools]
        return {"tools": listed} if next_cursor is None else {"tools": listed, "nextCursor": next_cursor}

    def call_result(
        self, result: CallToolResult, output_schema: Schema | None, *, explicit: bool = False
    ) -> JsonObject:
        """Return the result of `tools/call` for a tool that was listed with this outputSchema.

        `explicit` adds empty structured content to a result without any. Content is never empty: models and clients
        take an empty list for a failure.
        """
        wire: JsonObject = {"content": [self._block(block) for block in result.content or _default_content(result)]}
        if self.structured is not None and result.structured_content is not MISSING:
            wire["structuredContent"] = self.structured(result.structured_content, output_schema)
        elif self.structured is not None and explicit:
            wire["structuredContent"] = {}
        return {**wire, "isError": result.is_error, **({"_meta": dict(result.meta)} if result.meta else {})}

    def capabilities(self, *, list_changed: bool) -> JsonObject:
        """Return the server's capabilities."""
        tools = {"tools": {"listChanged": list_changed}}
        return {**tools, "logging": {}} if self.logging else tools

    def elicitation_modes(self, capabilities: Any) -> tuple[str, ...]:
        """Return the modes of elicitation that a client has by its capabilities; without a mode it is `form`."""
        declared = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
        if not isinstance(declared, dict):
            return ()
        named = tuple(mode for mode in self.elicitation if isinstance(declared.get(mode), dict))
        return named if {"form", "url"} & declared.keys() else self.elicitation[:1]

    def progress_message(self, message: str) -> JsonObject:
        """Return the member of a progress notification that people read, in revisions that have one."""
        return {"message": message} if self.progress_messages else {}

    def implementation(self, implementation: Implementation) -> JsonObject:
        """Return the name, version and other details of the server, limited to the fields of this revision."""
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
        implementation_fields=_NAME_FIELDS,
        downgrades={"audio": _audio_as_resource, "resource_link": _link_as_text},
        progress_messages=False,
    ),
    Revision(
        name="2025-03-26",
        tool_fields={**_OLDEST_TOOL, "annotations": _annotations_with_title},
        structured=None,
        implementation_fields=_NAME_FIELDS,
        downgrades={"resource_link": _link_as_text},
        batches=True,
    ),
    Revision(
        name="2025-06-18",
        tool_fields=_TITLED_TOOL,
        structured=_object_content,
        implementation_fields=_TITLE_FIELDS,
        elicitation=("form",),
    ),
    Revision(name="2025-11-25", tool_fields=_TITLED_TOOL, structured=_object_content, elicitation=("form", "url")),
)
"""The revisions that `initialize` negotiates, oldest first."""

STATELESS: Final = _by_name(
    Revision(
        name="2026-07-28",
        tool_fields={**_TITLED_TOOL, **_ANY_OUTPUT},
        structured=lambda value, _schema: value,
        logging=False,
        elicitation=("form", "url"),
        asks_by_result=True,
    ),
)
"""The revisions without a handshake: each request stands alone."""

LATEST_HANDSHAKE: Final = HANDSHAKE["2025-11-25"]
"""The answer to an `initialize` that asks for an unknown revision (basic/lifecycle, "Version Negotiation")."""

DEFAULT_OVER_HTTP: Final = HANDSHAKE["2025-03-26"]
"""The revision of an HTTP request without `MCP-Protocol-Version` (transports, "Protocol Version Header")."""
