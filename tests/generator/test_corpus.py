"""Generated packages equal live servers, call by call, for torture documents and for real documents."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_mcp.bridge import Bridge
from openapi_mcp.errors import BridgeError
from openapi_mcp.generator.package import generate
from openapi_mcp.generator.samples import sample_call
from openapi_mcp.runtime.protocol import ServerDescription, Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.functions import Functions
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.toolkit import Catalog, Upstream
from openapi_mcp.runtime.types import Implementation
from tests.conftest import SHARED
from tests.generating import bridge, imported, write
from tests.generator.test_package import unused_declarations

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
CORPUS = SHARED / "corpus"
SOME = 24
TORTURE = sorted(path for path in (SHARED / "torture").glob("*.*") if path.name != "expected.json")


def documents() -> list[Path]:
    """Return the root documents of the corpus."""
    manifest = CORPUS / "manifest.json"
    entries = json.loads(manifest.read_text()) if manifest.exists() else []
    return [CORPUS / entry["name"] / root for entry in entries for root in entry.get("roots") or [entry["root"]]]


async def pages(server: Server) -> list[bytes]:
    """Return the pages of `tools/list`."""
    replies: list[bytes] = []
    params: dict[str, Any] = {}
    while params is not None:
        answer = await server.handle(LIST | {"params": params}, Session("2025-11-25"))
        replies.append(answer.body or b"")
        cursor = json.loads(replies[-1])["result"].get("nextCursor")
        if cursor is None:
            break
        params = {"cursor": cursor}
    await server.aclose()
    return replies


def requests_of(tools: tuple[Tool, ...], functions: Functions, calls: list[tuple[str, Any]]) -> list[Any]:
    """Return the requests and results of some calls."""
    sent: list[Any] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        boundary = request.headers.get("content-type", "").partition("boundary=")[2]
        headers = sorted(request.headers.multi_items())
        sent.append(
            (
                request.method,
                str(request.url),
                json.dumps(headers).replace(boundary, ""),
                body.replace(boundary.encode(), b""),
            )
        )
        return httpx.Response(200, json={"id": 1})

    async def all_of_them() -> None:
        server = Server(
            Catalog(tools),
            ServerDescription(implementation=Implementation("test", "1")),
            Upstream(transport=httpx.MockTransport(answer)),
            options=RequestOptions(base_url="http://127.0.0.1:9"),
            functions=functions,
        )
        sent.extend([await server.call(name, arguments) for name, arguments in calls])
        await server.aclose()

    asyncio.run(all_of_them())
    return sent


def judge(live: Bridge, folder: Path, *, full: bool) -> None:
    """Compare lists and calls of package and live server; `full` calls have all optional arguments."""
    package = generate(live, name="judged-mcp", runtime="installed")
    write(package.files, folder)
    with imported(package, folder) as module:
        tools = module.create_server().catalog.tools
        assert tools == live.tools
        plain = replace(live, config=replace(live.config, select="never"))  # `select` belongs to no tool
        assert asyncio.run(pages(module.create_server())) == asyncio.run(pages(plain.server()))
        functions = {function.tool.name: function for function in module.FUNCTIONS}
    calls = [(call.tool, call.arguments) for tool in live.tools if (call := sample_call(tool, full=full)) is not None]
    assert requests_of(tools, functions, calls) == requests_of(live.tools, {}, calls)


@pytest.mark.parametrize("document", TORTURE, ids=lambda path: path.name)
def test_package_equals_live_server_for_torture_documents(document: Path, tmp_path: Path) -> None:
    judge(bridge(document), tmp_path, full=True)


def parameters() -> list[Any]:
    """Return the documents; one of SOME is always compared, the others with `make corpus`, since they take long."""
    return [
        pytest.param(path, id=path.relative_to(CORPUS).as_posix(), marks=[pytest.mark.long] if number % SOME else [])
        for number, path in enumerate(documents())
    ]


@pytest.mark.process
@pytest.mark.corpus
@pytest.mark.timeout(600)
@pytest.mark.parametrize("document", parameters())
def test_package_equals_live_server_for_real_documents(document: Path, tmp_path: Path) -> None:
    try:
        live = bridge(document)
    except BridgeError as error:
        pytest.skip(f"cannot be loaded: {error}")
    judge(live, tmp_path, full=False)
    for module in tmp_path.glob("*/tools/*.py"):
        assert unused_declarations(module.read_text(encoding="utf-8")) == set(), module
    for command in (["ruff", "check"], ["ruff", "format", "--check"]):
        process = subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stdout
