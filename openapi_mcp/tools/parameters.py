"""Read the parameters of an operation that a model may set, each with its schema and its serialization.

An invalid parameter is left out alone; a parameter that the path requires is always present. Specification: OpenAPI 3.2
Parameter Object ("style", "explode", "Fixed Fields and considerations"), Path Templating.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from ..document.model import join
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..runtime.request import headers, urls
from ..runtime.tool import Location, Style
from ..runtime.types import JsonObject
from ..schemas import keywords
from ..schemas.examples import examples_of_object
from . import encodings
from .negotiation import NEGOTIATED, DeclaredHeader, read_header
from .operations import LocatedNode, Operation

STYLES: Final[Mapping[str, tuple[Style, ...]]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "deepObject"),
    "querystring": ("form",),
    "header": ("simple",),
    "cookie": ("form", "cookie"),
}
"""The styles of each location, the default first."""

_DELIMITED_STYLES: Final[tuple[Style, ...]] = ("spaceDelimited", "pipeDelimited", "tabDelimited")
"""Styles accepted in every location: Swagger 2.0's collectionFormat allows them there, OpenAPI 3 in queries only."""

_EXPLODED_STYLES: Final = frozenset({"form", "cookie"})
"""Styles whose default is `explode: true`."""

_IGNORED: Final = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that the specification says to ignore; they are no defect."""

_SCHEMA_FIELDS: Final = ("type", "format", "items", "enum", "default", "minimum", "maximum", "pattern")
"""Schema keywords that Swagger 2.0 has in the Parameter Object itself, and many 3.x documents by mistake."""

ParameterKey = tuple[str, str]
"""The identity of a parameter: its location and its name, that of a header in lower case."""

MAX_PARAMETERS: Final = 1000
"""Parameters of an operation. No API has a tenth of them, and no model reads them."""

_STEPS_PER_PARAMETER: Final = 20
"""Reading a parameter, which operations may share, takes as long as this many visits of a schema."""

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter that a model may set. `node` is its schema, `pointer` that of the schema.

    `wire_name` is its name in requests and in the path's template, `name` the document's.
    """

    name: str
    wire_name: str
    location: Location
    node: Any
    pointer: str
    required: bool = False
    description: Any = None
    deprecated: bool = False
    style: Style = "simple"
    explode: bool = False
    allow_reserved: bool = False
    content_type: str | None = None
    media: JsonObject = field(default_factory=dict)
    """The Media Type Object of `content_type`."""
    items_style: Style | None = None
    extension: LocatedNode | None = None
    """Its `x-mcp`."""
    examples: tuple[Any, ...] = ()
    """The first of its own examples, and of those of its media type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationParameters:
    """The parameters of an operation that a model may set, in the order path, query, header, cookie, and Problems.

    `required_secrets` are the identities (see `parameter_key`) of required parameters that carry a credential.
    """

    settable: tuple[Parameter, ...]
    problems: tuple[Problem, ...]
    required_secrets: frozenset[ParameterKey]
    negotiated: Mapping[str, DeclaredHeader]
    """The declared headers Accept and Content-Type, by their names in lower case."""
    has_authorization: bool
    """True if the header Authorization is declared."""


_ORDER: Final[Mapping[str, int]] = {location: index for index, location in enumerate(STYLES)}

SharedParameters = dict[tuple[str, str], "Parameter"]
"""The parameters that were read, by pointer and by their names in requests: operations share many of them."""


def parameters(
    operation: Operation,
    resolver: Resolver,
    secrets: Iterable[tuple[str, str]],
    shared: SharedParameters | None = None,
) -> OperationParameters:
    """Return the parameters of an operation; those of `shared` are not read, nor their defects reported, again.

    Within a location, the order is the document's. `secrets` are locations and names of parameters that carry a
    credential, which a model may never set. Raises BrokenReference where a parameter is a broken reference.
    """
    reader = _ParameterReader(operation, resolver, secrets, {} if shared is None else shared)
    ordered = sorted(reader.parameters(), key=lambda parameter: _ORDER[parameter.location])
    return OperationParameters(
        settable=tuple(ordered),
        problems=tuple(reader.problems),
        required_secrets=frozenset(reader.required_secrets),
        negotiated=reader.negotiated,
        has_authorization=reader.has_authorization,
    )


_NO_SEGMENTS: Final = ("", ".", "..")
"""Values that a segment of a path cannot have: they make it another path (RFC 3986 section 5.2.4)."""


class _ParameterReader:
    """A reader of the parameters of one operation."""

    def __init__(
        self, operation: Operation, resolver: Resolver, secrets: Iterable[tuple[str, str]], shared: SharedParameters
    ) -> None:
        self._shared = shared
        self.problems: list[Problem] = []
        self.required_secrets: set[ParameterKey] = set()
        self.negotiated: dict[str, DeclaredHeader] = {}
        self.has_authorization = False
        self._operation = operation
        self._resolver = resolver
        self._secrets = {parameter_key(*secret) for secret in secrets}
        path, _, query = operation.path.partition("#")[0].partition("?")
        self._expressions = tuple(dict.fromkeys(_EXPRESSION.findall(path)))
        self._document_names: dict[str, str] = {}  # by the name in the path, where that differs
        self._fixed = urls.fixed_pairs(operation.path)
        self._in_query = frozenset(_EXPRESSION.findall(query))

    def parameters(self) -> Iterator[Parameter]:
        merged: dict[tuple[str, str], LocatedNode] = {}
        for value, pointer in self._operation.parameters:
            merged |= self._level(value, pointer)
        merged = self._match_path_names(merged)
        for (location, _), (value, pointer) in merged.items():
            if self._is_settable(location, value, pointer):
                key = pointer, value["name"]
                if value["name"] in self._document_names:
                    yield self._parameter(value, pointer)
                    continue
                if key not in self._shared:
                    self._shared[key] = self._parameter(value, pointer)
                yield self._shared[key]
        declared = {value["name"] for (location, _), (value, _) in merged.items() if location == "path"}
        for name in self._expressions:
            if name not in declared:
                message = f"no parameter describes {{{name}}} of the path; any string is accepted for it"
                self._problem(self._operation.pointer, message)
                pointer = join(self._operation.pointer, "parameters", name)
                node = {"type": "string"}
                yield Parameter(name=name, wire_name=name, location="path", node=node, pointer=pointer, required=True)

    def _match_path_names(self, merged: dict[tuple[str, str], LocatedNode]) -> dict[tuple[str, str], LocatedNode]:
        """Rename path parameters to the similar names in the path: `{ID}`, `{proxy+}`, `{id:[0-9]+}`."""
        declared = {name for location, name in merged if location == "path"}
        undeclared: dict[str, list[str]] = {}
        for name in self._expressions:
            if name not in declared:
                undeclared.setdefault(_bare_name(name), []).append(name)
        renamed: dict[tuple[str, str], LocatedNode] = {}
        for (location, name), (value, pointer) in merged.items():
            similar = undeclared.get(_bare_name(name), []) if location == "path" else []
            if name in self._expressions or len(similar) != 1:
                renamed[location, name] = value, pointer
                continue
            self._problem(pointer, f"the path has {{{similar[0]}}} instead of {{{name}}}; the parameter is used for it")
            renamed[location, similar[0]] = {**value, "name": similar[0]}, pointer
            self._document_names[similar[0]] = value["name"]
        return renamed

    def _level(self, value: Any, pointer: str) -> dict[tuple[str, str], LocatedNode]:
        """Return the parameters of one list by location and name; the first of each counts."""
        if not isinstance(value, list):
            if value is not None:
                self._problem(pointer, "`parameters` is not a list; it is left out")
            return {}
        self._check_number(len(value), pointer)
        by_key: dict[tuple[str, str], LocatedNode] = {}
        for index, node in enumerate(value):
            location = join(pointer, index)
            if isinstance(node, dict) and isinstance(node.get("$ref"), str):
                node, location = self._resolver.follow(node, location)  # noqa: PLW2901  the parameter itself
            if key := self._valid_key(node, location):
                if key in by_key:
                    self._problem(location, f"the {key[0]} parameter {key[1]} is duplicate; the first counts")
                by_key.setdefault(key, (node, location))
        return by_key

    def _check_number(self, count: int, pointer: str) -> None:
        """Raise BrokenReference for more parameters than the operation, or the whole document, may have."""
        if count > MAX_PARAMETERS:
            message = f"there are more than {MAX_PARAMETERS:,} parameters"
        elif not self._resolver.spend(_STEPS_PER_PARAMETER * count):
            message = "the operations of this document have too many parameters together"
        else:
            return
        pointer = self._resolver.display(pointer)
        raise BrokenReference(Problem(pointer=pointer, message=message, kind="parameter"))

    def _valid_key(self, node: Any, pointer: str) -> tuple[str, str] | None:
        if not isinstance(node, dict):
            self._problem(pointer, "the parameter is not an object; it is left out")
            return None
        name, location = node.get("name"), node.get("in")
        if not isinstance(name, str) or not name:
            self._problem(pointer, "the parameter has no name; it is left out")
            return None
        if location not in tuple(STYLES):
            self._problem(pointer, f"the parameter {name} has no valid `in`; it is left out")
            return None
        return parameter_key(str(location), name)

    def _is_settable(self, location: str, value: JsonObject, pointer: str) -> bool:
        """Return whether a model may set the parameter. Secrets and ignored headers are left out without a Problem."""
        name = value["name"]
        key = parameter_key(location, name)
        required = value.get("required") is True
        is_authorization = key == ("header", "authorization")
        self.has_authorization = self.has_authorization or is_authorization
        is_secret = (key in self._secrets or is_authorization) and not (required and _has_one_value(value))
        if location == "query" and name in self._fixed and not is_secret:
            self._report_fixed(value, pointer)
            return False
        if is_secret and required and not _has_default(value) and name not in self._fixed:
            self.required_secrets.add(key)
        if location == "path" and name not in self._expressions and name not in self._in_query:
            self._problem(pointer, f"the path does not contain {{{name}}}; the parameter is left out")
            return False
        if location == "header" and name.lower() in headers.RESERVED_NAMES:
            if name.lower() in NEGOTIATED and not is_secret:
                self.negotiated[name.lower()] = self._declared_header(value, pointer)
            if name.lower() not in _IGNORED:
                self._problem(pointer, f"callers may not set the header {name}; the parameter is left out")
            return False
        if location == "header" and not headers.is_field_name(name):
            self._problem(pointer, f"{name!r} is not a header name; the parameter is left out")
            return False
        return not is_secret

    def _report_fixed(self, value: JsonObject, pointer: str) -> None:
        """Report a parameter that the path's own query sets (`/?comp=list`), unless it has no other value."""
        name, sent = value["name"], self._fixed[value["name"]]
        schema, _ = encodings.resolve(value.get("schema"), join(pointer, "schema"), self._resolver)
        schema = schema if isinstance(schema, dict) else {}
        if sent not in [str(item) for item in _only_values(schema)]:
            self._problem(pointer, f"the path sets {name}={sent}, so the parameter {name} is left out")

    def _declared_header(self, value: JsonObject, pointer: str) -> DeclaredHeader:
        schema = value
        if value.get("schema") is not None:
            schema, _ = encodings.resolve(value["schema"], join(pointer, "schema"), self._resolver)
        return read_header(value, schema if isinstance(schema, dict) else {}, self._examples((value, pointer)), pointer)

    def _parameter(self, value: JsonObject, pointer: str) -> Parameter:
        name: str = value["name"]
        location: Location = value["in"]
        node, schema_pointer, content_type, media = self._schema(value, pointer)
        if keywords.HEADER_ANNOTATION in value and isinstance(node, dict):
            node = {**node, keywords.HEADER_ANNOTATION: value[keywords.HEADER_ANNOTATION]}
        style = self._style(value, pointer, location)
        explode = value.get("explode")
        if location == "path" and style == "simple":
            self._check_segment(name, node, schema_pointer)
        return Parameter(
            name=self._document_names.get(name, name) if location == "path" else name,
            wire_name=name,
            location=location,
            node=node,
            pointer=schema_pointer,
            required=value.get("required") is True or location == "path",
            description=value.get("description"),
            deprecated=value.get("deprecated") is True,
            style=style,
            explode=explode if isinstance(explode, bool) else style in _EXPLODED_STYLES,
            allow_reserved=value.get("allowReserved") is True,
            content_type=content_type,
            media=media,
            items_style=_items_style(value.get("x-items-style")),
            extension=(value["x-mcp"], join(pointer, "x-mcp")) if "x-mcp" in value else None,
            examples=self._examples((value, pointer), (media, schema_pointer.rpartition("/")[0])),
        )

    def _schema(self, value: JsonObject, pointer: str) -> tuple[Any, str, str | None, JsonObject]:
        """Return the schema, its pointer, and of a `content` parameter the media type's name and object."""
        if value.get("schema") is not None:
            return value["schema"], join(pointer, "schema"), None, {}
        content = value.get("content")
        if isinstance(content, dict) and content:
            return self._content(*next(iter(content.items())), join(pointer, "content"))
        schema = {field: value[field] for field in _SCHEMA_FIELDS if field in value}
        consequence = "the keywords beside its name are used" if schema else "any value is accepted"
        self._problem(pointer, f"the parameter {value['name']} has no schema; {consequence}")
        return schema, join(pointer, "schema"), None, {}

    def _content(self, content_type: str, media: Any, pointer: str) -> tuple[Any, str, str | None, JsonObject]:
        media, location = self._resolver.follow(media, join(pointer, content_type))
        media = media if isinstance(media, dict) else {}
        node = {} if media.get("schema") is None else media["schema"]
        return node, join(location, "schema"), content_type, media

    def _examples(self, *nodes: LocatedNode) -> tuple[Any, ...]:
        return tuple(each for node, at in nodes for each in examples_of_object(node, at, self._resolver))

    def _check_segment(self, name: str, node: Any, pointer: str) -> None:
        """Report a path parameter none of whose values can be a segment of a path, so that no call can be made."""
        schema, location = encodings.resolve(node, pointer, self._resolver)
        schema = schema if isinstance(schema, dict) else {}
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        is_segment = f"{{{name}}}" in self._operation.path.partition("?")[0].split("/")
        if is_segment and isinstance(values, list) and values and all(value in _NO_SEGMENTS for value in values):
            allowed = " or ".join(dict.fromkeys(f'"{value}"' for value in values))
            message = f"the path parameter {name} can only be {allowed}, which cannot be sent; every call is refused"
            self._problem(location, message)

    def _style(self, value: JsonObject, pointer: str, location: str) -> Style:
        default, name = STYLES[location][0], value.get("style")
        if name is None:
            return default
        for style in (*STYLES[location], *_DELIMITED_STYLES):
            if style == name:
                return style
        self._problem(pointer, f"the style {name} is not valid in {location}; {default} is used")
        return default

    def _problem(self, pointer: str, message: str) -> None:
        self.problems.append(Problem(pointer=self._resolver.display(pointer), message=message, kind="parameter"))


def _bare_name(name: str) -> str:
    """Return a name of a path expression without the syntax that frameworks add, in lower case."""
    return name.strip("{}+*").partition(":")[0].lower()


def parameter_key(location: str, name: str) -> ParameterKey:
    """Return the identity of a parameter; the names of headers are case-insensitive (RFC 9110 section 5.1)."""
    return location, name.lower() if location == "header" else name


def _has_default(value: JsonObject) -> bool:
    """Return whether a parameter has a default, which the API uses without it: then a call may leave it out."""
    schema = value.get("schema")
    return "default" in value or (isinstance(schema, dict) and "default" in schema)


def _has_one_value(value: JsonObject) -> bool:
    """Return whether the document names the only value of a parameter: then it is no secret."""
    schema = value.get("schema")
    return bool(_only_values(schema if isinstance(schema, dict) else {}))


def _only_values(schema: JsonObject) -> list[Any]:
    """Return the only value that a schema allows, in a list; an empty list where it allows others."""
    enum = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return enum if isinstance(enum, list) and len(enum) == 1 else []


def _items_style(value: Any) -> Style | None:
    return next((style for style in get_args(Style) if style == value), None)
