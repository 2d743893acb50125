"""`x-mcp-header`: kept where every client accepts it, wherever authors write it; else a Problem at its place."""

from typing import Any

import pytest
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map

from openapi_mcp.compiled import Compiled
from tests.compiling import Json, compiled, compiled_operation, json_body, ref, schemas, tool_of

TENANT: Json = {"type": "string", "x-mcp-header": "Tenant"}


def query(name: str, schema: Any, **more: Any) -> Json:
    return {"name": name, "in": "query", "schema": schema, **more}


def mirrors(result: Compiled) -> dict[tuple[str, ...], str]:
    """What the official client makes of the only tool; it refuses nothing of it."""
    (tool,) = result.tools
    assert find_invalid_x_mcp_header(tool.input_schema) is None
    return x_mcp_header_map(tool.input_schema)


def problems(result: Compiled) -> list[str]:
    assert all("x-mcp-header" in problem.message for problem in result.problems)
    return [problem.pointer for problem in result.problems]


@pytest.mark.parametrize(
    ("fields", "mirrored"),
    [
        ({"parameters": [query("tenant", TENANT)]}, {("tenant",): "Tenant"}),
        ({"parameters": [query("tenant", {"type": "string"}, **{"x-mcp-header": "Tenant"})]}, {("tenant",): "Tenant"}),
        ({"parameters": [query("n", {"type": "integer", "x-mcp-header": "N"})]}, {("n",): "N"}),
        ({"parameters": [query("b", {"type": "boolean", "x-mcp-header": "B"})]}, {("b",): "B"}),
        ({"parameters": [query("$t", TENANT)]}, {("t",): "Tenant"}),
        (json_body({"type": "object", "properties": {"tenant": TENANT}}), {("tenant",): "Tenant"}),
        (
            json_body({"type": "object", "properties": {"by": {"type": "object", "properties": {"tenant": TENANT}}}}),
            {("by", "tenant"): "Tenant"},
        ),
        (json_body(TENANT), {("body",): "Tenant"}),
    ],
)
def test_a_valid_annotation_is_passed_on(fields: Json, mirrored: dict[tuple[str, ...], str]) -> None:
    result = compiled_operation(fields)
    assert mirrors(result) == mirrored
    assert problems(result) == []


@pytest.mark.parametrize("version", ["3.0", "3.1"])
@pytest.mark.parametrize(
    ("of_parameter", "of_reference", "of_component"),
    [
        ({}, {}, TENANT),
        ({}, {"x-mcp-header": "Tenant"}, {"type": "string"}),
        ({"x-mcp-header": "Tenant"}, {}, {"type": "string"}),
    ],
)
def test_one_behind_a_reference_is_written_out(
    version: str, of_parameter: Json, of_reference: Json, of_component: Json
) -> None:
    parameter = query("tenant", {**ref("Tenant"), **of_reference}, description="Whose.", **of_parameter)
    result = compiled_operation(
        {"parameters": [parameter]}, version=version, **schemas(Tenant={**of_component, "maxLength": 9})
    )
    (tool,) = result.tools
    expected = {"type": "string", "x-mcp-header": "Tenant", "maxLength": 9, "description": "Whose."}
    assert tool.input_schema["properties"] == {"tenant": expected}
    assert "$defs" not in tool.input_schema
    assert problems(result) == []


