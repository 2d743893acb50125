"""Streams, timeouts and cancellation: events wait for their reader; unfinished or abandoned calls end upstream too.

The tests drive the application as ASGI by hand: a test decides when a client reads, and nothing depends on time.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.http.app import create_app
from openapi_mcp.runtime.http.timeouts import SHUTDOWN_EVENT
from openapi_mcp.runtime.server.reloadable import ReloadableServer
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.hosted import Pets
from tests.runtime.http.test_sessions_of_clients import CHANGED, ENVELOPE, HELLO, REVISION, message
from tests.runtime.news import news_server
from tests.runtime.pets import TOOLS, pet_server

LISTEN = message("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {"toolsListChanged": True}}, "l")
LISTEN_HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
WAIT = message("tools/call", {"name": "wait"}, 7)
STATELESS_WAIT = message("tools/call", {"name": "wait", "_meta": ENVELOPE}, 7)
WAIT_HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "wait"}


@dataclass
class Client:
    """One HTTP exchange. `reads` is set while the client reads, `stopping` when the server begins to stop."""

    method: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    reads: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    sent: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reads.set()
        self._is_sent = False

    def scope(self) -> dict[str, Any]:
        named = {"host": "localhost", "content-type": "application/json", **self.headers}
        lines = [(name.encode(), value.encode()) for name, value in named.items()]
        kind = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http"}
        target = {"path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "root_path": ""}
        return {**kind, **target, "method": self.method, "headers": lines, "state": {SHUTDOWN_EVENT: self.stopping}}

    async def receive(self) -> dict[str, Any]:
        if not self._is_sent:
            self._is_sent = True
            return {"type": "http.request", "body": json.dumps(self.body).encode(), "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, part: Any) -> None:
        await self.reads.wait()
        self.sent.append(part)

    def start(self, app: Any) -> asyncio.Task[None]:
        return asyncio.create_task(app(self.scope(), self.receive, self.send))

    @property
    def status(self) -> int:
        status: int = self.sent[0]["status"]
        return status

    @property
    def header(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])

    @property
    def text(self) -> str:
        return b"".join(part["body"] for part in self.sent[1:]).decode()

    @property
    def events(self) -> list[Any]:
        return [json.loads(line[6:]) for line in self.text.splitlines() if line.startswith("data: ")]


async def settled() -> None:
    """Let the event loop run until nothing more happens by itself."""
    for _ in range(200):
        await asyncio.sleep(0)


async def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0.001)
    pytest.fail("the condition never held")


class Api(httpx.AsyncBaseTransport):
    """An API that never answers; its events tell that a call arrived and that it was cancelled."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.left = asyncio.Event()

    async def handle_async_request(self, _request: httpx.Request) -> httpx.Response:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.left.set()
            raise
        return httpx.Response(200)


class Entries(httpx.AsyncByteStream):
    """An endless stream of events; `count` is their number."""

    def __init__(self) -> None:
        self.count = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0)
            self.count += 1
            yield b"data: " + b"x" * 1000 + b"\n\n"


def run(body: Callable[[Api], Awaitable[None]]) -> None:
    async def once() -> None:
        async with asyncio.timeout(20):
            await body(Api())

    asyncio.run(once())


def test_notifications_wait_until_the_client_reads() -> None:
    async def body(_api: Api) -> None:
        entries = Entries()
        headers = {"content-type": "text/event-stream"}
        answering = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=entries))
        server = news_server("http://api.test", Upstream(transport=answering))
        call = message("tools/call", {"name": "events", "_meta": {**ENVELOPE, "progressToken": "p"}}, 7)
        client = Client("POST", call, WAIT_HEADERS | {"mcp-name": "events"})
        serving = client.start(create_app(server))
        await until(lambda: len(client.sent) >= 4)
        client.reads.clear()
        await settled()
        count, sent = entries.count, len(client.sent)
        await settled()
        assert (entries.count, len(client.sent)) == (count, sent)  # the API is not read either
        assert count <= sent + 1
        client.reads.set()
        await settled()
        assert entries.count > count
        client.left.set()
        await serving
        await server.aclose()

    run(body)


@pytest.mark.parametrize(
    ("call", "headers", "cancels"),
    [(STATELESS_WAIT, WAIT_HEADERS, True), (WAIT, {}, False)],
    ids=["stateless", "handshake"],
)
def test_disconnect_cancels_in_the_stateless_era_only(call: Any, headers: dict[str, str], cancels: bool) -> None:
    async def body(api: Api) -> None:
        client = Client("POST", call, headers)
        serving = client.start(create_app(pet_server("http://api.test", Upstream(transport=api))))
        await api.asked.wait()
        client.left.set()
        await settled()
        assert (api.left.is_set(), serving.done()) == (cancels, cancels)
        serving.cancel()
        await serving

    run(body)


