"""A conversation: changes that are told, subscriptions, and work that stays bounded whatever the client does."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.conversation import MAX_SUBSCRIPTIONS, Conversation
from openapi_mcp.runtime.live import Live
from openapi_mcp.runtime.models import Tool
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.room import UNITS
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.making import with_body
from tests.runtime.pets import DESCRIPTION, SING, TOOLS
from tests.runtime.wire import ENVELOPE, INITIALIZE, SUBSCRIPTION, Wire, call, cancel, conversing, listen, request

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CHANGED = "notifications/tools/list_changed"
CANCELLED = "notifications/cancelled"


class Api(httpx.AsyncBaseTransport):
    """An API that answers nobody before it may; `asked` counts the requests, `most` how many there were at once."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.asked = self.now = self.most = 0
        self._stirred = asyncio.Condition()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.now += 1
        await self._count(1)
        self.most = max(self.most, self.now)
        try:
            await self.may.wait()
            return httpx.Response(200, json=[], request=request)
        finally:
            self.now -= 1
            await self._count(0)

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with self._stirred:
            await self._stirred.wait_for(is_so)

    async def _count(self, more: int) -> None:
        async with self._stirred:
            self.asked += more
            self._stirred.notify_all()


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


async def until(is_so: Callable[[], bool]) -> None:
    """Until something that nobody tells of is so, which is looked at in each turn of the event loop."""
    while not is_so():  # noqa: ASYNC110  # there is nothing that one could wait for
        await asyncio.sleep(0)


def is_paused(conversation: Conversation) -> bool:
    """Whether nothing more is read."""
    return not conversation._room._free.is_set()


async def shake_hands(wire: Wire) -> None:
    wire.send(INITIALIZE)
    assert (await wire.receive())["result"]["capabilities"]["tools"]["listChanged"] is True


async def subscribe(wire: Wire, *ids: int | str) -> None:
    for request_id in ids:
        wire.send(listen(request_id, toolsListChanged=True))
        said = await wire.receive()
        assert (said["method"], said["params"]["_meta"]) == (ACKNOWLEDGED, {SUBSCRIPTION: request_id})


def test_who_shook_hands_is_told_of_each_change_and_then_finds_the_new_tools() -> None:
    async def test() -> None:
        live = Live(server())
        async with conversing(live) as (wire, _):
            await shake_hands(wire)
            for tools in ([SING], [*TOOLS]):
                live.replace(server(*tools))
                assert await wire.receive() == {"jsonrpc": "2.0", "method": CHANGED}
                wire.send(request(1, "tools/list"))
                listed = (await wire.receive())["result"]["tools"]
                assert [tool["name"] for tool in listed] == [tool.name for tool in tools]

    run(test)


def test_nobody_is_told_before_the_handshake_or_without_a_promise() -> None:
    async def test() -> None:
        live = Live(server())
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


def test_the_answer_to_initialize_comes_before_any_change() -> None:
    async def test() -> None:
        live = Live(server())
        async with conversing(live) as (wire, conversation):
            wire.reads.clear()
            wire.send(INITIALIZE)
            await until(lambda: conversation._session.revision is not None)
            live.replace(server(SING))
            wire.reads.set()
            assert (await wire.receive())["id"] == 0
            assert (await wire.receive())["method"] == CHANGED

    run(test)


def test_several_subscriptions_are_told_apart_and_end_apart() -> None:
    async def test() -> None:
        live = Live(server())
        async with conversing(live) as (wire, _):
            await subscribe(wire, "a", 1)
            live.replace(server(SING))
            said = [await wire.receive(), await wire.receive()]
            assert [message["method"] for message in said] == [CHANGED, CHANGED]
            assert {message["params"]["_meta"][SUBSCRIPTION] for message in said} == {"a", 1}
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


def test_a_subscription_is_ended_by_its_reply_also_when_the_server_is_stopped() -> None:
    async def test() -> None:
        api = Api()
        live = Live(server(api=api))
        async with conversing(live) as (wire, conversation):
            await shake_hands(wire)
            await subscribe(wire, 7)
            wire.send(call(8, "listPets"))
            await api.until(lambda: api.asked == 1)
            conversation.stop()
            said = [await wire.receive(), await wire.receive()]
            assert [message.get("id", message.get("method")) for message in said] == [7, CANCELLED]
            await api.until(lambda: api.now == 0)
        assert wire.rest() == []

    run(test)


def test_a_client_that_reads_no_more_does_not_keep_the_end_back() -> None:
    async def test() -> None:
        live = Live(server())
        async with conversing(live) as (wire, conversation):
            await subscribe(wire, 1)
            wire.reads.clear()
            live.replace(server(SING))
            conversation.stop()

    run(test)


def test_a_slow_client_has_one_change_waiting_however_many_there_are() -> None:
    async def test() -> None:
        live = Live(server())
        async with conversing(live) as (wire, _):
            await subscribe(wire, 1)
            wire.reads.clear()
            for number in range(50):
                live.replace(server(SING) if number % 2 else server())
                await asyncio.sleep(0)
            wire.reads.set()
            wire.end()
            said = [await wire.receive()]
            while "id" not in said[-1]:
                said.append(await wire.receive())
        assert [message.get("method") for message in said].count(CHANGED) <= 2

    run(test)


def test_there_are_only_so_many_subscriptions() -> None:
    async def test() -> None:
        live = Live(server())
        async with conversing(live) as (wire, _):
            await subscribe(wire, *range(MAX_SUBSCRIPTIONS))
            wire.send(listen("more", toolsListChanged=True))
            refused = await wire.receive()
            assert (refused["id"], refused["error"]["code"]) == ("more", -32603)
            wire.send(cancel(0))
            await subscribe(wire, "instead")

    run(test)


