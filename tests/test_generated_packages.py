"""Generated packages where people use them: installed into an empty environment, tested there, driven by a client."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, StdioServerParameters
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from openapi_mcp.sample_calls import SampleCall, sample_call
from tests.conftest import ROOT
from tests.generating import bridge, generated
from tests.servers import running

pytestmark = pytest.mark.timeout(300)

DOCUMENTS = ("petstore.yaml", "museum.yaml", "petstore-2.0.json")
METHODS = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "QUERY", "LINK"]


@dataclass(frozen=True)
class Installed:
    """A package in an environment of its own; its folder, its program, and what may be called."""

    folder: Path
    python: Path
    program: Path
    tools: list[str]
    call: SampleCall


@pytest.fixture(scope="module", params=DOCUMENTS)
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    document = ROOT / "specs" / request.param
    folder, environment = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("venv")
    made = generated(document, folder)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip: list[str | Path] = [
        environment / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, folder, "pytest"], check=True, capture_output=True)
    live = bridge(document)
    call = next(call for tool in live.tools if (call := sample_call(tool)))
    return Installed(
        folder,
        environment / "bin" / "python",
        environment / "bin" / made.name,
        [tool.name for tool in live.tools],
        call,
    )


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    """An API that answers everything alike."""

    async def answer(request: Request) -> JSONResponse:
        return JSONResponse({"method": request.method, "path": request.url.path})

    with running(Starlette(routes=[Route("/{path:path}", answer, methods=METHODS)])) as url:
        yield url


@contextmanager
def over_http(package: Installed, api: str) -> Iterator[str]:
    """The URL of the program on a port of its own choice."""
    command: list[str | Path] = [package.program, "--port", "0", "--base-url", api]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        yield process.stderr.readline().strip()
    finally:
        process.terminate()
        printed, errors = process.communicate(timeout=20)
    assert (process.returncode, printed, errors) == (0, "", "")


@asynccontextmanager
async def client(target: Any, era: Literal["legacy", "auto"]) -> AsyncIterator[Client]:
    async with Client(target, mode=era) as connected:
        yield connected


async def seen(target: Any, era: Literal["legacy", "auto"], call: SampleCall) -> tuple[str, list[str], Any]:
    """The revision that was settled on, the names of the tools, and the answer to a call."""
    async with client(target, era) as connected:
        names = [tool.name for tool in (await connected.list_tools()).tools]
        result = await connected.call_tool(call.tool, call.arguments)
        assert not result.is_error, result.content
        return connected.protocol_version, names, result.content[0]


def test_its_own_tests_pass_where_nothing_else_is_installed(installed: Installed) -> None:
    done = subprocess.run(
        [installed.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=installed.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(installed.tools) + 1} passed" in done.stdout


def test_nothing_of_the_compile_side_comes_with_it(installed: Installed) -> None:
    done = subprocess.run([installed.python, "-m", "pip", "list"], capture_output=True, text=True, check=True)
    names = {line.split()[0].lower() for line in done.stdout.splitlines()[2:]}
    assert not names & {"mcp-openapi-bridge", "jinja2", "prance", "openapi-core", "typer", "pyyaml", "limits", "rich"}


@pytest.mark.parametrize(("era", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_official_client_drives_it(
    installed: Installed, api: str, transport: str, era: Literal["legacy", "auto"], revision: str
) -> None:
    if transport == "stdio":
        target = StdioServerParameters(command=str(installed.program), args=["--base-url", api], env=dict(os.environ))
        settled, names, content = asyncio.run(seen(target, era, installed.call))
    else:
        with over_http(installed, api) as url:
            settled, names, content = asyncio.run(seen(url, era, installed.call))
    assert (settled, names) == (revision, installed.tools)
    assert f'"method":"{installed.call.method}"' in content.text


def test_it_listens_to_other_machines_only_where_clients_show_a_token(installed: Installed) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENAPI_MCP_AUTH_TOKEN"}
    done = subprocess.run(
        [installed.program, "--host", "0.0.0.0", "--port", "0"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "token" in done.stderr
