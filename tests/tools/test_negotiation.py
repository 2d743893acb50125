"""Accept and Content-Type: fixed values of ignored header parameters are sent, and a model may choose among answers."""

from typing import Any

import httpx
import pytest

from openapi_mcp.document.model import Document
from openapi_mcp.document.swagger2.conversion import convert
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.tools.compiler import build
from tests.compiling import compiled_operation, json_body, kinds, tool_of
from tests.runtime.making import request

OPTIONS = RequestOptions(base_url="http://api.test")
VERSION = "application/vnd.pagerduty+json;version=2"


def sent_headers(tool: Tool, **arguments: Any) -> httpx.Headers:
    return request(tool, OPTIONS, **arguments).headers


def header(name: str, **schema: Any) -> dict[str, Any]:
    return {"in": "header", "name": name, "schema": {"type": "string", **schema}}


def answering(*media_types: str) -> dict[str, Any]:
    return {"responses": {"200": {"description": "OK", "content": {name: {} for name in media_types}}}}


@pytest.mark.parametrize(
    "schema",
    [{"default": VERSION}, {"enum": [VERSION]}, {"const": VERSION}, {"default": VERSION, "enum": ["a/b", VERSION]}],
)
@pytest.mark.parametrize("name", ["Accept", "accept"])
def test_fixed_accept_parameter_is_sent(name: str, schema: dict[str, Any]) -> None:
    tool = tool_of({"parameters": [header(name, **schema)], **answering("application/json")}, method="get")
    assert sent_headers(tool)["Accept"] == VERSION


@pytest.mark.parametrize("schema", [{}, {"example": VERSION}, {"default": 3}, {"default": "a/b\r\nX: y"}])
def test_accept_parameter_without_a_usable_value_is_ignored(schema: dict[str, Any]) -> None:
    tool = tool_of({"parameters": [header("Accept", **schema)], **answering("application/json")}, method="get")
    assert sent_headers(tool)["Accept"] == "application/json, */*;q=0.5"
    assert tool.arguments == ()


def test_accept_parameter_with_several_values_is_a_choice() -> None:
    values = ["application/vnd.v1+json", "application/vnd.v2+json"]
    tool = tool_of({"parameters": [header("Accept", enum=values, default=values[1])]}, method="get")
    assert tool.input_schema["properties"]["accept"]["enum"] == values
    assert tool.input_schema["properties"]["accept"]["default"] == values[1]
    assert sent_headers(tool)["Accept"] == values[1]
    assert sent_headers(tool, accept=values[0])["Accept"] == values[0]


@pytest.mark.parametrize(
    ("values", "sent"), [(["text/srt", "text/vtt"], "text/srt"), (["text/csv", "a/x+json", "a/y+json"], "a/x+json")]
)
def test_one_of_the_accept_parameters_values_is_sent_as_it_is(values: list[str], sent: str) -> None:
    tool = tool_of({"parameters": [header("Accept", enum=values)], **answering("text/srt", "text/vtt")}, method="get")
    assert tool.input_schema["properties"]["accept"]["default"] == sent
    assert sent_headers(tool)["Accept"] == sent


def test_answers_of_several_kinds_are_a_choice() -> None:
    tool = tool_of(answering("text/csv", "application/json", "application/xml", "application/pdf"), method="get")
    schema = tool.input_schema["properties"]["accept"]
    assert schema["enum"] == ["application/json", "text/csv", "application/pdf"]
    assert schema["default"] == "application/json"
    assert "required" not in tool.input_schema
    assert sent_headers(tool)["Accept"].startswith("application/json, text/csv;q=0.8")
    assert sent_headers(tool, accept="text/csv")["Accept"] == "text/csv"


@pytest.mark.parametrize(
    "names",
    [("application/json", "application/xml"), ("application/json", "*/*"), ("a/json", "image/*"), ("text/csv",)],
)
def test_answers_of_one_kind_are_no_choice(names: tuple[str, ...]) -> None:
    assert tool_of(answering(*names), method="get").arguments == ()


def test_other_argument_keeps_the_name_accept() -> None:
    body = json_body({"type": "object", "properties": {"accept": {"type": "boolean"}}})
    tool = tool_of({**body, **answering("application/json", "text/csv")})
    assert [(each.name, each.location) for each in tool.arguments] == [("accept", "body"), ("accept_header", "header")]


