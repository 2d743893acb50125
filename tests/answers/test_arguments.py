"""Tools that are listed with `select` and `pages` in each mode, and the tokens that this costs."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.answers.arguments import MAX_ADDED_TOKENS, listed
from openapi_mcp.answers.size import ITEMS, answer_bytes
from openapi_mcp.generator.package import generate
from openapi_mcp.runtime.server.catalog import ListedTool
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.token_budget import tokens
from tests.answers.api import ListApi
from tests.compiling import compiled_operation
from tests.generating import imported, write


def added(tool: ListedTool) -> set[str]:
    return {"select", "pages", "_select", "_pages"}.intersection(tool.input_schema["properties"])


def of_list(folder: Path, **options: Any) -> dict[str, set[str]]:
    return {tool.name: added(tool) for tool in ListApi().bridge(folder, **options).catalog.tools}


def test_tools_with_large_answers_are_listed_with_the_arguments(tmp_path: Path) -> None:
    found = of_list(tmp_path, mode="all")
    assert {name: names for name, names in found.items() if names} == {
        "list_items": {"select", "pages"},
        "list_broken": {"select", "pages"},  # a list in pages, of which nothing else is known
        "list_elsewhere": {"select", "pages"},  # its own
    }


def test_all_tools_and_none_can_be_chosen(tmp_path: Path) -> None:
    everything = of_list(tmp_path, mode="all", select="all")
    assert everything["get_item"] == {"select"}
    assert everything["list_broken"] == {"select", "pages"}
    assert everything["list_elsewhere"] == {"select", "pages", "_select"}
    assert everything["add_item"] == {"select"}
    off = ListApi().bridge(tmp_path, mode="all", select="never")
    assert [tool.input_schema for tool in off.catalog.tools] == [tool.input_schema for tool in off.tools]


def test_where_it_is_off_the_argument_is_unknown(tmp_path: Path) -> None:
    server = ListApi().bridge(tmp_path, mode="all", select="never").server()

    async def call() -> str:
        result = await server.call("list_items", {"select": "[]"})
        await server.aclose()
        return str(result.content[0]["text"])

    assert "select" in asyncio.run(call())


def test_a_search_lists_the_arguments_once(tmp_path: Path) -> None:
    bridge = ListApi().bridge(tmp_path, mode="search")
    by_name = {tool.name: tool for tool in bridge.catalog.tools}
    # a tool of the API has arguments of these names
    assert added(by_name["call_tool"]) == {"_select", "_pages"}
    assert not added(by_name["search_tools"])
    assert bridge.catalog.get("list_items") in bridge.tools
    plain = ListApi().bridge(tmp_path, mode="search", select="never").catalog.tools
    assert sum(map(tokens, bridge.catalog.tools)) - sum(map(tokens, plain)) <= 60


def test_pinned_tools_have_the_arguments_too(tmp_path: Path) -> None:
    assert of_list(tmp_path, mode="search", pin=["list_items"])["list_items"] == {"select", "pages"}


def test_a_call_through_the_search_has_them(tmp_path: Path) -> None:
    api = ListApi()
    bridge = api.bridge(tmp_path, mode="search")
    result = api.call(bridge, "call_tool", name="list_items", _select="[].id", _pages=9)
    assert result.structured_content == list(range(25))
    inner = api.call(bridge, "call_tool", name="list_items", arguments={"select": "[].id", "pages": 2})
    assert inner.structured_content == list(range(20))


@pytest.mark.process
def test_a_program_has_them(tmp_path: Path) -> None:
    api = ListApi()
    bridge = api.bridge(tmp_path, mode="code")
    result = api.call(bridge, "run_code", code="await list_items(select='[].id', pages=2)")
    assert json.loads(result.content[0]["text"]) == list(range(20))


def test_a_long_list_gets_no_arguments_that_cost_much(tmp_path: Path) -> None:
    tool = next(tool for tool in ListApi().bridge(tmp_path).tools if tool.name == "list_items")
    many = [tool] * 80
    assert listed(many) == tuple(many)
    some = listed([tool] * 20)
    assert all(added(each) == {"select", "pages"} for each in some)
    cost = sum(map(tokens, some)) - 20 * tokens(tool)
    assert cost <= 20 * 50 <= MAX_ADDED_TOKENS


def schema(value: Any) -> Tool:
    responses = {"200": {"description": "", "content": {"application/json": {"schema": value}}}}
    return compiled_operation({"responses": responses}, method="get").tools[0]


def test_the_size_of_answers_is_estimated_by_their_schemas() -> None:
    text = {"type": "string"}
    one = answer_bytes(
        schema({"type": "object", "properties": {"name": text, "tags": {"type": "array", "items": text}}})
    )
    many = answer_bytes(schema({"type": "array", "items": {"type": "object", "properties": {"name": text}}}))
    assert one == 2 + (8 + 20) + (8 + ITEMS * 21)
    assert many == ITEMS * (2 + 8 + 20 + 1)
    tree: dict[str, Any] = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Tree"}}}
    loop = {"$defs": {"Tree": tree}, **tree}
    tool = schema({"type": "object"})
    object.__setattr__(tool, "output_schema", loop)
    assert (answer_bytes(tool) or 0) < 1_000


@pytest.mark.slow
def test_packages_have_the_tools_of_the_live_server_without_the_arguments(tmp_path: Path) -> None:
    live = ListApi().bridge(tmp_path, mode="all")
    package = generate(live)
    write(package.files, tmp_path / "out")
    with imported(package, tmp_path / "out") as module:
        tools = module.create_server().catalog.tools
    assert [asdict(tool) for tool in tools] == [asdict(tool) for tool in live.tools]
    assert not any(added(tool) for tool in tools if tool.name != "list_elsewhere")
