"""Hard documents of our own: which tools they make, where their problems are, and each call's bytes on the wire.

The expectations are data beside the documents, in `tests/hard/`. The same calls go through the runtime itself, and
through the command with an official client in front and a server behind it that records what came.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from tests.command import command
from tests.conftest import ROOT
from tests.generating import imported, write
from tests.runtime.echo import Echo, Recorded, echoing

HARD = ROOT / "tests" / "hard"
EXPECTED = sorted(HARD.rglob("*.expected.json"))
Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


def document(expected: Path) -> Path:
    """The document that an expectation is about."""
    stem = expected.name.removesuffix(".expected.json")
    return next(
        path for path in (expected.with_name(f"{stem}{ending}") for ending in (".yaml", ".json")) if path.exists()
    )


def opened(expected: Path, base_url: str = "http://127.0.0.1:9") -> Bridge:
    credentials = json.loads(expected.read_text())["credentials"]
    return Bridge.open(Config(source=str(document(expected)), base_url=base_url, credentials=credentials))


def named(expected: Path) -> str:
    return expected.relative_to(HARD).as_posix().removesuffix(".expected.json")


each = pytest.mark.parametrize("expected", EXPECTED, ids=named)


@each
def test_every_operation_is_a_tool_or_a_problem_with_its_place(expected: Path) -> None:
    bridge, wanted = opened(expected), json.loads(expected.read_text())
    assert [tool.name for tool in bridge.tools] == wanted["tools"]
    assert [[problem.kind, problem.pointer] for problem in bridge.problems] == wanted["problems"]


@each
def test_calls_are_what_the_document_says(expected: Path) -> None:
    wanted = json.loads(expected.read_text())
    with echoing() as echo:
        server = opened(expected, echo.url).server()

        async def calls() -> None:
            try:
                await made(wanted, echo, server.call, lambda result: result.content[0]["text"])
            finally:
                await server.aclose()

        asyncio.run(calls())


@each
def test_calls_are_the_same_through_the_command_and_an_official_client(expected: Path) -> None:
    wanted = json.loads(expected.read_text())
    auth = [option for name, value in wanted["credentials"].items() for option in ("--auth", f"{name}={value}")]

    async def calls(echo: Echo) -> None:
        program, *arguments = command(document(expected), echo.url, *auth)
        async with Client(StdioServerParameters(command=program, args=arguments)) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == wanted["tools"]
            await made(wanted, echo, client.call_tool, lambda result: result.content[0].text)

    with echoing() as echo:
        asyncio.run(calls(echo))


@each
def test_a_generated_package_has_the_same_tools(expected: Path, tmp_path: Path) -> None:
    from openapi_mcp.generator import generate

    live = opened(expected)
    package = generate(live, name="hard-mcp", runtime="installed")
    write(package.files, tmp_path)
    with imported(package, tmp_path) as module:
        assert module.create_server().catalog.tools == live.tools


async def made(wanted: Mapping[str, Any], echo: Echo, call: Call, text: Callable[[Any], str]) -> None:
    """Make each call of an expectation, and compare."""
    for each_call in wanted["calls"]:
        before = len(echo.requests)
        result = await call(each_call["call"], each_call["with"])
        sent = echo.requests[before:]
        if "refused" in each_call:
            assert (sent, text(result).partition("\n")[0]) == ([], each_call["refused"])
        else:
            assert [written(request, each_call) for request in sent] == [each_call], text(result)


UNJUDGED = {"host", "user-agent", "accept", "accept-encoding", "connection", "content-length"}
"""Headers that every request has, whatever the document says."""


def written(request: Recorded, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """A request as an expectation writes it."""
    headers = {name: value.decode() for name, value in request.headers if name not in UNJUDGED}
    charset = "latin-1" if "iso-8859-1" in headers.get("content-type", "") else "utf-8"
    parts = {"sent": f"{request.method} {request.target}", "headers": headers, "body": request.body.decode(charset)}
    return {"call": wanted["call"], "with": wanted["with"]} | {name: value for name, value in parts.items() if value}
