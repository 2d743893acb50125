"""`StdioSession`: notifications of changes, subscriptions, and limits on the work in progress."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.reloadable import ReloadableServer
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.stdio import MAX_SUBSCRIPTIONS, MAX_UNITS, StdioSession
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.making import with_body
from tests.runtime.pets import DESCRIPTION, SING, TOOLS
from tests.runtime.wire import ENVELOPE, INITIALIZE, SUBSCRIPTION, Wire, call, cancel, conversing, listen, request

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CHANGED = "notifications/tools/list_changed"
CANCELLED = "notifications/cancelled"


class Api(httpx.AsyncBaseTransport):
    """An API that answers once `may_answer` is set; `requests` counts all, `max_concurrent` those at the same time."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.requests = self.in_progress = self.max_concurrent = 0
        self._condition = asyncio.Condition()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.in_progress += 1
        await self._count(1)
        self.max_concurrent = max(self.max_concurrent, self.in_progress)
        try:
            await self.may_answer.wait()
            return httpx.Response(200, json=[], request=request)
        finally:
            self.in_progress -= 1
            await self._count(0)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with self._condition:
            await self._condition.wait_for(condition)

    async def _count(self, more: int) -> None:
        async with self._condition:
            self.requests += more
            self._condition.notify_all()


def server(
    *tools: Tool, api: Api | None = None, list_changed: bool = True, base_url: str | None = "http://api.test"
) -> Server:
    description = replace(DESCRIPTION, list_changed=list_changed)
    options = RequestOptions(base_url=base_url)
    return Server(Catalog(tools or TOOLS), description, Upstream(transport=api), options=options)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(30):
            await test()

    asyncio.run(limited())


