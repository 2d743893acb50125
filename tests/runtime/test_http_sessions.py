"""Sessions over HTTP, with one process and with two, of which each message may reach another one."""

import json
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
    """Ask again and again; what one process is told another one hears a moment later."""
    giving_up = threading.Event()
    timer = threading.Timer(10, giving_up.set)
    timer.start()
    while not holds():
        assert not giving_up.is_set(), "it never came to that"
    timer.cancel()


@dataclass(frozen=True, slots=True)
class World:
    """A server, and two clients, each of whom talks to its own process where there are two."""

    api: PetApi
    program: Hosted
    here: httpx.Client
    there: httpx.Client
    pool: ThreadPoolExecutor

    def open(self) -> dict[str, str]:
        """The headers of a new session."""
        begun = self.here.post("/mcp", json=message("initialize", HELLO))
        session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": REVISION}
        ready = self.there.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
        assert (begun.status_code, ready.status_code) == (200, 202)
        return session

    def wait(self, headers: dict[str, str], request_id: Any = 7) -> "Future[httpx.Response]":
        """The answer to a call which the API has by now, and does not answer."""
        self.api.forget()
        call = message("tools/call", {"name": "wait"}, request_id)
        answer = self.pool.submit(self.here.post, "/mcp", json=call, headers=headers)
        assert self.api.waiting.wait(10)
        return answer


def events(response: httpx.Response) -> Iterator[Any]:
    """What is said on a stream."""
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
    """A world that may be changed and ended."""
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


def test_a_session_is_known_to_every_process(world: World) -> None:
    session = world.open()
    for client in (world.here, world.there):
        answer = client.post("/mcp", json=message("tools/list"), headers=session)
        assert answer.status_code == 200
        assert len(answer.json()["result"]["tools"]) == 4
        assert "mcp-session-id" not in answer.headers


def test_what_is_no_session_is_not_found(world: World) -> None:
    session = world.open()
    for token in ("x", session["Mcp-Session-Id"][:-1], session["Mcp-Session-Id"].replace(REVISION, "2024-11-05")):
        forged = session | {"Mcp-Session-Id": token}
        asked = [
            world.here.post("/mcp", json=message("ping"), headers=forged),
            world.here.post("/mcp", json=cancelled(1), headers=forged),
            world.here.get("/mcp", headers=forged | {"Accept": "text/event-stream"}),
            world.here.delete("/mcp", headers=forged),
        ]
        assert [answer.status_code for answer in asked] == [404] * 4
        assert all(answer.json()["error"]["code"] == -32600 for answer in asked)


def test_without_a_session_everything_is_served_all_the_same(world: World) -> None:
    assert world.here.post("/mcp", json=message("ping")).json()["result"] == {}
    called = world.there.post("/mcp", json=message("tools/call", {"name": "getPet", "arguments": {"petId": 1}}))
    assert called.json()["result"]["content"][0]["text"] == '{"name":"Minka"}'


def test_the_stateless_era_knows_no_sessions(world: World) -> None:
    listing = message("tools/list", {"_meta": ENVELOPE})
    answer = world.here.post("/mcp", json=listing, headers=STATELESS | {"Mcp-Session-Id": "x"})
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    session = world.open() | STATELESS
    for method in ("GET", "DELETE"):
        refused = world.here.request(method, "/mcp", headers=session | {"Accept": "text/event-stream"})
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_a_session_that_was_ended_is_over_everywhere(world: World) -> None:
    session = world.open()
    assert world.here.delete("/mcp", headers=session).status_code == 204
    assert world.here.post("/mcp", json=message("ping"), headers=session).status_code == 404
    until(lambda: world.there.post("/mcp", json=message("ping"), headers=session).status_code == 404)
    assert world.there.delete("/mcp", headers=session).status_code == 404


def test_a_call_is_cancelled_by_its_session(world: World) -> None:
    session = world.open()
    answer = world.wait(session, request_id=7)
    assert world.there.post("/mcp", json=cancelled(7), headers=session).status_code == 202
    assert world.api.left.wait(10)  # the API saw its connection close
    heard = answer.result(20)
    assert (heard.status_code, heard.headers["content-type"], heard.content) == (200, "text/event-stream", b"")
    assert world.here.post("/mcp", json=message("ping"), headers=session).status_code == 200


