"""`x-mcp-header` stays, from wherever authors write it, if every client accepts it; else it is a Problem."""

from typing import Any

import pytest
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map

from openapi_mcp.compilation import Compilation
from tests.compiling import Json, compiled, compiled_operation, json_body, ref, schemas, tool_of

TENANT: Json = {"type": "string", "x-mcp-header": "Tenant"}


def query(name: str, schema: Any, **more: Any) -> Json:
    return {"name": name, "in": "query", "schema": schema, **more}


def mirrors(result: Compilation) -> dict[tuple[str, ...], str]:
    """Return the header arguments that the official client reads from the only tool, none of which it refuses."""
    (tool,) = result.tools
    assert find_invalid_x_mcp_header(tool.input_schema) is None
    return x_mcp_header_map(tool.input_schema)


def problems(result: Compilation) -> list[str]:
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
def test_valid_annotation_is_in_the_input_schema(fields: Json, mirrored: dict[tuple[str, ...], str]) -> None:
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
def test_annotated_reference_is_inlined(
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


def test_annotation_of_a_component_is_in_the_flattened_body() -> None:
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
def test_invalid_annotation_is_a_problem_and_the_only_loss(schema: Json, on_the_parameter: bool) -> None:
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
def test_annotation_outside_a_chain_of_properties_is_a_problem(schema: Json, pointer: str) -> None:
    result = compiled_operation({"parameters": [query("it", schema)]}, **schemas(Tenant=TENANT))
    assert mirrors(result) == {}
    assert problems(result) == [pointer]


def test_first_of_two_annotations_with_one_header_counts() -> None:
    other = {"type": "string", "x-mcp-header": "TENANT"}
    result = compiled_operation(
        {"parameters": [query("a", TENANT)], **json_body({"type": "object", "properties": {"b": other}})}
    )
    assert mirrors(result) == {("a",): "Tenant"}
    assert problems(result) == ["#/paths/~1x/post/requestBody/content/application~1json/schema/properties/b"]


def test_component_shared_by_tools_is_unchanged_for_each() -> None:
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


def test_credential_is_neither_argument_nor_header() -> None:
    tool = tool_of(
        {"parameters": [query("key", TENANT), query("q", {"type": "string"})], "security": [{"theKey": []}]},
        components={"securitySchemes": {"theKey": {"type": "apiKey", "in": "query", "name": "key"}}},
    )
    assert list(tool.input_schema["properties"]) == ["q"]


def test_swagger_parameter_can_be_annotated() -> None:
    from openapi_mcp.document.model import Document
    from openapi_mcp.document.swagger2.conversion import convert
    from openapi_mcp.tools.compiler import build

    parameter = {"name": "tenant", "in": "query", "type": "string", "x-mcp-header": "Tenant"}
    root = {
        "swagger": "2.0",
        "info": {"title": "T", "version": "1"},
        "host": "h.example",
        "paths": {"/x": {"get": {"parameters": [parameter], "responses": {}}}},
    }
    assert mirrors(build(convert(Document(root, "file:///api.yaml", "2.0")))) == {("tenant",): "Tenant"}
