"""`x-mcp` overrides names, texts and annotations of tools; the most specific object wins."""

from typing import Any

import pytest

from tests.compiling import Json, compiled, kinds, tool_of

OPERATION: Json = {"operationId": "listPets", "summary": "List pets"}


def test_most_specific_object_wins_key_by_key() -> None:
    hints = {"openWorldHint": False, "readOnlyHint": False}
    root: Json = {"x-mcp": {"title": "Root", "description": "Root.", "annotations": hints}}
    item = {"description": "Path.", "annotations": {"readOnlyHint": True}}
    own = {"name": "pets", "title": "Mine"}
    result = compiled({"/x": {"x-mcp": item, "get": {**OPERATION, "x-mcp": own}}}, **root)
    (tool,) = result.tools
    assert (tool.name, tool.title, tool.description) == ("pets", "Mine", "Path.")
    assert tool.annotations == {"readOnlyHint": True, "openWorldHint": False}
    assert result.problems == ()


def test_name_counts_on_an_operation_only() -> None:
    everywhere: Json = {"x-mcp": {"name": "all"}}
    result = compiled({"/x": {**everywhere, "get": OPERATION}}, **everywhere)
    assert [tool.name for tool in result.tools] == ["listPets"]


@pytest.mark.parametrize(
    ("root", "item", "own", "hidden"),
    [
        ({"hidden": True}, {}, {}, True),
        ({"hidden": True}, {"hidden": False}, {}, False),
        ({"enabled": False}, {}, {"enabled": True}, False),
        ({}, False, {}, True),
        (False, True, {}, False),
        ({}, {}, {"hidden": True}, True),
        ({"title": "T"}, {}, {}, False),
    ],
)
def test_operations_can_be_hidden(root: Any, item: Any, own: Any, hidden: bool) -> None:
    result = compiled({"/x": {"x-mcp": item, "get": {"x-mcp": own}}}, **{"x-mcp": root})
    assert (len(result.tools), result.excluded, result.operations) == (int(not hidden), int(hidden), 1)


@pytest.mark.parametrize(
    "value",
    [
        *("hidden", ["hidden"], None, {"hide": True}, {"hidden": "yes"}, {"title": 5}, {"annotations": []}),
        *({"annotations": {"readOnlyHint": "yes"}}, {"annotations": {"title": "T"}}),
    ],
)
def test_invalid_values_are_reported_and_ignored(value: Any) -> None:
    result = compiled({"/x": {"get": {**OPERATION, "x-mcp": value}}})
    assert kinds(result) == [("x-mcp", None)]
    assert result.tools == compiled({"/x": {"get": OPERATION}}).tools


def test_explicit_name_is_made_legal() -> None:
    assert tool_of({"x-mcp": {"name": "list the pets"}}).name == "list_the_pets"


@pytest.mark.parametrize(
    ("scopes", "alternatives"),
    [
        (["write", "read"], (("read", "write"),)),
        ("read write", (("read", "write"),)),
        ([["admin"], ["read", "write"]], (("admin",), ("read", "write"))),
        ([], ()),
        ([["admin"], []], ()),
    ],
)
def test_scopes_replace_those_of_the_security_requirement(scopes: Any, alternatives: Any) -> None:
    schemes: Json = {"securitySchemes": {"oauth": {"type": "oauth2", "flows": {}}}}
    operation = {**OPERATION, "security": [{"oauth": ["other"]}], "x-mcp": {"scopes": scopes}}
    result = compiled({"/x": {"get": operation}}, components=schemes)
    assert [tool.scopes for tool in result.tools] == [alternatives]
    assert result.problems == ()


@pytest.mark.parametrize(
    "scopes", [5, None, {"read": True}, ["read", 5], ["two words"], ['quo"te'], [["read"], "write"]]
)
def test_scopes_that_cannot_be_read_are_reported_and_no_token_has_them(scopes: Any) -> None:
    result = compiled({"/x": {"get": {**OPERATION, "x-mcp": {"scopes": scopes}}}})
    assert kinds(result) == [("x-mcp", None)]
    assert result.tools[0].scopes
    assert all(any(not scope.isalpha() for scope in group) for group in result.tools[0].scopes)


def test_a_chosen_name_goes_before_an_operation_id() -> None:
    made = compiled(
        {"/a": {"get": {"operationId": "getA"}}, "/b": {"get": {"operationId": "b", "x-mcp": {"name": "getA"}}}}
    )
    assert [tool.name for tool in made.tools] == ["getA_get_a", "getA"]
    assert not made.problems


def test_a_name_that_two_operations_choose_is_a_problem() -> None:
    made = compiled({path: {"get": {"operationId": path[1:], "x-mcp": {"name": "Same"}}} for path in ("/a", "/b")})
    assert [tool.name for tool in made.tools] == ["Same_get_a", "Same_get_b"]
    assert [(problem.pointer, problem.message) for problem in made.problems] == [
        (
            f"#/paths/~1{each}/get",
            f"several operations have the name Same of `x-mcp`; this one is named Same_get_{each}",
        )
        for each in "ab"
    ]
