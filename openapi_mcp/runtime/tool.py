"""`Tool`: all that is needed to list an operation as an MCP tool and to call it, as frozen values.

The compile side makes tools from a document, the live server holds them in memory, a generated package contains them as
source. References and defaults are resolved: a tool is listed and called without the document. `hints` returns
the ToolAnnotations of a request.

Specification: OpenAPI 3.2 Parameter, Media Type, Encoding, XML and Security Scheme Objects; MCP server/tools
("ToolAnnotations"); RFC 9110 §9.2.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from .types import ToolDescription

READ_ONLY_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "QUERY"})
"""Methods that change nothing (RFC 9110 §9.2.1, and QUERY). TRACE is not one: it shows what proxies added."""

DESTRUCTIVE_WORDS: Final = frozenset(
    {"cancel", "clear", "deactivate", "delete", "deletion", "deprovision", "deregister", "destroy", "discard", "drop"}
    | {"erase", "flush", "invalidate", "kill", "prune", "purge", "remove", "removal", "reset", "revoke", "terminate"}
    | {"truncate", "uninstall", "unregister", "wipe"}
)
"""Words that name the loss of something. Only complete words count: `undelete` and `dropdown` are others."""

_HINTS_BY_METHOD: Final[Mapping[str, Mapping[str, bool]]] = {
    "POST": {"idempotentHint": False},
    "PUT": {"destructiveHint": True, "idempotentHint": True},
    "PATCH": {"destructiveHint": True, "idempotentHint": False},
    "DELETE": {"destructiveHint": True, "idempotentHint": True},
}

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_VARIABLE: Final = re.compile(r"\{[^{}]*\}")
_NAMING_SEGMENTS: Final = 2
"""Segments at the end of a path that name its action: `/tokens/revoke/{id}/self`."""


def hints(method: str, path: str = "", operation_id: str | None = None) -> dict[str, bool]:
    """Return the ToolAnnotations of a request; an unknown method is destructive. An API is always an open world.

    A hint is stated where the method or a name says so. MCP's default of `destructiveHint` is true, and false promises
    "only additive updates", which a POST does not: there it is left out, and true where a name has a destructive word.
    """
    if method in READ_ONLY_METHODS:
        return {"readOnlyHint": True, "openWorldHint": True}
    own = _HINTS_BY_METHOD.get(method, {"destructiveHint": True})
    if not DESTRUCTIVE_WORDS.isdisjoint([*words(operation_id or ""), *_path_words(path)]):
        own = {"destructiveHint": True, **own}
    return {"readOnlyHint": False, **own, "openWorldHint": True}


def words(text: str) -> list[str]:
    """Return the words of a name in camelCase, snake_case or others, in lower case: `deleteAll` is delete, all."""
    return [word.lower() for word in _WORD.findall(text)]


def named_segments(path: str) -> list[str]:
    """Return the segments of a path without its variables; those without any word are left out."""
    return [segment for segment in _VARIABLE.sub("", path).split("/") if _WORD.search(segment)]


def _path_words(path: str) -> list[str]:
    return [word for segment in named_segments(path)[-_NAMING_SEGMENTS:] for word in words(segment)]


Location: TypeAlias = Literal["path", "query", "querystring", "header", "cookie", "body", "media_type"]
Style: TypeAlias = Literal[
    "matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "deepObject", "cookie", "tabDelimited"
]
"""OpenAPI's styles, and `tabDelimited` for Swagger 2.0's collectionFormat `tsv`, which OpenAPI 3 dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An input of a tool and its location in the request.

    `name` is the property of the tool's inputSchema, `wire_name` the name in the document. `location` is OpenAPI's
    `in`; or `body`: the complete request body if `wire_name` is None, else one property of an object body; or
    `media_type`: the choice among the body's media types (`wire_name` is None).
    `style`, `explode`, `allow_reserved` serialise parameters (not bodies). For a `content` parameter `content_type`
    replaces them: its value is serialised in that media type first, and `media` has the media type's details, such as
    the encoding of a form's fields and the nodes of XML.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A value of an argument that the server's owner chose: a constant, or that of the environment's `variable`.

    The `argument` is none of the tool's, so that no model sees or sets it. With `is_default` it is one of them, and the
    value is sent where a call leaves it out. `is_json`: the text of the variable is JSON. `header` is the name of a
    header of the client's HTTP request, whose value is sent. With a `path` the argument is one of the tool's, and the
    value is that of a property in it: the names that lead there, `*` for each item of a list.
    """

    argument: Argument
    value: Any = None
    variable: str | None = None
    header: str | None = None
    path: tuple[str, ...] = ()
    is_json: bool = False
    is_default: bool = False


XmlNodeType: TypeAlias = Literal["element", "attribute", "text", "cdata", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlNode:
    """The node of an XML document that a schema describes (an XML Object), with the specification's defaults applied.

    `name` None means the inferred name: that of the property that the schema describes, itself or as an array's items.
    `properties` are in the document's order; `additional` describes all others. An array has `items`, and
    `prefix_items` for its first items. `ref` names a definition of the document whose content is this node's. Of
    `alternatives` (`anyOf`, `oneOf`) the value chooses one: the first whose `when` holds (a property and its
    discriminating values), else the one that declares most of the value's properties.
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
    """The XML document of a body: its root element, and the definitions that its nodes refer to, by name."""

    root: XmlNode
    definitions: Mapping[str, XmlNode] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """The encoding of one property of a form or multipart body, with the specification's defaults applied.

    A form property with a `style` is written like a query parameter, one without in its `content_type`. `binary` means
    that the argument is base64 text and the bytes are sent. `headers` are fixed part headers (name, value). `xml`
    describes a property whose content type is XML. `encoding` describes the property's own properties or items, as
    `MediaType.encoding` does, if its content type is a form or multipart.
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
    """A media type of a request body. `content_type` is sent as the document writes it.

    `binary` means that the argument is base64 text and the body is the bytes. `encoding` has an entry for every
    declared property of a form or multipart body; other properties follow `Encoding`'s defaults by their value. For a
    multipart body that is an array it has entries by position: `"0"`, `"1"`, … (3.2's `prefixEncoding`), and `"*"` for
    all others (`itemEncoding`). `xml` describes a body whose content type is XML and whose schema describes one.
    `takes` are the JSON types of the values that are sent in this media type if another one takes other values; empty
    means any. `requires` are the properties that an object must have to be sent in it, if another one requires others.
    """

    content_type: str
    binary: bool = False
    encoding: Mapping[str, Encoding] = field(default_factory=dict)
    xml: XmlDocument | None = None
    takes: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBody:
    """The body of an operation: its media types, the default one first."""

    media_types: tuple[MediaType, ...]
    required: bool = False


SecurityType: TypeAlias = Literal["apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityScheme:
    """The fields of a Security Scheme Object that a request needs.

    `name` is its key in the document. For an apiKey, `location` is `header`, `query` or `cookie`, and `parameter` the
    name there; `scheme` is the HTTP authentication scheme: `basic`, `bearer`, others as the document spells them.
    `variable` is the environment variable from which its credential is read.
    """

    name: str
    type: SecurityType
    variable: str
    location: Literal["header", "query", "cookie"] | None = None
    parameter: str | None = None
    scheme: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(ToolDescription):
    """An operation as an MCP tool: the description that is listed, and the request that a call makes.

    `path` is the document's template, with `{name}` for path arguments. `base_url` is absolute and has no trailing
    slash, or None if the document has no usable one: then a call needs the `base_url` of the server's settings. It is
    a guess where the document names no host, so that the host is the one that the document was read from.
    `presets` are values of arguments that the server's owner chose.
    `security` is OpenAPI's OR of ANDs: the first alternative whose schemes all have a credential is used; an empty
    alternative is anonymous; without alternatives the operation needs no credentials. `required_schemes` are those
    whose credential is a required parameter of the operation too: it is sent whichever alternative is used.
    `accept` is the Accept header: the media types of the documented responses, the preferred one first, or the value
    that the document fixes. `content_type` is the Content-Type that the document fixes for requests without a body.
    `response_headers` are the headers that the document declares for its responses, in lower case. `scopes` are those
    that a client's access token needs, as an OR of ANDs, where the server verifies tokens; none where it is empty. A
    package, which verifies none, leaves them out. `confirm` says whether a person is asked before a call, where that
    does not follow from the annotations; packages leave it out too. `select` is a JMESPath expression that is applied
    to each JSON answer, `max_result_bytes` the limit of a result where that is less than the server's.
    """

    method: str
    path: str
    base_url: str | None = None
    base_url_is_guess: bool = False
    arguments: tuple[Argument, ...] = ()
    presets: tuple[Preset, ...] = ()
    body: RequestBody | None = None
    security: tuple[tuple[SecurityScheme, ...], ...] = ()
    required_schemes: tuple[SecurityScheme, ...] = ()
    accept: str = "application/json, */*;q=0.5"
    content_type: str | None = None
    response_headers: tuple[str, ...] = ()
    scopes: tuple[tuple[str, ...], ...] = field(default=(), compare=False)
    confirm: bool | None = field(default=None, compare=False)
    select: str | None = None
    max_result_bytes: int | None = None
    operation_id: str | None = None
    tags: tuple[str, ...] = ()
    deprecated: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
