"""Extensions of other programs are read as `x-mcp`, which counts more; Redocly's `x-mcp` is left alone."""

from typing import Any

import pytest

from tests.compiling import Json, compiled, tool_of


@pytest.mark.parametrize(
    ("extension", "facts"),
    [
        (
            {
                "x-speakeasy-mcp": {
                    "name": "a",
                    "title": "T",
                    "description": "D.",
                    "scopes": ["read"],
                    "disabled": False,
                }
            },
            ("a", "T", "D."),
        ),
        ({"x-speakeasy-mcp": {"name": "a"}, "x-mcp": {"description": "Own."}}, ("a", "It", "Own.")),
        ({"x-speakeasy-mcp": {"name": "a"}, "x-mcp": {"name": "b"}}, ("b", "It", "POST /x")),
        ({"x-kong-mcp-tool-name": "a", "x-kong-mcp-tool-description": "D."}, ("a", "It", "D.")),
        ({"x-kong-mcp-exclude": False}, ("it", "It", "POST /x")),
        ({"x-klaridian": {"title": "T", "expose": True}}, ("it", "T", "POST /x")),
        ({"x-mcp-tool": "a"}, ("a", "It", "POST /x")),
        ({"x-mcp-tool": {"name": "a", "description": "D.", "version": 3}}, ("a", "It", "D.")),
    ],
)
def test_names_and_texts_of_other_extensions_are_used(extension: Json, facts: tuple[str, str, str]) -> None:
    tool = tool_of(extension)
    assert (tool.name, tool.title, tool.description) == facts
    assert not tool.scopes


@pytest.mark.parametrize(
    "extension",
    [
        {"x-speakeasy-mcp": {"disabled": True}},
        {"x-kong-mcp-exclude": True},
        {"x-klaridian": {"expose": False}},
        {"x-mcp-tool": {"hidden": True}},
    ],
)
def test_operations_that_others_leave_out_are_left_out(extension: Json) -> None:
    result = compiled({"/x": {"get": extension, "post": {}}})
    assert [tool.method for tool in result.tools] == ["POST"]
    assert (result.operations, result.excluded) == (2, 1)


def test_hints_of_other_extensions_are_used() -> None:
    hints = {"readOnly": False, "destructive": False, "openWorld": False}
    assert tool_of({"x-klaridian": hints}).annotations == {
        "readOnlyHint": False,
        "idempotentHint": False,
        "destructiveHint": False,
        "openWorldHint": False,
    }
    assert tool_of({"x-speakeasy-mcp": {"readOnlyHint": True}}).annotations["readOnlyHint"] is True


@pytest.mark.parametrize("value", [{"x-kong-mcp-exclude": "yes"}, {"x-speakeasy-mcp": {"name": 3}}, {"x-klaridian": 3}])
def test_a_wrong_type_is_a_problem(value: Json) -> None:
    (problem,) = compiled({"/x": {"post": value}}).problems
    assert problem.pointer.startswith("#/paths/~1x/post/x-")


def test_the_servers_of_redocly_are_left_alone() -> None:
    root: Any = {"protocolVersion": "2025-06-18", "servers": [{"url": "/mcp"}], "tools": [{"name": "x"}], "prompts": []}
    result = compiled({"/x": {"post": {}}}, **{"x-mcp": root})
    assert not result.problems
    assert len(result.tools) == 1
