"""Describe the fixed fields of every OpenAPI object: which objects they hold, which are strings, where `$ref` may be.

A field holds an object (`Schema`), a list (`[Schema]`) or a map (`{Schema}`) of objects, or `text`. Everything that is
not in the table (examples, defaults, extensions) is data, and never read as OpenAPI. One table serves 2.0 to 3.2, whose
fields do not contradict each other.

YAML reads `version: 1.10` as a number. Where OpenAPI says that a field is a string, `restore` puts back the text of the
file, which `ScalarTexts` remembers. Values of other fields stay as YAML read them; JSON has no such ambiguity.

Specification: OpenAPI 2.0, 3.0.4, 3.1.2 and 3.2.0, the fixed fields of each object.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..runtime.types import JsonObject

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
"""The fields of a Path Item Object that hold operations; `query` since 3.2."""

REFERENCEABLE: Final = frozenset(
    {"Callback", "Example", "Header", "Link", "MediaType", "Operation"}
    | {"Parameter", "PathItem", "RequestBody", "Response", "Schema", "SecurityScheme"}
)
"""Objects that a Reference Object may replace. OpenAPI does not allow it for operations, but real documents do it."""

_FILE_LIKE: Final = ("#", "/", ".json", ".yaml", ".yml")
"""Parts of a value in a discriminator's `mapping` that make it a reference rather than the name of a schema."""

_HEADER: Final[Mapping[str, str]] = {
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
}
"""The fields of a Header Object, which a Parameter Object has too."""

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
    "Parameter": {"name": "text", "in": "text", **_HEADER},
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
    "Header": _HEADER,
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
    kind: {field: value for field, value in fields.items() if "text" not in value} for kind, fields in FIELDS.items()
}
_TEXTS: Final = {
    kind: {field: value for field, value in fields.items() if "text" in value} for kind, fields in FIELDS.items()
}


def children(kind: str, node: Any) -> Iterator[tuple[str | int, Any, str]]:
    """Yield the objects, lists and maps directly in a node of `kind`: key, value, kind of the value.

    A list instead of an object, or a map instead of a list, is read as several objects of the same kind.
    """
    if isinstance(node, list):
        inner = kind.strip("[]{}")
        for index, value in enumerate(node):
            if isinstance(value, dict | list):
                yield index, value, inner
    elif isinstance(node, dict):
        if kind[0] in "[{":
            kinds: Mapping[str, str] = dict.fromkeys(node, kind[1:-1])
        else:
            kinds = _OBJECTS[kind]
        default = kinds.get("*")
        for key, value in node.items():
            if isinstance(value, dict | list):
                value_kind = kinds.get(key) or (None if key.startswith("x-") else default)
                if value_kind:
                    yield key, value, value_kind


def references(kind: str, node: Any) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the references of an object of `kind`: the mapping, the key in it, and the kind of the target."""
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
    """Return the fields of an object that hold strings: `text`, or `[text]` for lists and `{text}` for maps of them."""
    return _TEXTS.get(kind, {})


_DESCRIBED: Final = frozenset({"Schema", "Parameter", "Header", "MediaType"})
"""Objects whose default, enum and examples are values of a schema: of themselves, or of their field `schema`."""


class ScalarTexts:
    """The texts of plain YAML scalars that are not strings, where `json` would write the value differently."""

    def __init__(self) -> None:
        # The container is stored beside its texts: while it lives, no other object can have its id.
        self._texts: dict[int, tuple[Any, dict[Any, str]]] = {}

    def note(self, container: Any, key: str | int, text: str) -> None:
        """Remember the text of the value at `key`."""
        self._texts.setdefault(id(container), (container, {}))[1][key] = text

    def forget(self, container: Any, key: str | int) -> None:
        """Drop the text of a value that another one replaces."""
        self._of(container).pop(key, None)

    def inherit(self, source: JsonObject, target: JsonObject, keys: Iterable[str]) -> None:
        """Copy the texts of `keys`, whose values `target` took from `source`."""
        texts = self._of(source)
        for key in keys:
            if key in texts:
                self.note(target, key, texts[key])
            else:
                self.forget(target, key)

    def text(self, container: Any, key: Any) -> str:
        """Return the text of the value at `key`."""
        text = self._of(container).get(key)
        return json.dumps(container[key]) if text is None else text

    def _of(self, container: Any) -> dict[Any, str]:
        entry = self._texts.get(id(container))
        return entry[1] if entry else {}


def restore(kind: str, node: Any, scalar_texts: ScalarTexts) -> None:
    """Replace, in place, the scalars of one object of `kind` by their texts where OpenAPI requires strings."""
    if not isinstance(node, dict):
        return
    texts = text_fields(kind)
    for field in texts.keys() & node.keys():
        _restore_field(node, field, texts[field], scalar_texts)
    if kind in _DESCRIBED:
        _restore_values(node, node, scalar_texts)
        if isinstance(node.get("schema"), dict):
            _restore_values(node["schema"], node, scalar_texts)


def _restore_field(node: JsonObject, field: str, kind: str, scalar_texts: ScalarTexts) -> None:
    value = node[field]
    if field == "type" and value is None and scalar_texts.text(node, field) == "null":
        node[field] = "null"  # `type: null` means the type
    elif kind == "text":
        _spell(node, field, scalar_texts)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _spell(value, index, scalar_texts)
            if field == "type" and item is None:
                value[index] = "null"
    elif isinstance(value, dict):
        for key in value:
            _spell(value, key, scalar_texts)


def _restore_values(schema: JsonObject, node: JsonObject, scalar_texts: ScalarTexts) -> None:
    """Restore the default, enum and examples of `node`, which `schema` describes."""
    for field in ("default", "const", "example"):
        if field in node:
            _restore_value(schema, node, field, scalar_texts)
    for field in ("enum", "examples"):
        values = node.get(field)
        if isinstance(values, list):
            for index in range(len(values)):
                _restore_value(schema, values, index, scalar_texts)


def _restore_value(schema: Any, container: Any, key: Any, scalar_texts: ScalarTexts) -> None:
    """Restore one value and its parts, as far as `schema` describes them without a reference."""
    if not isinstance(schema, Mapping):
        return
    value = container[key]
    if isinstance(value, list):
        for index in range(len(value)):
            _restore_value(schema.get("items"), value, index, scalar_texts)
    elif isinstance(value, dict):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            for name in value:
                _restore_value(properties.get(name), value, name, scalar_texts)
    elif _is_string(schema.get("type")):
        _spell(container, key, scalar_texts)


def _is_string(kind: Any) -> bool:
    """Return whether a schema's `type` allows strings, and no other scalar but null."""
    return kind == "string" or (
        isinstance(kind, list) and "string" in kind and all(x in ("string", "null") for x in kind)
    )


def _spell(container: Any, key: Any, scalar_texts: ScalarTexts) -> None:
    if isinstance(container[key], bool | int | float):  # null stays null, as in an enum of a nullable schema
        container[key] = scalar_texts.text(container, key)
