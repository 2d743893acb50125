"""`MessageReader`: a message arrives in time and in size, or is refused. `MessageMemory`: all messages together."""

import asyncio
import gc
import json
import tracemalloc
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from openapi_mcp.runtime.http.limits import MAX_MEMORY_FACTOR, MessageMemory, MessageReader, TakenMemory, Turns
from openapi_mcp.runtime.http.responses import HTTPError
from openapi_mcp.runtime.protocol import jsonrpc
from openapi_mcp.runtime.upstream.shares import Caller

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
BODY = json.dumps(PING).encode()
MIB_4 = 4 * 1024 * 1024
MAX_MEMORY = MAX_MEMORY_FACTOR * MIB_4
Receive = Callable[[], Awaitable[dict[str, Any]]]


def chunks(*parts: bytes, seconds: float | None = None) -> Receive:
    """An ASGI `receive` that delivers a body in parts, each after some time; None is at once."""
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    messages[-1]["more_body"] = False
    remaining = iter(messages)

    async def receive() -> dict[str, Any]:
        if seconds is not None:
            await asyncio.sleep(seconds)
        return next(remaining)

    return receive


def read(receive: Receive, headers: dict[str, str] | None = None, *, seconds: float = 20, max_bytes: int = 1000) -> Any:
    return asyncio.run(MessageReader(max_bytes, seconds).read(receive, headers or {}, some_memory()))


def some_memory(memory: MessageMemory | None = None, client: str = "ann") -> TakenMemory:
    return (memory or MessageMemory(MAX_MEMORY)).of(Caller("198.51.100.1", client))


@pytest.mark.parametrize("seconds", [None, 0, 0.001])
def test_message_is_read_however_it_arrives(seconds: float | None) -> None:
    assert read(chunks(BODY, seconds=seconds)) == PING
    assert read(chunks(BODY[:5], BODY[5:], b"", seconds=seconds)) == PING


def test_message_that_arrives_too_slowly_is_408() -> None:
    with pytest.raises(HTTPError, match=r"did not arrive within 0\.01 seconds") as refusal:
        read(chunks(BODY, seconds=60), seconds=0.01)
    assert refusal.value.response.status == 408
    assert refusal.value.response.headers == {"Connection": "close"}


def test_receiver_is_cancelled_when_the_time_is_over() -> None:
    events: list[str] = []

    async def receive() -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        finally:
            events.append("cleaned up")
        return {}

    with pytest.raises(HTTPError):
        read(receive, seconds=0.01)
    assert events == ["cleaned up"]


@pytest.mark.parametrize("headers", [{}, {"content-length": "51"}])
def test_message_beyond_the_limit_is_413(headers: dict[str, str]) -> None:
    with pytest.raises(HTTPError) as refusal:
        read(chunks(b"1" * 30, b"1" * 21), headers, max_bytes=50)
    assert refusal.value.response.status == 413


def test_client_that_leaves_is_reported() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(ClientDisconnect):
        read(receive)


@pytest.mark.parametrize("seconds", [0, 0.001])
def test_error_of_the_receiver_is_passed_on(seconds: float) -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.sleep(seconds)
        raise LookupError("of the receiver")

    with pytest.raises(LookupError, match="of the receiver"):
        read(receive)


def test_reading_can_be_cancelled() -> None:
    async def cancelled() -> str:
        task = asyncio.create_task(MessageReader(1000, 20).read(chunks(BODY, seconds=60), {}, some_memory()))
        await asyncio.sleep(0)
        task.cancel("enough")
        try:
            await task
        except asyncio.CancelledError as error:
            return str(error)
        return "was not cancelled"

    assert asyncio.run(cancelled()) == "enough"


def test_receiver_may_ignore_its_cancellation() -> None:
    async def receive() -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return {"type": "http.request", "body": BODY}

    async def cancelled() -> Any:
        task = asyncio.create_task(MessageReader(1000, 20).read(receive, {}, some_memory()))
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert asyncio.run(cancelled()) == PING


def taken(memory: MessageMemory, client: str, size: int, values: int = 0) -> tuple[list[TakenMemory], int]:
    """Take the memory of messages until one is refused; return the others and the status of the refusal."""
    messages: list[TakenMemory] = []
    while True:
        messages.append(some_memory(memory, client))
        try:
            messages[-1].grow(size, values)
        except HTTPError as refusal:
            messages.pop()
            return messages, refusal.response.status


def test_large_messages_of_one_client_leave_memory_to_others() -> None:
    memory = MessageMemory(MAX_MEMORY)
    of_ann, status = taken(memory, "ann", MIB_4)
    assert (len(of_ann), status) == (14, 429)
    of_bob, status = taken(memory, "bob", MIB_4)
    assert (len(of_bob), status) == (2, 429)
    for message in of_ann:
        with message:
            pass
    of_bob_too, _ = taken(memory, "bob", MIB_4)
    assert len(of_bob_too) == 12


