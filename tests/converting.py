"""Convert small Swagger 2.0 documents for tests."""

import json
from typing import Any

from openapi_mcp.document.model import Document
from openapi_mcp.document.swagger2.conversion import convert

BODY = {"name": "thing", "in": "body", "description": "d", "required": True, "x-a": 1, "schema": {"type": "object"}}
FIELD = {"name": "a", "in": "formData", "type": "string", "description": "d", "required": True}
FILE = {"name": "f", "in": "formData", "type": "file"}
URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


def converted(root: dict[str, Any], uri: str = "file:///api/swagger.json", **fields: Any) -> Document:
    before = json.dumps(root)
    document = convert(Document({"swagger": "2.0", **root}, uri, "2.0", **fields))
    assert json.dumps(root) == before, "the source is not changed"
    return document


def operation(fields: dict[str, Any], root: dict[str, Any] | None = None, item: dict[str, Any] | None = None) -> Any:
    document = converted({**(root or {}), "paths": {"/a": {**(item or {}), "post": fields}}})
    return document.root["paths"]["/a"]["post"]


def reports(document: Document) -> list[tuple[str, str, str]]:
    return [(problem.pointer, problem.kind, problem.message) for problem in document.problems]
