"""Test the conversion of parameters: same names and formats; body and form parameters become one request body."""

import json
from typing import Any

import pytest

from openapi_mcp.document.resolver import BrokenReference, Resolver
from tests.converting import BODY, FIELD, FILE, MULTIPART, URLENCODED, converted, operation, reports


def parameter(**fields: Any) -> Any:
    return operation({"parameters": [{"name": "p", "in": "query", **fields}]})["parameters"][0]


def body(parameters: list[dict[str, Any]], consumes: list[str] | None = None) -> Any:
    fields = {"parameters": parameters} | ({} if consumes is None else {"consumes": consumes})
    return operation(fields)["requestBody"]


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
def test_an_array_of_arrays_has_the_style_of_the_inner_arrays(items: dict[str, Any], style: str | None) -> None:
    found = parameter(type="array", items=items)
    assert found.get("x-items-style") == style
    assert found["schema"]["items"]["type"] == items["type"]
    assert "collectionFormat" not in found["schema"]["items"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "this parameter has no type; any value is accepted"),
        (
            {"type": "array", "collectionFormat": "nonsense"},
            "the collectionFormat 'nonsense' is not allowed here; it is read as csv",
        ),
        (
            {"in": "path", "type": "array", "collectionFormat": "multi"},
            "the collectionFormat 'multi' is not allowed here; it is read as csv",
        ),
        (
            {"type": "array", "collectionFormat": ["csv"]},
            "the collectionFormat \"['csv']\" is not allowed here; it is read as csv",
        ),
    ],
)
def test_a_defective_parameter_is_converted_and_reported(fields: dict[str, Any], message: str) -> None:
    document = converted({"paths": {"/a": {"get": {"parameters": [{"name": "p", "in": "query", **fields}]}}}})
    assert document.root["paths"]["/a"]["get"]["parameters"][0]["name"] == "p"
    assert reports(document) == [("#/paths/~1a/get/parameters/0", "parameter", message)]


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
def test_consumes_of_the_operation_overrides_that_of_the_document(own: Any, root: Any, expected: list[str]) -> None:
    fields = {"parameters": [BODY]} | ({} if own is None else {"consumes": own})
    found = operation(fields, {} if root is None else {"consumes": root})
    assert list(found["requestBody"]["content"]) == expected
    assert "consumes" not in found


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
def test_a_form_gets_a_media_type_that_can_encode_it(
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


def test_shared_parameters_are_merged_into_each_operation() -> None:
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
        ([{"in": "body", "name": "b"}], "this body has no schema; any value is accepted", 0),
        ([{"in": "formData", "type": "string"}], "this form field has no name; it is left out", 0),
    ],
)
def test_parameters_that_exclude_each_other_are_reported(
    parameters: list[dict[str, Any]], message: str, index: int
) -> None:
    document = converted({"paths": {"/a": {"post": {"parameters": parameters}}}})
    assert reports(document) == [(f"#/paths/~1a/post/parameters/{index}", "parameter", message)]


OBJECT_FILE = {"type": "object", "format": "file"}
UPLOAD = {"type": "object", "properties": {"file": {"type": "file"}, "name": {"type": "string"}}}


@pytest.mark.parametrize("schema", [{"type": "file"}, OBJECT_FILE, {"type": "string", "format": "file"}])
@pytest.mark.parametrize(
    ("consumes", "sent"),
    [
        (None, "application/octet-stream"),
        (["application/json"], "application/octet-stream"),
        (["application/json", "image/png"], "image/png"),
        (["multipart/form-data"], "multipart/form-data"),
    ],
)
def test_file_as_body_is_bytes_in_a_type_that_can_carry_them(schema: Any, consumes: Any, sent: str) -> None:
    content = body([{"name": "b", "in": "body", "schema": schema}], consumes)["content"]
    assert content == {sent: {"schema": {"type": "string", "format": "binary"}}}


@pytest.mark.parametrize("consumes", [None, ["application/json"], ["application/json", "multipart/form-data"]])
def test_object_with_a_file_is_a_multipart_body(consumes: Any) -> None:
    content = body([{"name": "b", "in": "body", "schema": UPLOAD}], consumes)["content"]
    assert list(content) == ["multipart/form-data"]
    assert content["multipart/form-data"]["schema"]["properties"]["file"] == {"type": "string", "format": "binary"}


def test_form_field_of_an_object_that_is_a_file_is_multipart() -> None:
    content = body([{"name": "f", "in": "formData", **OBJECT_FILE}])["content"]
    assert content["multipart/form-data"]["schema"]["properties"]["f"] == {"type": "string", "format": "binary"}
