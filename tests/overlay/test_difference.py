"""Overlays that are written: a difference leads to the other document, a starter changes nothing."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.overlay.application import Overlay
from openapi_mcp.overlay.difference import difference, starter
from openapi_mcp.tools.compiler import build
from tests.compiling import document

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b'c", "\\", "\n"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc'"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


@given(OBJECTS, OBJECTS)
def test_a_difference_leads_from_one_document_to_the_other(old: Any, new: Any) -> None:
    made = difference(old, new, "Test")
    result = copy.deepcopy(old)
    if made["actions"]:
        assert Overlay(made, "file:///o").apply(result, "") == []
    assert result == new


def test_equal_documents_have_no_difference() -> None:
    assert difference({"a": [{"b": 1}]}, {"a": [{"b": 1}]}, "Test")["actions"] == []


PATHS: Any = {
    "/pets/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "get": {"operationId": "getPet", "summary": "Get a pet", "responses": {}},
        "delete": {"operationId": "deletePet", "description": "Delete a pet.", "responses": {}},
    }
}


def test_a_starter_names_every_tool_and_changes_none() -> None:
    original = document(PATHS)
    tools = build(original).tools
    root = copy.deepcopy(original.root)
    made = starter(tools, "Test")
    assert Overlay(made, "file:///o").apply(root, "") == []
    assert build(document(root["paths"])).tools == tools
    assert [action["update"]["x-mcp"]["name"] for action in made["actions"]] == ["getPet", "deletePet"]
