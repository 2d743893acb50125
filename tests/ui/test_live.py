"""The feed of calls, and the live calls of the page: nothing without a listener, bounded with slow ones."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.server.hooks import CallStart
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import CallToolResult, text_content
from openapi_mcp.telemetry.feed import CallFeed, exchanges
from openapi_mcp.telemetry.records import CallRecord
from openapi_mcp.ui.live import MAX_ARGUMENTS, MAX_KEPT, MAX_LISTENERS, MAX_WAITING, LiveCalls, TooManyListeners

TOOL = Tool(name="t", description="", input_schema={"type": "object"}, annotations={}, method="GET", path="/")


def start(**arguments: Any) -> CallStart:
    return CallStart("t", arguments, "address 127.0.0.1", {})


async def work(_trace: Mapping[str, str], on_sent: Callable[[int], None]) -> CallToolResult:
    on_sent(200)
    return CallToolResult(content=(text_content("four"),))


def ignore(_status: int) -> None:
    pass


@pytest.mark.anyio
async def test_a_feed_records_for_listeners_only() -> None:
    feed, records, inner = CallFeed(), list[CallRecord](), list[str]()

    async def other(begun: CallStart, on_sent: Callable[[int], None], call: Any) -> CallToolResult:
        inner.append(begun.tool)
        result: CallToolResult = await call(begun.trace, on_sent)
        return result

    monitor = feed.monitor(other)
    await monitor(start(), ignore, work)
    with feed.listen(records.append):
        await monitor(start(a=1), ignore, work)
        await feed.monitor(None)(start(), ignore, work)
    await monitor(start(), ignore, work)
    assert [(record.tool, record.status, record.bytes) for record in records] == [("t", 200, 4)] * 2
    assert inner == ["t"] * 3


def test_exchanges_are_those_of_one_context() -> None:
    observed = list[str]()
    note = CallFeed().observer(lambda tool, _request, _response: observed.append(tool.name))
    request, response = httpx.Request("GET", "http://a"), httpx.Response(200)
    with exchanges() as noted:
        note(TOOL, request, response)
    note(TOOL, request, response)
    assert noted == [(request, response)]
    assert observed == ["t", "t"]


async def called(feed: CallFeed, count: int, **arguments: Any) -> None:
    for _ in range(count):
        await feed.monitor(None)(start(**arguments), ignore, work)


@pytest.mark.anyio
async def test_listeners_come_and_go() -> None:
    feed = CallFeed()
    live = LiveCalls(feed, str.upper)
    first, second = live.listen(None), live.listen(None)
    waiting = [asyncio.ensure_future(anext(each)) for each in (first, second)]
    await asyncio.sleep(0)
    await called(feed, 1, q="x", password="secret")  # one that is shown to nobody
    items = [await each for each in waiting]
    assert [item and item[0].number for item in items] == [1, 1]
    await first.aclose()
    more = asyncio.ensure_future(anext(second))
    await asyncio.sleep(0)
    await called(feed, 1)
    assert (await more) is not None
    await second.aclose()
    await called(feed, 1)
    assert live.arguments(1) == '{\n  "Q": "X",\n  "PASSWORD": "***"\n}'
    assert live.arguments(3) is None


@pytest.mark.anyio
async def test_slow_listeners_lose_the_oldest() -> None:
    feed = CallFeed()
    live = LiveCalls(feed, str)
    listener = live.listen(None)
    begun = asyncio.ensure_future(anext(listener))
    await asyncio.sleep(0)
    await called(feed, MAX_WAITING + 2)
    item = await begun
    assert item is not None
    number, left_out = item[0].number, item[1]
    assert (number > 1) == (left_out > 0)
    assert live.arguments(1) is None
    assert live.arguments(MAX_WAITING + 3 - MAX_KEPT) is not None
    await listener.aclose()


@pytest.mark.anyio
async def test_the_end_of_the_server_ends_listeners() -> None:
    end = asyncio.Event()
    listener = LiveCalls(CallFeed(), str).listen(end)
    end.set()
    assert [item async for item in listener if item is not None] == []


@pytest.mark.anyio
async def test_listeners_and_arguments_are_bounded() -> None:
    feed = CallFeed()
    live = LiveCalls(feed, str)
    listeners = [live.listen(None) for _ in range(MAX_LISTENERS)]
    tasks = [asyncio.ensure_future(anext(each)) for each in listeners]
    await asyncio.sleep(0)
    with pytest.raises(TooManyListeners):
        live.check()
    await called(feed, 1, q="x" * 100_000)
    await called(feed, 1, q=[0] * 100_000)
    await asyncio.gather(*tasks)
    assert len(live.arguments(1) or "") < MAX_ARGUMENTS + 50
    assert "values" in (live.arguments(2) or "")
    for each in listeners:
        await each.aclose()
