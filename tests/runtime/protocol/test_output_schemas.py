"""`open_schema`: every JSON value conforms to a listed output schema, which still says what is documented."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol.output_schemas import MAX_LISTED_BYTES, listed_schema, open_schema
from openapi_mcp.runtime.protocol.revisions import HANDSHAKE, STATELESS
from openapi_mcp.runtime.types import CallToolResult, Schema, ToolDescription

NAMES = st.sampled_from(["id", "name", "items", "result", "tags", "type", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "description": st.text(max_size=9),
        "enum": st.lists(st.none() | st.integers() | st.text(max_size=3), min_size=1, max_size=3),
        "const": st.integers(),
        "minimum": st.integers(),
        "maxLength": st.integers(0, 9),
        "minItems": st.integers(0, 9),
        "minProperties": st.integers(0, 9),
        "pattern": st.just("^a$"),
        "format": st.sampled_from(["date-time", "uri", "int32"]),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans(),
        "uniqueItems": st.booleans(),
        "$ref": st.sampled_from(["#/$defs/A", "#/$defs/Gone", "https://nowhere.test/x"]),
    },
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.tuples(
        LEAVES,
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(NAMES, inner, max_size=3),
                "items": inner,
                "prefixItems": st.lists(inner, min_size=1, max_size=2),
                "additionalProperties": inner,
                "allOf": st.lists(inner, min_size=1, max_size=2),
                "anyOf": st.lists(inner, min_size=1, max_size=2),
                "oneOf": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
                "if": inner,
                "then": inner,
                "patternProperties": st.dictionaries(st.just("^a"), inner, max_size=1),
                "propertyNames": inner,
                "contains": inner,
            },
        ),
    ).map(lambda parts: parts[0] | parts[1]),
    max_leaves=8,
)
DEFINITIONS = st.dictionaries(st.just("A"), LEAVES.map(lambda leaf: {**leaf, "$ref": "#/$defs/Gone"}), max_size=1)
ERAS = [HANDSHAKE["2025-06-18"], HANDSHAKE["2025-11-25"], STATELESS["2026-07-28"]]


@pytest.mark.slow
@given(SCHEMAS, DEFINITIONS, JSON, st.sampled_from(ERAS))
def test_any_value_arrives_whole_under_any_output_schema(schema: Any, definitions: Any, value: Any, era: Any) -> None:
    documented = schema | ({"$defs": definitions} if definitions else {})
    tool = ToolDescription(name="t", description="", input_schema={}, output_schema=documented, annotations={})
    listed = era.tool(tool).get("outputSchema", {})  # one whose first level is too large is not listed
    content = era.call_result(CallToolResult(content=(), structured_content=value), documented)["structuredContent"]
    jsonschema.Draft202012Validator.check_schema(listed)
    jsonschema.validate(content, listed, jsonschema.Draft202012Validator)
    assert value in (content, content.get("result") if isinstance(content, dict) and era in ERAS[:2] else content)


@pytest.mark.parametrize(
    ("documented", "listed"),
    [
        ({"type": "string"}, {"description": "string", "minLength": 0}),
        ({"type": "string", "description": "A name."}, {"description": "string: A name.", "minLength": 0}),
        ({"type": ["string", "null"]}, {"description": "string or null", "minLength": 0}),
        ({"enum": ["cat", "dog"], "type": "string"}, {"description": "cat or dog", "minLength": 0}),
        ({}, {}),
        (
            {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
            {"properties": {"id": {"description": "integer", "minLength": 0}}},
        ),
        (
            {"type": "array", "items": {"type": "number", "minimum": 1}},
            {"items": {"description": "number", "minLength": 0}},
        ),
        (
            {"type": ["object", "null"], "properties": {"a": {}}, "additionalProperties": False},
            {"description": "object or null", "properties": {"a": {}}},
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            {"anyOf": [{"description": "integer", "minLength": 0}, {"description": "number", "minLength": 0}]},
        ),
    ],
)
def test_listed_schema_describes_the_documented_types(documented: Schema, listed: Schema) -> None:
    assert open_schema(documented) == listed


def described(levels: int, properties: int) -> Schema:
    """Return a schema of objects within objects, each with a description."""
    below = {"below": described(levels - 1, properties)} if levels else {}
    names: Schema = {
        f"property_{n}": {"type": "string", "description": "Words about it, and more."} for n in range(properties)
    }
    return {"type": "object", "description": "An object.", "properties": {**names, **below}}


def test_small_schema_is_listed_whole() -> None:
    schema = described(1, 1)
    assert listed_schema(schema) == open_schema(schema)


@pytest.mark.parametrize("wrapped", [False, True])
def test_large_schema_is_listed_without_descriptions_as_deep_as_it_fits(wrapped: bool) -> None:
    schema = {"type": "array", "items": described(5, 2)} if wrapped else described(5, 2)
    listed: Any = listed_schema(schema)
    assert len(json.dumps(listed, separators=(",", ":"))) <= MAX_LISTED_BYTES
    first = listed["items"] if wrapped else listed
    assert list(first["properties"]) == ["property_0", "property_1", "below"]
    assert first["properties"]["property_0"] == {"description": "string", "minLength": 0}
    assert "properties" in first["properties"]["below"]


@pytest.mark.parametrize("revision", ERAS, ids=lambda era: era.name)
def test_schema_whose_first_level_does_not_fit_is_not_listed_and_content_arrives(revision: Any) -> None:
    schema = described(0, 100)
    tool = ToolDescription(name="t", description="", input_schema={}, output_schema=schema, annotations={})
    assert "outputSchema" not in revision.tool(tool)
    result = revision.call_result(CallToolResult(content=(), structured_content={"property_0": "x"}), schema)
    assert result["structuredContent"] == {"property_0": "x"}
