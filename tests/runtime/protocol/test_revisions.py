"""The table of revisions, row by row."""

import json
from typing import Any

import jsonschema
import pytest

from openapi_mcp.runtime.protocol.revisions import HANDSHAKE, STATELESS, Revision
from openapi_mcp.runtime.types import MISSING, CallToolResult, Implementation, Schema, ToolDescription, text_content

REVISIONS = {**HANDSHAKE, **STATELESS}
OBJECT_REVISIONS = ("2025-06-18", "2025-11-25")

EVERYTHING = ToolDescription(
    name="t",
    title="A title",
    description="d",
    input_schema={"type": "object"},
    output_schema={},
    annotations={"x": True},
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
def test_listed_tool_has_the_fields_of_its_revision(name: str, fields: str) -> None:
    assert list(REVISIONS[name].tool(EVERYTHING)) == fields.split()


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=REVISIONS)
def test_absent_fields_of_a_tool_are_omitted(revision: Revision) -> None:
    assert revision.tool(NOTHING) == {"name": "t", "description": "d", "inputSchema": {"type": "object"}}


def test_title_is_an_annotation_in_revisions_without_tool_titles() -> None:
    assert REVISIONS["2025-03-26"].tool(EVERYTHING)["annotations"] == {"title": "A title", "x": True}
    own = ToolDescription(name="t", title="A title", description="", input_schema={}, annotations={"title": "own"})
    assert REVISIONS["2025-03-26"].tool(own)["annotations"] == {"title": "own"}


@pytest.mark.parametrize(
    ("name", "title", "description", "listed"),
    [
        ("getPet", "One pet", "Reads a pet.", True),
        ("getPet", "Get a pet", "Get a pet.\n\nBy its number.", False),
        ("getPet", "Get a pet.", "Get a Pet: by its number.", False),
        ("get_pet", "Get pet", "Reads one.", False),
        ("getPet", "", "Reads one.", False),
    ],
)
def test_title_that_repeats_the_description_or_the_name_is_not_listed(
    name: str, title: str, description: str, listed: bool
) -> None:
    tool = ToolDescription(name=name, title=title, description=description, input_schema={}, annotations={})
    for revision in OBJECT_REVISIONS:
        assert ("title" in REVISIONS[revision].tool(tool)) is listed
    assert ("annotations" in REVISIONS["2025-03-26"].tool(tool)) is listed


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
def test_structured_content_is_wrapped_exactly_if_its_schema_is(
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


def test_wrapped_schema_has_its_dialect_and_definitions_at_the_root() -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array", "$defs": {"A": {}}}
    tool = ToolDescription(name="t", description="", input_schema={}, output_schema=schema, annotations={})
    assert REVISIONS["2025-11-25"].tool(tool)["outputSchema"] == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"A": {}},
        "type": "object",
        "properties": {"result": {"description": "array", "minLength": 0}},
        "required": ["result"],
    }


@pytest.mark.parametrize("value", [None, 0, "", [], [1], {"a": 1}])
def test_stateless_era_has_any_structured_content_unwrapped(value: Any) -> None:
    result = CallToolResult(content=(text_content("x"),), structured_content=value)
    assert REVISIONS["2026-07-28"].call_result(result, {}) == {
        "content": [{"type": "text", "text": "x"}],
        "structuredContent": value,
        "isError": False,
    }


@pytest.mark.parametrize("name", ["2024-11-05", "2025-03-26"])
def test_revisions_without_structured_content_have_only_text(name: str) -> None:
    result = CallToolResult(content=(text_content("{}"),), structured_content={}, is_error=True)
    assert REVISIONS[name].call_result(result, None) == {
        "content": [{"type": "text", "text": "{}"}],
        "isError": True,
    }


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=REVISIONS)
def test_missing_structured_content_is_omitted(revision: Revision) -> None:
    result = CallToolResult(content=(text_content("x"),), structured_content=MISSING)
    assert "structuredContent" not in revision.call_result(result, {"type": "object"})


@pytest.mark.parametrize(("name", "has_member"), [("2025-03-26", False), ("2025-06-18", True), ("2026-07-28", True)])
def test_missing_structured_content_is_an_empty_object_if_explicit(name: str, has_member: bool) -> None:
    result = CallToolResult(content=(text_content("x"),))
    wire = REVISIONS[name].call_result(result, {"type": "array"}, explicit=True)
    assert wire.get("structuredContent") == ({} if has_member else None)
    full = CallToolResult(content=(text_content("x"),), structured_content={"a": 1})
    assert REVISIONS[name].call_result(full, None, explicit=True) == REVISIONS[name].call_result(full, None)


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=REVISIONS)
@pytest.mark.parametrize("is_error", [True, False])
@pytest.mark.parametrize("value", [MISSING, None, [], {"a": "é"}])
def test_content_is_never_empty(revision: Revision, is_error: bool, value: Any) -> None:
    result = CallToolResult(content=(), structured_content=value, is_error=is_error)
    [block] = revision.call_result(result, None)["content"]
    assert block["type"] == "text"
    assert json.loads(block["text"]) == value if value is not MISSING else block["text"]


@pytest.mark.parametrize(
    ("name", "fields", "logging"),
    [
        ("2024-11-05", "name version", True),
        ("2025-03-26", "name version", True),
        ("2025-06-18", "name version title", True),
        ("2025-11-25", "name version title description websiteUrl icons", True),
        ("2026-07-28", "name version title description websiteUrl icons", False),
    ],
)
def test_server_info_has_the_fields_of_its_revision(name: str, fields: str, logging: bool) -> None:
    icon = {"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["any"]}
    server = Implementation("n", "1", "T", description="D", website_url="https://example.com", icons=(icon,))
    wire = REVISIONS[name].implementation(server)
    assert list(wire) == fields.split()
    assert wire.get("icons", [icon]) == [icon]
    assert ("logging" in REVISIONS[name].capabilities(list_changed=True)) == logging
    assert REVISIONS[name].capabilities(list_changed=True)["tools"] == {"listChanged": True}


@pytest.mark.parametrize("revision", REVISIONS.values(), ids=REVISIONS)
def test_last_page_has_no_cursor(revision: Revision) -> None:
    assert revision.tool_list([], None) == {"tools": []}
    assert revision.tool_list([], "c") == {"tools": [], "nextCursor": "c"}
