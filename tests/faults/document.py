"""The OpenAPI document of the hostile API: an operation that asks for a fault, and one for each schema to judge."""

from typing import Any, Final

JSON_OBJECT: Final = {"type": "object", "additionalProperties": True}


def _get(name: str, path: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}} if schema else {"application/json": {}}
    return {
        "operationId": name,
        "summary": f"Ask for {path}",
        "parameters": [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}],
        "responses": {"200": {"description": "What the API sends.", "content": content}},
    }


def _post(name: str, schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": f"Send {name}",
        "requestBody": {"required": True, "content": {kind: {"schema": schema}}},
        "responses": {"200": {"description": "Done.", "content": {"application/json": {"schema": JSON_OBJECT}}}},
    }


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


SCHEMAS: Final[dict[str, Any]] = {
    "Record": {
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "integer"},
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "at": {"type": "string", "format": "date-time"},
        },
    },
    "Filter": {
        "anyOf": [
            {"type": "object", "required": ["and"], "properties": {"and": {"type": "array", "items": ref("Filter")}}},
            {
                "type": "object",
                "required": ["not"],
                "properties": {"not": ref("Filter"), "and": {"type": "array", "items": ref("Filter")}},
            },
            {
                "type": "object",
                "required": ["field", "eq"],
                "properties": {"field": {"type": "string"}, "eq": {"type": "integer"}},
            },
        ]
    },
    "Twice": {
        "anyOf": [
            {"type": "object", "properties": {"a": ref("Twice")}, "required": ["a"]},
            {"type": "object", "properties": {"a": ref("Twice")}, "required": ["a"]},
            {"type": "integer"},
        ]
    },
    "Once": {
        "oneOf": [
            {"type": "object", "properties": {"a": ref("Once"), "b": {"const": 1}}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": ref("Once"), "b": {"const": 2}}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": ref("Once")}, "required": ["a"]},
            {"type": "integer"},
        ]
    },
    "All": {
        "type": "object",
        "allOf": [
            {"properties": {"a": {"anyOf": [ref("All"), {"type": "integer"}]}}},
            {"properties": {"a": {"anyOf": [ref("All"), {"type": "integer"}]}}},
        ],
    },
    "Conditional": {
        "type": "object",
        "if": {"properties": {"a": ref("Conditional")}, "required": ["a"]},
        "then": {"properties": {"a": ref("Conditional")}},
        "else": {"properties": {"leaf": {"type": "integer"}}, "required": ["leaf"]},
    },
    "Negated": {"not": {"type": "object", "required": ["a"], "properties": {"a": {"not": ref("Negated")}}}},
    "Leaf": {"type": "object", "properties": {"next": ref("Leaf"), "value": {"type": "integer"}}},
    "Alternatives": {
        "oneOf": [
            {
                "type": "object",
                "required": ["kind", "value"],
                "properties": {
                    "kind": {"type": "string"},
                    "value": {"type": "integer", "minimum": n * 10, "maximum": n * 10},
                },
            }
            for n in range(50)
        ]
    },
}