def test_nobody_else_cancels_a_call(world: World) -> None:
    session, other = world.open(), world.open()
    answer = world.wait(session, request_id=7)
    for headers, request_id in ((other, 7), ({}, 7), (session, "7"), (session, 8)):
        assert world.there.post("/mcp", json=cancelled(request_id), headers=headers).status_code == 202
    assert world.there.post("/mcp", json=message("ping"), headers=session).status_code == 200
    world.api.enough.set()
    assert "result" in answer.result(20).json()
    assert not world.api.left.is_set()


def test_without_a_session_no_call_is_cancelled(world: World) -> None:
    answer = world.wait({}, request_id=7)
    assert world.there.post("/mcp", json=cancelled(7)).status_code == 202
    world.api.enough.set()
    assert "result" in answer.result(20).json()


def test_the_end_of_a_session_is_the_end_of_its_calls_and_its_stream(world: World) -> None:
    session = world.open()
    answer = world.wait(session)
    with world.there.stream("GET", "/mcp", headers=session | {"Accept": "text/event-stream"}) as stream:
        ended = httpx.delete(f"{world.program.base}/mcp", headers=session)
        assert ended.status_code == 204
        assert list(events(stream)) == []
    assert world.api.left.wait(10)
    assert answer.result(20).content == b""


@pytest.mark.parametrize(
    ("accept", "status"), [("text/event-stream", 200), ("*/*", 200), ("application/json", 406), ("text/html", 406)]
)
def test_a_stream_is_for_who_takes_events(world: World, accept: str, status: int) -> None:
    session = world.open()
    with world.here.stream("GET", "/mcp", headers=session | {"Accept": accept}) as answer:
        assert answer.status_code == status
        if status == 200:
            assert answer.headers["content-type"] == "text/event-stream"
            assert answer.headers["x-accel-buffering"] == "no"
            lines = answer.iter_lines()
            assert [line for line, _ in zip(lines, range(6), strict=False) if line] == [":"] * 3  # signs of life


def test_a_session_has_one_stream_and_the_newer_one_is_it(world: World) -> None:
    headers = world.open() | {"Accept": "text/event-stream"}
    with world.here.stream("GET", "/mcp", headers=headers) as older:
        assert older.status_code == 200
        with world.there.stream("GET", "/mcp", headers=headers) as newer:
            assert newer.status_code == 200
            assert list(events(older)) == []
            assert next(newer.iter_lines()) == ":"


def test_every_client_hears_that_the_list_changed(fresh: World) -> None:
    session = fresh.open() | {"Accept": "application/json, text/event-stream"}
    listen = message("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {"toolsListChanged": True}}, "l")
    stateless = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
    with (
        fresh.here.stream("GET", "/mcp", headers=session) as old,
        fresh.there.stream("POST", "/mcp", json=listen, headers=stateless) as new,
    ):
        heard, told = events(old), events(new)
        acknowledged = next(told)
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
        fresh.program.process.send_signal(signal.SIGHUP)
        assert next(heard) == CHANGED
        assert next(told)["method"] == CHANGED["method"]
        fresh.program.stop()
        assert list(heard) == []  # both end at once: a stream has no grace to wait for
        (reply,) = told
        assert (reply["id"], reply["result"]["resultType"]) == ("l", "complete")


def test_a_reload_reaches_every_process(fresh: World) -> None:
    fresh.program.process.send_signal(signal.SIGHUP)
    for client in (fresh.here, fresh.there):
        until(lambda: len(client.post("/mcp", json=message("tools/list")).json()["result"]["tools"]) == 3)  # noqa: B023


def test_calls_in_flight_have_their_grace_when_the_server_stops(fresh: World) -> None:
    answer = fresh.wait({})
    fresh.program.stop()
    until(lambda: not fresh.program.listens())
    fresh.api.enough.set()
    assert "result" in answer.result(20).json()
