"""Generated packages, installed into one empty environment, tested there and called by the official client."""

import asyncio
import os
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from filelock import FileLock
from mcp import Client, StdioServerParameters
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from openapi_mcp.generator.samples import SampleCall, sample_call
from tests.conftest import ROOT
from tests.generating import bridge, generated
from tests.servers import running

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]

DOCUMENTS = ("petstore.yaml", "museum.yaml", "petstore-2.0.json")
CHECKED = "petstore.yaml"
PIP = (sys.executable, "-m", "pip", "--python")
METHODS = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "QUERY", "LINK"]


@dataclass(frozen=True)
class Installed:
    """A package in its own environment: its folder, Python, program and tools, and a sample call."""

    folder: Path
    python: Path
    program: Path
    tools: list[str]
    call: SampleCall


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return a folder with the packages, by document, and an environment that holds them and their `dev` groups.

    It is made once: installing takes ten seconds, and the test processes of a run share it.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "installed-packages"
    with FileLock(f"{folder}.lock"):
        if not (folder / "ready").exists():
            install(folder)
            (folder / "ready").touch()
    return folder


def install(folder: Path) -> None:
    """Generate the packages, and install them and what each pyproject.toml names; nothing of this project's own."""
    development: set[str] = set()
    for document in DOCUMENTS:
        generated(ROOT / "specs" / document, folder / document)
        project = tomllib.loads((folder / document / "pyproject.toml").read_text())
        development |= set(project["dependency-groups"]["dev"])
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    pip = [*PIP, str(folder / "venv"), "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, *(folder / each for each in DOCUMENTS), *sorted(development)], check=True)


@pytest.fixture(scope="module", params=DOCUMENTS)
def installed(request: pytest.FixtureRequest, packages: Path) -> Installed:
    live = bridge(ROOT / "specs" / request.param)
    call = next(call for tool in live.tools if (call := sample_call(tool)))
    folder = packages / request.param
    name = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["name"]
    programs = packages / "venv" / "bin"
    return Installed(folder, programs / "python", programs / name, [tool.name for tool in live.tools], call)


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    """Run an API that returns the method and path of each request."""

    async def answer(request: Request) -> JSONResponse:
        return JSONResponse({"method": request.method, "path": request.url.path})

    with running(Starlette(routes=[Route("/{path:path}", answer, methods=METHODS)])) as url:
        yield url


@contextmanager
def over_http(package: Installed, api: str) -> Iterator[str]:
    """Run the program on a free port within the block, and return its URL."""
    command: list[str | Path] = [package.program, "--port", "0", "--base-url", api]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        start = iter(process.stderr.readline, "")  # lines about credentials come before the URL
        yield next(line.strip() for line in start if line.startswith("http"))
    finally:
        process.terminate()
        printed, errors = process.communicate(timeout=20)
    assert (process.returncode, printed, errors) == (0, "", "")


@asynccontextmanager
async def client(target: Any, era: Literal["legacy", "auto"]) -> AsyncIterator[Client]:
    async with Client(target, mode=era) as connected:
        yield connected


async def list_and_call(target: Any, era: Literal["legacy", "auto"], call: SampleCall) -> tuple[str, list[str], Any]:
    """Return the negotiated revision, the names of the tools, and the result of a call."""
    async with client(target, era) as connected:
        names = [tool.name for tool in (await connected.list_tools()).tools]
        result = await connected.call_tool(call.tool, call.arguments)
        assert not result.is_error, result.content
        return connected.protocol_version, names, result.content[0]


def test_generated_tests_pass_in_an_empty_environment(installed: Installed) -> None:
    process = subprocess.run(
        [installed.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=installed.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert f"{len(installed.tools) + 1} passed" in process.stdout


def test_package_passes_its_own_checks(packages: Path) -> None:
    """Run the commands of the README; the generated tests run above."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MYPY", "PYTHON"))}
    python, folder = packages / "venv" / "bin" / "python", packages / CHECKED
    for command in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]):
        process = subprocess.run(
            [python, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stdout + process.stderr


def test_requirements_of_the_compile_side_are_not_installed(installed: Installed) -> None:
    process = subprocess.run([*PIP, installed.python, "list"], capture_output=True, text=True, check=True)
    names = {line.split()[0].lower() for line in process.stdout.splitlines()[2:]}
    assert not names & {"mcp-openapi-bridge", "jinja2", "prance", "openapi-core", "typer", "pyyaml", "limits", "rich"}


@pytest.mark.parametrize(("era", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_official_client_lists_and_calls_tools(
    installed: Installed, api: str, transport: str, era: Literal["legacy", "auto"], revision: str
) -> None:
    if transport == "stdio":
        target = StdioServerParameters(command=str(installed.program), args=["--base-url", api], env=dict(os.environ))
        settled, names, content = asyncio.run(list_and_call(target, era, installed.call))
    else:
        with over_http(installed, api) as url:
            settled, names, content = asyncio.run(list_and_call(url, era, installed.call))
    assert (settled, names) == (revision, installed.tools)
    assert f'"method":"{installed.call.method}"' in content.text


def test_listening_on_other_addresses_requires_a_token(installed: Installed) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENAPI_MCP_AUTH_TOKEN"}
    process = subprocess.run(
        [installed.program, "--host", "0.0.0.0", "--port", "0"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert process.returncode == 1
    assert "token" in process.stderr
