"""The parameters of an operation that a model may set, each with its schema and how it is written on the wire.

A parameter that cannot be offered costs only itself, one that is required by the path is always there. Specification:
OpenAPI 3.2 Parameter Object ("style", "explode", "Fixed Fields and considerations"), Path Templating.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from . import keywords
from .document import join
from .errors import Problem
from .operations import Found, Operation
from .resolver import Resolver
from .runtime import headers
from .runtime.models import Location, Style
from .runtime.types import JsonObject

STYLES: Final[Mapping[str, tuple[Style, ...]]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "deepObject"),
    "querystring": ("form",),
    "header": ("simple",),
    "cookie": ("form", "cookie"),
}
"""The styles of each location, the default first."""

_DELIMITED: Final[tuple[Style, ...]] = ("spaceDelimited", "pipeDelimited", "tabDelimited")
"""Swagger 2.0's collectionFormat has these delimiters everywhere, OpenAPI 3 in queries only."""

_EXPLODED: Final = frozenset({"form", "cookie"})
"""Styles whose default is `explode: true`."""

_IGNORED: Final = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that the specification tells to ignore; there is nothing wrong with them."""

_SCHEMA_FIELDS: Final = ("type", "format", "items", "enum", "default", "minimum", "maximum", "pattern")
"""What Swagger 2.0 writes beside the name, and many a 3.x document too."""

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter that is offered. `node` is its schema, which stands at `pointer`.

    `wire_name` is its name in requests and in the path's template, `name` what it is called.
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
    """The Media Type Object, where there is a `content_type`."""
    items_style: Style | None = None


def parameters(
    operation: Operation, resolver: Resolver, secrets: Iterable[tuple[str, str]]
) -> tuple[list[Parameter], list[Problem]]:
    """What an operation's callers may set, path first, then query, header and cookie, each in the document's order.

    `secrets` are the locations and names of what carries a credential, which is never a model's to set. Raises
    BrokenReference where one of the parameters is a reference that leads nowhere.
    """
    reader = _Reader(operation, resolver, secrets)
    found = sorted(reader.parameters(), key=lambda parameter: list(STYLES).index(parameter.location))
    return found, reader.problems


class _Reader:
    """Reads the parameters of one operation."""

    def __init__(self, operation: Operation, resolver: Resolver, secrets: Iterable[tuple[str, str]]) -> None:
        self.problems: list[Problem] = []
        self._operation = operation
        self._resolver = resolver
        self._secrets = {_key(*secret) for secret in secrets}
        path, _, query = operation.path.partition("#")[0].partition("?")
        self._expressions = tuple(dict.fromkeys(_EXPRESSION.findall(path)))
        self._called: dict[str, str] = {}  # what parameters are called that the path has another name for
        self._in_query = frozenset(_EXPRESSION.findall(query))

    def parameters(self) -> Iterator[Parameter]:
        merged: dict[tuple[str, str], Found] = {}
        for value, pointer in self._operation.parameters:
            merged |= self._level(value, pointer)
        merged = self._meant(merged)
        for (location, _), (value, pointer) in merged.items():
            if self._offered(location, value, pointer):
                yield self._parameter(value, pointer)
        declared = {value["name"] for (location, _), (value, _) in merged.items() if location == "path"}
        for name in self._expressions:
            if name not in declared:
                self._problem(self._operation.pointer, f"the path has {{{name}}}, but no parameter says what that is")
                pointer = join(self._operation.pointer, "parameters", name)
                node = {"type": "string"}
                yield Parameter(name=name, wire_name=name, location="path", node=node, pointer=pointer, required=True)

    def _meant(self, merged: dict[tuple[str, str], Found]) -> dict[tuple[str, str], Found]:
        """The same, path parameters under the names that the path has for them: `{ID}`, `{proxy+}`, `{id:[0-9]+}`."""
        declared = {name for location, name in merged if location == "path"}
        free = [name for name in self._expressions if name not in declared]
        found: dict[tuple[str, str], Found] = {}
        for (location, name), (value, pointer) in merged.items():
            alike = [other for other in free if location == "path" and _plain(other) == _plain(name)]
            if name in self._expressions or len(alike) != 1:
                found[location, name] = value, pointer
                continue
            self._problem(pointer, f"the path has {{{alike[0]}}} and not {{{name}}}, which is taken for it")
            found[location, alike[0]] = {**value, "name": alike[0]}, pointer
            self._called[alike[0]] = value["name"]
        return found

    def _level(self, value: Any, pointer: str) -> dict[tuple[str, str], Found]:
        """The parameters of one list, by location and name; of two that are the same the first counts."""
        if not isinstance(value, list):
            if value is not None:
                self._problem(pointer, "`parameters` is a list; this one is left out")
            return {}
        found: dict[tuple[str, str], Found] = {}
        for index, node in enumerate(value):
            place = join(pointer, index)
            if isinstance(node, dict) and isinstance(node.get("$ref"), str):
                node, place = self._resolver.follow(node, place)  # noqa: PLW2901  the parameter itself
            if key := self._identified(node, place):
                if key in found:
                    self._problem(place, f"the {key[0]} parameter {key[1]} is there twice; the first counts")
                found.setdefault(key, (node, place))
        return found

    def _identified(self, node: Any, pointer: str) -> tuple[str, str] | None:
        if not isinstance(node, dict):
            self._problem(pointer, "a parameter is an object; this one is left out")
            return None
        name, location = node.get("name"), node.get("in")
        if not isinstance(name, str) or not name:
            self._problem(pointer, "a parameter has a name; this one is left out")
            return None
        if location not in tuple(STYLES):
            self._problem(pointer, f"the parameter {name} is `in` no known place; it is left out")
            return None
        return _key(str(location), name)

    def _offered(self, location: str, value: JsonObject, pointer: str) -> bool:
        """Whether a model may set it. A secret and what the specification ignores are no defects of the document."""
        name = value["name"]
        if location == "path" and name not in self._expressions and name not in self._in_query:
            self._problem(pointer, f"the path has no {{{name}}}; the parameter is left out")
            return False
        if location == "header" and name.lower() in headers.NOT_ARGUMENTS:
            if name.lower() not in _IGNORED:
                self._problem(pointer, f"the header {name} is not the caller's to choose; the parameter is left out")
            return False
        if location == "header" and not headers.is_name(name):
            self._problem(pointer, f"{name!r} is no header name; the parameter is left out")
            return False
        return _key(location, name) not in self._secrets

    def _parameter(self, value: JsonObject, pointer: str) -> Parameter:
        name: str = value["name"]
        location: Location = value["in"]
        node, place, content_type, media = self._schema(value, pointer)
        if keywords.MIRRORED in value and isinstance(node, dict):
            node = {**node, keywords.MIRRORED: value[keywords.MIRRORED]}
        style = self._style(value, pointer, location)
        explode = value.get("explode")
        return Parameter(
            name=self._called.get(name, name) if location == "path" else name,
            wire_name=name,
            location=location,
            node=node,
            pointer=place,
            required=value.get("required") is True or location == "path",
            description=value.get("description"),
            deprecated=value.get("deprecated") is True,
            style=style,
            explode=explode if isinstance(explode, bool) else style in _EXPLODED,
            allow_reserved=value.get("allowReserved") is True,
            content_type=content_type,
            media=media,
            items_style=_inner_style(value.get("x-items-style")),
        )

    def _schema(self, value: JsonObject, pointer: str) -> tuple[Any, str, str | None, JsonObject]:
        """The schema, where it stands, and of a `content` parameter its media type: name and object."""
        if value.get("schema") is not None:
            return value["schema"], join(pointer, "schema"), None, {}
        content = value.get("content")
        if isinstance(content, dict) and content:
            return self._content(*next(iter(content.items())), join(pointer, "content"))
        beside = {field: value[field] for field in _SCHEMA_FIELDS if field in value}
        meant = "what stands beside its name counts" if beside else "anything is accepted"
        self._problem(pointer, f"the parameter {value['name']} has no schema; {meant}")
        return beside, join(pointer, "schema"), None, {}

    def _content(self, content_type: str, media: Any, pointer: str) -> tuple[Any, str, str | None, JsonObject]:
        media, place = self._resolver.follow(media, join(pointer, content_type))
        media = media if isinstance(media, dict) else {}
        node = {} if media.get("schema") is None else media["schema"]
        return node, join(place, "schema"), content_type, media

    def _style(self, value: JsonObject, pointer: str, location: str) -> Style:
        default, wanted = STYLES[location][0], value.get("style")
        if wanted is None:
            return default
        for style in (*STYLES[location], *_DELIMITED):
            if style == wanted:
                return style
        self._problem(pointer, f"there is no style {wanted} in {location}; {default} is used")
        return default

    def _problem(self, pointer: str, message: str) -> None:
        self.problems.append(Problem(pointer=self._resolver.shown(pointer), message=message, kind="parameter"))


def _plain(name: str) -> str:
    """What a name in a path comes to without what frameworks write around it."""
    return name.strip("{}+*").partition(":")[0].lower()


def _key(location: str, name: str) -> tuple[str, str]:
    """What makes a parameter unique; the names of headers are case-insensitive (RFC 9110 section 5.1)."""
    return location, name.lower() if location == "header" else name


def _inner_style(value: Any) -> Style | None:
    return next((style for style in get_args(Style) if style == value), None)