def test_the_body_of_a_component_is_flattened_with_it() -> None:
    order = {
        "type": "object",
        "required": ["tenant"],
        "properties": {"tenant": ref("Tenant"), "n": {"type": "integer"}},
    }
    result = compiled_operation(json_body(ref("Order")), **schemas(Order=order, Tenant=TENANT))
    assert mirrors(result) == {("tenant",): "Tenant"}
    assert problems(result) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "x-mcp-header": "N"},
        {"type": "array", "items": {"type": "string"}, "x-mcp-header": "N"},
        {"type": ["string", "null"], "x-mcp-header": "N"},
        {"x-mcp-header": "N"},
        {"type": "string", "x-mcp-header": ""},
        {"type": "string", "x-mcp-header": "with space"},
        {"type": "string", "x-mcp-header": "a\r\nb"},
        {"type": "string", "x-mcp-header": 5},
        {"type": "string", "x-mcp-header": ["N"]},
        {"type": "string", "format": "password", "x-mcp-header": "N"},
        {"type": "string", "contentEncoding": "base64", "x-mcp-header": "N"},
        {"anyOf": [{"type": "string"}, {"type": "integer"}], "x-mcp-header": "N"},
    ],
)
@pytest.mark.parametrize("on_the_parameter", [False, True])
def test_an_invalid_annotation_is_a_problem_and_costs_nothing_else(schema: Json, on_the_parameter: bool) -> None:
    bare = {keyword: value for keyword, value in schema.items() if keyword != "x-mcp-header"}
    more = {"x-mcp-header": schema["x-mcp-header"]} if on_the_parameter else {}
    result = compiled_operation(
        {"parameters": [query("it", bare if on_the_parameter else schema, **more)]}, version="3.1"
    )
    (tool,) = result.tools
    assert problems(result) == ["#/paths/~1x/post/parameters/0/schema"]
    assert "x-mcp-header" not in tool.input_schema["properties"]["it"]
    (without,) = compiled_operation({"parameters": [query("it", bare)]}, version="3.1").tools
    assert tool == without


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "array", "items": TENANT}, "#/paths/~1x/post/parameters/0/schema/items"),
        (
            {"type": "object", "additionalProperties": TENANT},
            "#/paths/~1x/post/parameters/0/schema/additionalProperties",
        ),
        ({"anyOf": [{"type": "integer"}, TENANT]}, "#/paths/~1x/post/parameters/0/schema/anyOf/1"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Tenant"}}, "#/components/schemas/Tenant"),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Tenant"}}},
            "#/components/schemas/Tenant",
        ),
    ],
)
def test_one_that_no_chain_of_properties_leads_to_is_a_problem(schema: Json, pointer: str) -> None:
    result = compiled_operation({"parameters": [query("it", schema)]}, **schemas(Tenant=TENANT))
    assert mirrors(result) == {}
    assert problems(result) == [pointer]


def test_of_two_with_one_header_the_first_counts() -> None:
    other = {"type": "string", "x-mcp-header": "TENANT"}
    result = compiled_operation(
        {"parameters": [query("a", TENANT)], **json_body({"type": "object", "properties": {"b": other}})}
    )
    assert mirrors(result) == {("a",): "Tenant"}
    assert problems(result) == ["#/paths/~1x/post/requestBody/content/application~1json/schema/properties/b"]


def test_a_component_that_several_tools_share_stays_as_it_is_for_each() -> None:
    order = {"type": "object", "properties": {"tenant": TENANT}}
    result = compiled(
        {
            "/flat": {"post": {"operationId": "flat", **json_body(ref("Order"))}},
            "/deep": {"post": {"operationId": "deep", **json_body({"type": "array", "items": ref("Order")})}},
        },
        **schemas(Order=order),
    )
    flat, deep = result.tools
    assert x_mcp_header_map(flat.input_schema) == {("tenant",): "Tenant"}
    assert find_invalid_x_mcp_header(deep.input_schema) is None
    assert x_mcp_header_map(deep.input_schema) == {}
    assert problems(result) == ["#/components/schemas/Order/properties/tenant"]


def test_a_credential_is_no_argument_and_so_no_header() -> None:
    tool = tool_of(
        {"parameters": [query("key", TENANT), query("q", {"type": "string"})], "security": [{"theKey": []}]},
        components={"securitySchemes": {"theKey": {"type": "apiKey", "in": "query", "name": "key"}}},
    )
    assert list(tool.input_schema["properties"]) == ["q"]


def test_a_swagger_parameter_may_have_one() -> None:
    from openapi_mcp import swagger2
    from openapi_mcp.document import Document
    from openapi_mcp.tools import build

    parameter = {"name": "tenant", "in": "query", "type": "string", "x-mcp-header": "Tenant"}
    root = {
        "swagger": "2.0",
        "info": {"title": "T", "version": "1"},
        "host": "h.example",
        "paths": {"/x": {"get": {"parameters": [parameter], "responses": {}}}},
    }
    assert mirrors(build(swagger2.convert(Document(root, "file:///api.yaml", "2.0")))) == {("tenant",): "Tenant"}
