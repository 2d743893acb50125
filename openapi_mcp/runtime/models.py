"""`Tool`, the waist of the project: all that is needed to list an operation and to call it, as frozen values.

The compile side makes these, the live server keeps them in memory, a generated package writes them as source.
Everything is resolved: no reference, no default left to look up, nothing that needs the document again.
Specification: OpenAPI 3.2 Parameter, Media Type, Encoding, XML and Security Scheme Objects.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .types import ToolDescription

Location: TypeAlias = Literal["path", "query", "querystring", "header", "cookie", "body", "media_type"]
Style: TypeAlias = Literal[
    "matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "deepObject", "cookie", "tabDelimited"
]
"""OpenAPI's styles, and `tabDelimited` for Swagger 2.0's collectionFormat `tsv`, which OpenAPI 3 dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One input of a tool and where it goes on the wire.

    `name` is the property of the tool's inputSchema, `wire_name` the name in the document. `location` is OpenAPI's
    `in`; or `body`: the whole request body where `wire_name` is None, else one property of an object body; or
    `media_type`: which of the body's media types to send (`wire_name` is None).
    `style`, `explode`, `allow_reserved` serialise parameters (not bodies); `content_type` replaces them for a
    `content` parameter, whose value is serialised by that media type first, and `media` says what is known of that
    besides: how the fields of a form are written, and what XML is made of.
    """

    name: str
    location: Location
    wire_name: str | None = None
    required: bool = False
    style: Style = "simple"
    explode: bool = False
    allow_reserved: bool = False
    content_type: str | None = None
    media: "MediaType | None" = None
    items_style: Style | None = None
    """Swagger 2.0 only: the style that joins the inner arrays of an array of arrays (`items.collectionFormat`)."""


XmlNodeType: TypeAlias = Literal["element", "attribute", "text", "cdata", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlNode:
    """What one schema is in an XML document (an XML Object), with the specification's defaults already applied.

    `name` None is the inferred name: that of the property which the schema describes, or whose array's items it does.
    `properties` are in the document's order; `additional` describes all others. An array has `items`, and its first
    items may have `prefix_items`. `ref` names a definition of the document whose nodes stand in this node. Of
    `alternatives` (`anyOf`, `oneOf`) one is chosen by the value: the first whose `when` holds (a property and the
    values that tell it apart), else the one that knows most of the value's properties.
    """

    node_type: XmlNodeType = "element"
    name: str | None = None
    namespace: str | None = None
    prefix: str | None = None
    properties: Mapping[str, "XmlNode"] = field(default_factory=dict)
    additional: "XmlNode | None" = None
    items: "XmlNode | None" = None
    prefix_items: "tuple[XmlNode, ...]" = ()
    ref: str | None = None
    alternatives: "tuple[XmlNode, ...]" = ()
    when: tuple[str, tuple[Any, ...]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlDocument:
    """The XML document that a body is: its root element, and the schemas that are referred to, by name."""

    root: XmlNode
    definitions: Mapping[str, XmlNode] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How one property of a form or multipart body is written, with the specification's defaults already applied.

    A form property with a `style` is written like a query parameter; without one, as `content_type` says. `binary`
    means the argument is base64 text and the wire carries the bytes. `headers` are fixed part headers (name, value).
    `xml` describes the property where its content type is XML. `encoding` describes its own properties or items, as
    `MediaType.encoding` does, where its content type is a form or multipart.
    """

    content_type: str = "text/plain"
    style: Style | None = None
    explode: bool = False
    allow_reserved: bool = False
    binary: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    xml: XmlDocument | None = None
    encoding: "Mapping[str, Encoding]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaType:
    """One way to send a request body. `content_type` is sent as the document writes it.

    `binary` means the whole body is base64 text in the argument and bytes on the wire. `encoding` has an entry for
    every declared property of a form or multipart body; what is not declared follows `Encoding`'s defaults by value.
    Of a multipart body that is an array it has entries by position: `"0"`, `"1"`, … (3.2's `prefixEncoding`), and `"*"`
    for all others (`itemEncoding`). `xml` describes a body whose content type is XML, where its schema says anything.
    `takes` are the JSON types of the values it is for, where another media type of the body takes others; empty: any.
    """

    content_type: str
    binary: bool = False
    encoding: Mapping[str, Encoding] = field(default_factory=dict)
    xml: XmlDocument | None = None
    takes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBody:
    """The body of an operation: its media types, the default one first."""

    media_types: tuple[MediaType, ...]
    required: bool = False


SecurityType: TypeAlias = Literal["apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityScheme:
    """A Security Scheme Object, as far as a request needs it.

    `name` is its key in the document. `location` and `parameter` say where an apiKey goes (`header`, `query` or
    `cookie`, and its name there); `scheme` is the HTTP authentication scheme: `basic`, `bearer`, others as spelt.
    `variable` is the environment variable that its credential is read from.
    """

    name: str
    type: SecurityType
    variable: str
    location: Literal["header", "query", "cookie"] | None = None
    parameter: str | None = None
    scheme: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(ToolDescription):
    """One operation as an MCP tool: its description (listed) and its request (called).

    `path` is the document's template, with `{name}` where path arguments go. `base_url` is absolute and has no trailing
    slash, or None where the document gives none that can be used: then a call needs the server's own `base_url`.
    `security` is OpenAPI's OR of ANDs: the first alternative whose schemes all have a credential is used; an empty
    alternative is anonymous; no alternatives at all means the operation asks for none.
    `accept` is the Accept header: the media types of the documented answers, most wanted first.
    """

    method: str
    path: str
    base_url: str | None = None
    arguments: tuple[Argument, ...] = ()
    body: RequestBody | None = None
    security: tuple[tuple[SecurityScheme, ...], ...] = ()
    accept: str = "application/json, */*;q=0.5"
    operation_id: str | None = None
    tags: tuple[str, ...] = ()
    deprecated: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
