"""Pointers of a converted Swagger 2.0 document, in Problems, are those of the document as its author wrote it."""

from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.compilation import CompileOptions
from openapi_mcp.document.loader import load
from openapi_mcp.document.resolver import Resolver
from openapi_mcp.document.swagger2.conversion import convert
from openapi_mcp.runtime import jsontext
from openapi_mcp.tools.compiler import build, document_info
from tests.converting import converted

STRING = {"type": "string"}
ROOT: dict[str, Any] = {
    "info": {"title": "T", "version": "1"},
    "host": "api.example.com",
    "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}},
    "parameters": {"page": {"name": "page", "in": "query", "type": "integer"}},
    "responses": {"Gone": {"description": "d", "schema": {"type": "string"}}},
    "securityDefinitions": {"key": {"type": "apiKey", "in": "header", "name": "X"}},
    "paths": {
        "/pets": {
            "parameters": [{"name": "note", "in": "formData", "type": "string"}],
            "put": {
                "parameters": [
                    {"name": "pet", "in": "body", "schema": {"$ref": "#/definitions/Pet"}},
                    {"name": "q", "in": "query", "type": "array", "items": {"type": "string"}},
                ],
                "responses": {
                    "200": {"description": "d", "schema": {"type": "string"}, "headers": {"X": {"type": "string"}}}
                },
            },
            "post": {"parameters": [{"name": "file", "in": "formData", "type": "file"}], "responses": {}},
        }
    },
}
PUT = "#/paths/~1pets/put"


@pytest.mark.parametrize(
    ("pointer", "original"),
    [
        ("#/components/schemas/Pet/properties/name", "#/definitions/Pet/properties/name"),
        ("#/components/parameters/page/schema/type", "#/parameters/page/type"),
        ("#/components/responses/Gone/content/application~1json/schema", "#/responses/Gone/schema"),
        ("#/components/securitySchemes/key/in", "#/securityDefinitions/key/in"),
        (f"{PUT}/parameters/0/schema/items", f"{PUT}/parameters/1/items"),
        (f"{PUT}/parameters/0", f"{PUT}/parameters/1"),
        (f"{PUT}/requestBody", f"{PUT}/parameters/0"),
        (f"{PUT}/requestBody/content/application~1json/schema/type", f"{PUT}/parameters/0/schema/type"),
        (f"{PUT}/responses/200/content/application~1json/schema/type", f"{PUT}/responses/200/schema/type"),
        (f"{PUT}/responses/200/headers/X/schema/type", f"{PUT}/responses/200/headers/X/type"),
        (f"{PUT}/operationId", f"{PUT}/operationId"),
        (
            "#/paths/~1pets/post/requestBody/content/multipart~1form-data/schema/properties/file/type",
            "#/paths/~1pets/post/parameters/0/type",
        ),
        (
            "#/paths/~1pets/post/requestBody/content/multipart~1form-data/schema/properties/note",
            "#/paths/~1pets/parameters/0",
        ),
        ("#/paths/~1pets/post/requestBody/content", "#/paths/~1pets/post/parameters"),
        ("#/servers/0/url", "#/host"),
        ("#/info/title", "#/info/title"),
        ("#/paths", "#/paths"),
        ("#", "#"),
    ],
)
def test_pointer_is_that_of_the_document_as_written(pointer: str, original: str) -> None:
    document = converted(ROOT)
    resolver = Resolver(document)
    assert resolver.display(pointer) == original


def test_schemas_that_the_conversion_named_are_shown_where_they_are(tmp_path: Path) -> None:
    files: dict[str, Any] = {
        "a.json": {
            "swagger": "2.0",
            "info": {"title": "T", "version": "1"},
            "paths": {
                "/x": {"get": {"responses": {"200": {"description": "d", "schema": {"$ref": "b.json#/Thing"}}}}},
                "/y": {"$ref": "b.json#/item"},
            },
        },
        "b.json": {
            "Thing": {"type": "object", "properties": {"a": {"$ref": "#/gone"}}},
            "item": {"get": {"parameters": [{"name": "q", "in": "query", "type": "string"}], "responses": {}}},
        },
    }
    for name, value in files.items():
        (tmp_path / name).write_text(jsontext.write(value))
    document = convert(load(str(tmp_path / "a.json")))
    resolver = Resolver(document)
    assert resolver.display("#/components/schemas/Thing/properties/a") == "b.json#/Thing/properties/a"
    assert resolver.display("#/paths/~1y/get/parameters/0/schema") == "b.json#/item/get/parameters/0"
    assert "b.json#/Thing/properties/a" in {problem.pointer for problem in build(document).problems}
    assert document_info(document, CompileOptions()).version == "2.0"
