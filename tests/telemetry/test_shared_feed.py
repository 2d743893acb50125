"""The calls of several worker processes in one feed: sent only while somebody listens, bounded, whoever dies."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.runtime.server.hooks import CallStart
from openapi_mcp.runtime.types import CallToolResult, text_content
from openapi_mcp.telemetry.feed import CallFeed
from openapi_mcp.telemetry.records import CallRecord

if not hasattr(socket, "AF_UNIX"):
    pytest.skip("this platform has no Unix sockets", allow_module_level=True)

from openapi_mcp.telemetry.shared_feed import MAX_PARTS, MAX_WAITING, SharedFeed

MAX_SECONDS = 20.0
"""Time for datagrams to come: the machine may be busy."""


async def work(_trace: Mapping[str, str], on_sent: Callable[[int], None]) -> CallToolResult:
    on_sent(200)
    return CallToolResult(content=(text_content("four"),))


async def called(feed: CallFeed, count: int = 1, **arguments: Any) -> None:
    for number in range(count):
        start = CallStart(f"tool{number}", arguments, "subject ann", {})
        await feed.monitor(None)(start, lambda _: None, work)


async def received(records: list[CallRecord], count: int) -> None:
    async with asyncio.timeout(MAX_SECONDS):
        while len(records) < count:  # noqa: ASYNC110  # a sink is no coroutine
            await asyncio.sleep(0.005)
    assert len(records) == count


def is_idle(feed: CallFeed) -> bool:
    """Return whether nobody listens now."""
    return feed.is_idle


@pytest.mark.anyio
async def test_listener_gets_the_calls_of_all_processes_once(tmp_path: Path) -> None:
    here, there = SharedFeed(tmp_path), SharedFeed(tmp_path)
    records = list[CallRecord]()
    await called(there)
    assert (here.is_idle, there.is_idle) == (True, True)
    with here.listen(records.append):
        assert not there.is_idle
        await called(there, q="é", nested={"a": [1, None]})
        await called(here)
        await received(records, 2)
    assert (here.is_idle, there.is_idle) == (True, True)
    await called(there)
    near, far = sorted(records, key=lambda record: len(record.arguments))
    assert (near.arguments, far.arguments) == ({}, {"q": "é", "nested": {"a": [1, None]}})
    assert (far.tool, far.caller, far.status, far.bytes) == ("tool0", "subject ann", 200, 4)
    assert os.listdir(tmp_path) == [".listening"]  # noqa: PTH208  # a name, not a path


@pytest.mark.anyio
async def test_several_processes_listen(tmp_path: Path) -> None:
    feeds = [SharedFeed(tmp_path) for _ in range(3)]
    records: list[list[CallRecord]] = [[], []]
    with feeds[0].listen(records[0].append):
        with feeds[1].listen(records[1].append):
            await called(feeds[2])
            for each in records:
                await received(each, 1)
        assert not is_idle(feeds[2]), "one of them still listens"
        await called(feeds[1])
        await received(records[0], 2)
    await called(feeds[2])
    assert is_idle(feeds[2])
    assert len(records[1]) == 1


@pytest.mark.anyio
async def test_arguments_that_are_too_large_are_left_out(tmp_path: Path) -> None:
    here, there = SharedFeed(tmp_path), SharedFeed(tmp_path)
    records = list[CallRecord]()
    with here.listen(records.append):
        await called(there, text="x" * 10_000_000)
        await called(there, items=["x"] * (MAX_PARTS + 1))
        await called(there, text="\x00" * 60_000)
        await received(records, 3)
    await called(there)
    for record in records:
        assert "too large" in str(record.arguments)


@pytest.mark.anyio
async def test_burst_waits_for_a_slow_listener(tmp_path: Path) -> None:
    here, there = SharedFeed(tmp_path), SharedFeed(tmp_path)
    records = list[CallRecord]()
    with here.listen(records.append):
        await called(there, MAX_WAITING)
        await received(records, MAX_WAITING)
    await called(there)


@pytest.mark.anyio
async def test_process_that_died_while_it_listened_is_forgotten(tmp_path: Path) -> None:
    here, there = SharedFeed(tmp_path), SharedFeed(tmp_path)
    listening = here.listen(list[CallRecord]().append)
    listening.__enter__()
    assert here._receiver is not None
    asyncio.get_running_loop().remove_reader(here._receiver)
    here._receiver.close()  # as the end of a process does it
    here._receiver = None
    await called(there, 2)
    assert there.is_idle
    (tmp_path / "9-strange.calls").write_text("no socket")
    with there.listen(list[CallRecord]().append):
        await called(there)
