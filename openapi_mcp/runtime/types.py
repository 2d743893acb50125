"""The MCP values that cross module borders: frozen, standard library only, imported by everything, importing nothing.

Specification: server/tools of each revision. Content blocks are kept in their wire form (dictionaries that `json` can
write); what differs between revisions is decided in `protocol`, never here.
"""

import base64
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
Schema: TypeAlias = dict[str, Any]
"""A JSON Schema 2020-12 schema object (never a boolean schema)."""


class Missing(enum.Enum):
    """The type of `MISSING`: no value at all, where `None` would be JSON's null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


@dataclass(frozen=True, slots=True)
class Implementation:
    """Who a server is (MCP `Implementation`): a programmatic name, a version, and for people a title and more.

    `icons` holds Icon objects by their wire names (`src`, `mimeType`, `sizes`).
    """

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: tuple[Mapping[str, Any], ...] = ()

    def to_wire(self) -> JsonObject:
        """The JSON object of the latest revision, without what is not known."""
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
    """What a client is told about one tool.

    `output_schema` is any schema (2026-07-28 allows that); `protocol.revisions` wraps what older revisions do not.
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
    """The answer to one tool call: content blocks, and the same as data where there is data.

    `structured_content` is any JSON value or `MISSING`; `protocol` wraps non-objects for revisions before 2026-07-28.
    """

    content: tuple[JsonObject, ...]
    structured_content: Any = MISSING
    is_error: bool = False


def text_content(text: str) -> JsonObject:
    """A TextContent block."""
    return {"type": "text", "text": text}


def image_content(data: bytes, mime_type: str) -> JsonObject:
    """An ImageContent block (base64 of the bytes)."""
    return {"type": "image", "data": base64.b64encode(data).decode("ascii"), "mimeType": mime_type}


def audio_content(data: bytes, mime_type: str) -> JsonObject:
    """An AudioContent block (base64 of the bytes)."""
    return {"type": "audio", "data": base64.b64encode(data).decode("ascii"), "mimeType": mime_type}


def blob_content(data: bytes, mime_type: str, uri: str) -> JsonObject:
    """An EmbeddedResource block for bytes of any other kind; `uri` names where they came from."""
    blob = base64.b64encode(data).decode("ascii")
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "blob": blob}}


def error_result(message: str) -> CallToolResult:
    """A result that tells the model what went wrong (`isError: true`)."""
    return CallToolResult(content=(text_content(message),), is_error=True)
