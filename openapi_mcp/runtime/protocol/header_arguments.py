"""The arguments that `x-mcp-header` repeats in HTTP headers; imported with the first call that has such headers.

One invalid `x-mcp-header` makes clients drop the whole tool, so only annotations that every client accepts count.

Specification: basic/transports/streamable-http of 2026-07-28, "Custom Headers from Tool Parameters".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from ..types import IdentityCache, Schema
from .headers import HEADER_MISMATCH, KEYWORD, Headers, decode_value, header_value
from .jsonrpc import Refusal

PREFIX: Final = "mcp-param-"

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110 §5.6.2
_TYPES: Final = ("string", "integer", "boolean")
_SCHEMA_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_APPLICATORS: Final = (
    "items prefixItems contains additionalItems unevaluatedItems additionalProperties unevaluatedProperties "
    "propertyNames contentSchema allOf anyOf oneOf not if then else"
)
_SCHEMAS: Final = frozenset(_APPLICATORS.split())
_NUMBER: Final = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")
_MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer that clients in JavaScript represent exactly; for a larger one they send no header."""


def header_arguments(input_schema: Schema) -> Mapping[tuple[str, ...], str]:
    """Return the arguments that headers repeat: the property path of each, and its header's name after `Mcp-Param-`."""
    subschemas = _reachable_by_name(_SubschemaPath(input_schema, (), ()))
    annotated = [subschema for subschema in subschemas if KEYWORD in subschema.schema]
    return _unique([subschema for subschema in annotated if _annotation_problem(subschema) is None])


_CACHE: Final = IdentityCache(header_arguments)


def annotation_problems(schema: Schema) -> list[tuple[tuple[str | int, ...], str]]:
    """Return the invalid annotations of an inputSchema: the path of each in JSON, and the reason.

    Clients accept the schema once these annotations are removed.
    """
    problems: list[tuple[tuple[str | int, ...], str]] = []
    names: set[str] = set()
    for subschema in _all_subschemas(_SubschemaPath(schema, (), ())):
        if KEYWORD not in subschema.schema:
            continue
        reason = _annotation_problem(subschema)
        name = str(subschema.schema[KEYWORD]).lower()
        if reason is None and name in names:
            reason = "another argument has the same header"
        if reason is None:
            names.add(name)
        else:
            problems.append(((*subschema.tokens, KEYWORD), reason))
    return problems


def check_header_arguments(input_schema: Schema, arguments: Mapping[str, Any], http: Headers) -> Refusal | None:
    """Return why a call is refused whose headers differ from its arguments (-32020, HTTP status 400), else None."""
    for path, suffix in _CACHE.get(input_schema).items():
        name = PREFIX + suffix.lower()
        if not _matches(_value_at(arguments, path), name, http):
            message = f"The header Mcp-Param-{suffix} must equal params.arguments.{'.'.join(path)} of the message."
            return Refusal(HEADER_MISMATCH, message)
    return None


@dataclass(frozen=True, slots=True)
class _SubschemaPath:
    """A schema within a schema.

    `tokens` is its path in JSON. `path` has the property names that lead to an argument with this schema, or is None if
    other keywords than `properties` lead to it.
    """

    schema: Schema
    tokens: tuple[str | int, ...]
    path: tuple[str, ...] | None


def _reachable_by_name(subschema: _SubschemaPath) -> Iterator[_SubschemaPath]:
    """Yield a schema and those that it reaches by `properties` alone."""
    yield subschema
    properties = subschema.schema.get("properties")
    if subschema.path is None or not isinstance(properties, dict):
        return
    for name, schema in properties.items():
        if isinstance(schema, dict):
            tokens = (*subschema.tokens, "properties", name)
            yield from _reachable_by_name(_SubschemaPath(schema, tokens, (*subschema.path, name)))


def _all_subschemas(subschema: _SubschemaPath) -> Iterator[_SubschemaPath]:
    """Yield a schema and all schemas within it, in their written order."""
    yield subschema
    for keyword, value in subschema.schema.items():
        for tokens, schema in _subschemas(keyword, value):
            is_step = keyword == "properties" and subschema.path is not None
            path = (*(subschema.path or ()), str(tokens[-1])) if is_step else None
            yield from _all_subschemas(_SubschemaPath(schema, (*subschema.tokens, *tokens), path))


def _subschemas(keyword: str, value: Any) -> Iterator[tuple[tuple[str | int, ...], Schema]]:
    """Yield the schemas of a keyword with their paths; data (`default`, `enum`, …) is not searched."""
    children: Any = ()
    if keyword in _SCHEMA_MAPS and isinstance(value, dict):
        children = value.items()
    elif keyword in _SCHEMAS and isinstance(value, list):
        children = enumerate(value)
    elif keyword in _SCHEMAS and isinstance(value, dict):
        yield (keyword,), value
    for token, schema in children:
        if isinstance(schema, dict):
            yield (keyword, token), schema


def _annotation_problem(subschema: _SubschemaPath) -> str | None:
    name = subschema.schema[KEYWORD]
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        return "the name of a header must be a token: letters, digits and !#$%&'*+-.^_`|~"
    if not subschema.path:
        return "only a property that is reached through `properties` alone can be sent as a header"
    if subschema.schema.get("type") not in _TYPES:
        return f"only an argument of type {', '.join(_TYPES)} can be sent as a header"
    return None


def _unique(subschemas: list[_SubschemaPath]) -> Mapping[tuple[str, ...], str]:
    """Return the header of each argument; of several with one name, the first."""
    by_name: dict[str, tuple[tuple[str, ...], str]] = {}
    for subschema in subschemas:
        by_name.setdefault(subschema.schema[KEYWORD].lower(), (subschema.path or (), subschema.schema[KEYWORD]))
    return dict(by_name.values())


def _value_at(arguments: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = arguments
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _matches(value: Any, name: str, http: Headers) -> bool:
    """Return whether a header equals an argument.

    A missing header matches an argument that has no header; a header never matches a missing argument.
    """
    if name not in http:
        return not _has_header(value)
    text = decode_value(header_value(http, name))
    if text is None or value is None:
        return False
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, int | float):
        return _NUMBER.fullmatch(text) is not None and Decimal(text) == Decimal(repr(value))
    return isinstance(value, str) and text == value


def _has_header(value: Any) -> bool:
    """Return whether clients send a header for a value.

    They send none for null, objects, lists, and integers that they cannot represent exactly.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return abs(value) <= _MAX_SAFE_INTEGER
    return isinstance(value, str | bool)
