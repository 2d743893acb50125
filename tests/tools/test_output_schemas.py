"""Output schemas describe the shape of a response, accept every real response, and keep within their budget."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from openapi_mcp.token_budget import FULL
from tests.compiling import STRING, Json, compiled, compiled_operation, kinds, ref, schemas

INTEGER = {"type": "integer"}


def output_of(schema: Any, **root: Any) -> Json | None:
    response = {"200": {"content": {"application/json": {"schema": schema}}}}
    (tool,) = compiled_operation({"responses": response}, **root).tools
    return tool.output_schema


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        (
            {"type": "object", "required": ["a"], "properties": {"a": STRING}, "additionalProperties": False},
            {"type": "object", "properties": {"a": STRING}},
        ),
        (
            {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "enum": ["a"], "pattern": "^a$", "format": "x"},
            },
            {"type": "array", "items": STRING},
        ),
        (
            {"properties": {"a": {"type": "string", "nullable": True}}},
            {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
        ),
        (
            {"properties": {"a": {"type": "string", "enum": ["x", None]}}},
            {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
        ),
        (
            {"properties": {"a": {"enum": ["x", 1, None]}, "b": {"const": True}}},
            {"type": "object", "properties": {"a": {"type": ["string", "number", "null"]}, "b": {"type": "boolean"}}},
        ),
        (
            {"properties": {"a": True, "b": False, "c": {}}},
            {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}},
        ),
        ({"type": "object", "additionalProperties": INTEGER}, {"type": "object", "additionalProperties": INTEGER}),
        (
            {"type": "object", "additionalProperties": INTEGER, "properties": {"a": STRING}},
            {"type": "object", "properties": {"a": STRING}},
        ),
        ({"type": "object", "nullable": True}, {"type": "object"}),
        ({"type": ["array", "null"], "items": STRING}, {"type": "array", "items": STRING}),
        ({"items": STRING}, {"type": "array", "items": STRING}),
        ({"type": "array", "prefixItems": [STRING], "items": False}, {"type": "array"}),
        (
            {"type": "object", "properties": {"secret": {"writeOnly": True}, "b": ref("Secret"), "c": STRING}},
            {"type": "object", "properties": {"c": STRING}},
        ),
        (
            {
                "allOf": [
                    {"type": "object", "properties": {"a": STRING}},
                    {"properties": {"b": INTEGER}, "required": ["b"]},
                ]
            },
            {"type": "object", "properties": {"a": STRING, "b": INTEGER}},
        ),
        (
            {
                "oneOf": [
                    {"type": "object", "properties": {"a": STRING, "b": STRING}},
                    {"type": "object", "properties": {"a": INTEGER}},
                ]
            },
            {"type": "object", "properties": {"a": {"type": ["string", "integer"]}, "b": STRING}},
        ),
        (
            {"properties": {"a": {"anyOf": [STRING, {"type": "object", "properties": {"x": INTEGER}}]}}},
            {"type": "object", "properties": {"a": {"type": ["object", "string"], "properties": {"x": INTEGER}}}},
        ),
        ({"properties": {"a": {"anyOf": [STRING, {}]}}}, {"type": "object", "properties": {"a": {}}}),
        (
            {"properties": {"a": {"type": ["number", "integer"]}}},
            {"type": "object", "properties": {"a": {"type": "number"}}},
        ),
        (
            {"properties": {"a": {"type": "string", "description": "One. Two."}}},
            {"type": "object", "properties": {"a": {"type": "string", "description": "One."}}},
        ),
        (STRING, None),
        ({}, None),
        (True, None),
        ("object", None),
        ({"type": ["object", "array"]}, None),
        ({"anyOf": [{"type": "object"}, STRING]}, None),
    ],
)
def test_output_schema_is_the_shape(schema: Any, output: Json | None) -> None:
    assert output_of(schema, version="3.1", **schemas(Secret={"type": "string", "writeOnly": True})) == output


TREE = {"type": "object", "properties": {"label": STRING, "children": {"type": "array", "items": ref("Tree")}}}


def test_recursion_is_expanded_within_the_budget_without_references() -> None:
    output = output_of(ref("Tree"), **schemas(Tree=TREE))
    assert output is not None
    text = json.dumps(output)
    assert "$ref" not in text
    assert len(text) < FULL.output
    assert output["properties"]["children"]["items"]["properties"]["children"]["items"]["type"] == "object"


@pytest.mark.parametrize("count", [1, 50, 100, 200, 1000])
def test_deepest_complete_level_within_the_budget_is_used(count: int) -> None:
    wide = {
        "type": "object",
        "properties": {f"property_{n}": {"type": "object", "properties": {"a": STRING}} for n in range(count)},
    }
    output = output_of(wide)
    assert output is not None
    assert len(json.dumps(output, separators=(",", ":"))) <= FULL.output
    levels = 0 if "properties" not in output else 1 + ("properties" in output["properties"]["property_0"])
    assert levels == {1: 2, 50: 2, 100: 1}.get(count, 0)


@pytest.mark.parametrize(
    "named",
    [
        {"A": {"allOf": [ref("A"), {"type": "object", "properties": {"a": STRING}}]}},
        {"A": {"anyOf": [ref("B"), ref("B")]}, "B": {"anyOf": [ref("A"), {"type": "object"}]}},
        {f"A{n or ''}": {"allOf": [ref(f"A{n + 1}"), ref(f"A{n + 1}")]} for n in range(60)}
        | {"A60": {"type": "object"}},
    ],
)
def test_cyclic_and_doubling_unions_are_read_once(named: Any) -> None:
    output = output_of(ref("A"), **schemas(**named))
    assert output is None or output["type"] == "object"


def test_output_schema_requires_no_property() -> None:
    output = output_of(
        {
            "type": "object",
            "required": ["a", "b"],
            "properties": {"a": STRING, "b": {"type": "object", "required": ["c"]}},
        }
    )
    assert output is not None
    validator = Draft202012Validator(output)
    assert all(map(validator.is_valid, ({}, {"a": "x"}, {"b": {}}, {"c": None})))


def test_broken_reference_costs_only_the_output_schema() -> None:
    result = compiled(
        {"/x": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"items": ref("Gone")}}}}}}}}
    )
    assert result.tools[0].output_schema is None
    assert kinds(result) == [("reference", None)]
