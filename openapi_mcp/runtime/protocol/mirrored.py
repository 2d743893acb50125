"""Arguments that HTTP headers mirror (`x-mcp-header` in an inputSchema): which they are, and whether both say the same.

Specification: basic/transports/streamable-http of 2026-07-28, "Custom Headers from Tool Parameters". One invalid
annotation makes clients drop the whole tool, so only annotations that every client accepts count here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from ..kept import Kept
from ..types import Schema
from . import headers
from .headers import HEADER_MISMATCH, Headers
from .jsonrpc import Refusal

KEYWORD: Final = "x-mcp-header"
PREFIX: Final = "mcp-param-"

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110 §5.6.2
_TYPES: Final = ("string", "integer", "boolean")
_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_APPLICATORS: Final = (
    "items prefixItems contains additionalItems unevaluatedItems additionalProperties unevaluatedProperties "
    "propertyNames contentSchema allOf anyOf oneOf not if then else"
)
_NESTED: Final = frozenset(_APPLICATORS.split())
_NUMBER: Final = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")
_MAX_SAFE: Final = 2**53 - 1
"""Beyond it clients in JavaScript cannot tell integers apart, so they send no header."""


def header_arguments(input_schema: Schema) -> Mapping[tuple[str, ...], str]:
    """The arguments that are mirrored: the path of properties to each, and what follows `Mcp-Param-` in its header."""
    places = (place for place in _reachable(_Place(input_schema, (), ())) if KEYWORD in place.schema)
    return _unique([place for place in places if _fault(place) is None])


_KNOWN: Final = Kept(header_arguments)


def problem_of(schema: Schema) -> list[tuple[tuple[str | int, ...], str]]:
    """What is wrong with the annotations of an inputSchema: where each wrong one stands (a path in JSON), and why.

    Without these the schema is one that clients accept.
    """
    problems: list[tuple[tuple[str | int, ...], str]] = []
    seen: set[str] = set()
    for place in _everywhere(_Place(schema, (), ())):
        if KEYWORD not in place.schema:
            continue
        fault = _fault(place)
        name = str(place.schema[KEYWORD]).lower()
        if fault is None and name in seen:
            fault = "another argument has the same header"
        if fault is None:
            seen.add(name)
        else:
            problems.append(((*place.tokens, KEYWORD), fault))
    return problems


def refusal_of(input_schema: Schema, arguments: Mapping[str, Any], http: Headers) -> Refusal | None:
    """Why a call is refused whose headers do not say what its arguments say (-32020, HTTP status 400)."""
    for path, suffix in _KNOWN.of(input_schema).items():
        name = PREFIX + suffix.lower()
        if not _agree(_value_at(arguments, path), name, http):
            message = f"The header Mcp-Param-{suffix} must say what params.arguments.{'.'.join(path)} says."
            return Refusal(HEADER_MISMATCH, message)
    return None


@dataclass(frozen=True, slots=True)
class _Place:
    """A schema within a schema: how JSON leads to it, and `path`, which names lead an argument to it, if names do."""

    schema: Schema
    tokens: tuple[str | int, ...]
    path: tuple[str, ...] | None


def _reachable(place: _Place) -> Iterator[_Place]:
    """A schema and those reached from it by `properties` alone."""
    yield place
    properties = place.schema.get("properties")
    if place.path is None or not isinstance(properties, dict):
        return
    for name, schema in properties.items():
        if isinstance(schema, dict):
            yield from _reachable(_Place(schema, (*place.tokens, "properties", name), (*place.path, name)))


def _everywhere(place: _Place) -> Iterator[_Place]:
    """A schema and all within it, in the order in which they are written."""
    yield place
    for keyword, value in place.schema.items():
        for tokens, schema in _within(keyword, value):
            is_step = keyword == "properties" and place.path is not None
            path = (*(place.path or ()), str(tokens[-1])) if is_step else None
            yield from _everywhere(_Place(schema, (*place.tokens, *tokens), path))


def _within(keyword: str, value: Any) -> Iterator[tuple[tuple[str | int, ...], Schema]]:
    """The schemas that a keyword holds; what it holds as data is none."""
    held: Any = ()
    if keyword in _MAPS and isinstance(value, dict):
        held = value.items()
    elif keyword in _NESTED and isinstance(value, list):
        held = enumerate(value)
    elif keyword in _NESTED and isinstance(value, dict):
        yield (keyword,), value
    for token, schema in held:
        if isinstance(schema, dict):
            yield (keyword, token), schema


def _fault(place: _Place) -> str | None:
    name = place.schema[KEYWORD]
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        return "the name of a header is a token: letters, digits and !#$%&'*+-.^_`|~"
    if not place.path:
        return "only a property that `properties` alone lead to can be mirrored"
    if place.schema.get("type") not in _TYPES:
        return f"only an argument with one of the types {', '.join(_TYPES)} can be mirrored"
    return None


def _unique(places: list[_Place]) -> Mapping[tuple[str, ...], str]:
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    for place in places:
        found.setdefault(place.schema[KEYWORD].lower(), (place.path or (), place.schema[KEYWORD]))
    return dict(found.values())


def _value_at(arguments: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = arguments
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _agree(value: Any, name: str, http: Headers) -> bool:
    """Whether a header says what an argument says. One without the other agrees only where neither could be there."""
    if name not in http:
        return not _is_mirrored(value)
    text = headers.decoded(headers.value(http, name))
    if text is None or value is None:
        return False
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, int | float):
        return _NUMBER.fullmatch(text) is not None and Decimal(text) == Decimal(repr(value))
    return isinstance(value, str) and text == value


def _is_mirrored(value: Any) -> bool:
    """Whether clients send a header for a value: not for null, objects and lists, nor for what they cannot write."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return abs(value) <= _MAX_SAFE
    return isinstance(value, str | bool)