def test_call_beyond_request_timeout_is_stopped_with_an_error_result() -> None:
    async def body(api: Api) -> None:
        client = Client("POST", WAIT)
        app = create_app(pet_server("http://api.test", Upstream(transport=api)), request_timeout=0.01)
        await client.start(app)
        assert api.left.is_set()
        reply = json.loads(client.text)
        assert (client.status, reply["id"], reply["result"]["isError"]) == (200, 7, True)
        assert reply["result"]["content"][0]["text"] == "The call took longer than 0.01 seconds and was stopped."

    run(body)


def test_each_message_of_a_batch_beyond_request_timeout_is_answered() -> None:
    async def body(api: Api) -> None:
        notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        batch = [message("ping", request_id=1), notification, WAIT, message("tools/list", request_id=9)]
        client = Client("POST", batch, {"mcp-protocol-version": "2025-03-26"})
        app = create_app(pet_server("http://api.test", Upstream(transport=api)), request_timeout=0.01)
        await client.start(app)
        ping, call, listed = json.loads(client.text)
        assert (ping["id"], call["id"], listed["id"]) == (1, 7, 9)
        assert call["result"]["isError"]
        assert listed["error"]["code"] == -32603

    run(body)


def live() -> ReloadableServer:
    return ReloadableServer(Pets("http://api.test", b"", None, {}).server(*TOOLS))


def test_subscription_without_accepting_events_is_406() -> None:
    async def body(_api: Api) -> None:
        client = Client("POST", LISTEN, LISTEN_HEADERS | {"accept": "application/json"})
        await client.start(create_app(live()))
        assert client.status == 406

    run(body)


def test_streams_beyond_max_streams_are_503() -> None:
    async def body(_api: Api) -> None:
        app = create_app(live(), max_streams=1, max_concurrency=1)
        first, second, third = (Client("POST", LISTEN, LISTEN_HEADERS) for _ in range(3))
        serving = first.start(app)
        await settled()
        await second.start(app)
        assert (first.status, second.status) == (200, 503)
        assert second.header[b"retry-after"] == b"1"
        first.left.set()
        await serving
        serving = third.start(app)
        await settled()
        assert third.status == 200
        third.left.set()
        await serving

    run(body)


def test_subscription_gets_changes_comments_and_an_end() -> None:
    async def body(_api: Api) -> None:
        served = live()
        client = Client("POST", LISTEN, LISTEN_HEADERS)
        serving = client.start(create_app(served, keep_alive=0.001))
        await settled()
        served.changes.announce()
        await until(lambda: len(client.events) > 1 and client.text.endswith(": keep-alive\n\n"))
        assert [event["method"].rpartition("/")[2] for event in client.events] == ["acknowledged", "list_changed"]
        client.stopping.set()
        await serving
        assert client.events[-1]["id"] == "l"
        assert client.events[-1]["result"]["resultType"] == "complete"
        assert not client.sent[-1]["more_body"]

    run(body)


def test_session_stream_gets_changes_until_the_server_stops() -> None:
    async def body(_api: Api) -> None:
        served = live()
        app = create_app(served)
        hello = Client("POST", message("initialize", HELLO))
        await hello.start(app)
        session = {"mcp-session-id": hello.header[b"mcp-session-id"].decode(), "mcp-protocol-version": REVISION}
        client = Client("GET", headers=session | {"accept": "text/event-stream"})
        serving = client.start(app)
        await settled()
        assert client.text == ": keep-alive\n\n"
        client.reads.clear()
        for _ in range(1000):  # changes that a client cannot keep up with are one
            served.changes.announce()
            await asyncio.sleep(0)
        client.reads.set()
        await settled()
        assert client.events == [CHANGED, CHANGED]
        client.stopping.set()
        await serving
        assert not client.sent[-1]["more_body"]

    run(body)


def test_session_stream_is_405_if_the_list_cannot_change() -> None:
    async def body(api: Api) -> None:
        app = create_app(pet_server("http://api.test", Upstream(transport=api)))
        hello = Client("POST", message("initialize", HELLO))
        await hello.start(app)
        session = {"mcp-session-id": hello.header[b"mcp-session-id"].decode()}
        client = Client("GET", headers=session | {"accept": "text/event-stream"})
        await client.start(app)
        assert (client.status, client.header[b"allow"]) == (405, b"POST, DELETE")

    run(body)


def test_cancelled_request_is_answered_with_503() -> None:
    async def body(api: Api) -> None:
        client = Client("POST", WAIT)
        serving = client.start(create_app(pet_server("http://api.test", Upstream(transport=api))))
        await api.asked.wait()
        serving.cancel()
        await serving
        assert client.status == 503
        assert api.left.is_set()

    run(body)
