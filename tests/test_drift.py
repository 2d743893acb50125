"""The contract check of a server: calls are watched, differences logged and summed up, and no call is any different."""

import asyncio
import json
import logging
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.contract import Drift
from openapi_mcp.drift import MOST_BYTES, MOST_KINDS, MOST_WAITING, Tally
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.types import CallToolResult
from tests.conftest import ROOT
from tests.servers import running

PETSTORE = str(ROOT / "specs" / "petstore.yaml")
PNG = "iVBORw0KGgo="

APP = Starlette(
    routes=[
        Route("/numbers/1", lambda _: JSONResponse({"id": "one", "name": "a"})),
        Route("/numbers/2", lambda _: JSONResponse({"id": 2})),
        Route("/numbers/3", lambda _: JSONResponse({"id": 3, "name": "c"}, 202)),
        Route("/numbers/4", lambda _: PlainTextResponse("four")),
        Route("/numbers/5", lambda _: JSONResponse({"id": 5, "name": "e"})),
    ]
)
NUMBERS = {
    "openapi": "3.1.0",
    "info": {"title": "Numbers", "version": "1"},
    "paths": {
        "/numbers/{id}": {
            "get": {
                "operationId": "getNumber",
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "responses": {
                    "200": {
                        "description": "A number.",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "required": ["id", "name"],
                                    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
                                }
                            }
                        },
                    }
                },
            }
        }
    },
}


@pytest.fixture(scope="module")
def numbers() -> Iterator[str]:
    with running(APP) as url:
        yield url


Opened = Callable[..., Bridge]


@pytest.fixture
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Open a bridge on a document of one's own; its check is ended with the test."""
    bridges: list[Bridge] = []

    def open_bridge(root: Any, **options: Any) -> Bridge:
        path = tmp_path_factory.mktemp("document") / "document.json"
        path.write_text(json.dumps(root))
        bridges.append(Bridge.open(Config(source=str(path), **options)))
        return bridges[-1]

    yield open_bridge
    for bridge in bridges:
        if bridge.drift:
            bridge.drift.close()


def results(server: Server, calls: list[tuple[str, dict[str, Any]]]) -> list[CallToolResult]:
    async def all_of_them() -> list[CallToolResult]:
        try:
            return [await server.call(name, arguments) for name, arguments in calls]
        finally:
            await server.aclose()

    return asyncio.run(all_of_them())


def test_an_api_that_drifts_is_reported_and_its_answers_are_the_same(
    opened: Opened, numbers: str, caplog: pytest.LogCaptureFixture
) -> None:
    calls = [("getNumber", {"id": number}) for number in (1, 1, 2, 3, 4, 5)]
    unchecked = results(opened(NUMBERS, base_url=numbers).server(), calls)
    bridge = opened(NUMBERS, base_url=numbers, check_contract=True)
    with caplog.at_level(logging.WARNING, "openapi_mcp"):
        assert results(bridge.server(), calls) == unchecked
        assert bridge.drift
        bridge.drift.close()
    assert list(bridge.drift.summary()) == [
        "OPERATION  REQUESTS  ANSWERS  DRIFT",
        "getNumber         6        6      5",
        """        2  answer 200 body.id: "one" is not of type 'integer' [type]""",
        "        1  answer 200 body.name: it is required and missing [required]",
        "        1  answer 202: 202 is not documented (200) [status]",
        "        1  answer 200 body: text/plain; charset=utf-8 is not documented (application/json) [content type]",
        "contract: requests checked: 6, answers checked: 6, not checked: 0, differences: 5",
    ]
    assert len(caplog.messages) == 4, "each kind of drift is logged once"
    assert "answer 200 body.id" in caplog.messages[0]


def test_the_sample_api_does_what_its_document_says(petstore: str) -> None:
    key = {"shopKey": "open-sesame"}
    bridge = Bridge.open(Config(source=PETSTORE, base_url=petstore, credentials=key, check_contract=True))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("createPet", {"name": "Otto", "tags": ["dog"], "price": None}),
        ("listPets", {"status": ["available", "sold"], "limit": 1, "q": ""}),
        ("getPet", {"petId": 1}),
        ("getPet", {"petId": 999_999}),
        ("updatePet", {"petId": 1, "price": 2.5}),
        ("putPhoto", {"petId": 1, "body": PNG}),
        ("getPhoto", {"petId": 1}),
        ("deletePet", {"petId": 999_999}),
        ("sendMessage", {"from": "a@example.com", "text": "hi & bye", "topics": ["cats", "dogs"]}),
        ("getInventory", {}),
    ]
    assert {name for name, _ in calls} == {tool.name for tool in bridge.tools}
    results(bridge.server(), calls)
    assert bridge.drift
    bridge.drift.close()
    *lines, totals = bridge.drift.summary()
    assert totals == "contract: requests checked: 10, answers checked: 10, not checked: 0, differences: 0"
    assert len(lines) == 1 + len(bridge.tools)


