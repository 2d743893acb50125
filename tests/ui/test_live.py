"""The feed of calls, and the live calls of the page: nothing without a listener, bounded with slow ones."""

import asyncio
import json
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.server.hooks import CallStart
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import CallToolResult, text_content
from openapi_mcp.telemetry.feed import CallFeed, exchanges
from openapi_mcp.telemetry.records import CallRecord
from openapi_mcp.ui.live import MAX_ARGUMENTS, MAX_OF_CALLER, MAX_WAITING, LiveCalls, TooManyListeners
from tests.oauth.user_sign_ins import serving
from tests.servers import free_port

STUDIO = Path(__file__).parent / "studio.yaml"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "listSongs", "arguments": {}, "_meta": META},
}
STATELESS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "listSongs"}
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
async def test_listener_of_one_caller_gets_its_calls_alone_until_its_time_is_over() -> None:
    feed = CallFeed()
    live, expires = LiveCalls(feed, str), time.time() + 60
    own, other = live.listen(None, "subject ann", expires), live.listen(None, "subject bob", expires)
    waiting = [asyncio.ensure_future(anext(each)) for each in (own, other)]
    await asyncio.sleep(0)
    for caller in ("subject bob", "subject ann"):
        await feed.monitor(None)(start()._replace(caller=caller), ignore, work)
    assert [(await each)[0].caller for each in waiting] == ["subject ann", "subject bob"]  # type: ignore[index]
    for each in (own, other):
        await each.aclose()
    assert [item async for item in live.listen(None, "subject ann", time.time())] == []
    assert feed.is_idle


@pytest.mark.anyio
async def test_listeners_come_and_go() -> None:
    feed = CallFeed()
    live = LiveCalls(feed, str.upper)
    first, second = live.listen(None), live.listen(None)
    waiting = [asyncio.ensure_future(anext(each)) for each in (first, second)]
    await asyncio.sleep(0)
    await called(feed, 1, q="x", password="secret")
    items = [await each for each in waiting]
    shown = '{\n  "Q": "X",\n  "PASSWORD": "***"\n}'
    assert [item and item[0].arguments for item in items] == [shown, shown]
    await first.aclose()
    more = asyncio.ensure_future(anext(second))
    await asyncio.sleep(0)
    await called(feed, 1, q="y")
    item = await more
    assert item is not None
    assert "Y" in item[0].arguments
    await second.aclose()
    assert feed.is_idle


@pytest.mark.anyio
async def test_slow_listeners_lose_the_oldest() -> None:
    feed = CallFeed()
    listener = LiveCalls(feed, str).listen(None)
    begun = asyncio.ensure_future(anext(listener))
    await asyncio.sleep(0)
    for number in range(MAX_WAITING + 5):
        await called(feed, 1, number=number)
    first = await begun
    second = await anext(listener)
    assert first is not None
    assert second is not None
    assert first[1] + second[1] >= 4
    assert json.loads(second[0].arguments)["number"] >= 4
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
    listeners = [live.listen(None) for _ in range(MAX_OF_CALLER)]
    tasks = [asyncio.ensure_future(anext(each)) for each in listeners]
    await asyncio.sleep(0)
    with pytest.raises(TooManyListeners):
        live.check()
    live.check("subject ann")  # whose places nobody else takes
    await called(feed, 1, q="x" * 100_000)
    items = await asyncio.gather(*tasks)
    assert all(item is not None and len(item[0].arguments) < MAX_ARGUMENTS + 50 for item in items)
    more = asyncio.ensure_future(anext(listeners[0]))
    await asyncio.sleep(0)
    await called(feed, 1, q=[0] * 100_000)
    item = await more
    assert item is not None
    assert "values" in item[0].arguments
    for each in listeners:
        await each.aclose()


@pytest.mark.process
@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this platform has no Unix sockets")
def test_page_of_one_worker_shows_the_calls_of_all(tmp_path: Path) -> None:
    port, calls = free_port(), 12
    url = f"http://127.0.0.1:{port}"
    with (
        serving(str(STUDIO), tmp_path, port, "--workers", "2"),
        httpx.stream("GET", f"{url}/ui/calls/events", timeout=60) as stream,
    ):
        lines = stream.iter_lines()
        assert next(lines) == ": open"
        for _ in range(calls):  # each over a connection of its own, which either worker takes
            assert httpx.post(f"{url}/mcp", json=CALL, headers=STATELESS, timeout=60).status_code == 200
        rows = [next(line for line in lines if line == "event: call") for _ in range(calls)]
        note = httpx.get(f"{url}/ui/calls").text
    assert len(rows) == calls
    assert "the one that answered" not in note
