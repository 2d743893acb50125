"""Examples reach a model where the schema does not say itself what is expected: of parameters, schemas and bodies."""

from typing import Any

import pytest

from openapi_mcp.token_budget import TokenBudget
from openapi_mcp.tools.compiler import build
from tests.compiling import Json, document, input_of, json_body, tool_of


def of_parameter(name: str = "it", schema: Json | None = None, **fields: Any) -> Json:
    parameter = {"name": name, "in": "query", "schema": schema or {"type": "string"}, **fields}
    shown: Json = tool_of({"parameters": [parameter]}).input_schema["properties"][name]
    return shown


@pytest.mark.parametrize(
    ("schema", "examples"),
    [
        ({"type": "string", "example": "octocat"}, ["octocat"]),
        ({"type": "string", "examples": ["octocat", "monalisa"]}, ["octocat"]),
        ({"type": "string", "nullable": True, "example": "octocat"}, ["octocat"]),
        ({"type": ["string", "null"], "examples": [None, "octocat"]}, ["octocat"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "examples": ["octocat"]}, ["octocat"]),
        ({"type": "array", "items": {"type": "string"}, "example": ["a", "b"]}, [["a", "b"]]),
        ({"type": "object", "example": {"unit": True}}, [{"unit": True}]),
        ({"type": "integer", "example": 1735689600}, [1735689600]),
        ({"type": "string", "pattern": "^v", "example": "v1.0"}, ["v1.0"]),
        ({"type": "string", "description": "A name.", "example": "octocat"}, ["octocat"]),
    ],
)
def test_example_of_a_schema_is_shown(schema: Json, examples: list[Any]) -> None:
    assert input_of(schema)["examples"] == examples


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a", "b"], "example": "a"},
        {"type": "string", "default": "a", "example": "b"},
        {"type": "string", "format": "date-time", "example": "2026-01-01T00:00:00Z"},
        {"type": "string", "format": "password", "example": "hunter2"},
        {"type": "string", "format": "binary", "example": "xyz"},
        {"type": "string", "description": "The name (e.g. `octocat`).", "example": "octocat"},
        {"type": "boolean", "example": True},
        {"type": "integer", "example": 12},
        {"type": "array", "items": {"type": "string", "enum": ["a"]}, "example": ["a"]},
        {"type": "object", "properties": {"a": {"type": "string"}}, "example": {"a": "x"}},
    ],
)
def test_no_example_where_the_schema_says_it(schema: Json) -> None:
    assert "examples" not in input_of(schema)


@pytest.mark.parametrize(
    "value",
    [5, None, "", "string", "x" * 200, [], {"$ref": "#"}, "right\u202eleft", "bell\x07", float("inf"), ["a"] * 50],
)
def test_unfit_examples_are_left_out(value: Any) -> None:
    assert "examples" not in input_of({"type": ["string", "array", "object"], "example": value})


def test_example_of_another_type_is_left_out() -> None:
    assert "examples" not in input_of({"type": "string", "example": 5})
    assert "examples" not in input_of({"type": "array", "items": {"type": "integer"}, "example": ["a"]})


def test_deep_and_large_examples_cost_nothing() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    assert "examples" not in input_of({"type": "array", "example": deep})
    assert "examples" not in input_of({"type": "string", "examples": ["x" * 1000] * 10_000})


@pytest.mark.parametrize(
    "fields",
    [
        {"example": "octocat"},
        {"examples": {"one": {"value": "octocat"}, "two": {"value": "monalisa"}}},
        {"examples": {"one": {"summary": "no value"}, "two": {"dataValue": "octocat"}}},
        {"schema": {"type": "string", "example": "monalisa"}, "example": "octocat"},
        {"schema": {"type": "string", "example": "octocat"}, "example": 5},
    ],
)
def test_example_of_a_parameter_precedes_that_of_its_schema(fields: Json) -> None:
    assert of_parameter(**fields)["examples"] == ["octocat"]


def test_example_of_a_parameter_may_be_a_reference() -> None:
    parameter = {"name": "it", "in": "query", "schema": {"type": "string"}}
    parameter["examples"] = {"one": {"$ref": "#/components/examples/one"}, "two": {"$ref": "#/nowhere"}}
    tool = tool_of({"parameters": [parameter]}, components={"examples": {"one": {"value": "octocat"}}})
    assert tool.input_schema["properties"]["it"]["examples"] == ["octocat"]


@pytest.mark.parametrize("name", ["password", "api_key", "accessToken", "client_secret", "Authorization-Code"])
def test_value_of_a_secret_is_never_shown(name: str) -> None:
    assert "examples" not in of_parameter(name, example="hunter2")
    assert "examples" not in of_parameter(name, schema={"type": "string", "example": "hunter2"})
    body = {"type": "object", "properties": {name: {"type": "string", "example": "hunter2", "minLength": 1}}}
    (shown,) = tool_of(json_body(body)).input_schema["properties"].values()
    assert "examples" not in shown
    whole = json_body({"type": "object", "properties": {name: {"type": "string"}}, "example": {name: "hunter2"}})
    assert "hunter2" not in str(tool_of(whole).input_schema)


def test_example_of_a_body_goes_to_its_properties() -> None:
    fields = json_body({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}})
    media = fields["requestBody"]["content"]["application/json"]
    media["examples"] = {"cat": {"value": {"name": "Tom", "age": 3, "unknown": "x"}}}
    properties = tool_of(fields).input_schema["properties"]
    assert properties == {"name": {"type": "string", "examples": ["Tom"]}, "age": {"type": "integer"}}


def test_example_of_a_body_that_is_one_argument() -> None:
    fields = json_body({"type": "array", "items": {"type": "string"}})
    fields["requestBody"]["content"]["application/json"]["example"] = ["Tom"]
    assert tool_of(fields).input_schema["properties"]["body"]["examples"] == [["Tom"]]


def test_examples_are_short_where_texts_are() -> None:
    operations = {
        f"/{number}": {
            "get": {"parameters": [{"name": "it", "in": "query", "schema": {"type": "string"}, "example": text}]}
        }
        for number, text in enumerate(["short", "x" * 40])
    }
    short, long = build(document(operations), token_budget=TokenBudget(compact=True)).tools
    assert short.input_schema["properties"]["it"]["examples"] == ["short"]
    assert "examples" not in long.input_schema["properties"]["it"]
