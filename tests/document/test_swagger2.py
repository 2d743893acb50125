"""Test the conversion of Swagger 2.0: same meaning, defects tolerated, the original unchanged."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from openapi_mcp.document.loader import load
from openapi_mcp.document.model import FILES, Document
from openapi_mcp.document.swagger2.conversion import convert
from tests.converting import BODY, FIELD, FILE, MULTIPART, URLENCODED, converted, operation
from tests.damage import damaged


def test_other_versions_pass_unchanged() -> None:
    document = Document({"openapi": "3.1.0"}, "stdin:", "3.1")
    assert convert(document) is document


def test_the_converted_document_has_its_source() -> None:
    document = converted(
        {"info": {"title": "t"}, "x-a": 1, "tags": [{"name": "n"}], "security": [{}], "externalDocs": {"url": "u"}}
    )
    assert document.version == "3.0"
    assert document.source is not None
    assert document.source["swagger"] == "2.0"
    assert document.root == {
        "openapi": "3.0.4",
        "info": {"title": "t"},
        "tags": [{"name": "n"}],
        "externalDocs": {"url": "u"},
        "security": [{}],
        "servers": [{"url": "/"}],
        "paths": None,
        "components": {},
        "x-a": 1,
    }


@pytest.mark.parametrize(
    ("fields", "uri", "urls"),
    [
        ({}, "file:///a", ["/"]),
        ({"basePath": "/v1"}, "file:///a", ["/v1"]),
        ({"basePath": "v1"}, "file:///a", ["/v1"]),
        ({"host": "h:1"}, "file:///a", ["https://h:1"]),
        ({"host": "h", "basePath": "/v1"}, "http://h/a", ["http://h/v1"]),
        ({"host": "h", "basePath": "/", "schemes": ["http", "https"]}, "file:///a", ["http://h/", "https://h/"]),
        ({"host": "h", "schemes": ["wss", "https", "https"]}, "file:///a", ["https://h"]),
        ({"host": "h", "schemes": ["ws"]}, "file:///a", ["https://h"]),
        ({"host": "h", "schemes": "http"}, "file:///a", ["http://h"]),
        ({"basePath": "/v1", "schemes": ["https"]}, "http://h:8/a", ["https://h:8/v1"]),
        ({"basePath": "/v1", "schemes": ["https"]}, "file:///a", ["/v1"]),
        ({"host": "https://h/api/", "basePath": "v1", "schemes": ["http"]}, "file:///a", ["https://h/api/v1"]),
        ({"host": 5, "basePath": None, "schemes": 7}, "file:///a", ["/"]),
    ],
)
def test_host_base_path_and_schemes_become_servers(fields: dict[str, Any], uri: str, urls: list[str]) -> None:
    assert [server["url"] for server in converted(fields, uri).root["servers"]] == urls


def test_schemes_of_an_operation_become_its_servers() -> None:
    found = operation({"schemes": ["http"]}, {"host": "h", "basePath": "/v1", "schemes": ["https"]})
    assert found == {"servers": [{"url": "http://h/v1"}]}


@pytest.mark.parametrize(
    ("response", "produces", "expected"),
    [
        ({"description": "d"}, ["a/b"], {"description": "d"}),
        ({}, None, {"description": ""}),
        (
            {"schema": {"type": "string"}},
            ["a/b", "c/d"],
            {
                "description": "",
                "content": {"a/b": {"schema": {"type": "string"}}, "c/d": {"schema": {"type": "string"}}},
            },
        ),
        (
            {"schema": {"type": "string"}},
            None,
            {"description": "", "content": {"application/json": {"schema": {"type": "string"}}}},
        ),
        (
            {"schema": {"type": "file"}},
            None,
            {
                "description": "",
                "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            },
        ),
        (
            {"examples": {"a/b": [1]}, "x-a": 1},
            ["c/d"],
            {"x-a": 1, "description": "", "content": {"c/d": {}, "a/b": {"example": [1]}}},
        ),
        (
            {
                "headers": {
                    "X-A": {"type": "array", "items": {"type": "integer"}, "description": "d", "x-nullable": True}
                }
            },
            None,
            {
                "description": "",
                "headers": {
                    "X-A": {
                        "description": "d",
                        "schema": {"type": "array", "items": {"type": "integer"}, "nullable": True},
                    }
                },
            },
        ),
    ],
)
def test_responses_get_content_for_each_produced_media_type(
    response: dict[str, Any], produces: Any, expected: dict[str, Any]
) -> None:
    fields = {"responses": {"200": response}} | ({} if produces is None else {"produces": produces})
    assert operation(fields)["responses"] == {"200": expected}


def test_a_shared_response_takes_the_media_types_of_each_operation() -> None:
    root = {"responses": {"R": {"description": "r", "schema": {"type": "string"}}}, "produces": ["a/root"]}
    found = operation(
        {"produces": ["a/own"], "responses": {"200": {"$ref": "#/responses/R"}, "500": {"$ref": "#/responses/Gone"}}},
        root,
    )
    assert list(found["responses"]["200"]["content"]) == ["a/own"]
    assert found["responses"]["500"] == {"$ref": "#/components/responses/Gone"}
    assert list(converted(root).root["components"]["responses"]["R"]["content"]) == ["a/root"]


def test_path_items_in_other_files_are_converted() -> None:
    root = {
        "paths": {
            "/a": {"$ref": f"#/{FILES}/0/item", "x-own": 1},
            "/b": {"$ref": "#/paths/~1gone"},
            "x-c": {"get": {}},
        },
        FILES: [
            {
                "item": {"parameters": [{"$ref": f"#/{FILES}/0/field"}], "post": {"$ref": f"#/{FILES}/0/op"}},
                "field": FIELD,
                "op": {"operationId": "o"},
            }
        ],
    }
    document = converted(root, files=("file:///api/a.yaml",))
    item = document.root["paths"]["/a"]
    assert (item["parameters"], item["x-own"], item["post"]["operationId"]) == ([], 1, "o")
    assert list(item["post"]["requestBody"]["content"]) == [URLENCODED]
    assert document.root["paths"]["/b"] == {"$ref": "#/paths/~1gone"}
    assert document.root["paths"]["x-c"] == {"get": {}}


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (
            {"type": "basic", "description": "d", "x-a": 1},
            {"type": "http", "scheme": "basic", "description": "d", "x-a": 1},
        ),
        ({"type": "apiKey", "in": "header", "name": "K"}, {"type": "apiKey", "in": "header", "name": "K"}),
        (
            {"type": "oauth2", "flow": "implicit", "authorizationUrl": "u", "scopes": {"r": "read"}},
            {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "u", "scopes": {"r": "read"}}}},
        ),
        (
            {"type": "oauth2", "flow": "password", "tokenUrl": "t"},
            {"type": "oauth2", "flows": {"password": {"tokenUrl": "t", "scopes": {}}}},
        ),
        (
            {"type": "oauth2", "flow": "application", "tokenUrl": "t"},
            {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "t", "scopes": {}}}},
        ),
        (
            {"type": "oauth2", "flow": "accessCode", "tokenUrl": "t"},
            {"type": "oauth2", "flows": {"authorizationCode": {"tokenUrl": "t", "scopes": {}}}},
        ),
        ({"type": "oauth2", "flow": "magic"}, {"type": "oauth2", "flows": {}}),
        (None, None),
    ],
)
def test_security_definitions_become_security_schemes(scheme: Any, expected: Any) -> None:
    document = converted({"securityDefinitions": {"s": scheme}})
    assert document.root["components"]["securitySchemes"] == {"s": expected}
    assert len(document.problems) == (1 if expected and expected.get("flows") == {} else 0)


WHOLE: dict[str, Any] = {
    "info": {"title": "t", "version": "1"},
    "host": "h",
    "basePath": "/v1",
    "schemes": ["https"],
    "consumes": ["application/json"],
    "produces": ["application/json"],
    "parameters": {
        "q": {"name": "q", "in": "query", "type": "array", "items": {"type": "array", "items": {"type": "string"}}}
    },
    "responses": {
        "R": {"description": "r", "schema": {"$ref": "#/definitions/A"}, "headers": {"h": {"type": "string"}}}
    },
    "definitions": {
        "A": {
            "type": "object",
            "discriminator": "k",
            "required": ["k"],
            "properties": {"k": {"type": "string"}, "a": {"$ref": "#/definitions/A"}},
        }
    },
    "securityDefinitions": {
        "b": {"type": "basic"},
        "o": {"type": "oauth2", "flow": "implicit", "authorizationUrl": "https://h/a", "scopes": {}},
    },
    "paths": {
        "/a/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "type": "string"}],
            "get": {"parameters": [{"$ref": "#/parameters/q"}], "responses": {"200": {"$ref": "#/responses/R"}}},
            "post": {"parameters": [BODY], "responses": {"default": {"description": "d", "examples": {"a/b": {}}}}},
            "put": {"consumes": [MULTIPART], "parameters": [FIELD, FILE], "responses": {"204": {"description": "d"}}},
        }
    },
}


@given(root=damaged(WHOLE))
def test_damaged_documents_do_not_crash_the_conversion(root: dict[str, Any]) -> None:
    json.dumps(converted(root).root)


def findings(validator: str, root: dict[str, Any]) -> list[str]:
    import openapi_spec_validator

    return [error.message for error in getattr(openapi_spec_validator, validator)(root).iter_errors()]


def test_a_valid_document_stays_valid() -> None:
    assert findings("OpenAPIV2SpecValidator", {"swagger": "2.0", **WHOLE}) == []
    assert findings("OpenAPIV30SpecValidator", converted(WHOLE).root) == []


@pytest.mark.parametrize(
    "name",
    [
        "petstore-v2/petstore.json",
        "oai-uber-v2/examples/v2.0/json/uber.json",
        "oai-petstore-separate/spec/swagger.yaml",
        "js-swagger-parser-deep-circular/deep-circular.yaml",
        pytest.param("docker-engine/api/swagger.yaml", marks=pytest.mark.corpus),
        pytest.param("argo-workflows/examples/argo-workflows/openapi-argo-workflows.json", marks=pytest.mark.corpus),
        pytest.param("kubernetes/kubernetes/swagger.json.unprocessed", marks=pytest.mark.corpus),
    ],
)
def test_real_documents_are_valid_when_converted(corpus: Path, name: str) -> None:
    document = load(str(corpus / name))
    assert findings("OpenAPIV30SpecValidator", convert(document).root) == []


def test_the_torture_document_is_valid_but_for_features_that_3_0_lacks(torture: Path) -> None:
    document = convert(load(str(torture / "14-swagger2.json")))
    errors = findings("OpenAPIV30SpecValidator", document.root)
    assert all("tabDelimited" in error or "pipeDelimited" in error for error in errors)
    assert document.problems == ()
    paths = document.root["paths"]
    assert sum(len(item) for item in paths.values()) == 11
    assert paths["/https-only"]["get"]["servers"] == [{"url": "https://localhost:9999/v1"}]
    assert list(paths["/form-no-consumes"]["post"]["requestBody"]["content"]) == [URLENCODED]
    assert list(paths["/upload-no-consumes"]["post"]["requestBody"]["content"]) == [MULTIPART]
    nested = next(item for item in paths["/collection"]["get"]["parameters"] if item.get("name") == "nested")
    assert (nested["style"], nested["x-items-style"]) == ("form", "pipeDelimited")
