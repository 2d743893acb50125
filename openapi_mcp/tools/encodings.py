"""Read the Encoding of each property of a form or multipart body, with the specification's defaults applied.

The defaults follow the document's own schema, not the converted one: there, bytes and base64 text look alike.
Specification: OpenAPI 3.2 Encoding Object ("Common Fixed Fields", "Fixed Fields for RFC6570-style Serialization"),
Media Type Object.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from ..document.model import join
from ..document.resolver import BrokenReference, Resolver
from ..runtime import media_types
from ..runtime.tool import Encoding, Style
from ..runtime.types import JsonObject, Schema
from ..schemas import keywords
from ..schemas.keywords import is_binary
from ..schemas.subschemas import parts_of
from .operations import LocatedNode
from .xml import xml_document

_STYLE_FIELDS: Final = ("style", "explode", "allowReserved")
"""With any of these, a property is serialized like a query parameter (OpenAPI 3.2, "RFC6570-style Serialization")."""

_TYPE_KEYWORDS: Final = frozenset(
    {"type", "properties", "items", "enum", "const", "allOf", "anyOf", "oneOf", "not", "format"}
)


def encodings(media: Mapping[str, Any], schema: LocatedNode, resolver: Resolver) -> dict[str, Encoding]:
    """Return the Encoding of each declared property of an object, and of an array's items under `0`, `1`, … and `*`."""
    objects = media.get("encoding")
    objects = objects if isinstance(objects, dict) else {}
    properties = declared_properties(*schema, resolver).items()
    named = {name: _encoding(objects.get(name), *node, resolver, name) for name, node in properties}
    return named | _positional(media, schema, resolver)


def declared_properties(node: Any, pointer: str, resolver: Resolver) -> dict[str, LocatedNode]:
    """Return the properties of a schema, its `$ref` targets and its alternatives; the first of each name counts."""
    declared: dict[str, LocatedNode] = {}
    queue, visited = [(node, pointer)], set[str]()
    while queue:
        for part, location in parts_of(resolver, *queue.pop(0)):
            if location in visited:
                continue
            visited.add(location)
            properties = part.get("properties")
            if not resolver.spend(len(properties) if isinstance(properties, dict) else 1):
                return declared
            for name, value in properties.items() if isinstance(properties, dict) else ():
                declared.setdefault(name, (value, join(location, "properties", name)))
            queue += _alternatives(part, location)
    return declared


def _alternatives(part: Mapping[str, Any], pointer: str) -> Iterator[LocatedNode]:
    for keyword in ("anyOf", "oneOf"):
        options = part.get(keyword)
        for index, option in enumerate(options) if isinstance(options, list) else ():
            yield option, join(pointer, keyword, index)


def _positional(media: Mapping[str, Any], schema: LocatedNode, resolver: Resolver) -> dict[str, Encoding]:
    """Return the encodings of an array's items by `prefixEncoding` and `itemEncoding` (OpenAPI 3.2)."""
    encodings_by_index: dict[str, Encoding] = {}
    node, pointer = resolve(*schema, resolver)
    if not isinstance(node, dict):
        return encodings_by_index
    first, rest = media.get("prefixEncoding"), media.get("itemEncoding")
    prefix = node.get("prefixItems")
    for index, encoding in enumerate(first if isinstance(first, list) else []):
        inner = prefix[index] if isinstance(prefix, list) and index < len(prefix) else {}
        encodings_by_index[str(index)] = _encoding(encoding, inner, join(pointer, "prefixItems", index), resolver)
    if isinstance(rest, dict):
        encodings_by_index["*"] = _encoding(rest, node.get("items", {}), join(pointer, "items"), resolver)
    return encodings_by_index


def resolve(node: Any, pointer: str, resolver: Resolver) -> LocatedNode:
    """Return the target of a schema's reference, or the schema itself; `{}` where the reference is broken."""
    try:
        return resolver.follow(node, pointer)
    except BrokenReference:
        return {}, pointer


