"""Read the values of single keywords, and rewrite combinations of keywords that OpenAPI has and JSON Schema has not.

Readers return a value as JSON Schema requires it. They repair a value whose meaning is clear (`"5"` for a number), and
raise InvalidKeyword for any other; the keyword is then left out.

The other functions change one converted schema in place (`nullable` and `unwrap_all_of` return it). They keep the set
of values that it accepts, but for values that no author can have intended; `relax_one_of` adds values.

Specification: JSON Schema Validation 2020-12 sections 6 to 9; OpenAPI 3.0.4 Schema Object (`nullable`,
`exclusiveMinimum`, `discriminator`); OpenAPI 3.2 "Working with Binary Data".
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from .. import plain_text
from ..runtime import media_types
from ..runtime.protocol import headers
from ..runtime.protocol.header_arguments import annotation_problems
from ..runtime.types import Schema

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

HEADER_ANNOTATION: Final = headers.KEYWORD
"""MCP's own keyword, `x-mcp-header`: the header in which clients repeat an argument."""

FORMATS: Final = frozenset(
    {
        *("date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"),
        *("uri", "uri-reference", "uri-template", "iri", "iri-reference", "uuid", "json-pointer", "regex"),
        *("relative-json-pointer", "int32", "int64", "float", "double", "byte", "password"),
    }
)
"""The formats of JSON Schema and OpenAPI. Strict validators refuse a schema with any other; those are added to the
description instead, where a model reads them as well."""


class InvalidKeyword(ValueError):
    """A value that a keyword cannot have; the message is what it must be, such as "a number"."""


def types(value: Any) -> list[str]:
    """Return `type` as a list of distinct types; unknown ones are left out."""
    if isinstance(value, str) and value in TYPES:
        return [value]
    names = value if isinstance(value, list) else [value]
    lowered = [name.lower() for name in names if isinstance(name, str)]
    return [name for name in dict.fromkeys(lowered) if name in TYPES]


def number(value: Any) -> int | float:
    """Return a finite number; a string with a number is converted."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise InvalidKeyword("a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidKeyword("a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidKeyword("a finite number")
    return value


def positive_number(value: Any) -> int | float:
    """Return a number above zero."""
    result = number(value)
    if result <= 0:
        raise InvalidKeyword("a number above zero")
    return result


def count(value: Any) -> int:
    """Return an integer of at least zero."""
    result = number(value)
    if result < 0 or result != int(result):
        raise InvalidKeyword("an integer of at least zero")
    return int(result)


def boolean(value: Any) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise InvalidKeyword("true or false")
    return value


def text(value: Any) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise InvalidKeyword("a string")
    return value


def names(value: Any) -> list[str]:
    """Return a list of distinct strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidKeyword("a list of property names")
    return list(dict.fromkeys(value))


def json_value(value: Any) -> Any:
    """Return any value that JSON can express: no infinity, and no nesting beyond the recursion limit."""
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise InvalidKeyword("a value that JSON can express") from None
    return value


def choices(value: Any) -> list[Any]:
    """Return the value of `enum`: a list of distinct values, at least one."""
    if not isinstance(value, list) or not value:
        raise InvalidKeyword("a list of values, at least one")
    distinct = {json.dumps(json_value(item), sort_keys=True): item for item in value}
    return list(distinct.values())


READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("minimum", "maximum"), number),
    "multipleOf": positive_number,
    **dict.fromkeys(
        (
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "minContains",
            "maxContains",
        ),
        count,
    ),
    "uniqueItems": boolean,
    "required": names,
    "enum": choices,
    "const": json_value,
    "default": json_value,
    **dict.fromkeys(("contentEncoding", "contentMediaType", HEADER_ANNOTATION), text),
}
"""Readers of the keywords without subschemas. Keywords that are in no table are left out of input schemas: identifiers
(a tool has its own definitions) and extensions (they cost a model more than they explain); `examples` are chosen in
`examples.add_example`."""