@pytest.mark.parametrize(
    ("value", "offered", "sent"),
    [
        ("application/json; charset=utf-8", ["application/json"], "application/json; charset=utf-8"),
        ("application/vnd.x+json", ["application/json"], "application/vnd.x+json"),
        ("text/plain", ["application/json", "text/plain"], "text/plain"),
    ],
)
def test_fixed_content_type_of_the_same_format_is_sent(value: str, offered: list[str], sent: str) -> None:
    content = {name: {"schema": {"type": "string"}} for name in offered}
    fields = {"parameters": [header("Content-Type", enum=[value])], "requestBody": {"content": content}}
    result = compiled_operation(fields)
    assert kinds(result) == []
    assert sent_headers(result.tools[0], body="x")["Content-Type"] == sent


@pytest.mark.parametrize(
    ("value", "sent", "problems"),
    [
        ("application/x-tar", "application/x-tar", []),
        ("text/csv", "text/csv", []),
        ("application/json", "application/octet-stream", ["parameter"]),
        ("multipart/form-data", "application/octet-stream", ["parameter"]),
    ],
)
def test_bytes_are_sent_as_the_only_format_of_a_file_that_is_declared(value: str, sent: str, problems: Any) -> None:
    content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    fields = {"parameters": [header("Content-type", enum=[value])], "requestBody": {"content": content}}
    result = compiled_operation(fields)
    assert [problem.kind for problem in result.problems] == problems
    request_sent = request(result.tools[0], OPTIONS, body="aGVsbG8=")
    assert (request_sent.headers["Content-Type"], request_sent.content) == (sent, b"hello")


def test_fixed_content_type_is_sent_without_a_body() -> None:
    tool = tool_of({"parameters": [header("content-type", default="application/json")]}, method="get")
    assert sent_headers(tool)["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("parameter", "sent"),
    [
        ({**header("Content-Type", example=VERSION), "required": True}, VERSION),
        ({**header("Content-Type", examples=[3, VERSION]), "required": True}, VERSION),
        ({**header("Content-Type"), "required": True, "examples": {"a": {"value": VERSION}}}, VERSION),
        ({**header("Content-Type", example="none"), "required": True}, None),
        (header("Content-Type", example=VERSION), None),
    ],
)
def test_example_of_a_required_content_type_is_sent_without_a_body(parameter: Any, sent: str | None) -> None:
    result = compiled_operation({"parameters": [parameter]}, method="get")
    assert sent_headers(result.tools[0]).get("Content-Type") == sent
    assert [problem.kind for problem in result.problems] == ["parameter"] * (sent is None)


@pytest.mark.parametrize(("required", "sent"), [(True, "application/vnd.x+json"), (False, None)])
def test_required_content_type_is_sent_without_the_optional_body(required: bool, sent: str | None) -> None:
    parameter = {**header("Content-Type", default="application/vnd.x+json"), "required": required}
    body = {"requestBody": {"content": {"application/json": {"schema": {"type": "array"}}}}}
    tool = tool_of({"parameters": [parameter], **body})
    assert sent_headers(tool).get("Content-Type") == sent
    assert sent_headers(tool, body=[])["Content-Type"] == "application/vnd.x+json"


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        ({"enum": ["text/csv"]}, json_body({"type": "string"})),
        ({"enum": ["application/json", "text/csv"]}, json_body({"type": "string"})),
        ({}, {}),
    ],
)
def test_content_type_parameter_without_effect_is_reported(schema: dict[str, Any], fields: Any) -> None:
    result = compiled_operation({"parameters": [header("Content-Type", **schema)], **fields})
    assert kinds(result) == [("parameter", None)]
    assert "Content-Type has no effect" in result.problems[0].message


def test_broken_schema_of_an_ignored_header_costs_nothing() -> None:
    broken = {"in": "header", "name": "Accept", "schema": {"$ref": "#/gone"}}
    assert compiled_operation({"parameters": [broken]}, method="get").tools


def swagger_tool(**operation: Any) -> Tool:
    described = {"responses": {"200": {"description": "OK", "schema": {"type": "object"}}}, **operation}
    root = {
        "swagger": "2.0",
        "info": {"title": "T", "version": "1"},
        "host": "api.test",
        "paths": {"/x": {"get": described}},
    }
    document = convert(Document(root, "https://api.test/swagger.json", "2.0"))
    (tool,) = build(document).tools
    return tool


def test_swagger_2_has_the_same_rules() -> None:
    parameter = {"in": "header", "name": "Accept", "type": "string", "default": VERSION}
    assert sent_headers(swagger_tool(parameters=[parameter]))["Accept"] == VERSION
    produced = swagger_tool(produces=["application/json", "text/csv"])
    assert produced.input_schema["properties"]["accept"]["enum"] == ["application/json", "text/csv"]
