"""Sessions over HTTP with one process, and with two, where each message may reach the other process."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.runtime.hosted import Hosted, hosted
from tests.runtime.pets import PetApi
from tests.servers import running

pytestmark = pytest.mark.process

REVISION = "2025-11-25"
HELLO = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
STATELESS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def message(method: str, params: dict[str, Any] | None = None, request_id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}


def cancelled(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds: a message to one process reaches the other a moment later."""
    timed_out = threading.Event()
    timer = threading.Timer(10, timed_out.set)
    timer.start()
    while not holds():
        assert not timed_out.is_set(), "the condition never held"
    timer.cancel()


@dataclass(frozen=True, slots=True)
class World:
    """A server and two clients, each connected to another process where there are two."""

    api: PetApi
    program: Hosted
    here: httpx.Client
    there: httpx.Client
    pool: ThreadPoolExecutor

    def open(self) -> dict[str, str]:
        """Open a session and return its headers."""
        opened = self.here.post("/mcp", json=message("initialize", HELLO))
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": REVISION}
        ready = self.there.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
        assert (opened.status_code, ready.status_code) == (200, 202)
        return session

    def wait(self, headers: dict[str, str], request_id: Any = 7) -> "Future[httpx.Response]":
        """Start a call that the API receives and does not answer yet."""
        self.api.reset()
        call = message("tools/call", {"name": "wait"}, request_id)
        answer = self.pool.submit(self.here.post, "/mcp", json=call, headers=headers)
        assert self.api.waiting.wait(10)
        return answer


def events(response: httpx.Response) -> Iterator[Any]:
    """Yield the messages of an event stream."""
    return (json.loads(line.removeprefix("data: ")) for line in response.iter_lines() if line.startswith("data: "))