async def until(condition: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds."""
    while not condition():  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0)


def is_paused(conversation: StdioSession) -> bool:
    """Return whether the session reads no more."""
    return not conversation._in_flight._is_free.is_set()


async def initialize(wire: Wire) -> None:
    wire.send(INITIALIZE)
    assert (await wire.receive())["result"]["capabilities"]["tools"]["listChanged"] is True


async def subscribe(wire: Wire, *ids: int | str) -> None:
    for request_id in ids:
        wire.send(listen(request_id, toolsListChanged=True))
        message = await wire.receive()
        assert (message["method"], message["params"]["_meta"]) == (ACKNOWLEDGED, {SUBSCRIPTION: request_id})


def test_initialized_client_is_notified_of_changes_and_lists_new_tools() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        async with conversing(live) as (wire, _):
            await initialize(wire)
            for tools in ([SING], [*TOOLS]):
                live.replace(server(*tools))
                assert await wire.receive() == {"jsonrpc": "2.0", "method": CHANGED}
                wire.send(request(1, "tools/list"))
                listed = (await wire.receive())["result"]["tools"]
                assert [tool["name"] for tool in listed] == [tool.name for tool in tools]

    run(test)


def test_no_change_is_notified_before_the_handshake_or_undeclared() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        async with conversing(live) as (wire, _):
            live.replace(server(SING))
            wire.send(request(1, "tools/list", _meta=ENVELOPE))
            assert (await wire.receive())["id"] == 1
            live.replace(server(list_changed=False))
            wire.send(INITIALIZE)
            assert (await wire.receive())["id"] == 0
            live.replace(server(SING, list_changed=False))
            wire.send(request(2, "ping"))
            assert (await wire.receive())["id"] == 2
        assert wire.rest() == []

    run(test)


def test_initialize_reply_precedes_any_change() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        async with conversing(live) as (wire, conversation):
            wire.reads.clear()
            wire.send(INITIALIZE)
            await until(lambda: conversation._session.revision is not None)
            live.replace(server(SING))
            wire.reads.set()
            assert (await wire.receive())["id"] == 0
            assert (await wire.receive())["method"] == CHANGED

    run(test)


def test_subscriptions_are_notified_and_ended_separately() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        async with conversing(live) as (wire, _):
            await subscribe(wire, "a", 1)
            live.replace(server(SING))
            messages = [await wire.receive(), await wire.receive()]
            assert [message["method"] for message in messages] == [CHANGED, CHANGED]
            assert {message["params"]["_meta"][SUBSCRIPTION] for message in messages} == {"a", 1}
            wire.send(cancel("a"), request(2, "ping", _meta=ENVELOPE))
            assert (await wire.receive())["id"] == 2
            live.replace(server())
            assert (await wire.receive())["params"]["_meta"] == {SUBSCRIPTION: 1}
            wire.end()
            ends = [await wire.receive(), await wire.receive()]
        assert (ends[0]["id"], ends[0]["result"]["_meta"][SUBSCRIPTION]) == (1, 1)
        assert (ends[1]["method"], ends[1]["params"]["requestId"]) == (CANCELLED, 1)
        assert wire.rest() == []

    run(test)


def test_stopping_the_server_ends_a_subscription_with_its_reply() -> None:
    async def test() -> None:
        api = Api()
        live = ReloadableServer(server(api=api))
        async with conversing(live) as (wire, conversation):
            await initialize(wire)
            await subscribe(wire, 7)
            wire.send(call(8, "listPets"))
            await api.until(lambda: api.requests == 1)
            conversation.stop()
            messages = [await wire.receive(), await wire.receive()]
            assert [message.get("id", message.get("method")) for message in messages] == [7, CANCELLED]
            await api.until(lambda: api.in_progress == 0)
        assert wire.rest() == []

    run(test)


@pytest.mark.slow
def test_client_that_stops_reading_does_not_delay_the_end() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        async with conversing(live) as (wire, conversation):
            await subscribe(wire, 1)
            wire.reads.clear()
            live.replace(server(SING))
            conversation.stop()

    run(test)


def test_changes_are_merged_for_a_slow_client() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        async with conversing(live) as (wire, _):
            await subscribe(wire, 1)
            wire.reads.clear()
            for number in range(50):
                live.replace(server(SING) if number % 2 else server())
                await asyncio.sleep(0)
            wire.reads.set()
            wire.end()
            messages = [await wire.receive()]
            while "id" not in messages[-1]:
                messages.append(await wire.receive())
        assert [message.get("method") for message in messages].count(CHANGED) <= 2

    run(test)


def test_number_of_subscriptions_is_limited() -> None:
    async def test() -> None:
        live = ReloadableServer(server())
        async with conversing(live) as (wire, _):
            await subscribe(wire, *range(MAX_SUBSCRIPTIONS))
            wire.send(listen("more", toolsListChanged=True))
            refusal = await wire.receive()
            assert (refusal["id"], refusal["error"]["code"]) == ("more", -32603)
            wire.send(cancel(0))
            await subscribe(wire, "instead")

    run(test)


def test_concurrent_calls_are_limited_and_waiting_ones_cancellable() -> None:
    async def test() -> None:
        api = Api()
        async with conversing(ReloadableServer(server(api=api)), max_calls=3) as (wire, _):
            await initialize(wire)
            wire.send(*(call(number, "listPets") for number in range(1, 11)))
            await api.until(lambda: api.requests == 3)
            wire.send(cancel(1), cancel(10), request(11, "ping"))
            assert (await wire.receive())["id"] == 11
            await api.until(lambda: api.requests == 4)
            api.may_answer.set()
            answered = {(await wire.receive())["id"] for _ in range(8)}
        assert (answered, api.requests, api.max_concurrent) == (set(range(2, 10)), 9, 3)

    run(test)


@pytest.mark.slow
@pytest.mark.parametrize("batched", [False, True])
def test_flood_of_calls_is_not_read(batched: bool) -> None:
    async def test() -> None:
        api = Api()
        count = 3 * MAX_UNITS
        async with conversing(ReloadableServer(server(api=api)), max_calls=2) as (wire, conversation):
            older = {**INITIALIZE, "params": {"protocolVersion": "2025-03-26"}}
            wire.send(older)
            await wire.receive()
            messages: list[Any] = [call(number, "listPets") for number in range(1, count + 1)]
            flood = asyncio.create_task(
                asyncio.to_thread(wire.send, *([one] for one in messages) if batched else messages)
            )
            await api.until(lambda: api.requests == 2)
            await until(lambda: is_paused(conversation))
            assert len(conversation._tasks) == MAX_UNITS
            api.may_answer.set()
            answers = [await wire.receive() for _ in range(count)]
            await flood
        assert {answer[0]["id"] if batched else answer["id"] for answer in answers} == set(range(1, count + 1))

    run(test)


@pytest.mark.slow
def test_client_that_does_not_read_is_not_read_from() -> None:
    async def test() -> None:
        count = 3 * MAX_UNITS
        async with conversing(ReloadableServer(server())) as (wire, conversation):
            await initialize(wire)
            wire.reads.clear()
            flood = asyncio.create_task(asyncio.to_thread(wire.send, *(request(n, "tools/list") for n in range(count))))
            await until(lambda: is_paused(conversation))
            assert len(conversation._tasks) == MAX_UNITS
            wire.reads.set()
            answers = [(await wire.receive())["id"] for _ in range(count)]
            await flood
        assert answers == list(range(count))

    run(test)


@pytest.mark.slow
def test_large_messages_take_more_units_and_the_largest_is_read() -> None:
    async def test() -> None:
        api = Api()
        large = {"x": "x" * 70 * 1024 * 1024}
        live = ReloadableServer(server(api=api))
        async with conversing(live, max_line_bytes=80 * 1024 * 1024) as (wire, conversation):
            await initialize(wire)
            flood = asyncio.create_task(asyncio.to_thread(wire.send, call(1, "sing", large), call(2, "noSuchTool")))
            await flood
            assert {(await wire.receive())["id"] for _ in range(2)} == {1, 2}
            await until(lambda: conversation._in_flight._free_units == MAX_UNITS)

    run(test)


def test_messages_without_answer_take_no_units() -> None:
    async def test() -> None:
        async with conversing(ReloadableServer(server())) as (wire, conversation):
            wire.reads.clear()
            note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await asyncio.to_thread(wire.send, *[note] * 3 * MAX_UNITS, *map(cancel, range(MAX_UNITS)))
            wire.send(request(1, "ping"))
            wire.reads.set()
            assert (await wire.receive())["id"] == 1
            await until(lambda: not conversation._tasks)

    run(test)


def test_log_level_applies_to_later_calls() -> None:
    async def test() -> None:
        api = Api()
        api.may_answer.set()
        async with conversing(ReloadableServer(server(api=api))) as (wire, _):
            await initialize(wire)
            wire.send(call(1, "listPets"))
            assert (await wire.receive())["id"] == 1
            wire.send(request(2, "logging/setLevel", level="debug"))
            assert await wire.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}
            wire.send(call(3, "listPets"))
            messages = [await wire.receive() for _ in range(3)]
        assert [message.get("params", {}).get("level") for message in messages] == ["debug", "info", None]
        assert messages[-1]["id"] == 3

    run(test)


def test_cancelled_upload_breaks_off_and_sends_no_more_progress() -> None:
    async def test() -> None:
        upload_started, cancelled, upload_closed = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            upload_started.set()
            await cancelled.wait()
            while await reader.read(65536):
                pass
            upload_closed.set()
            writer.close()

        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        host, port = listening.sockets[0].getsockname()
        live = ReloadableServer(
            server(replace(with_body("text/plain"), base_url=f"http://{host}:{port}"), base_url=None)
        )
        async with conversing(live) as (wire, _):
            await initialize(wire)
            await asyncio.to_thread(wire.send, call(1, "x", {"body": "x" * 3_000_000}))
            await upload_started.wait()
            wire.send(cancel(1))
            cancelled.set()
            await upload_closed.wait()
            wire.send(request(2, "ping"))
            assert (await wire.receive())["id"] == 2
        listening.close()
        assert wire.rest() == []

    run(test)


def test_notifications_are_one_line_each() -> None:
    async def test() -> None:
        async with conversing(ReloadableServer(server())) as (wire, _):
            wire.send(request("a\nb", "ping"))
            assert json.dumps((await wire.receive())["id"]) == '"a\\nb"'

    run(test)