def accepts(kind: str, value: Any) -> bool:
    """Return whether a value is of a type of JSON Schema."""
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    if isinstance(value, int | float):
        return kind == "number" or (kind == "integer" and value == int(value))
    return isinstance(value, {"string": str, "array": list, "object": dict}.get(kind, ()))


_UNIONS: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if"})
_ANNOTATIONS: Final = frozenset({"description", "default", "deprecated", HEADER_ANNOTATION})
_NULL: Final[Schema] = {"type": "null"}
_MAX_MAPPED: Final = 20
"""Values of a discriminator that are added to a description."""


def _types(schema: Mapping[str, Any]) -> list[str]:
    value = schema.get("type", [])
    return value if isinstance(value, list) else [value]


def _append_description(schema: Schema, sentence: str) -> None:
    schema["description"] = f"{schema['description']} {sentence}" if "description" in schema else sentence


def is_binary(node: Any) -> bool:
    """Return whether a schema is for bytes: `format: binary`, Swagger's `file`, or a binary media type (3.1).

    Generators also write `format: binary` or `file` on an object that has no properties.
    """
    if not isinstance(node, Mapping):
        return False
    names = types(node.get("type", "string"))
    if node.get("type") == "file":
        return True
    is_file = node.get("format") in ("binary", "file")
    if "string" not in names:
        return is_file and names == ["object"] and not node.keys() & {"properties", "allOf", "anyOf", "oneOf"}
    media_type = node.get("contentMediaType")
    raw = isinstance(media_type, str) and "contentEncoding" not in node and not media_types.is_text(media_type)
    return is_file or (raw and "type" in node)


def merge_exclusive_bounds(schema: Schema, node: Mapping[str, Any]) -> None:
    """Replace `exclusiveMinimum: true` beside `minimum` (3.0) by `exclusiveMinimum` with the number."""
    for bound in ("minimum", "maximum"):
        exclusive = "exclusive" + bound.capitalize()
        if node.get(exclusive) is True and bound in schema:
            schema[exclusive] = schema.pop(bound)


def open_if_patterns_are_missing(schema: Schema, node: Mapping[str, Any]) -> None:
    """Remove `additionalProperties` where a pattern was left out: it would apply to the properties of that pattern."""
    patterns = schema.get("patternProperties")
    if patterns is not None and len(patterns) < len(node["patternProperties"]):
        schema.pop("additionalProperties", None)
        schema.pop("unevaluatedProperties", None)


def drop_contradiction(schema: Schema) -> str:
    """Move or remove `enum`, or remove `type`, where no value has the type; return the complaint or an empty text.

    Many documents write the values of an array's items beside `items`, where they would have to be arrays.
    """
    names, values = _types(schema), schema.get("enum")
    if not names or not values or any(accepts(name, value) for name in names for value in values):
        return ""
    structured = {"array", "object"} & set(names)  # the enum is meant for the items or properties
    keyword = "enum" if structured else "type"
    del schema[keyword]
    done = "is left out"
    if "array" in names and _are_items(values, schema.get("items")):
        schema["items"] = {**schema["items"], "enum": values}
        done = "is used for its items"
    return f"no value of `enum` is of the type {' or '.join(names)}; `{keyword}` {done}"


def _are_items(values: Iterable[Any], items: Any) -> bool:
    """Return whether all values are of the type of these items, whose own schema does not enumerate them already."""
    if not isinstance(items, dict) or items.keys() & {"enum", "const", "$ref"}:
        return False
    return all(any(accepts(name, value) for name in _types(items)) for value in values)


def add_items(schema: Schema) -> None:
    """Add `items: {}` to an array without it: some model APIs refuse it otherwise."""
    if "array" in _types(schema) and not schema.keys() & {"items", "prefixItems"}:
        schema["items"] = {}