def _encoding(encoding_object: Any, node: Any, pointer: str, resolver: Resolver, name: str | None = None) -> Encoding:
    """Return the encoding of one property: its Encoding Object, with defaults by the type of its schema (or items)."""
    encoding = encoding_object if isinstance(encoding_object, dict) else {}
    node, pointer = resolve(node, pointer, resolver)
    if any(encoding.get(field) is not None for field in _STYLE_FIELDS):
        style: Style = next((name for name in get_args(Style) if name == encoding.get("style")), "form")
        explode = encoding.get("explode")
        return Encoding(
            style=style,
            explode=explode if isinstance(explode, bool) else style == "form",
            allow_reserved=encoding.get("allowReserved") is True,
        )
    content_type = _content_type(encoding)
    nests = media_types.is_form(content_type) or media_types.is_multipart(content_type)
    by_item = name is not None or not nests  # a named array is encoded item by item, a positional one as one part
    if by_item and isinstance(node, dict) and "array" in keywords.types(node.get("type")):
        node, pointer = resolve(node.get("items", {}), join(pointer, "items"), resolver)
    is_xml = media_types.is_xml(content_type)
    return Encoding(
        content_type=content_type or _default(node),
        xml=xml_document(node, pointer, resolver, lambda _: None, name=name or "item") if is_xml else None,
        binary=is_binary(node) or (_is_untyped(node) and bool(content_type) and not _is_textual(content_type)),
        headers=tuple(_headers(encoding.get("headers"), resolver, pointer)),
        encoding=encodings(encoding, (node, pointer), resolver) if nests else {},
    )


def _content_type(encoding: Mapping[str, Any]) -> str:
    content_type = encoding.get("contentType")
    return content_type.strip() if isinstance(content_type, str) else ""


def _default(node: Any) -> str:
    """Return the default media type of a property (OpenAPI 3.2, the table "Default values for `contentType`")."""
    if not isinstance(node, dict):
        return "text/plain"
    inner = node.get("contentMediaType")
    if is_binary(node) or isinstance(node.get("contentEncoding"), str):
        return inner if isinstance(inner, str) else media_types.OCTET_STREAM
    if isinstance(inner, str) and keywords.types(node.get("type")) == ["string"]:
        return inner
    is_object = "object" in keywords.types(node.get("type")) or ("type" not in node and "properties" in node)
    return "application/json" if is_object else "text/plain"


def _headers(headers: Any, resolver: Resolver, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield the headers of a part that have exactly one possible value."""
    for name, node in headers.items() if isinstance(headers, dict) else ():
        header, location = resolve(node, pointer, resolver)
        schema = header.get("schema") if isinstance(header, dict) else None
        schema, _ = resolve(schema, location, resolver)
        value = _only_value(schema) if isinstance(schema, dict) else None
        if isinstance(value, str) and value.isprintable() and name.lower() != "content-type":
            yield name, value


def _only_value(schema: JsonObject) -> Any:
    values = schema.get("enum")
    if isinstance(values, list) and len(values) == 1:
        return values[0]
    return schema.get("const", schema.get("default"))


def _is_untyped(node: Any) -> bool:
    return node is True or (isinstance(node, dict) and not node.keys() & _TYPE_KEYWORDS)


def _is_textual(content_type: str) -> bool:
    return all(media_types.is_text(entry) for entry in media_types.alternatives(content_type))


def adapt_schema(schema: Schema, encoding: Encoding) -> Schema:
    """Return a property's input schema with the values that its encoding accepts.

    These are base64 text for bytes, also where the schema names no type, and for an object in another format than JSON
    (XML) the text of that format besides the object.
    """
    if encoding.binary:
        return _base64_schema(schema, encoding.content_type)
    if encoding.encoding:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return schema
        return {**schema, "properties": adapt_properties(properties, encoding.encoding)}
    has_format = encoding.style is None and not media_types.is_json(encoding.content_type)
    if has_format and schema.get("type") == "object" and encoding.content_type != "text/plain":
        name = media_types.essence(encoding.content_type)
        return {"anyOf": [schema, {"type": "string", "description": f"The same as {name} text."}]}
    return schema


def adapt_properties(properties: Mapping[str, Schema], rules: Mapping[str, Encoding]) -> dict[str, Schema]:
    """Return the schemas of the properties, each adapted to its encoding where it has one."""
    return {name: adapt_schema(node, rules[name]) if name in rules else node for name, node in properties.items()}


def _base64_schema(schema: Schema, content_type: str) -> Schema:
    if "array" in schema.get("type", ()):
        items = schema.get("items", {})
        return {**schema, "items": _base64_schema(items, content_type)}
    if schema.keys() & {"contentEncoding", "$ref"}:
        return schema
    return {**schema, **binary_schema(content_type)}


def binary_schema(content_type: str) -> Schema:
    """Return the schema of bytes in an argument: base64 text, with the media type where it is a single one."""
    schema: Schema = {"type": "string", "contentEncoding": "base64", "description": "The bytes in base64."}
    names = media_types.alternatives(content_type)
    if len(names) == 1 and not media_types.is_range(names[0]) and names[0] != media_types.OCTET_STREAM:
        schema["contentMediaType"] = names[0]
    return schema
