"""Swagger 2.0 becomes OpenAPI 3.0 that means the same, whatever state it is in, and is not touched itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from openapi_mcp.document import FILES, Document
from openapi_mcp.loader import load
from openapi_mcp.resolver import BrokenReference, Resolver
from openapi_mcp.swagger2 import convert
from tests.damage import damaged

CORPUS = Path(__file__).parents[1].parent / "shared" / "corpus"


def converted(root: dict[str, Any], uri: str = "file:///api/swagger.json", **fields: Any) -> Document:
    before = json.dumps(root)
    document = convert(Document({"swagger": "2.0", **root}, uri, "2.0", **fields))
    assert json.dumps(root) == before, "the source is not changed"
    return document


def operation(fields: dict[str, Any], root: dict[str, Any] | None = None, item: dict[str, Any] | None = None) -> Any:
    document = converted({**(root or {}), "paths": {"/a": {**(item or {}), "post": fields}}})
    return document.root["paths"]["/a"]["post"]


def parameter(**fields: Any) -> Any:
    return operation({"parameters": [{"name": "p", "in": "query", **fields}]})["parameters"][0]


def body(parameters: list[dict[str, Any]], consumes: list[str] | None = None) -> Any:
    fields = {"parameters": parameters} | ({} if consumes is None else {"consumes": consumes})
    return operation(fields)["requestBody"]


def reports(document: Document) -> list[tuple[str, str, str]]:
    return [(problem.pointer, problem.kind, problem.message) for problem in document.problems]


def test_other_versions_pass_unchanged() -> None:
    document = Document({"openapi": "3.1.0"}, "stdin:", "3.1")
    assert convert(document) is document


def test_the_converted_document_knows_what_it_came_from() -> None:
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
        ({"host": 5, "basePath": None, "schemes": 7}, "file:///a", ["/"]),
    ],
)
def test_host_base_path_and_schemes_become_servers(fields: dict[str, Any], uri: str, urls: list[str]) -> None:
    assert [server["url"] for server in converted(fields, uri).root["servers"]] == urls


def test_schemes_of_an_operation_become_its_servers() -> None:
    found = operation({"schemes": ["http"]}, {"host": "h", "basePath": "/v1", "schemes": ["https"]})
    assert found == {"servers": [{"url": "http://h/v1"}]}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"type": "string"}, {"schema": {"type": "string"}}),
        (
            {
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "exclusiveMinimum": True,
                "default": 3,
                "enum": [3, 4],
            },
            {
                "schema": {
                    "type": "integer",
                    "format": "int32",
                    "minimum": 1,
                    "exclusiveMinimum": True,
                    "default": 3,
                    "enum": [3, 4],
                }
            },
        ),
        (
            {
                "type": "string",
                "description": "d",
                "required": True,
                "allowEmptyValue": True,
                "x-a": 1,
                "x-nullable": True,
            },
            {
                "description": "d",
                "required": True,
                "allowEmptyValue": True,
                "x-a": 1,
                "schema": {"type": "string", "nullable": True},
            },
        ),
        ({"type": "file"}, {"schema": {"type": "string", "format": "binary"}}),
        ({"schema": {"$ref": "#/definitions/A"}}, {"schema": {"$ref": "#/components/schemas/A"}}),
        (
            {"type": "array", "items": {"type": "string"}},
            {"schema": {"type": "array", "items": {"type": "string"}}, "style": "form", "explode": False},
        ),
    ],
)
def test_a_parameter_gets_a_schema(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    assert parameter(**fields) == {"name": "p", "in": "query", **expected}


@pytest.mark.parametrize(
    ("location", "collection_format", "style", "explode"),
    [
        ("query", "csv", "form", False),
        ("query", "multi", "form", True),
        ("query", "ssv", "spaceDelimited", False),
        ("query", "tsv", "tabDelimited", False),
        ("query", "pipes", "pipeDelimited", False),
        ("path", "csv", "simple", False),
        ("path", "ssv", "spaceDelimited", False),
        ("header", "tsv", "tabDelimited", False),
        ("header", "pipes", "pipeDelimited", False),
    ],
)
def test_collection_formats_become_styles(location: str, collection_format: str, style: str, explode: bool) -> None:
    found = parameter(
        **{"in": location, "type": "array", "items": {"type": "string"}, "collectionFormat": collection_format}
    )
    assert (found["style"], found["explode"]) == (style, explode)
    assert "collectionFormat" not in json.dumps(found)


@pytest.mark.parametrize(
    ("items", "style"),
    [
        ({"type": "array", "items": {"type": "string"}}, "simple"),
        ({"type": "array", "items": {"type": "string"}, "collectionFormat": "pipes"}, "pipeDelimited"),
        ({"type": "array", "items": {"type": "string"}, "collectionFormat": "nonsense"}, "simple"),
        ({"type": "string"}, None),
    ],
)
def test_an_array_of_arrays_says_how_the_inner_ones_are_joined(items: dict[str, Any], style: str | None) -> None:
    found = parameter(type="array", items=items)
    assert found.get("x-items-style") == style
    assert found["schema"]["items"]["type"] == items["type"]
    assert "collectionFormat" not in found["schema"]["items"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "this parameter has no type; any value is taken"),
        (
            {"type": "array", "collectionFormat": "nonsense"},
            "there is no collectionFormat 'nonsense' here; it is read as csv",
        ),
        (
            {"in": "path", "type": "array", "collectionFormat": "multi"},
            "there is no collectionFormat 'multi' here; it is read as csv",
        ),
        (
            {"type": "array", "collectionFormat": ["csv"]},
            "there is no collectionFormat \"['csv']\" here; it is read as csv",
        ),
    ],
)
def test_a_parameter_that_is_half_right_is_kept_and_reported(fields: dict[str, Any], message: str) -> None:
    document = converted({"paths": {"/a": {"get": {"parameters": [{"name": "p", "in": "query", **fields}]}}}})
    assert document.root["paths"]["/a"]["get"]["parameters"][0]["name"] == "p"
    assert reports(document) == [("#/paths/~1a/get/parameters/0", "parameter", message)]


BODY = {"name": "thing", "in": "body", "description": "d", "required": True, "x-a": 1, "schema": {"type": "object"}}


def test_a_body_parameter_becomes_the_request_body() -> None:
    assert body([BODY]) == {
        "description": "d",
        "required": True,
        "x-a": 1,
        "x-body-name": "thing",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }


@pytest.mark.parametrize(
    ("own", "root", "expected"),
    [
        (None, None, ["application/json"]),
        (None, ["text/xml"], ["text/xml"]),
        (["a/b", "c/d", "a/b"], ["text/xml"], ["a/b", "c/d"]),
        ([], ["text/xml"], ["application/json"]),
        ("a/b", None, ["a/b"]),
        ([7, "a/b"], None, ["a/b"]),
    ],
)
def test_consumes_of_the_operation_come_before_those_of_the_document(own: Any, root: Any, expected: list[str]) -> None:
    fields = {"parameters": [BODY]} | ({} if own is None else {"consumes": own})
    found = operation(fields, {} if root is None else {"consumes": root})
    assert list(found["requestBody"]["content"]) == expected
    assert "consumes" not in found


FIELD = {"name": "a", "in": "formData", "type": "string", "description": "d", "required": True}
FILE = {"name": "f", "in": "formData", "type": "file"}
URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


@pytest.mark.parametrize(
    ("fields", "consumes", "expected"),
    [
        ([FIELD], None, [URLENCODED]),
        ([FIELD], ["application/json"], [URLENCODED]),
        ([FIELD], [MULTIPART], [MULTIPART]),
        ([FIELD], [MULTIPART, URLENCODED], [MULTIPART, URLENCODED]),
        ([FIELD], ["application/json", f"{URLENCODED}; charset=utf-8"], [f"{URLENCODED}; charset=utf-8"]),
        ([FIELD, FILE], None, [MULTIPART]),
        ([FIELD, FILE], [URLENCODED], [MULTIPART]),
        ([FILE], [URLENCODED, MULTIPART], [MULTIPART]),
    ],
)
def test_a_form_is_sent_by_a_media_type_that_can_carry_it(
    fields: list[dict[str, Any]], consumes: list[str] | None, expected: list[str]
) -> None:
    assert list(body(fields, consumes)["content"]) == expected


def test_form_fields_become_properties_with_their_encoding() -> None:
    array = {"name": "l", "in": "formData", "type": "array", "items": {"type": "string"}, "x-a": 1}
    multi = {"name": "m", "in": "formData", "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"}
    assert body([FIELD, array, multi, FILE]) == {
        "content": {
            MULTIPART: {
                "schema": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "string", "description": "d"},
                        "l": {"type": "array", "items": {"type": "string"}, "x-a": 1},
                        "m": {"type": "array", "items": {"type": "string"}},
                        "f": {"type": "string", "format": "binary"},
                    },
                    "required": ["a"],
                },
                "encoding": {"l": {"style": "form", "explode": False}, "m": {"style": "form", "explode": True}},
            }
        },
        "required": True,
    }


def test_shared_parameters_are_folded_where_they_are_used() -> None:
    root = {
        "parameters": {"limit": {"name": "limit", "in": "query", "type": "integer"}, "payload": BODY, "field": FIELD},
        "paths": {
            "/a": {
                "parameters": [{"$ref": "#/parameters/limit"}, {"$ref": "#/parameters/payload"}],
                "get": {"parameters": []},
                "post": {"parameters": [{**BODY, "name": "own"}]},
            },
            "/b": {"post": {"parameters": [{"$ref": "#/parameters/field"}, {"$ref": "#/parameters/gone"}]}},
        },
    }
    document = converted(root)
    item = document.root["paths"]["/a"]
    assert item["parameters"] == [{"$ref": "#/components/parameters/limit"}]
    assert [item[method]["requestBody"]["x-body-name"] for method in ("get", "post")] == ["thing", "own"]
    other = document.root["paths"]["/b"]["post"]
    assert list(other["requestBody"]["content"]) == [URLENCODED]
    assert document.root["components"]["parameters"] == {
        "limit": {"name": "limit", "in": "query", "schema": {"type": "integer"}}
    }
    assert list(document.root["components"]["requestBodies"]) == ["payload"]
    with pytest.raises(BrokenReference) as caught:
        Resolver(document).follow(other["parameters"][0], "#/paths/~1b/post/parameters/1")
    assert caught.value.problem.message == "there is nothing at #/parameters/gone"


@pytest.mark.parametrize(
    ("parameters", "message", "index"),
    [
        ([BODY, {**BODY, "name": "other"}], "there is a second body; the last one counts", 1),
        ([FIELD, FIELD], "there is a second form field 'a'; the last one counts", 1),
        ([FIELD, BODY], "a form field beside a body is not sent", 0),
        ([{"in": "body", "name": "b"}], "this body has no schema; any value is taken", 0),
        ([{"in": "formData", "type": "string"}], "this form field has no name; it is left out", 0),
    ],
)
def test_what_cannot_be_sent_together_is_reported(parameters: list[dict[str, Any]], message: str, index: int) -> None:
    document = converted({"paths": {"/a": {"post": {"parameters": parameters}}}})
    assert reports(document) == [(f"#/paths/~1a/post/parameters/{index}", "parameter", message)]


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
def test_responses_get_content_by_what_is_produced(
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


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"discriminator": "kind"}, {"discriminator": {"propertyName": "kind"}}),
        ({"type": "string", "x-nullable": True, "x-a": 1}, {"type": "string", "nullable": True, "x-a": 1}),
        ({"type": "file"}, {"type": "string", "format": "binary"}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer"]}),
        (
            {"properties": {"$ref": {"$ref": "#/definitions/B"}, "type": {"type": "file"}}},
            {
                "properties": {
                    "$ref": {"$ref": "#/components/schemas/B"},
                    "type": {"type": "string", "format": "binary"},
                }
            },
        ),
        (
            {"example": {"$ref": "#/definitions/B"}, "default": {"discriminator": "x"}},
            {"example": {"$ref": "#/definitions/B"}, "default": {"discriminator": "x"}},
        ),
        (
            {"allOf": [{"$ref": "#/definitions/B/properties/x"}], "additionalProperties": False},
            {"allOf": [{"$ref": "#/components/schemas/B/properties/x"}], "additionalProperties": False},
        ),
        ({"items": [{"type": "file"}, True]}, {"items": [{"type": "string", "format": "binary"}, True]}),
        ({"$ref": 7}, {"$ref": 7}),
        (None, None),
        (True, True),
    ],
)
def test_schemas_are_converted_where_they_are_schemas(schema: Any, expected: Any) -> None:
    document = converted({"definitions": {"A": schema, "B": {}}})
    assert document.root["components"]["schemas"]["A"] == expected


def test_schemas_that_stand_elsewhere_get_a_name() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#/paths/~1tree/get/responses/200/schema"}}}
    root = {
        "definitions": {
            "schema": {"x-nullable": True},
            "A": {"$ref": f"#/{FILES}/0/definitions/Pet"},
            "B": {"$ref": f"#/{FILES}/0/definitions/Pet"},
        },
        "paths": {"/tree": {"get": {"responses": {"200": {"description": "d", "schema": tree}}}}},
        FILES: [{"definitions": {"Pet": {"x-nullable": True, "items": {"$ref": f"#/{FILES}/1"}}}}, {"type": "file"}],
    }
    document = converted(root, files=("file:///api/pets.yaml", "file:///api/models/photo.json"))
    schemas = document.root["components"]["schemas"]
    assert schemas["A"] == schemas["B"] == {"$ref": "#/components/schemas/Pet"}
    assert schemas["Pet"] == {"nullable": True, "items": {"$ref": "#/components/schemas/photo"}}
    assert schemas["photo"] == {"type": "string", "format": "binary"}
    assert schemas["schema"] == {"nullable": True}
    assert schemas["schema_2"]["properties"]["child"] == {"$ref": "#/components/schemas/schema_2"}


def test_path_items_in_other_files_come_home() -> None:
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
def test_no_damage_crashes_the_conversion(root: dict[str, Any]) -> None:
    json.dumps(converted(root).root)


def findings(validator: str, root: dict[str, Any]) -> list[str]:
    import openapi_spec_validator

    return [error.message for error in getattr(openapi_spec_validator, validator)(root).iter_errors()]


def test_what_is_valid_stays_valid() -> None:
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


def test_the_hard_document_is_valid_but_for_what_3_0_does_not_have(torture: Path) -> None:
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
