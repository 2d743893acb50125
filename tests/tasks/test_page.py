"""The example of docs/tasks.md is what happens, and its limits are those of the code."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp import Bridge, Config
from openapi_mcp.runtime.protocol import ServerDescription, Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.types import Implementation
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.tasks.board import MAX_TASKS, MAX_TASKS_OF_CALLER, TaskBoard
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "tasks.md").read_text()
BLOCKS = dict(re.findall(r"```(yaml|json|text)\n(.*?)```", PAGE, re.DOTALL))


async def create(_: Request) -> Response:
    return Response(status_code=202, headers={"location": "/reports/7", "retry-after": "5"})


async def read(_: Request) -> Response:
    return JSONResponse({"status": "running"}, 202)


API = Starlette(routes=[Route("/reports", create, methods=["POST"]), Route("/reports/{id}", read)])


def called(folder: Path, extensions: dict[str, Any]) -> dict[str, Any]:
    """Return the result of `createReport` for a client with these extensions."""
    source = folder / "reports.yaml"
    source.write_text(BLOCKS["yaml"])
    bridge = Bridge.open(Config(source=str(source), no_cache=True))
    assert not bridge.problems
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
    }
    params = {"_meta": meta, "name": "createReport", "arguments": {}}

    async def call() -> dict[str, Any]:
        server = Server(
            bridge.catalog,
            ServerDescription(implementation=Implementation("reports", "1"), tasks=True),
            Upstream(transport=httpx.ASGITransport(API), total_timeout=4),
            options=RequestOptions(),
            follower=lambda: TaskBoard(Config(source="").task_timeout, lambda: bridge.tools),
        )
        reply = await server.handle({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, Session())
        await server.aclose()
        return dict(json.loads(reply.body or b"")["result"])

    return asyncio.run(call())


def test_client_with_tasks_gets_the_task_of_the_page(tmp_path: Path) -> None:
    result = called(tmp_path, {"io.modelcontextprotocol/tasks": {}})
    expected = json.loads(BLOCKS["json"])
    assert {name: result[name] for name in expected} == expected
    assert {"taskId", "createdAt", "lastUpdatedAt"} <= result.keys()


def test_client_without_tasks_gets_the_text_of_the_page(tmp_path: Path) -> None:
    result = called(tmp_path, {})
    assert result["content"][0]["text"] == BLOCKS["text"].strip()


@pytest.mark.parametrize("limit", [f"{MAX_TASKS_OF_CALLER} tasks", f"{MAX_TASKS:,}"])
def test_limits_are_those_of_the_code(limit: str) -> None:
    assert limit in PAGE
