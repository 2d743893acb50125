"""Which object OpenAPI puts where: the fixed fields of every object, and where a reference may stand.

A place holds an object (`Schema`), a list of them (`[Schema]`) or a map to them (`{Schema}`). What is not in the table
(examples, defaults, extensions) is data, and nothing in data is ever taken for OpenAPI. One table serves 2.0 to 3.2,
whose fields do not contradict each other. Specification: OpenAPI 2.0, 3.0.4, 3.1.2 and 3.2.0, the fixed fields of each
object.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
"""The fields of a Path Item Object that hold operations; `query` since 3.2."""

REFERENCEABLE: Final = frozenset(
    {"Callback", "Example", "Header", "Link", "MediaType", "Operation"}
    | {"Parameter", "PathItem", "RequestBody", "Response", "Schema", "SecurityScheme"}
)
"""Objects in whose place a Reference Object may stand. None may for an operation, but real documents have them."""

_FILE_LIKE: Final = ("#", "/", ".json", ".yaml", ".yml")
"""What makes a value of a discriminator's `mapping` a reference rather than the name of a schema."""

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "OpenAPI": {
        "openapi": "text",
        "$self": "text",
        "info": "Info",
        "jsonSchemaDialect": "text",
        "servers": "[Server]",
        "paths": "Paths",
        "webhooks": "{PathItem}",
        "components": "Components",
        "tags": "[Tag]",
        "externalDocs": "ExternalDocs",
    },
    "Swagger": {
        "swagger": "text",
        "info": "Info",
        "host": "text",
        "basePath": "text",
        "schemes": "[text]",
        "consumes": "[text]",
        "produces": "[text]",
        "paths": "Paths",
        "definitions": "{Schema}",
        "parameters": "{Parameter}",
        "responses": "{Response}",
        "securityDefinitions": "{SecurityScheme}",
        "tags": "[Tag]",
        "externalDocs": "ExternalDocs",
    },
    "Info": {
        "title": "text",
        "summary": "text",
        "description": "text",
        "termsOfService": "text",
        "contact": "Contact",
        "license": "License",
        "version": "text",
    },
    "Contact": {"name": "text", "url": "text", "email": "text"},
    "License": {"name": "text", "identifier": "text", "url": "text"},
    "Server": {"url": "text", "description": "text", "name": "text", "variables": "{ServerVariable}"},
    "ServerVariable": {"enum": "[text]", "default": "text", "description": "text"},
    "Components": {
        "schemas": "{Schema}",
        "responses": "{Response}",
        "parameters": "{Parameter}",
        "examples": "{Example}",
        "requestBodies": "{RequestBody}",
        "headers": "{Header}",
        "securitySchemes": "{SecurityScheme}",
        "links": "{Link}",
        "callbacks": "{Callback}",
        "pathItems": "{PathItem}",
        "mediaTypes": "{MediaType}",
    },
    "Paths": {"*": "PathItem"},
    "PathItem": {
        "summary": "text",
        "description": "text",
        **dict.fromkeys(METHODS, "Operation"),
        "additionalOperations": "{Operation}",
        "servers": "[Server]",
        "parameters": "[Parameter]",
    },
    "Operation": {
        "tags": "[text]",
        "summary": "text",
        "description": "text",
        "externalDocs": "ExternalDocs",
        "operationId": "text",
        "schemes": "[text]",
        "consumes": "[text]",
        "produces": "[text]",
        "parameters": "[Parameter]",
        "requestBody": "RequestBody",
        "responses": "Responses",
        "callbacks": "{Callback}",
        "servers": "[Server]",
    },
    "ExternalDocs": {"description": "text", "url": "text"},
    "Parameter": {
        "name": "text",
        "in": "text",
        "description": "text",
        "style": "text",
        "type": "text",
        "format": "text",
        "pattern": "text",
        "collectionFormat": "text",
        "items": "Schema",
        "schema": "Schema",
        "examples": "{Example}",
        "content": "{MediaType}",
    },
    "RequestBody": {"description": "text", "content": "{MediaType}"},
    "MediaType": {
        "schema": "Schema",
        "itemSchema": "Schema",
        "examples": "{Example}",
        "encoding": "{Encoding}",
        "prefixEncoding": "[Encoding]",
        "itemEncoding": "Encoding",
    },
    "Encoding": {
        "contentType": "text",
        "headers": "{Header}",
        "style": "text",
        "encoding": "{Encoding}",
        "prefixEncoding": "[Encoding]",
        "itemEncoding": "Encoding",
    },
    "Responses": {"*": "Response"},
    "Response": {
        "summary": "text",
        "description": "text",
        "schema": "Schema",
        "headers": "{Header}",
        "content": "{MediaType}",
        "links": "{Link}",
    },
    "Header": {
        "description": "text",
        "style": "text",
        "type": "text",
        "format": "text",
        "pattern": "text",
        "collectionFormat": "text",
        "items": "Schema",
        "schema": "Schema",
        "examples": "{Example}",
        "content": "{MediaType}",
    },
    "Example": {"summary": "text", "description": "text", "serializedValue": "text", "externalValue": "text"},
    "Link": {"operationRef": "text", "operationId": "text", "description": "text", "server": "Server"},
    "Callback": {"*": "PathItem"},
    "Tag": {
        "name": "text",
        "summary": "text",
        "description": "text",
        "externalDocs": "ExternalDocs",
        "parent": "text",
        "kind": "text",
    },
    "Schema": {
        "$id": "text",
        "$anchor": "text",
        "$dynamicAnchor": "text",
        "title": "text",
        "description": "text",
        "type": "[text]",
        "format": "text",
        "pattern": "text",
        "required": "[text]",
        "contentEncoding": "text",
        "contentMediaType": "text",
        "discriminator": "Discriminator",
        "xml": "XML",
        "externalDocs": "ExternalDocs",
        **dict.fromkeys(
            ("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"), "{Schema}"
        ),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), "[Schema]"),
        **dict.fromkeys(("items", "additionalItems", "unevaluatedItems", "contains"), "Schema"),
        **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "propertyNames"), "Schema"),
        **dict.fromkeys(("not", "if", "then", "else", "contentSchema"), "Schema"),
    },
    "Discriminator": {"propertyName": "text", "mapping": "{text}", "defaultMapping": "text"},
    "XML": {"name": "text", "namespace": "text", "prefix": "text"},
    "SecurityScheme": {
        "type": "text",
        "description": "text",
        "name": "text",
        "in": "text",
        "scheme": "text",
        "bearerFormat": "text",
        "openIdConnectUrl": "text",
    },
}