@pytest.fixture(scope="module", params=[1, 2], ids=["one process", "two processes"])
def workers(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@pytest.fixture(scope="module")
def world(workers: int) -> Iterator[World]:
    yield from begin(workers)


@pytest.fixture
def fresh(workers: int) -> Iterator[World]:
    """A world that a test may change and end."""
    yield from begin(workers)


def begin(workers: int) -> Iterator[World]:
    pets = PetApi()
    with (
        running(pets.app) as api,
        ThreadPoolExecutor() as pool,
        hosted(api, workers, keep_alive=0.05) as program,
        program.clients(workers) as (here, there),
    ):
        yield World(pets, program, here, there, pool)


def test_session_is_valid_in_every_process(world: World) -> None:
    session = world.open()
    for client in (world.here, world.there):
        answer = client.post("/mcp", json=message("tools/list"), headers=session)
        assert answer.status_code == 200
        assert len(answer.json()["result"]["tools"]) == 4
        assert "mcp-session-id" not in answer.headers


def test_invalid_session_id_is_404(world: World) -> None:
    session = world.open()
    for token in ("x", session["Mcp-Session-Id"][:-1], session["Mcp-Session-Id"].replace(REVISION, "2024-11-05")):
        forged = session | {"Mcp-Session-Id": token}
        responses = [
            world.here.post("/mcp", json=message("ping"), headers=forged),
            world.here.post("/mcp", json=cancelled(1), headers=forged),
            world.here.get("/mcp", headers=forged | {"Accept": "text/event-stream"}),
            world.here.delete("/mcp", headers=forged),
        ]
        assert [answer.status_code for answer in responses] == [404] * 4
        assert all(answer.json()["error"]["code"] == -32600 for answer in responses)


def test_requests_without_a_session_are_served(world: World) -> None:
    assert world.here.post("/mcp", json=message("ping")).json()["result"] == {}
    called = world.there.post("/mcp", json=message("tools/call", {"name": "getPet", "arguments": {"petId": 1}}))
    assert called.json()["result"]["content"][0]["text"] == '{"name":"Minka"}'


def test_stateless_era_ignores_sessions(world: World) -> None:
    listing = message("tools/list", {"_meta": ENVELOPE})
    answer = world.here.post("/mcp", json=listing, headers=STATELESS | {"Mcp-Session-Id": "x"})
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    session = world.open() | STATELESS
    for method in ("GET", "DELETE"):
        refused = world.here.request(method, "/mcp", headers=session | {"Accept": "text/event-stream"})
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_ended_session_is_404_in_every_process(world: World) -> None:
    session = world.open()
    assert world.here.delete("/mcp", headers=session).status_code == 204
    assert world.here.post("/mcp", json=message("ping"), headers=session).status_code == 404
    until(lambda: world.there.post("/mcp", json=message("ping"), headers=session).status_code == 404)
    assert world.there.delete("/mcp", headers=session).status_code == 404


def test_call_is_cancelled_by_its_session(world: World) -> None:
    session = world.open()
    answer = world.wait(session, request_id=7)
    assert world.there.post("/mcp", json=cancelled(7), headers=session).status_code == 202
    assert world.api.disconnected.wait(10)  # the API saw its connection close
    response = answer.result(20)
    assert (response.status_code, response.headers["content-type"], response.content) == (200, "text/event-stream", b"")
    assert world.here.post("/mcp", json=message("ping"), headers=session).status_code == 200


def test_call_is_not_cancelled_by_another_session_or_id(world: World) -> None:
    session, other = world.open(), world.open()
    answer = world.wait(session, request_id=7)
    for headers, request_id in ((other, 7), ({}, 7), (session, "7"), (session, 8)):
        assert world.there.post("/mcp", json=cancelled(request_id), headers=headers).status_code == 202
    assert world.there.post("/mcp", json=message("ping"), headers=session).status_code == 200
    world.api.may_answer.set()
    assert "result" in answer.result(20).json()
    assert not world.api.disconnected.is_set()


def test_call_without_a_session_is_not_cancelled(world: World) -> None:
    answer = world.wait({}, request_id=7)
    assert world.there.post("/mcp", json=cancelled(7)).status_code == 202
    world.api.may_answer.set()
    assert "result" in answer.result(20).json()


def test_deleting_a_session_ends_its_calls_and_its_stream(world: World) -> None:
    session = world.open()
    answer = world.wait(session)
    with world.there.stream("GET", "/mcp", headers=session | {"Accept": "text/event-stream"}) as stream:
        ended = httpx.delete(f"{world.program.base}/mcp", headers=session)
        assert ended.status_code == 204
        assert list(events(stream)) == []
    assert world.api.disconnected.wait(10)
    assert answer.result(20).content == b""


@pytest.mark.parametrize(
    ("accept", "status"), [("text/event-stream", 200), ("*/*", 200), ("application/json", 406), ("text/html", 406)]
)
def test_session_stream_needs_accept_of_events(world: World, accept: str, status: int) -> None:
    session = world.open()
    with world.here.stream("GET", "/mcp", headers=session | {"Accept": accept}) as answer:
        assert answer.status_code == status
        if status == 200:
            assert answer.headers["content-type"] == "text/event-stream"
            assert answer.headers["x-accel-buffering"] == "no"
            lines = answer.iter_lines()
            assert [line for line, _ in zip(lines, range(6), strict=False) if line] == [": keep-alive"] * 3


def test_newer_stream_of_a_session_replaces_the_older_one(world: World) -> None:
    headers = world.open() | {"Accept": "text/event-stream"}
    with world.here.stream("GET", "/mcp", headers=headers) as older:
        assert older.status_code == 200
        with world.there.stream("GET", "/mcp", headers=headers) as newer:
            assert newer.status_code == 200
            assert list(events(older)) == []
            assert next(newer.iter_lines()) == ": keep-alive"


def test_every_client_is_notified_of_a_changed_list(fresh: World) -> None:
    session = fresh.open() | {"Accept": "application/json, text/event-stream"}
    listen = message("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {"toolsListChanged": True}}, "l")
    stateless = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
    with (
        fresh.here.stream("GET", "/mcp", headers=session) as old,
        fresh.there.stream("POST", "/mcp", json=listen, headers=stateless) as new,
    ):
        changes, subscription = events(old), events(new)
        acknowledged = next(subscription)
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
        fresh.program.process.send_signal(signal.SIGHUP)
        assert next(changes) == CHANGED
        assert next(subscription)["method"] == CHANGED["method"]
        fresh.program.stop()
        assert list(changes) == []  # both end at once, without a grace period
        (reply,) = subscription
        assert (reply["id"], reply["result"]["resultType"]) == ("l", "complete")


def test_reload_reaches_every_process(fresh: World) -> None:
    fresh.program.process.send_signal(signal.SIGHUP)
    for client in (fresh.here, fresh.there):
        until(lambda: len(client.post("/mcp", json=message("tools/list")).json()["result"]["tools"]) == 3)  # noqa: B023


def test_calls_in_flight_finish_when_the_server_stops(fresh: World) -> None:
    answer = fresh.wait({})
    fresh.program.stop()
    until(lambda: not fresh.program.listens())
    fresh.api.may_answer.set()
    assert "result" in answer.result(20).json()


@pytest.mark.parametrize("workers", [2], ids=["two processes"], indirect=True)
def test_ended_session_is_unknown_to_processes_that_replaced_others(fresh: World) -> None:
    ended, open_session = fresh.open(), fresh.open()
    assert fresh.here.delete("/mcp", headers=ended).status_code == 204
    assert fresh.there.post("/mcp", json=message("ping"), headers=ended).status_code == 404
    processes = {client.get("/health").headers["x-process"] for client in (fresh.here, fresh.there)}
    for process in processes:  # one after the other, until none is left that was told of the end
        os.kill(int(process), signal.SIGKILL)
        with fresh.program.clients(2) as clients:
            assert process not in {client.get("/health").headers["x-process"] for client in clients}
            for client in clients:
                assert client.post("/mcp", json=message("ping"), headers=ended).status_code == 404
                assert client.post("/mcp", json=message("ping"), headers=open_session).status_code == 200
