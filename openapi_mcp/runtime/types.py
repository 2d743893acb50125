"""The MCP values that modules exchange, as frozen dataclasses; standard library only, and no import of the package.

Content blocks are in their wire form (dictionaries that `json` can write). Differences between revisions are handled
in `protocol`, never here. Specification: MCP server/tools of each revision.

`IdentityCache` caches what is computed from schemas. Schemas are dictionaries and cannot be hashed, so the key is the
object's identity.
"""

import base64
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar

JsonObject: TypeAlias = dict[str, Any]
Schema: TypeAlias = dict[str, Any]
"""A JSON Schema 2020-12 schema object (never a boolean schema)."""


class Missing(enum.Enum):
    """The type of `MISSING`: the absence of a value, where `None` would be JSON's null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


@dataclass(frozen=True, slots=True)
class Implementation:
    """A server's identity (MCP `Implementation`): a programmatic name, a version, and for people a title and more.

    `icons` holds Icon objects by their wire names (`src`, `mimeType`, `sizes`).
    """

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: tuple[Mapping[str, Any], ...] = ()

    def to_wire(self) -> JsonObject:
        """Return the JSON object of the latest revision, without the fields that are not set."""
        wire: JsonObject = {"name": self.name, "version": self.version}
        extras = {
            "title": self.title,
            "description": self.description,
            "websiteUrl": self.website_url,
            "icons": [dict(icon) for icon in self.icons],
        }
        return wire | {name: value for name, value in extras.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDescription:
    """The entry of one tool in tools/list.

    `output_schema` describes the documented answer. It is listed without all that could refuse another answer, see
    `protocol.output_schemas`; `protocol.revisions` wraps a root that older revisions do not allow.
    `annotations` holds ToolAnnotations hints by their wire names (`readOnlyHint`, …).
    """

    name: str
    description: str
    input_schema: Schema
    title: str | None = None
    output_schema: Schema | None = None
    annotations: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallToolResult:
    """The result of one tool call: content blocks, and the same as structured content if it is JSON.

    `structured_content` is any JSON value or `MISSING`; `protocol` wraps non-objects for revisions before 2026-07-28.
    `meta` is `_meta`: facts about the result for programs, by names with the prefix `openapi-mcp/`.
    """

    content: tuple[JsonObject, ...]
    structured_content: Any = MISSING
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)


def text_content(text: str) -> JsonObject:
    """Return a TextContent block."""
    return {"type": "text", "text": text}


def image_content(data: bytes, mime_type: str) -> JsonObject:
    """Return an ImageContent block (base64 of the bytes)."""
    return {"type": "image", "data": base64.b64encode(data).decode("ascii"), "mimeType": mime_type}


def audio_content(data: bytes, mime_type: str) -> JsonObject:
    """Return an AudioContent block (base64 of the bytes)."""
    return {"type": "audio", "data": base64.b64encode(data).decode("ascii"), "mimeType": mime_type}


def blob_content(data: bytes, mime_type: str, uri: str) -> JsonObject:
    """Return an EmbeddedResource block for bytes of any other kind; `uri` names their source."""
    blob = base64.b64encode(data).decode("ascii")
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "blob": blob}}


def resource_link(uri: str, name: str, mime_type: str | None = None) -> JsonObject:
    """Return a ResourceLink block: where a file is."""
    block = {"type": "resource_link", "uri": uri, "name": name}
    return block if mime_type is None else {**block, "mimeType": mime_type}


def error_result(message: str) -> CallToolResult:
    """Return a result with `isError: true` and a message for the model."""
    return CallToolResult(content=(text_content(message),), is_error=True)


MAX_CACHED: Final = 4096
"""Entries: enough for the tools of a large document (GitHub has 1,223), each with its two schemas."""

_Value = TypeVar("_Value")


class IdentityCache(Generic[_Value]):
    """A cache of what `compute` returns for a schema, or for another object with an identity.

    Schemas must not change; beyond `MAX_CACHED` the oldest goes.
    """

    def __init__(self, compute: Callable[[Any], _Value]) -> None:
        self._compute = compute
        # The schema is stored too: while it lives, no other object can get its identity.
        self._entries: dict[int, tuple[Any, _Value]] = {}

    def get(self, schema: Any) -> _Value:
        """Return the value for a schema, computed at the first time."""
        entry = self._entries.get(id(schema))
        if entry is None:
            entry = self._entries[id(schema)] = (schema, self._compute(schema))
            if len(self._entries) > MAX_CACHED:
                del self._entries[next(iter(self._entries))]
        return entry[1]