def test_only_so_many_calls_are_made_at_once_and_who_waits_can_be_cancelled() -> None:
    async def test() -> None:
        api = Api()
        async with conversing(Live(server(api=api)), max_calls=3) as (wire, _):
            await shake_hands(wire)
            wire.send(*(call(number, "listPets") for number in range(1, 11)))
            await api.until(lambda: api.asked == 3)
            wire.send(cancel(1), cancel(10), request(11, "ping"))
            assert (await wire.receive())["id"] == 11
            await api.until(lambda: api.asked == 4)
            api.may.set()
            answered = {(await wire.receive())["id"] for _ in range(8)}
        assert (answered, api.asked, api.most) == (set(range(2, 10)), 9, 3)

    run(test)


@pytest.mark.parametrize("batched", [False, True])
def test_a_flood_of_calls_waits_outside(batched: bool) -> None:
    async def test() -> None:
        api = Api()
        count = 3 * UNITS
        async with conversing(Live(server(api=api)), max_calls=2) as (wire, conversation):
            older = {**INITIALIZE, "params": {"protocolVersion": "2025-03-26"}}
            wire.send(older)
            await wire.receive()
            messages: list[Any] = [call(number, "listPets") for number in range(1, count + 1)]
            flood = asyncio.create_task(
                asyncio.to_thread(wire.send, *([one] for one in messages) if batched else messages)
            )
            await api.until(lambda: api.asked == 2)
            await until(lambda: is_paused(conversation))
            assert len(conversation._tasks) == UNITS
            api.may.set()
            answers = [await wire.receive() for _ in range(count)]
            await flood
        assert {answer[0]["id"] if batched else answer["id"] for answer in answers} == set(range(1, count + 1))

    run(test)


def test_a_client_that_does_not_read_is_not_read_from() -> None:
    async def test() -> None:
        count = 3 * UNITS
        async with conversing(Live(server())) as (wire, conversation):
            await shake_hands(wire)
            wire.reads.clear()
            flood = asyncio.create_task(asyncio.to_thread(wire.send, *(request(n, "tools/list") for n in range(count))))
            await until(lambda: is_paused(conversation))
            assert len(conversation._tasks) == UNITS
            wire.reads.set()
            answers = [(await wire.receive())["id"] for _ in range(count)]
            await flood
        assert answers == list(range(count))

    run(test)


def test_large_messages_take_more_room_and_one_that_is_larger_than_all_still_comes_through() -> None:
    async def test() -> None:
        api = Api()
        large = {"x": "x" * 70 * 1024 * 1024}
        live = Live(server(api=api))
        async with conversing(live, max_line_bytes=80 * 1024 * 1024) as (wire, conversation):
            await shake_hands(wire)
            flood = asyncio.create_task(asyncio.to_thread(wire.send, call(1, "sing", large), call(2, "noSuchTool")))
            await flood
            assert {(await wire.receive())["id"] for _ in range(2)} == {1, 2}
            await until(lambda: conversation._room._left == UNITS)

    run(test)


def test_messages_that_want_no_answer_take_no_room() -> None:
    async def test() -> None:
        async with conversing(Live(server())) as (wire, conversation):
            wire.reads.clear()
            note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await asyncio.to_thread(wire.send, *[note] * 3 * UNITS, *map(cancel, range(UNITS)))
            wire.send(request(1, "ping"))
            wire.reads.set()
            assert (await wire.receive())["id"] == 1
            await until(lambda: not conversation._tasks)

    run(test)


def test_the_level_that_a_client_sets_holds_for_its_calls_from_then_on() -> None:
    async def test() -> None:
        api = Api()
        api.may.set()
        async with conversing(Live(server(api=api))) as (wire, _):
            await shake_hands(wire)
            wire.send(call(1, "listPets"))
            assert (await wire.receive())["id"] == 1
            wire.send(request(2, "logging/setLevel", level="debug"))
            assert await wire.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}
            wire.send(call(3, "listPets"))
            said = [await wire.receive() for _ in range(3)]
        assert [message.get("params", {}).get("level") for message in said] == ["debug", "info", None]
        assert said[-1]["id"] == 3

    run(test)


def test_the_upload_of_a_cancelled_call_breaks_off_and_nothing_more_is_said_of_it() -> None:
    async def test() -> None:
        begun, cancelled, left = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            begun.set()
            await cancelled.wait()
            while await reader.read(65536):
                pass
            left.set()
            writer.close()

        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        host, port = listening.sockets[0].getsockname()
        live = Live(server(replace(with_body("text/plain"), base_url=f"http://{host}:{port}"), base_url=None))
        async with conversing(live) as (wire, _):
            await shake_hands(wire)
            await asyncio.to_thread(wire.send, call(1, "x", {"body": "x" * 3_000_000}))
            await begun.wait()
            wire.send(cancel(1))
            cancelled.set()
            await left.wait()
            wire.send(request(2, "ping"))
            assert (await wire.receive())["id"] == 2
        listening.close()
        assert wire.rest() == []

    run(test)


def test_what_is_said_is_one_line_each() -> None:
    async def test() -> None:
        async with conversing(Live(server())) as (wire, _):
            wire.send(request("a\nb", "ping"))
            assert json.dumps((await wire.receive())["id"]) == '"a\\nb"'

    run(test)
