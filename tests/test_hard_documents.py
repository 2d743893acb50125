"""Test the hard documents in `tests/hard/`: their tools, the pointers of their problems, the bytes of each call.

The expectations are JSON files beside the documents. The same calls go through the runtime directly, and through the
command with an official client and an API server that records the requests.
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
    """Return the document of an expectation."""
    stem = expected.name.removesuffix(".expected.json")
    return next(
        path for path in (expected.with_name(f"{stem}{ending}") for ending in (".yaml", ".json")) if path.exists()
    )


def open_bridge(expected: Path, base_url: str = "http://127.0.0.1:9") -> Bridge:
    credentials = json.loads(expected.read_text())["credentials"]
    return Bridge.open(Config(source=str(document(expected)), base_url=base_url, credentials=credentials))


def spec_name(expected: Path) -> str:
    return expected.relative_to(HARD).as_posix().removesuffix(".expected.json")


each = pytest.mark.parametrize("expected", EXPECTED, ids=spec_name)


@each
def test_every_operation_is_a_tool_or_a_problem_with_its_pointer(expected: Path) -> None:
    bridge, expectation = open_bridge(expected), json.loads(expected.read_text())
    assert [tool.name for tool in bridge.tools] == expectation["tools"]
    assert [[problem.kind, problem.pointer] for problem in bridge.problems] == expectation["problems"]


@each
def test_calls_send_the_expected_requests(expected: Path) -> None:
    expectation = json.loads(expected.read_text())
    with echoing() as echo:
        server = open_bridge(expected, echo.url).server()

        async def calls() -> None:
            try:
                await check_calls(expectation, echo, server.call, lambda result: result.content[0]["text"])
            finally:
                await server.aclose()

        asyncio.run(calls())


@pytest.mark.process
@each
def test_calls_through_the_command_and_an_official_client_are_the_same(expected: Path) -> None:
    expectation = json.loads(expected.read_text())
    auth = [option for name, value in expectation["credentials"].items() for option in ("--auth", f"{name}={value}")]

    async def calls(echo: Echo) -> None:
        program, *arguments = command(document(expected), echo.url, *auth)
        async with Client(StdioServerParameters(command=program, args=arguments)) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == expectation["tools"]
            await check_calls(expectation, echo, client.call_tool, lambda result: result.content[0].text)

    with echoing() as echo:
        asyncio.run(calls(echo))


@each
def test_a_generated_package_has_the_same_tools(expected: Path, tmp_path: Path) -> None:
    from openapi_mcp.generator.package import generate

    live = open_bridge(expected)
    package = generate(live, name="hard-mcp", runtime="installed")
    write(package.files, tmp_path)
    with imported(package, tmp_path) as module:
        assert module.create_server().catalog.tools == live.tools


async def check_calls(expectation: Mapping[str, Any], echo: Echo, call: Call, text: Callable[[Any], str]) -> None:
    """Make each call of an expectation, and compare the requests or the refusal."""
    for expected_call in expectation["calls"]:
        before = len(echo.requests)
        result = await call(expected_call["call"], expected_call["with"])
        sent = echo.requests[before:]
        if "refused" in expected_call:
            assert (sent, text(result).partition("\n")[0]) == ([], expected_call["refused"])
        else:
            assert [comparable(request, expected_call) for request in sent] == [expected_call], text(result)


IGNORED_HEADERS = {"host", "user-agent", "accept", "accept-encoding", "connection", "content-length"}
"""Headers that every request has, independent of the document."""


def comparable(request: Recorded, expectation: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request in the form of an expectation."""
    headers = {name: value.decode() for name, value in request.headers if name not in IGNORED_HEADERS}
    charset = "latin-1" if "iso-8859-1" in headers.get("content-type", "") else "utf-8"
    parts = {"sent": f"{request.method} {request.target}", "headers": headers, "body": request.body.decode(charset)}
    return {"call": expectation["call"], "with": expectation["with"]} | {
        name: value for name, value in parts.items() if value
    }
