"""Overlays that are written: a difference leads to the other document, a starter changes nothing."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.overlay.application import MAX_ACTIONS, Overlay
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
    for most in (MAX_ACTIONS, 2, 0):  # each object by itself, updates joined, whole fields of the root
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("openapi_mcp.overlay.difference.MAX_ACTIONS", most)
            made = difference(old, new, "Test")
        result = copy.deepcopy(old)
        assert Overlay(made, "file:///o").apply(result, "") == []
        assert result == new


def test_equal_documents_have_an_overlay_that_changes_nothing() -> None:
    (action,) = difference({"a": [{"b": 1}]}, {"a": [{"b": 1}]}, "Test")["actions"]
    assert (action["target"], action["update"]) == ("$", {})


def test_more_changes_than_an_overlay_has_actions_are_one_update() -> None:
    old = {str(number): {"a": {"b": 1, "c": 1}} for number in range(6_000)}
    new = {str(number): {"a": {"b": 2}} for number in range(6_000)}
    made = difference(old, new, "Test")
    assert len(made["actions"]) == 6_001
    assert made["actions"][0] == {"target": "$['0']['a']['c']", "remove": True}
    result = copy.deepcopy(old)
    assert Overlay(made, "file:///o").apply(result, "") == []
    assert result == new


@pytest.mark.parametrize(
    "name", ["", "'", '"', "a.b", "a[0]", "$", "@", "*", "\\", "\u2028", "\x00", "\x7f", "~1", "😀"]
)
def test_names_of_any_characters_are_reached(name: str) -> None:
    old = {name: {name: [1], "x": {name: None}}}
    for new in ({name: {name: [1, 2], "x": {}}}, {name: {name: {}, "x": {name: {name: False}}}}, {}):
        result = copy.deepcopy(old)
        assert Overlay(difference(old, new, "Test"), "file:///o").apply(result, "") == []
        assert result == new


PATHS: Any = {
    "/pets/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "get": {"operationId": "getPet", "summary": "Get a pet", "responses": {}},
        "delete": {"operationId": "deletePet", "description": "Delete a pet.", "deprecated": True, "responses": {}},
    }
}


def test_a_starter_names_every_tool_and_changes_none() -> None:
    original = document(PATHS)
    tools = build(original).tools
    root = copy.deepcopy(original.root)
    places = {f"{tool.method} {tool.path}": ("paths", tool.path, tool.method.lower()) for tool in tools}
    made = starter(tools, places, "Test")
    assert Overlay(made, "file:///o").apply(root, "") == []
    assert build(document(root["paths"])).tools == tools
    assert [action["update"]["x-mcp"]["name"] for action in made["actions"]] == ["getPet", "deletePet"]


def test_a_tool_without_a_place_is_left_out() -> None:
    tools = build(document(PATHS)).tools
    (action,) = starter(tools, {"GET /pets/{id}": ("paths", "/pets/{id}", "get")}, "Test")["actions"]
    assert action["update"]["x-mcp"]["name"] == "getPet"
    assert Overlay(starter(tools, {}, "Test"), "file:///o").apply({}, "") == []
