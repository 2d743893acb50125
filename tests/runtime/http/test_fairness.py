"""A client whose calls hang leaves places, connections to the API and streams to others; one application, real sockets.

Clients are told apart by the address that the test gives to their requests, or by what they send.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.http.app import create_app
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.shares import CALLER, Caller
from openapi_mcp.runtime.upstream.transport import Transport
from tests.runtime.http.test_sessions_of_clients import ENVELOPE, HELLO, message
from tests.runtime.pets import pet_server
from tests.runtime.raw import serving

pytestmark = pytest.mark.slow

PATIENCE = 20
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"


class HangingApi:
    """An API that answers `/pets` at once and nothing else ever; `calls` is the number of hanging calls."""

    def __init__(self) -> None:
        self.calls = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if b"/pets " not in head:
                self.calls += 1
                try:
                    await reader.read()
                finally:
                    self.calls -= 1
                return
            writer.write(OK)


class Sender:
    """The requests of one client."""

    def __init__(self, app: Any, address: str, **headers: str) -> None:
        transport = httpx.ASGITransport(app, client=(address, 4711))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)

    async def call(self, tool: str, request_id: Any = 1) -> httpx.Response:
        async with asyncio.timeout(PATIENCE):
            return await self.post(message("tools/call", {"name": tool}, request_id))

    async def post(self, body: Any, **headers: str) -> httpx.Response:
        return await self._client.post("/mcp", json=body, headers=headers)

    def hang(self, count: int) -> list["asyncio.Task[httpx.Response]"]:
        """Start calls that the API does not answer."""
        body = message("tools/call", {"name": "wait"})
        return [asyncio.create_task(self.post(body)) for _ in range(count)]


@asynccontextmanager
async def world(**options: Any) -> AsyncIterator[tuple[HangingApi, Any]]:
    api = HangingApi()
    async with serving(api.serve) as url:
        server = pet_server(url, Upstream())
        try:
            yield api, create_app(server, **options)
        finally:
            await server.aclose()


def run(test: Callable[[HangingApi, Any], Awaitable[None]], **options: Any) -> None:
    async def once() -> None:
        async with world(**options) as (api, app):
            tasks = asyncio.all_tasks()
            try:
                await test(api, app)
            finally:
                for task in asyncio.all_tasks() - tasks:
                    if task is not asyncio.current_task():
                        task.cancel()

    asyncio.run(once())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110  # the API and the application do not know the test
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    "other", [{"address": "198.51.100.2"}, {"address": "198.51.100.1", "User-Agent": "another program"}]
)
def test_hanging_calls_of_one_client_do_not_stop_another(other: dict[str, str]) -> None:
    async def test(api: HangingApi, app: Any) -> None:
        greedy = Sender(app, "198.51.100.1")
        greedy.hang(300)
        await until(lambda: api.calls == 100)  # its share of the connections; its other calls wait for one
        answers = await asyncio.gather(*(Sender(app, **other).call("listPets") for _ in range(10)))
        assert [answer.json()["result"]["isError"] for answer in answers if answer.status_code == 200] == [False] * 10
        assert api.calls == 100

    run(test)


def test_greedy_client_gets_an_error_with_its_own_id_and_may_still_ping() -> None:
    async def test(api: HangingApi, app: Any) -> None:
        greedy = Sender(app, "198.51.100.1")
        hanging = greedy.hang(300)
        await until(lambda: api.calls == 100)
        refused = [task.result() for task in hanging if task.done()]
        assert {answer.status_code for answer in refused} == {429}
        assert len(refused) == 44
        one_more = await greedy.call("listPets", "one more")
        assert (one_more.status_code, one_more.headers["retry-after"], one_more.json()["id"]) == (429, "1", "one more")
        assert "256" in one_more.json()["error"]["message"]
        assert (await greedy.post(message("ping"))).json()["result"] == {}
        assert "tools" in (await greedy.post(message("tools/list"))).json()["result"]

    run(test)


def test_server_that_is_full_says_503() -> None:
    async def test(api: HangingApi, app: Any) -> None:
        Sender(app, "198.51.100.1").hang(2)
        await until(lambda: api.calls == 2)
        refused = await Sender(app, "198.51.100.2").call("listPets", 9)
        assert (refused.status_code, refused.headers["retry-after"], refused.json()["id"]) == (503, "1", 9)

    run(test, max_concurrency=2)


def test_hanging_calls_through_a_proxy_do_not_stop_others() -> None:
    async def once() -> None:
        api = HangingApi()
        async with serving(api.serve) as url:
            upstream = Upstream(transport=Transport(environment={"http": url}))
            send = upstream.send
            for _ in range(2):
                calls = [asyncio.create_task(send(httpx.Request("GET", "http://api.test/wait"))) for _ in range(150)]
                await until(lambda: api.calls == 100)
                CALLER.set(Caller("198.51.100.2", "other"))
                async with asyncio.timeout(PATIENCE):
                    answers = [await send(httpx.Request("GET", "http://api.test/pets")) for _ in range(30)]
                assert {answer.status_code for answer in answers} == {200}
                CALLER.set(Caller())
                for call in calls:
                    call.cancel()
                await asyncio.wait(calls)
                await until(lambda: api.calls == 0)
            await upstream.aclose()

    asyncio.run(once())


@pytest.mark.parametrize("hanging", [100, 150])
def test_hanging_host_does_not_stop_calls_to_another(hanging: int) -> None:
    async def once() -> None:
        slow, fast = HangingApi(), HangingApi()
        async with serving(slow.serve) as slow_url, serving(fast.serve) as fast_url:
            upstream = Upstream()
            calls = [
                asyncio.create_task(upstream.send(httpx.Request("GET", f"{slow_url}/wait"))) for _ in range(hanging)
            ]
            await until(lambda: slow.calls == 100)
            async with asyncio.timeout(PATIENCE):
                answer = await upstream.send(httpx.Request("GET", f"{fast_url}/pets"))
            assert (answer.status_code, slow.calls) == (200, 100)
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)
            await upstream.aclose()

    asyncio.run(once())


def test_places_come_back_when_calls_end() -> None:
    async def test(api: HangingApi, app: Any) -> None:
        greedy = Sender(app, "198.51.100.1")
        for _ in range(3):
            await asyncio.gather(*(greedy.call("listPets") for _ in range(200)))
        initialize = await greedy.post(message("initialize", HELLO))
        session = {"Mcp-Session-Id": initialize.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        for _ in range(2):
            hanging = Sender(app, "198.51.100.1", **session).hang(300)
            await until(lambda: api.calls == 100)
            for task in hanging:
                task.cancel()
            await asyncio.wait(hanging)
            await until(lambda: api.calls == 0)

    run(test)


def test_slow_uploads_of_one_client_do_not_stop_another() -> None:
    async def test(_api: HangingApi, app: Any) -> None:
        async def never() -> AsyncIterator[bytes]:
            yield b"{"
            await asyncio.get_running_loop().create_future()

        slow = Sender(app, "198.51.100.1")._client
        kind = {"Content-Type": "application/json"}
        uploads = [asyncio.create_task(slow.post("/mcp", content=never(), headers=kind)) for _ in range(300)]
        await until(lambda: sum(task.done() for task in uploads) == 44)
        assert (await Sender(app, "198.51.100.2").call("listPets")).status_code == 200

    run(test)


def test_streams_of_one_client_do_not_stop_another() -> None:
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    listen = message("subscriptions/listen", {"_meta": ENVELOPE, "notifications": {}}, "l")

    async def status(app: Any, address: str) -> int:
        """Open a stream that stays open, and return its status; the stream is never read."""
        started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def receive() -> dict[str, Any]:
            if not started.done() and not sent:
                sent.append(1)
                return {"type": "http.request", "body": json.dumps(listen).encode(), "more_body": False}
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

        async def send(part: Any) -> None:
            if part["type"] == "http.response.start":
                started.set_result(part["status"])

        sent: list[int] = []
        lines = {"host": "localhost", "content-type": "application/json", **headers}.items()
        scope = {
            "type": "http", "http_version": "1.1", "method": "POST", "path": "/mcp", "client": (address, 1),
            "headers": [(name.encode(), value.encode()) for name, value in lines],
        }  # fmt: skip
        streams.append(asyncio.ensure_future(app(scope, receive, send)))
        return await started

    streams: list[Any] = []

    async def test(_api: HangingApi, app: Any) -> None:
        statuses = [await status(app, "198.51.100.1") for _ in range(10)]
        assert statuses == [200] * 8 + [429] * 2
        assert await status(app, "198.51.100.2") == 200

    run(test, max_streams=10)


class Leaver:
    """A client of the handshake era that calls a tool and leaves; `tell` closes its connection."""

    def __init__(self, app: Any) -> None:
        self.tell = asyncio.Event()
        lines = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"user-agent", b"leaver")]
        scope = {"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp", "query_string": b""}
        scope |= {"headers": lines, "client": ("198.51.100.1", 4711), "scheme": "http", "http_version": "1.1"}
        self._body = json.dumps(message("tools/call", {"name": "wait"}))
        self.exchange = asyncio.create_task(app(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        body, self._body = self._body, ""
        if body:
            return {"type": "http.request", "body": body.encode(), "more_body": False}
        await self.tell.wait()
        return {"type": "http.disconnect"}

    async def _send(self, _: Any) -> None:
        """Drop what is sent, as a server does after its client has left."""


@pytest.mark.parametrize("leaving", [3, 1, 0])
def test_calls_whose_clients_have_left_end_where_their_places_are_needed(leaving: int) -> None:
    async def test(api: HangingApi, app: Any) -> None:
        clients = [Leaver(app) for _ in range(3)]
        await until(lambda: api.calls == 3)
        for client in clients[:leaving]:
            client.tell.set()
        await asyncio.sleep(0.1)
        assert api.calls == 3  # to leave is not to cancel in the handshake era
        answer = await Sender(app, "198.51.100.2").call("listPets")
        assert answer.status_code == (200 if leaving else 503)
        await until(lambda: api.calls == 3 - leaving)
        assert [client.exchange.done() for client in clients] == [number < leaving for number in range(3)]

    run(test, max_concurrency=3)
