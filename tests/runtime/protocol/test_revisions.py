"""What each revision lets a server say, row by row."""

from typing import Any

import jsonschema
import pytest

from openapi_mcp.runtime.protocol.revisions import HANDSHAKE, STATELESS, Revision
from openapi_mcp.runtime.types import MISSING, CallToolResult, Schema, ToolDescription, text_content

REVISIONS = {**HANDSHAKE, **STATELESS}
OBJECT_REVISIONS = ("2025-06-18", "2025-11-25")

EVERYTHING = ToolDescription(
    name="t", title="T", description="d", input_schema={"type": "object"}, output_schema={}, annotations={"x": True}
)
NOTHING = ToolDescription(name="t", description="d", input_schema={"type": "object"}, annotations={})


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("2024-11-05", "name description inputSchema"),
        ("2025-03-26", "name description inputSchema annotations"),
        ("2025-06-18", "name title description inputSchema outputSchema annotations"),
        ("2025-11-25", "name title description inputSchema outputSchema annotations"),
        ("2026-07-28", "name title description inputSchema outputSchema annotations"),
    ],
)
def test_a_tool_shows_the_fields_its_revision_has(name: str, fields: str) -> None:
    assert list(REVISIONS[name].tool(EVERYTHING)) == fields.split()


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=REVISIONS)
def test_what_a_tool_does_not_have_is_left_out(revision: Revision) -> None:
    assert revision.tool(NOTHING) == {"name": "t", "description": "d", "inputSchema": {"type": "object"}}


def test_a_title_is_an_annotation_where_only_annotations_have_titles() -> None:
    assert REVISIONS["2025-03-26"].tool(EVERYTHING)["annotations"] == {"title": "T", "x": True}
    own = ToolDescription(name="t", title="T", description="", input_schema={}, annotations={"title": "own"})
    assert REVISIONS["2025-03-26"].tool(own)["annotations"] == {"title": "own"}


@pytest.mark.parametrize(
    ("schema", "value", "wrapped"),
    [
        ({"type": "object"}, {"a": 1}, False),
        ({"type": "object", "properties": {"result": {}}}, {"result": 1}, False),
        ({"type": "array"}, [1], True),
        ({}, {"a": 1}, True),
        ({"type": ["object", "null"]}, None, True),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}, {"a": 1}, True),
        ({"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": {"type": "integer"}}}, [1, 2], True),
        (None, {"a": 1}, False),
        (None, [1], True),
        (None, None, True),
        (None, "text", True),
    ],
)
@pytest.mark.parametrize("name", OBJECT_REVISIONS)
def test_content_is_wrapped_exactly_where_its_schema_is(
    name: str, schema: Schema | None, value: Any, wrapped: bool
) -> None:
    revision = REVISIONS[name]
    result = CallToolResult(content=(), structured_content=value)
    content = revision.call_result(result, schema)["structuredContent"]
    assert content == ({"result": value} if wrapped else value)
    if schema is not None:
        tool = ToolDescription(name="t", description="", input_schema={}, output_schema=schema, annotations={})
        listed = revision.tool(tool)["outputSchema"]
        assert listed["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(listed)
        jsonschema.validate(content, listed, jsonschema.Draft202012Validator)


def test_a_wrapped_schema_keeps_its_dialect_and_definitions_at_the_root() -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array", "$defs": {"A": {}}}
    tool = ToolDescription(name="t", description="", input_schema={}, output_schema=schema, annotations={})
    assert REVISIONS["2025-11-25"].tool(tool)["outputSchema"] == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"A": {}},
        "type": "object",
        "properties": {"result": {"type": "array"}},
        "required": ["result"],
    }


@pytest.mark.parametrize("value", [None, 0, "", [], [1], {"a": 1}])
def test_the_stateless_era_takes_any_value_as_it_is(value: Any) -> None:
    result = CallToolResult(content=(), structured_content=value)
    assert REVISIONS["2026-07-28"].call_result(result, {}) == {
        "content": [],
        "structuredContent": value,
        "isError": False,
    }


@pytest.mark.parametrize("name", ["2024-11-05", "2025-03-26"])
def test_revisions_without_structured_content_have_the_text_alone(name: str) -> None:
    result = CallToolResult(content=(text_content("{}"),), structured_content={}, is_error=True)
    assert REVISIONS[name].call_result(result, None) == {
        "content": [{"type": "text", "text": "{}"}],
        "isError": True,
    }


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=REVISIONS)
def test_no_structured_content_is_not_null(revision: Revision) -> None:
    result = CallToolResult(content=(), structured_content=MISSING)
    assert revision.call_result(result, {"type": "object"}) == {"content": [], "isError": False}


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=REVISIONS)
def test_the_last_page_has_no_cursor(revision: Revision) -> None:
    assert revision.tool_list([], None) == {"tools": []}
    assert revision.tool_list([], "c") == {"tools": [], "nextCursor": "c"}
