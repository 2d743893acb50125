"""The outputSchema that is listed: the documented one, reduced to what cannot refuse an answer.

APIs drift from their documents: 1 for "1", null for a list, an object for an array. Clients check structuredContent
against outputSchema and refuse the whole result, so no keyword may be listed that any JSON value fails. What remains
describes: properties, items, and the documented type at the head of a description.

A model pays for it with every list, and sees the names again in every answer. So a large one is listed with its types
alone and as many levels as fit, and where its first level does not fit, it is not listed. A tool without outputSchema
may have structuredContent.

Specification: MCP server/tools ("Output Schema": structured results must conform, and clients should validate them);
JSON Schema 2020-12 Core §10 (a keyword for objects or arrays says nothing about other values).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..types import Schema
from . import jsonrpc

MAX_LISTED_BYTES: Final = 384
"""Bytes of a listed outputSchema. In the lists of 23 documents with at most 200 tools, output schemas were 36 % of the
tokens in the median and are 5 %, at most 24 %, with a quarter of the names of their properties. Of 512 bytes they are
14 % and at most 42 %, with a third of the names; of 1024, 20 % with half of them (benchmarks/README.md)."""

_MAX_LEVELS: Final = 8
"""Levels of properties that are tried: more do not fit."""

_BRANCHES: Final = {"allOf": "allOf", "anyOf": "anyOf", "oneOf": "anyOf"}
"""Combinators, and what they become: two branches that each allow anything would both match, which `oneOf` refuses."""

_ANNOTATIONS: Final = ("$schema", "title")
_LOCAL: Final = "#/$defs/"
_DESCRIBED: Final = frozenset({"$ref", "properties", "items", "prefixItems", "additionalProperties", *_BRANCHES})
_IMPLIED_TYPES: Final = {
    "properties": "object",
    "additionalProperties": "object",
    "items": "array",
    "prefixItems": "array",
}
_MAX_VALUES: Final = 8
"""Values of an enum that a description lists."""


def listed_schema(schema: Schema) -> Schema | None:
    """Return the open schema if it is small, else its types with as many levels of properties as fit, or None."""
    opened = open_schema(schema)
    if len(jsonrpc.encode(opened)) <= MAX_LISTED_BYTES:
        return opened
    if "$defs" in schema:
        return None
    best = None
    for levels in range(1, _MAX_LEVELS + 1):
        shorter = open_schema(_types_only(schema, levels))
        if shorter == best or len(jsonrpc.encode(shorter)) > MAX_LISTED_BYTES:
            break
        best = shorter
    return best


def _types_only(schema: Mapping[str, Any], levels: int) -> Schema:
    """Return a schema without descriptions, with this many levels of properties; items are no level of their own."""
    short: Schema = {keyword: schema[keyword] for keyword in ("type", "enum") if keyword in schema}
    if isinstance(schema.get("items"), Mapping):
        short["items"] = _types_only(schema["items"], levels)
    if not levels:
        return short
    if isinstance(schema.get("properties"), Mapping):
        properties = schema["properties"].items()
        short["properties"] = {
            name: _types_only(part, levels - 1) for name, part in properties if isinstance(part, Mapping)
        }
    if isinstance(schema.get("additionalProperties"), Mapping):
        short["additionalProperties"] = _types_only(schema["additionalProperties"], levels - 1)
    return short


def open_schema(schema: Schema) -> Schema:
    """Return the schema that is listed for a documented output schema; every JSON value conforms to it.

    Its root has no `type`. A `oneOf` becomes `anyOf`; bounds, formats, `required` and the like are left out.
    """
    definitions = schema.get("$defs")
    names = frozenset(definitions) if isinstance(definitions, Mapping) else frozenset[str]()
    opened = _open(schema, names)
    return {**opened, "$defs": _open_each(definitions, names)} if isinstance(definitions, Mapping) else opened


def _open(schema: Any, definitions: frozenset[str]) -> Schema:
    """Return a schema without what can refuse a value; `definitions` are the names that a reference may have."""
    if not isinstance(schema, Mapping):
        return {}
    opened: Schema = {name: schema[name] for name in _ANNOTATIONS if isinstance(schema.get(name), str)}
    for keyword in _DESCRIBED.intersection(schema):
        value = schema[keyword]
        if keyword == "$ref":
            if isinstance(value, str) and value.removeprefix(_LOCAL) in definitions:
                opened["$ref"] = value
        elif keyword == "properties" and isinstance(value, Mapping):
            opened["properties"] = _open_each(value, definitions)
        elif isinstance(value, Mapping) and (part := _open(value, definitions)):
            opened[keyword] = part
        elif isinstance(value, list) and value:
            opened[_BRANCHES.get(keyword, keyword)] = [_open(part, definitions) for part in value]
    description = ": ".join(filter(None, (_types(schema, opened), _text(schema))))
    ordered = {keyword: opened[keyword] for keyword in (*_ANNOTATIONS, *schema, "anyOf") if keyword in opened}
    if description and not opened.keys() - set(_ANNOTATIONS):
        ordered["minLength"] = 0  # refuses nothing; linters report a schema without any keyword of this kind
    return {"description": description, **ordered} if description else ordered


def _open_each(schemas: Mapping[str, Any], definitions: frozenset[str]) -> dict[str, Schema]:
    return {name: _open(schema, definitions) for name, schema in schemas.items()}


def _text(schema: Mapping[str, Any]) -> str:
    description = schema.get("description")
    return description if isinstance(description, str) else ""


def _types(schema: Mapping[str, Any], opened: Schema) -> str:
    """Return the documented types in words; empty where the other keywords imply them."""
    values = schema.get("enum")
    if isinstance(values, list) and 0 < len(values) <= _MAX_VALUES:
        return " or ".join(map(str, values))
    names = schema.get("type")
    types = [names] if isinstance(names, str) else [name for name in names if isinstance(name, str)] if names else []
    return "" if len(types) == 1 and types[0] in _implied(opened) else " or ".join(types)


def _implied(opened: Schema) -> Iterator[str]:
    return (_IMPLIED_TYPES[keyword] for keyword in opened if keyword in _IMPLIED_TYPES)
