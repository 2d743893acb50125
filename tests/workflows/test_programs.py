"""Workflows as functions of programs in code mode: their values, errors, limits, consent, and whose API they call."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from openapi_mcp.code_mode.tools import CALLS
from openapi_mcp.config import Config
from openapi_mcp.gateway.gateway import Gateway
from openapi_mcp.runtime.types import CallToolResult
from tests.workflows.api import TableApi, call, description, serving, text, write
from tests.workflows.test_runs import Folder, step

pytest.importorskip("pydantic_monty")

ITEM = [{"name": "itemId", "in": "path", "value": "$inputs.id"}]
INPUTS = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
READ = {
    "workflowId": "read-item",
    "inputs": INPUTS,
    "steps": [
        step("one", "getItem", parameters=ITEM, outputs={"name": "$response.body#/name"}),
        step("two", "getItem", parameters=ITEM),
    ],
    "outputs": {"name": "$steps.one.outputs.name"},
}
DELETE = {"workflowId": "delete-item", "inputs": INPUTS, "steps": [step("one", "deleteItem", parameters=ITEM)]}


@pytest.fixture(scope="module")
def api() -> Iterator[TableApi]:
    with serving() as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path, api: TableApi) -> Folder:
    api.answers({"GET /items": lambda _: [], "GET *": lambda _: {"name": "a"}, "DELETE *": lambda _: None})
    return Folder(tmp_path, api)


def run(folder: Folder, code: str, **options: object) -> CallToolResult:
    opened = folder.open(READ, DELETE, options={"mode": "code", **options})
    return call(opened, "run_code", {"code": code})


def test_a_workflow_is_a_function_that_returns_its_outputs(folder: Folder) -> None:
    result = run(folder, "[read_item(id=n)['name'] for n in (1, 2)]")
    assert not result.is_error, text(result)
    assert text(result).startswith('["a", "a"]')
    assert result.meta[CALLS] == {"getItem": 4}
    assert folder.api.lines == ["GET /items/1"] * 2 + ["GET /items/2"] * 2


def test_it_can_be_awaited_and_called_by_its_name(folder: Folder) -> None:
    code = "a, b = await asyncio.gather(read_item(id=1), call_tool('read-item', {'id': 2}))\n[a.name, b.name]"
    assert text(run(folder, f"import asyncio\n{code}")).startswith('["a", "a"]')


def test_its_failures_are_raised_and_its_calls_are_listed(folder: Folder) -> None:
    folder.api.answers({"DELETE *": lambda _: (409, {"message": "is lent"})})
    result = run(folder, "delete_item(id=1)")
    assert result.is_error
    assert "is lent" in text(result)
    assert "- deleteItem(itemId=1): 409" in text(result)
    code = "try:\n    said = delete_item(id='x')\nexcept RuntimeError as error:\n    said = str(error)\nsaid"
    assert 'delete_item(id="x"): ' in text(run(folder, code)).replace("delete-item", "delete_item")
    assert folder.api.lines == ["DELETE /items/1"]


def test_its_calls_count_as_calls_of_the_program(folder: Folder) -> None:
    result = run(folder, "for n in range(60):\n    read_item(id=n)")
    assert result.is_error
    assert "A program may make 100 calls" in text(result)
    assert len(folder.api.lines) == 100


def test_paginate_refuses_a_workflow(folder: Folder) -> None:
    assert "read_item is a workflow" in text(run(folder, "paginate(read_item, id=1)"))


def test_the_description_names_the_functions_and_the_hints_tell_of_hidden_operations(folder: Folder) -> None:
    opened = folder.open(READ, DELETE, options={"mode": "code", "read_only": True})
    program = next(tool for tool in opened.catalog.tools if tool.name == "run_code")
    assert (
        "- Listed workflows are functions too, which return their outputs: read_item, delete_item."
        in program.description
    )
    assert program.annotations["destructiveHint"] is True
    without = folder.open(READ, options={"mode": "code", "read_only": True})
    assert next(tool for tool in without.catalog.tools if tool.name == "run_code").annotations["readOnlyHint"] is True


def test_a_workflow_of_a_program_needs_the_users_consent(folder: Folder) -> None:
    opened = folder.open(DELETE, options={"mode": "code", "confirm": "destructive"})

    async def made() -> CallToolResult:
        server = opened.server()
        try:
            tool = server.catalog.get("run_code")
            assert tool is not None
            return await server.calls.call(tool, {"code": "delete_item(id=1)"})
        finally:
            await server.aclose()

    result = asyncio.run(made())
    assert result.is_error
    assert "_confirm" in text(result)
    assert folder.api.lines == []


def test_the_workflow_of_one_of_several_apis_calls_its_own(folder: Folder, tmp_path: Path) -> None:
    flow = write(tmp_path, description(READ))
    options = {"no_cache": True, "workflow": [str(flow)]}
    apis = {
        name: Config.from_options(
            str(folder.spec), {**options, "base_url": f"{folder.api.url}/{name}", "prefix": f"{name}_"}
        )
        for name in ("north", "south")
    }
    gateway = Gateway.open(Config.from_options("", {"mode": "code"}), apis)

    async def made() -> CallToolResult:
        server = gateway.server()
        try:
            return await server.call("run_code", {"code": "[north_read_item(id=1).name, south_read_item(id=2).name]"})
        finally:
            await server.aclose()

    result = asyncio.run(made())
    assert not result.is_error, text(result)
    assert folder.api.lines == ["GET /north/items/1"] * 2 + ["GET /south/items/2"] * 2