def encode_bytes(schema: Schema, node: Mapping[str, Any]) -> None:
    """Make a schema for bytes one for base64 text; keywords for the length and form of the bytes do not apply to it."""
    if not is_binary(node):
        return
    for keyword in ("minLength", "maxLength", "pattern", "format", "contentSchema", "additionalProperties"):
        schema.pop(keyword, None)
    schema["type"] = ["string", "null"] if "null" in _types(schema) else "string"
    schema["contentEncoding"] = "base64"
    _append_description(schema, "The bytes in base64.")


def describe_unsupported(schema: Schema, node: Mapping[str, Any]) -> None:
    """Add to the description: formats that JSON Schema does not have, and the discriminator of a union."""
    kind = node.get("format")
    if isinstance(kind, str) and kind not in FORMATS and not is_binary(node) and plain_text.line(kind, 40):
        _append_description(schema, f"Format: {plain_text.line(kind, 40)}.")
    discriminator = node.get("discriminator")
    if isinstance(discriminator, dict) and schema.keys() & {"oneOf", "anyOf"}:
        name, values = discriminator.get("propertyName"), _discriminator_values(discriminator, node)
        if isinstance(name, str) and 0 < len(values) <= _MAX_MAPPED:
            _append_description(
                schema,
                plain_text.trim(
                    f"`{plain_text.line(name)}` selects the alternative: {plain_text.line(', '.join(values), 500)}."
                ),
            )


def _discriminator_values(discriminator: Mapping[str, Any], node: Mapping[str, Any]) -> list[str]:
    """Return the values of a discriminator: those of its mapping, else the names of the schemas."""
    mapping = discriminator.get("mapping")
    if isinstance(mapping, dict) and mapping:
        return list(mapping)
    options = node.get("oneOf", node.get("anyOf"))
    refs = [option.get("$ref") if isinstance(option, dict) else None for option in _list(options)]
    return [ref.rpartition("/")[2] for ref in refs if isinstance(ref, str)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def relax_one_of(schema: Schema) -> None:
    """Replace `oneOf` by `anyOf`; where there is an `anyOf` too, both apply."""
    if "oneOf" not in schema:
        return
    if "anyOf" in schema:
        schema["allOf"] = [*schema.get("allOf", []), {"anyOf": schema.pop("oneOf")}]
    else:
        schema["anyOf"] = schema.pop("oneOf")


def nullable(schema: Schema) -> Schema:
    """Return the schema changed to accept null as well."""
    if schema.keys() & _UNIONS:
        if _NULL in schema.get("anyOf", []):
            return schema
        outer: Schema = {key: schema.pop(key) for key in _ANNOTATIONS & schema.keys()}
        return {"anyOf": [schema, dict(_NULL)], **dict(sorted(outer.items()))}
    if "type" in schema and "null" not in _types(schema):
        schema["type"] = [*_types(schema), "null"]
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema


def drop_invalid_header(schema: Schema) -> str:
    """Remove an `x-mcp-header` that clients refuse for its name or type; return the complaint, or an empty string.

    A schema without a type is not judged: the target of its reference may have one.
    """
    if HEADER_ANNOTATION not in schema or "type" not in schema:
        return ""
    property_schema = {keyword: schema[keyword] for keyword in ("type", HEADER_ANNOTATION)}
    reasons = [reason for _, reason in annotation_problems({"type": "object", "properties": {"it": property_schema}})]
    if not reasons:
        return ""
    del schema[HEADER_ANNOTATION]
    return f"`{HEADER_ANNOTATION}` is left out: {reasons[0]}"


def unwrap_all_of(schema: Schema) -> Schema:
    """Return the only schema of an `allOf` with the annotations around it; any other schema unchanged."""
    if len(schema.get("allOf", [])) != 1 or schema.keys() - _ANNOTATIONS != {"allOf"}:
        return schema
    inner: Schema = schema.pop("allOf")[0]
    if "$ref" not in inner:  # a plain schema, which others share
        return {**inner, **schema}
    inner.update(schema)
    return inner
