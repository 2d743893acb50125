"""No value that the API sent is missing from structuredContent, whatever its document declares."""

import json
from typing import Any

import httpx
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol.revisions import HANDSHAKE, STATELESS
from openapi_mcp.runtime.result.build import to_result
from openapi_mcp.runtime.result.sanitizer import NO_SECRETS
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import CallToolResult
from tests.compiling import tool_of
from tests.runtime.protocol.test_output_schemas import JSON, SCHEMAS

ERAS = {**HANDSHAKE, **STATELESS}


def tool_with_answer(schema: Any) -> Tool:
    answer = {"description": "d", "content": {"application/json": {"schema": schema}}}
    return tool_of({"responses": {"200": answer}}, version="3.1")


def answered(tool: Tool, body: str) -> CallToolResult:
    request = httpx.Request("GET", "https://api.test/x")
    response = httpx.Response(200, headers={"content-type": "application/json"}, content=body, request=request)
    return to_result(tool, response, max_bytes=1 << 20)


@pytest.mark.slow
@given(SCHEMAS, JSON, st.sampled_from(["2025-06-18", "2025-11-25", "2026-07-28"]))
def test_any_answer_to_any_declared_schema_arrives_whole(schema: Any, value: Any, revision: str) -> None:
    tool, era = tool_with_answer(schema), ERAS[revision]
    wire = era.call_result(answered(tool, json.dumps(value)), tool.output_schema)
    content = wire["structuredContent"]
    value = NO_SECRETS.value(value)  # hidden characters are written as escapes
    assert value in (content, content.get("result") if isinstance(content, dict) else content)
    if tool.output_schema is not None:
        jsonschema.validate(content, era.tool(tool)["outputSchema"], jsonschema.Draft202012Validator)


LISTING = {"type": "object", "properties": {"name": {"type": "string"}, "content": {"type": "string"}}}
ITEMS = {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (ITEMS, [{"id": 1}]),
        (ITEMS, [{"id": None}, None]),
        (ITEMS, {"id": "1"}),
        (LISTING, {"name": "work", "content": [{"name": "notes.ipynb", "content": None}]}),
        (LISTING, [1, 2]),
    ],
)
def test_value_of_another_type_than_documented_is_in_structured_content(schema: Any, value: Any) -> None:
    assert answered(tool_with_answer(schema), json.dumps(value)).structured_content == value


def test_json_deeper_than_clients_read_is_text_only() -> None:
    body = "[" * 129 + "]" * 129
    result = answered(tool_with_answer(ITEMS), body)
    assert (result.content[0]["text"], result.structured_content) == (body, [])
    assert answered(tool_with_answer(ITEMS), body[1:-1]).structured_content == json.loads(body[1:-1])
