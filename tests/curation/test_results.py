"""`x-mcp` on results, groups and consent: what models get, live and in packages."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_mcp import Bridge, Config
from openapi_mcp.cli.inspect.output import tool_page
from openapi_mcp.generator.package import generate
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.result.build import CUT
from openapi_mcp.runtime.server.calls import Calls
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.selection import Selection
from openapi_mcp.tools.compiler import build
from tests.compiling import Json, compiled, document
from tests.generating import imported, write

ORDERS = [{"id": number, "total": 5, "secret": "x" * 50} for number in range(100)]
LIST: Json = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}


def tool_of(extension: Json, method: str = "get") -> Tool:
    result = compiled({"/orders": {method: {"operationId": "orders", "responses": LIST, "x-mcp": extension}}})
    assert not result.problems
    return result.tools[0]


def called(tool: Tool, answer: Any = None, status: int = 200) -> CallToolResult:
    async def ask() -> CallToolResult:
        transport = httpx.MockTransport(lambda _: httpx.Response(status, json=answer or {"orders": ORDERS}))
        calls = Calls(
            Upstream(transport=transport), RequestOptions(base_url="http://api.test"), max_result_bytes=80_000
        )
        return await calls.call(tool, {})

    return asyncio.run(ask())


def test_select_is_applied_to_each_answer() -> None:
    tool = tool_of({"select": "orders[:2].{id: id}"})
    result = called(tool)
    assert tool.output_schema is None
    assert result.structured_content == [{"id": 0}, {"id": 1}]
    assert result.content[0]["text"] == '[{"id":0},{"id":1}]'


def test_limit_cuts_a_result_and_says_so() -> None:
    result = called(tool_of({"limit": 100}))
    assert result.meta[CUT]["limitBytes"] == 400
    assert len(result.content[1]["text"]) <= 400


def test_errors_are_shown_as_they_are() -> None:
    result = called(tool_of({"select": "orders[].id"}), {"detail": "no such order"}, 404)
    assert result.is_error
    assert "no such order" in result.content[0]["text"]


def test_an_answer_that_does_not_fit_shows_its_names() -> None:
    result = called(tool_of({"select": "length(total)"}), {"total": 5})
    assert result.is_error
    assert "The answer is an object with total" in result.content[0]["text"]


def test_the_answer_of_a_call_that_changes_something_is_kept() -> None:
    result = called(tool_of({"select": "length(total)"}, "post"), {"total": 5})
    assert not result.is_error
    assert result.structured_content == {"total": 5}
    assert "This is the whole answer" in result.content[1]["text"]


def test_tags_replace_those_of_the_operation_and_the_group_is_the_first() -> None:
    fields: Json = {"operationId": "a", "tags": ["x"]}
    paths: Json = {"/a": {"get": {**fields, "x-mcp": {"tags": ["y", "z"], "group": "g"}}}}
    paths["/b"] = {"x-mcp": {"group": "x"}, "get": {"operationId": "b", "tags": ["w", "x"]}}
    assert [tool.tags for tool in compiled(paths).tools] == [("g", "y", "z"), ("x", "w")]
    selection = Selection.parse(["tag:y"], [], read_only=False)
    assert [tool.name for tool in build(document(paths), selection=selection).tools] == ["a"]


def test_valid_keys_count_where_others_are_reported() -> None:
    extension = {"limit": True, "tags": ["a", 1], "select": "a[", "confirm": "yes", "group": 5, "title": "T"}
    result = compiled({"/x": {"get": {"operationId": "a", "x-mcp": extension}}})
    (tool,) = result.tools
    assert (tool.title, tool.tags, tool.select, tool.confirm, tool.max_result_bytes) == ("T", ("a",), None, None, None)
    assert len(result.problems) == 5
    assert {problem.pointer for problem in result.problems} == {"#/paths/~1x/get/x-mcp"}


def opened(folder: Path, **options: Any) -> Bridge:
    operations: Json = {
        "get": {"operationId": "list_orders", "responses": LIST, "x-mcp": {"select": "orders[].id", "limit": 500}},
        "post": {"operationId": "add_order", "responses": LIST, "x-mcp": {"confirm": True}},
        "delete": {"operationId": "drop_orders", "responses": LIST, "x-mcp": {"confirm": False}},
    }
    root: Json = {"openapi": "3.0.3", "info": {"title": "Orders", "version": "1"}, "paths": {"/orders": operations}}
    root["servers"] = [{"url": "http://127.0.0.1:9"}]
    (folder / "orders.json").write_text(json.dumps(root))
    return Bridge.open(Config(source=str(folder / "orders.json"), no_cache=True, mode=Mode.ALL, retries=0, **options))


@pytest.mark.parametrize("confirm", ["never", "destructive", "changing"])
def test_confirm_decides_for_its_operation(tmp_path: Path, confirm: str) -> None:
    bridge = opened(tmp_path, confirm=confirm)
    asked = [tool.name for tool in bridge.catalog.tools if "_confirm" in tool.input_schema["properties"]]
    assert asked == ["add_order"]
    assert bridge.elicitor is not None

    async def ask(*, asks: bool) -> str:
        server = bridge.server(asks=asks)
        try:
            result = await server.call("add_order", {})
        finally:
            await server.aclose()
        return str(result.content[0]["text"])

    text = asyncio.run(ask(asks=True))
    assert "This server makes calls that its document marks for that only after a person has agreed" in text
    assert "could not connect" in asyncio.run(ask(asks=False)).lower() or "refused" in asyncio.run(ask(asks=False))


@pytest.mark.slow
def test_packages_select_and_cut_as_the_live_server_does(tmp_path: Path) -> None:
    live = opened(tmp_path)
    package = generate(live)
    write(package.files, tmp_path / "out")
    with imported(package, tmp_path / "out") as module:
        tools = module.create_server().catalog.tools
    without = {"confirm", "scopes"}  # what no package does
    shown = [
        [{k: v for k, v in asdict(tool).items() if k not in without} for tool in some] for some in (tools, live.tools)
    ]
    assert shown[0] == shown[1]
    files = {str(path): data for path, data in package.files.items()}
    assert b'"jmespath>=1.0.1"' in files["pyproject.toml"]
    assert any(path.endswith("_runtime/result/projection.py") for path in files)
    assert not any("_confirm" in data.decode(errors="replace") for path, data in files.items() if "/tools" in path)


def test_inspect_shows_what_models_do_not_see() -> None:
    hidden = {"name": "tenant", "in": "query", "schema": {"type": "string"}, "x-mcp": {"fixed": "header:X-Tenant"}}
    fields = {"operationId": "orders", "x-mcp": {"select": "a", "limit": 100, "confirm": True}, "parameters": [hidden]}
    lines = list(tool_page(compiled({"/orders": {"get": fields}}).tools[0]))
    assert "  hidden: tenant (header X-Tenant of the client's request)" in lines
    assert "  a person is asked before a call: always" in lines
    assert "  selected of an answer: a" in lines
    assert "  limit of a result: 100 tokens" in lines
