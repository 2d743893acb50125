"""How each property of a form or multipart body is written, with the specification's defaults applied.

The document's own schema decides, not the converted one: there, bytes and base64 text look alike. Specification:
OpenAPI 3.2 Encoding Object ("Common Fixed Fields", "Fixed Fields for RFC6570-style Serialization"), Media Type
Object.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from . import keywords
from .document import join
from .operations import Found
from .resolver import BrokenReference, Resolver
from .runtime import media_types
from .runtime.models import Encoding, Style
from .runtime.types import JsonObject, Schema
from .schema_parts import is_binary, parts_of
from .xml_nodes import xml_document

_STYLED: Final = ("style", "explode", "allowReserved")
"""Any of these makes a property be written like a query parameter (OpenAPI 3.2, "RFC6570-style Serialization")."""

_STRUCTURE: Final = frozenset(
    {"type", "properties", "items", "enum", "const", "allOf", "anyOf", "oneOf", "not", "format"}
)


def encodings(media: Mapping[str, Any], schema: Found, resolver: Resolver) -> dict[str, Encoding]:
    """An Encoding for each declared property of an object; for the items of an array under `0`, `1`, … and `*`."""
    given = media.get("encoding")
    given = given if isinstance(given, dict) else {}
    properties = declared(*schema, resolver).items()
    found = {name: _encoding(given.get(name), *place, resolver, name) for name, place in properties}
    return found | _positional(media, schema, resolver)


def declared(node: Any, pointer: str, resolver: Resolver) -> dict[str, Found]:
    """The properties of a schema, of what it refers to and of its alternatives; the first of a name counts."""
    found: dict[str, Found] = {}
    waiting, seen = [(node, pointer)], set[str]()
    while waiting:
        for part, place in parts_of(resolver, *waiting.pop(0)):
            if place in seen:
                continue
            seen.add(place)
            properties = part.get("properties")
            for name, value in properties.items() if isinstance(properties, dict) else ():
                found.setdefault(name, (value, join(place, "properties", name)))
            waiting += _alternatives(part, place)
    return found


def _alternatives(part: Mapping[str, Any], pointer: str) -> Iterator[Found]:
    for keyword in ("anyOf", "oneOf"):
        options = part.get(keyword)
        for index, option in enumerate(options) if isinstance(options, list) else ():
            yield option, join(pointer, keyword, index)


def _positional(media: Mapping[str, Any], schema: Found, resolver: Resolver) -> dict[str, Encoding]:
    """3.2's encodings of the items of an array."""
    found: dict[str, Encoding] = {}
    node, pointer = resolved(*schema, resolver)
    if not isinstance(node, dict):
        return found
    first, rest = media.get("prefixEncoding"), media.get("itemEncoding")
    prefix = node.get("prefixItems")
    for index, encoding in enumerate(first if isinstance(first, list) else []):
        inner = prefix[index] if isinstance(prefix, list) and index < len(prefix) else {}
        found[str(index)] = _encoding(encoding, inner, join(pointer, "prefixItems", index), resolver)
    if isinstance(rest, dict):
        found["*"] = _encoding(rest, node.get("items", {}), join(pointer, "items"), resolver)
    return found


def resolved(node: Any, pointer: str, resolver: Resolver) -> Found:
    """What a schema is, its reference followed; a broken one is anything."""
    try:
        return resolver.follow(node, pointer)
    except BrokenReference:
        return {}, pointer


def _encoding(given: Any, node: Any, pointer: str, resolver: Resolver, name: str | None = None) -> Encoding:
    """The encoding of one property: as given, else by the type of its schema, of an array by that of its items."""
    given = given if isinstance(given, dict) else {}
    node, pointer = resolved(node, pointer, resolver)
    if any(given.get(field) is not None for field in _STYLED):
        style: Style = next((name for name in get_args(Style) if name == given.get("style")), "form")
        explode = given.get("explode")
        return Encoding(
            style=style,
            explode=explode if isinstance(explode, bool) else style == "form",
            allow_reserved=given.get("allowReserved") is True,
        )
    nests = media_types.is_form(_wanted(given)) or media_types.is_multipart(_wanted(given))
    repeated = name is not None or not nests  # of a named array each item is encoded, of one by its position the whole
    if repeated and isinstance(node, dict) and "array" in keywords.types(node.get("type")):
        node, pointer = resolved(node.get("items", {}), join(pointer, "items"), resolver)
    wanted = _wanted(given)
    is_xml = media_types.is_xml(wanted)
    return Encoding(
        content_type=wanted or _default(node),
        xml=xml_document(node, pointer, resolver, lambda _: None, name=name or "item") if is_xml else None,
        binary=is_binary(node) or (_untyped(node) and bool(wanted) and not _textual(wanted)),
        headers=tuple(_headers(given.get("headers"), resolver, pointer)),
        encoding=encodings(given, (node, pointer), resolver) if nests else {},
    )