_OBJECTS: Final = {
    kind: {field: place for field, place in fields.items() if "text" not in place} for kind, fields in FIELDS.items()
}
_TEXTS: Final = {
    kind: {field: place for field, place in fields.items() if "text" in place} for kind, fields in FIELDS.items()
}


def children(kind: str, node: Any) -> Iterator[tuple[str | int, Any, str]]:
    """Yield the objects, lists and maps that stand directly in a place of `kind`: key, value, kind of its place.

    A list where an object belongs, or a map where a list does, is read as several of the same, as it is meant.
    """
    if isinstance(node, list):
        inner = kind.strip("[]{}")
        for index, value in enumerate(node):
            if isinstance(value, dict | list):
                yield index, value, inner
    elif isinstance(node, dict):
        if kind[0] in "[{":
            places: Mapping[str, str] = dict.fromkeys(node, kind[1:-1])
        else:
            places = _OBJECTS[kind]
        everything_else = places.get("*")
        for key, value in node.items():
            if isinstance(value, dict | list):
                place = places.get(key) or (None if key.startswith("x-") else everything_else)
                if place:
                    yield key, value, place


def references(kind: str, node: Any) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield where in an object of `kind` references stand: the mapping, the key in it, and the kind of its target."""
    if not isinstance(node, dict):
        return
    if kind in REFERENCEABLE and isinstance(node.get("$ref"), str):
        yield node, "$ref", kind
    if kind == "Schema" and isinstance(node.get("$dynamicRef"), str) and not node["$dynamicRef"].startswith("#"):
        yield node, "$dynamicRef", kind
    if kind == "Discriminator" and isinstance(node.get("mapping"), dict):
        for name, value in node["mapping"].items():
            if isinstance(value, str) and any(mark in value for mark in _FILE_LIKE):
                yield node["mapping"], name, "Schema"


def text_fields(kind: str) -> Mapping[str, str]:
    """The fields of an object that hold strings: `text`, or `[text]` for lists and `{text}` for maps of them."""
    return _TEXTS.get(kind, {})