def test_whoever_is_asked_without_a_credential_sees_that_in_the_summary(petstore: str) -> None:
    bridge = Bridge.open(Config(source=PETSTORE, base_url=petstore, check_contract=True))
    results(bridge.server(), [("deletePet", {"petId": 999_999})])
    assert bridge.drift
    bridge.drift.close()
    assert "        1  request: there is no credential for shopKey [security]" in list(bridge.drift.summary())


def test_calls_that_come_faster_than_they_are_checked_are_counted_and_not_kept(opened: Opened) -> None:
    bridge = opened(NUMBERS, check_contract=True)
    assert bridge.drift
    bridge.drift.close()  # from here on nothing is checked, and everything waits
    request = httpx.Request("GET", "http://numbers.test/numbers/1")
    for size in (*range(MOST_WAITING + 3), MOST_BYTES + 1):
        bridge.drift.observe(bridge.tools[0], request, httpx.Response(500, content=bytes(size), request=request))
    assert bridge.drift._waiting.qsize() == MOST_WAITING
    totals = list(bridge.drift.summary())[-1]
    assert (
        totals
        == f"contract: requests checked: 0, answers checked: 0, not checked: {2 * (MOST_WAITING + 4)}, differences: 0"
    )


def test_only_so_many_kinds_of_drift_are_told_apart() -> None:
    tally = Tally()
    found = tuple(
        Drift(tool="any", side="answer", kind="type", where=f"200 body.{name}", message="it is odd")
        for name in range(60)
    )
    assert tally.add(found) == [*found[: MOST_KINDS + 1]], "the first of the others is still said"
    assert tally.add(found) == []
    assert (len(tally.first), tally.drifts) == (MOST_KINDS + 1, 120)


def test_an_observer_that_fails_fails_no_call(opened: Opened, numbers: str, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    server = opened(NUMBERS, base_url=numbers).server()
    server._calls.observer = fail
    assert not results(server, [("getNumber", {"id": 5})])[0].is_error
    assert "ZeroDivisionError" in caplog.text


def test_whoever_made_a_call_can_hear_what_was_found_in_it(opened: Opened) -> None:
    bridge = opened(NUMBERS, base_url="http://api.test", check_contract=True)
    assert bridge.drift
    request = httpx.Request("GET", "http://api.test/numbers/1")
    for answer, count in (
        ({"id": "one", "name": "a"}, 1),
        ({"id": "one", "name": "a"}, 1),
        ({"id": 1, "name": "a"}, 0),
    ):
        findings = bridge.drift.observe(bridge.tools[0], request, httpx.Response(200, json=answer, request=request))
        assert findings
        found = findings.result(20)
        assert [sentence.partition(":")[0] for sentence in found] == ["getNumber differs from the document"] * count


@pytest.fixture(scope="module")
def numbers_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("numbers") / "numbers.json"
    path.write_text(json.dumps(NUMBERS))
    return str(path)


SERVE = [sys.executable, "-m", "openapi_mcp", "serve", "--check-contract"]


def test_serve_prints_what_it_found_when_it_ends(numbers: str, numbers_file: str) -> None:
    who = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": who},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "getNumber", "arguments": {"id": 1}}},
    ]
    text = "".join(json.dumps(message) + "\n" for message in messages)
    command = [*SERVE, numbers_file, "--base-url", numbers]
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=60, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {answer["id"]: "result" in answer for answer in answers} == {0: True, 1: True}
    printed = done.stderr.splitlines()
    difference = """answer 200 body.id: "one" is not of type 'integer' [type]"""
    assert f"getNumber differs from the document: {difference}" in printed
    assert printed[-4:] == [
        "OPERATION  REQUESTS  ANSWERS  DRIFT",
        "getNumber         1        1      1",
        f"        1  {difference}",
        "contract: requests checked: 1, answers checked: 1, not checked: 0, differences: 1",
    ]


def await_service(process: subprocess.Popen[str]) -> None:
    """Return once a server has answered: before that, a signal ends it before it has begun."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    line = next(line for line in process.stderr if "connect" in line)
    if "http://" in line:
        assert httpx.get(httpx.URL(line.split()[-1]).join("/health")).status_code == 200
    else:
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert process.stdout.readline()


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_signal_does_not_keep_the_summary_back(transport: str, numbers_file: str) -> None:
    command = [*SERVE, numbers_file, "--transport", transport] + (["--port", "0"] if transport == "http" else [])
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        await_service(process)
        process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=20)
    assert process.returncode == 0
    assert logged.splitlines()[-1].startswith("contract: requests checked: 0,"), logged