def _wanted(given: Mapping[str, Any]) -> str:
    wanted = given.get("contentType")
    return wanted.strip() if isinstance(wanted, str) else ""


def _default(node: Any) -> str:
    """The media type of a property by its schema (the table "Default values for `contentType`")."""
    if not isinstance(node, dict):
        return "text/plain"
    inner = node.get("contentMediaType")
    if is_binary(node) or isinstance(node.get("contentEncoding"), str):
        return inner if isinstance(inner, str) else media_types.OCTET_STREAM
    if isinstance(inner, str) and keywords.types(node.get("type")) == ["string"]:
        return inner
    is_object = "object" in keywords.types(node.get("type")) or ("type" not in node and "properties" in node)
    return "application/json" if is_object else "text/plain"


def _headers(given: Any, resolver: Resolver, pointer: str) -> Iterator[tuple[str, str]]:
    """The headers of a part that have but one value."""
    for name, node in given.items() if isinstance(given, dict) else ():
        header, place = resolved(node, pointer, resolver)
        schema = header.get("schema") if isinstance(header, dict) else None
        schema, _ = resolved(schema, place, resolver)
        value = _only_value(schema) if isinstance(schema, dict) else None
        if isinstance(value, str) and value.isprintable() and name.lower() != "content-type":
            yield name, value


def _only_value(schema: JsonObject) -> Any:
    values = schema.get("enum")
    if isinstance(values, list) and len(values) == 1:
        return values[0]
    return schema.get("const", schema.get("default"))


def _untyped(node: Any) -> bool:
    return node is True or (isinstance(node, dict) and not node.keys() & _STRUCTURE)


def _textual(content_type: str) -> bool:
    return all(media_types.is_text(entry) for entry in media_types.alternatives(content_type))


def fitted(schema: Schema, encoding: Encoding) -> Schema:
    """The schema of a property for what its encoding takes.

    That is base64 for bytes that no schema speaks of, and the text of another language than JSON (XML) beside the
    object that it stands for.
    """
    if encoding.binary:
        return _bytes_in(schema, encoding.content_type)
    if encoding.encoding:
        return _fields_in(schema, encoding.encoding)
    written = encoding.style is None and not media_types.is_json(encoding.content_type)
    if written and schema.get("type") == "object" and encoding.content_type != "text/plain":
        named = media_types.essence(encoding.content_type)
        return {"anyOf": [schema, {"type": "string", "description": f"The same as {named} text."}]}
    return schema


def _fields_in(schema: Schema, rules: Mapping[str, Encoding]) -> Schema:
    """The schema of what is a form, or multipart, itself."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    return {**schema, "properties": {name: fitted_by_name(name, inner, rules) for name, inner in properties.items()}}


def fitted_by_name(name: str, schema: Schema, rules: Mapping[str, Encoding]) -> Schema:
    """The schema of a property, for its own encoding where it has one."""
    return fitted(schema, rules[name]) if name in rules else schema


def _bytes_in(schema: Schema, content_type: str) -> Schema:
    if "array" in schema.get("type", ()):
        items = schema.get("items", {})
        return {**schema, "items": _bytes_in(items, content_type)}
    if schema.keys() & {"contentEncoding", "$ref"}:
        return schema
    return {**schema, **binary_schema(content_type)}


def binary_schema(content_type: str) -> Schema:
    """The schema of bytes in an argument: base64 text, with the media type where that is one."""
    schema: Schema = {"type": "string", "contentEncoding": "base64", "description": "The bytes in base64."}
    names = media_types.alternatives(content_type)
    if len(names) == 1 and not media_types.is_range(names[0]) and names[0] != media_types.OCTET_STREAM:
        schema["contentMediaType"] = names[0]
    return schema