BODIES: Final[dict[str, dict[str, Any]]] = {
    "filter": {"type": "object", "properties": {"filter": ref("Filter")}, "required": ["filter"]},
    "twice": {"type": "object", "properties": {"value": ref("Twice")}, "required": ["value"]},
    "once": {"type": "object", "properties": {"value": ref("Once")}, "required": ["value"]},
    "all": {"type": "object", "properties": {"value": ref("All")}, "required": ["value"]},
    "conditional": {"type": "object", "properties": {"value": ref("Conditional")}, "required": ["value"]},
    "negated": {"type": "object", "properties": {"value": ref("Negated")}, "required": ["value"]},
    "leaf": {"type": "object", "properties": {"value": ref("Leaf")}, "required": ["value"]},
    "unique": {
        "type": "object",
        "properties": {"set": {"type": "array", "uniqueItems": True, "items": ref("Record")}},
        "required": ["set"],
    },
    "uniqueAnything": {
        "type": "object",
        "properties": {"set": {"type": "array", "uniqueItems": True, "items": {}}},
        "required": ["set"],
    },
    "integers": {
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
        "required": ["numbers"],
    },
    "objects": {
        "type": "object",
        "properties": {"list": {"type": "array", "items": ref("Record")}},
        "required": ["list"],
    },
    "alternatives": {
        "type": "object",
        "properties": {"list": {"type": "array", "items": ref("Alternatives")}},
        "required": ["list"],
    },
    "freeIntegers": {
        "type": "object",
        "properties": {"map": {"type": "object", "additionalProperties": {"type": "integer"}}},
        "required": ["map"],
    },
    "patterns": {
        "type": "object",
        "properties": {
            "map": {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False}
        },
        "required": ["map"],
    },
    "unevaluated": {
        "type": "object",
        "properties": {
            "map": {
                "type": "object",
                "allOf": [{"patternProperties": {"^a": {"type": "integer"}}}],
                "unevaluatedProperties": False,
            }
        },
        "required": ["map"],
    },
    "names": {
        "type": "object",
        "properties": {"map": {"type": "object", "propertyNames": {"maxLength": 3}}},
        "required": ["map"],
    },
    "contained": {
        "type": "object",
        "properties": {"list": {"type": "array", "contains": {"const": "gold"}, "minContains": 2}},
        "required": ["list"],
    },
    "choices": {
        "type": "object",
        "properties": {"list": {"type": "array", "items": {"enum": [f"choice-{n}" for n in range(2000)]}}},
        "required": ["list"],
    },
    "backtracking": {
        "type": "object",
        "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}},
        "required": ["text"],
    },
    "optional": {
        "type": "object",
        "properties": {"text": {"type": "string", "pattern": f"^{'a?' * 64}b$"}},
        "required": ["text"],
    },
    "alternating": {
        "type": "object",
        "properties": {"text": {"type": "string", "pattern": "^(a|a|ab)*c$"}},
        "required": ["text"],
    },
    "formats": {
        "type": "object",
        "properties": {
            name: {"type": "string", "format": name}
            for name in (
                "email",
                "uri",
                "date-time",
                "hostname",
                "ipv6",
                "uuid",
                "regex",
                "uri-template",
                "json-pointer",
            )
        },
    },
    "multiple": {
        "type": "object",
        "properties": {"number": {"type": "number", "multipleOf": 0.01}},
        "required": ["number"],
    },
    "anything": {"type": "object", "properties": {"value": {}}, "required": ["value"]},
    "text": {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 100}},
        "required": ["text"],
        "additionalProperties": False,
    },
}
"""Schemas of bodies by operationId, which is also the last part of the path."""


def document() -> dict[str, Any]:
    """Return the document as JSON."""
    paths: dict[str, Any] = {
        "/f/{name}": {"get": _get("getFault", "a fault"), "post": _sending()},
        "/records/{name}": {
            "get": _get(
                "getRecords",
                "records",
                {
                    "type": "object",
                    "properties": {
                        "records": {"type": "array", "items": ref("Record")},
                        "set": {"type": "array", "uniqueItems": True, "items": ref("Record")},
                        "filter": ref("Filter"),
                    },
                },
            )
        },
        "/header": {"get": _with_parameter("sendHeader", {"name": "X-Note", "in": "header"})},
        "/query": {"get": _with_parameter("sendQuery", {"name": "q", "in": "query"})},
        "/cookie": {
            "get": _with_parameter("sendCookie", {"name": "c", "in": "cookie"}, {"type": "array", "items": {}})
        },
        "/reserved/{q}": {
            "get": _with_parameter("sendReserved", {"name": "q", "in": "path", "required": True, "allowReserved": True})
        },
        "/deep": {
            "get": _with_parameter(
                "sendDeep", {"name": "filter", "in": "query", "style": "deepObject", "explode": True}, JSON_OBJECT
            )
        },
    }
    for name, schema in BODIES.items():
        paths[f"/judge/{name}"] = {"post": _post(name, schema)}
    paths["/judge/upload"] = {
        "post": _post("upload", {"type": "string", "contentEncoding": "base64"}, "application/octet-stream")
    }
    files = {"type": "object", "properties": {"files": {"type": "array", "items": {"type": "string"}}}}
    paths["/judge/parts"] = {"post": _post("sendParts", files, "multipart/form-data")}
    paths["/judge/xml"] = {"post": _post("sendXml", {"type": "object", "properties": {"value": {}}}, "application/xml")}
    return {
        "openapi": "3.1.1",
        "info": {"title": "Hostile", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:1"}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        },
    }


def _sending() -> dict[str, Any]:
    operation = _get("sendFault", "a fault")
    body = {"application/json": {"schema": JSON_OBJECT}}
    return operation | {"requestBody": {"required": True, "content": body}}


def _with_parameter(name: str, parameter: dict[str, Any], schema: dict[str, Any] | None = None) -> dict[str, Any]:
    operation = _get(name, "an echo")
    operation["parameters"] = [{"schema": schema or {"type": "string"}} | parameter]
    return operation


DOCUMENT: Final = document()
