"""The contract check of a server: calls are observed, differences logged and summarised, results unchanged."""

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
from openapi_mcp.contract.checker import Drift
from openapi_mcp.contract.drift import MAX_CHECKED_BYTES, MAX_DISTINCT_DRIFTS, MAX_QUEUED_CALLS, Tally
from openapi_mcp.runtime.server.server import Server
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


OpenBridge = Callable[..., Bridge]


@pytest.fixture
def open_bridge_for(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBridge]:
    """Open bridges on documents of a test, and close their checks after it."""
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


def test_drift_is_reported_and_results_are_unchanged(
    open_bridge_for: OpenBridge, numbers: str, caplog: pytest.LogCaptureFixture
) -> None:
    calls = [("getNumber", {"id": number}) for number in (1, 1, 2, 3, 4, 5)]
    unchecked = results(open_bridge_for(NUMBERS, base_url=numbers).server(), calls)
    bridge = open_bridge_for(NUMBERS, base_url=numbers, check_contract=True)
    with caplog.at_level(logging.WARNING, "openapi_mcp"):
        assert results(bridge.server(), calls) == unchecked
        assert bridge.drift
        bridge.drift.close()
    assert list(bridge.drift.summary()) == [
        "OPERATION  REQUESTS  RESPONSES  DRIFT",
        "getNumber         6          6      5",
        """        2  response 200 body.id: "one" is not of type 'integer' [type]""",
        "        1  response 200 body.name: it is required and missing [required]",
        "        1  response 202: 202 is not documented (200) [status]",
        "        1  response 200 body: text/plain; charset=utf-8 is not documented (application/json) [content type]",
        "contract: requests checked: 6, responses checked: 6, not checked: 0, differences: 5",
    ]
    assert len(caplog.messages) == 4, "each kind of drift is logged once"
    assert "response 200 body.id" in caplog.messages[0]


def test_sample_api_has_no_drift(petstore: str) -> None:
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
    assert totals == "contract: requests checked: 10, responses checked: 10, not checked: 0, differences: 0"
    assert len(lines) == 1 + len(bridge.tools)


def test_missing_credential_is_in_the_summary(petstore: str) -> None:
    bridge = Bridge.open(Config(source=PETSTORE, base_url=petstore, check_contract=True))
    results(bridge.server(), [("deletePet", {"petId": 999_999})])
    assert bridge.drift
    bridge.drift.close()
    assert "        1  request: there is no credential for shopKey [security]" in list(bridge.drift.summary())


def test_calls_beyond_the_queue_are_counted_and_dropped(open_bridge_for: OpenBridge) -> None:
    bridge = open_bridge_for(NUMBERS, check_contract=True)
    assert bridge.drift
    bridge.drift.close()  # now calls are queued and not checked
    request = httpx.Request("GET", "http://numbers.test/numbers/1")
    for size in (*range(MAX_QUEUED_CALLS + 3), MAX_CHECKED_BYTES + 1):
        bridge.drift.observe(bridge.tools[0], request, httpx.Response(500, content=bytes(size), request=request))
    assert bridge.drift._queue.qsize() == MAX_QUEUED_CALLS
    totals = list(bridge.drift.summary())[-1]
    unchecked = 2 * (MAX_QUEUED_CALLS + 4)
    assert totals == f"contract: requests checked: 0, responses checked: 0, not checked: {unchecked}, differences: 0"


def test_distinct_drifts_are_limited() -> None:
    tally = Tally()
    drifts = tuple(
        Drift(tool="any", side="response", kind="type", where=f"200 body.{name}", message="it is odd")
        for name in range(60)
    )
    assert tally.add(drifts) == [*drifts[: MAX_DISTINCT_DRIFTS + 1]], "the first of the others is still new"
    assert tally.add(drifts) == []
    assert (len(tally.examples), tally.drifts) == (MAX_DISTINCT_DRIFTS + 1, 120)


def test_failing_observer_does_not_fail_the_call(
    open_bridge_for: OpenBridge, numbers: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    server = open_bridge_for(NUMBERS, base_url=numbers).server()
    server._calls.observer = fail
    assert not results(server, [("getNumber", {"id": 5})])[0].is_error
    assert "ZeroDivisionError" in caplog.text


def test_findings_of_a_call_are_available_to_its_caller(open_bridge_for: OpenBridge) -> None:
    bridge = open_bridge_for(NUMBERS, base_url="http://api.test", check_contract=True)
    assert bridge.drift
    request = httpx.Request("GET", "http://api.test/numbers/1")
    for answer, count in (
        ({"id": "one", "name": "a"}, 1),
        ({"id": "one", "name": "a"}, 1),
        ({"id": 1, "name": "a"}, 0),
    ):
        findings = bridge.drift.observe(bridge.tools[0], request, httpx.Response(200, json=answer, request=request))
        assert findings
        drifts = findings.result(20)
        assert [sentence.partition(":")[0] for sentence in drifts] == ["getNumber differs from the document"] * count


@pytest.fixture(scope="module")
def numbers_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("numbers") / "numbers.json"
    path.write_text(json.dumps(NUMBERS))
    return str(path)


SERVE = [sys.executable, "-m", "openapi_mcp", "serve", "--check-contract"]


@pytest.mark.process
def test_serve_prints_the_summary_at_its_end(numbers: str, numbers_file: str) -> None:
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
    difference = """response 200 body.id: "one" is not of type 'integer' [type]"""
    assert f"getNumber differs from the document: {difference}" in printed
    assert printed[-4:] == [
        "OPERATION  REQUESTS  RESPONSES  DRIFT",
        "getNumber         1          1      1",
        f"        1  {difference}",
        "contract: requests checked: 1, responses checked: 1, not checked: 0, differences: 1",
    ]


def await_service(process: subprocess.Popen[str]) -> None:
    """Wait until a server has answered: a signal before that ends it before it serves."""
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


@pytest.mark.process
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_summary_is_printed_after_a_signal(transport: str, numbers_file: str) -> None:
    command = [*SERVE, numbers_file, "--transport", transport] + (["--port", "0"] if transport == "http" else [])
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        await_service(process)
        process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=20)
    assert process.returncode == 0
    assert logged.splitlines()[-1].startswith("contract: requests checked: 0,"), logged