def test_message_with_the_most_values_is_accepted_alone() -> None:
    most = b"[" + b"[]," * (MIB_4 // 3) + b"]"
    memory = MessageMemory(MAX_MEMORY)
    values, _ = jsonrpc.count_values(most)
    accepted, status = taken(memory, "ann", len(most), values)
    assert (len(accepted), status) == (1, 503)
    assert len(taken(memory, "bob", MIB_4)[0]) == 4


def test_old_objects_are_not_looked_at_while_a_message_holds_many_values() -> None:
    memory = MessageMemory(MAX_MEMORY)

    async def hold() -> tuple[int, int]:
        with some_memory(memory, "ann") as first, some_memory(memory, "bob") as second:
            for message in (first, second):
                message.grow(200_000, 100_000)
            with second:
                pass
            await asyncio.sleep(0)
            while_held = gc.get_threshold()[2]
        await asyncio.sleep(0)
        return while_held, gc.get_threshold()[2]

    while_held, after = asyncio.run(hold())
    assert while_held > 1000 * after


def test_event_loop_runs_between_large_texts_that_arrive_at_once() -> None:
    reader, memory = MessageReader(MIB_4, 60), MessageMemory(MAX_MEMORY)
    body = b'["' + b"a" * 1_000_000 + b'"]'

    async def read_all() -> int:
        clients = map(str, range(10))
        reading = [asyncio.create_task(reader.read(chunks(body), {}, some_memory(memory, each))) for each in clients]
        turns = 0
        while not all(each.done() for each in reading):
            await asyncio.sleep(0)
            turns += 1
        assert [each.result() for each in reading] == [["a" * 1_000_000]] * 10
        return turns

    assert asyncio.run(read_all()) > 10


@pytest.mark.slow
@pytest.mark.parametrize("item", ['{"a":1}', '{"id":100000,"name":"n100000"}', "[]", "{}", "[1]"])
def test_memory_of_a_message_is_about_what_its_values_take(item: str) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[' + ",".join([item] * 20_000).encode() + b"]}}"
    message, memory = some_memory(), 0

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def read() -> Any:
        return await MessageReader(MIB_4, 60).read(receive, {}, message)

    tracemalloc.start()
    try:
        value = asyncio.run(read())
        memory = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(value["params"]["a"]) == 20_000
    assert message._bytes > 0.75 * memory


def test_memory_grows_with_the_body_and_small_messages_need_none() -> None:
    memory = MessageMemory(MAX_MEMORY)
    with some_memory(memory) as message:
        for size in (100, 100_000, 100_000, 3_000_000):
            message.grow(size)
        others, _ = taken(memory, "bob", 1_000_000)
        assert len(others) > 40
        for _ in range(1000):
            some_memory(memory).grow(16_000)
    assert taken(MessageMemory(MAX_MEMORY), "ann", MAX_MEMORY)[1] == 413


@pytest.mark.slow
def test_body_of_known_length_waits_for_memory() -> None:
    async def once() -> None:
        memory = MessageMemory(MAX_MEMORY)
        reader = MessageReader(MIB_4, 20)
        headers = {"content-length": str(MIB_4)}
        body = b'"' + b"a" * (MIB_4 - 2) + b'"'

        async def read_one(client: str, hold: asyncio.Event) -> None:
            with some_memory(memory, client) as taken_memory:
                await reader.read(chunks(body), headers, taken_memory)
                finished[client] += 1
                if finished["ann"] == 14:
                    read_by_ann.set()
                await hold.wait()

        finished: Counter[str] = Counter()
        hold, read_by_ann = asyncio.Event(), asyncio.Event()
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            for _ in range(40):
                group.create_task(read_one("ann", hold))
            await read_by_ann.wait()
            await asyncio.sleep(0)
            assert finished["ann"] == 14
            await group.create_task(read_one("bob", set_event()))
            hold.set()
        assert finished["ann"] == 40
        others, _ = taken(memory, "ann", MIB_4)
        with pytest.raises(HTTPError) as refusal:
            await MessageReader(MIB_4, 0.01).read(chunks(body), headers, some_memory(memory))
        assert (refusal.value.response.status, len(others)) == (503, 14)

    asyncio.run(once())


def set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def test_reader_refuses_a_body_for_which_there_is_no_memory() -> None:
    memory = MessageMemory(1_000_000)
    reader = MessageReader(MIB_4, 20)
    parts = b"[" + b"1," * 25_000, b"1]"
    with some_memory(memory) as other, some_memory(memory) as taken_memory:
        other.grow(100_000)
        with pytest.raises(HTTPError) as refusal:
            asyncio.run(reader.read(chunks(*parts), {}, taken_memory))
    assert (refusal.value.response.status, refusal.value.response.headers) == (503, {"Retry-After": "1"})
    with some_memory(memory) as taken_memory:
        assert len(asyncio.run(reader.read(chunks(*parts), {}, taken_memory))) == 25_001
    with some_memory(memory) as taken_memory, pytest.raises(HTTPError) as refusal:
        asyncio.run(reader.read(chunks(b"[" + b"1," * 300_000, b"1]"), {}, taken_memory))
    assert (refusal.value.response.status, refusal.value.response.headers) == (413, None), "it never fits"
    with some_memory(memory) as taken_memory:
        body = b'"' + b"12" * 100_000 + b'"'
        assert len(asyncio.run(reader.read(chunks(body[:50_000], body[50_000:]), {}, taken_memory))) == 200_000
    some_memory(memory).grow(400_000)


def test_event_loop_runs_between_calls_that_begin() -> None:
    async def once() -> tuple[list[int], int]:
        turns, begun, seen = Turns(32), 0, []

        async def call() -> None:
            nonlocal begun
            if (turn := turns.begin()) is not None:
                await turn
            begun += 1

        calls = [asyncio.create_task(call()) for _ in range(300)]
        calls[150].cancel()
        while not all(call.done() for call in calls):
            await asyncio.sleep(0)
            seen.append(begun)
        await asyncio.sleep(0.01)
        async with asyncio.timeout(5):
            await asyncio.gather(*(call() for _ in range(100)))
        return [after - before for before, after in pairwise([0, *seen])], begun

    steps, begun = asyncio.run(once())
    assert (sum(steps), begun) == (299, 399)
    assert max(steps) <= 64
