"""`transport`: against servers that misbehave in every way a connection has, on both event loops."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop

from openapi_mcp.runtime.transport import Transport
from openapi_mcp.runtime.wire import _HELD
from tests.runtime.certificates import identity
from tests.runtime.echo import echoing
from tests.runtime.raw import serving

Run = Callable[[Coroutine[Any, Any, None]], None]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TIMES = httpx.Timeout(5).as_dict()


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a test's coroutine on one of the event loops, for as long as is reasonable."""
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def bounded(test: Coroutine[Any, Any, None]) -> None:
        async def limited() -> None:
            async with asyncio.timeout(20):
                await test

        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(limited())

    return bounded


@asynccontextmanager
async def transport(**options: Any) -> AsyncIterator[Transport]:
    async with Transport(environment={}, **options) as made:
        yield made


def limits(most: int | None = 100, expiry: float | None = 4.0) -> httpx.Limits:
    return httpx.Limits(max_connections=most, max_keepalive_connections=most, keepalive_expiry=expiry)


async def send(
    used: Transport, url: str, method: str = "GET", times: dict[str, float] | None = None, **more: Any
) -> Any:
    """The response, its body still to be read."""
    timeouts = TIMES | (times or {})
    return await used.handle_async_request(httpx.Request(method, url, extensions={"timeout": timeouts}, **more))


async def fetch(used: Transport, url: str, method: str = "GET", **more: Any) -> bytes:
    response: httpx.Response = await send(used, url, method, **more)
    return await response.aread()


class Server:
    """Serves connection number n (from 0) as `steps[n]` says, the last step for all further ones; counts them."""

    def __init__(
        self, *steps: Callable[["Server", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self.gone = asyncio.Event()
        self._steps = steps

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        step = self._steps[min(self.connections, len(self._steps) - 1)]
        self.connections += 1
        await step(self, reader, writer)

    async def request(self, reader: asyncio.StreamReader) -> bool:
        """Read a head, and the two bytes of a body where there is one; whether there was one more."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            self.gone.set()
            return False
        self.requests.append(head)
        if b"content-length" in head.lower():
            await reader.readexactly(2)
        return True

    async def until_gone(self, reader: asyncio.StreamReader) -> None:
        """Read until the client is gone."""
        try:
            while await reader.read(65536):
                pass
        finally:
            self.gone.set()


async def well(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request."""
    while await server.request(reader):
        writer.write(OK)


def saying(answer: bytes) -> Callable[[Server, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Answer one request with these bytes, and then only listen."""

    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(answer)
        await server.until_gone(reader)

    return step


def once(then: str) -> Callable[[Server, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Answer one request; end after the next, without an answer, in this way."""

    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(OK)
        await server.request(reader)
        if then == "reset":
            reset(writer)

    return step


def reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def silent(server: Server, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Listen and say nothing."""
    await server.until_gone(reader)


async def deaf(_server: Server, _reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Neither listen nor say anything."""
    await asyncio.Event().wait()


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop go on; the test's own limit ends it."""
    while not condition():  # noqa: ASYNC110  # nobody sets an event
        await asyncio.sleep(0)


# Connections are kept.


def test_a_connection_is_used_again(run: Run) -> None:
    async def test() -> None:
        server = Server(well)
        async with serving(server) as url, transport() as used:
            assert [await fetch(used, url) for _ in range(3)] == [b"hi"] * 3
        assert server.connections == 1

    run(test())


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        OK + b"and more",
        OK + OK,
        b"HTTP/1.1 204 No Content\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    ],
)
def test_a_connection_that_is_not_clean_is_not_used_again(run: Run, answer: bytes) -> None:
    async def test() -> None:
        server = Server(saying(answer), well)
        async with serving(server) as url, transport() as used:
            await fetch(used, url)
            assert await fetch(used, url) == b"hi"
            assert server.connections == 2

    run(test())


def test_a_connection_on_which_something_unasked_comes_is_closed(run: Run) -> None:
    async def test() -> None:
        later = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            writer.write(OK)
            await later.wait()
            writer.write(OK)
            await server.until_gone(reader)

        server = Server(step)
        async with serving(server) as url, transport() as used:
            await fetch(used, url)
            later.set()
            await server.gone.wait()

    run(test())


def test_an_idle_connection_is_closed_in_time(run: Run) -> None:
    async def test() -> None:
        server = Server(well)
        async with serving(server) as url, transport(limits=limits(expiry=0.05)) as used:
            await fetch(used, url)
            await server.gone.wait()
            assert await fetch(used, url) == b"hi"
            assert server.connections == 2

    run(test())


def test_no_more_connections_than_allowed_and_each_waits_for_its_turn(run: Run) -> None:
    async def test() -> None:
        server = Server(well)
        async with serving(server) as url, transport(limits=limits(2)) as used:
            assert await asyncio.gather(*(fetch(used, url) for _ in range(20))) == [b"hi"] * 20
        assert server.connections == 2

    run(test())


def test_another_origin_gets_the_place_of_an_idle_connection(run: Run) -> None:
    async def test() -> None:
        one, other = Server(well), Server(well)
        async with serving(one) as url, serving(other) as elsewhere, transport(limits=limits(1)) as used:
            await fetch(used, url)
            assert await fetch(used, elsewhere) == b"hi"
            await one.gone.wait()

    run(test())


def test_who_gets_no_turn_in_time_is_told_and_takes_none(run: Run) -> None:
    async def test() -> None:
        server = Server(saying(CHUNKED + b"2\r\nhi\r\n"), well)
        async with serving(server) as url, transport(limits=limits(1)) as used:
            held = await send(used, url)
            for _ in range(3):
                with pytest.raises(httpx.PoolTimeout):
                    await send(used, url, times={"pool": 0.01})
            waiting = asyncio.create_task(fetch(used, url))
            await held.aclose()
            assert await waiting == b"hi"

    run(test())


# A kept connection may be dead.


@pytest.mark.parametrize("then", ["close", "reset"])
def test_what_can_be_sent_twice_is_sent_again_when_a_kept_connection_dies(run: Run, then: str) -> None:
    async def test() -> None:
        server = Server(once(then), well)
        async with serving(server) as url, transport() as used:
            await fetch(used, url)
            assert await fetch(used, url, "PUT", content=b"xy") == b"hi"
        assert (server.connections, len(server.requests)) == (2, 3)

    run(test())


@pytest.mark.parametrize("then", ["close", "reset"])
def test_what_can_not_be_sent_twice_is_not(run: Run, then: str) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"xy"

    async def test() -> None:
        for method, content in (("POST", b"xy"), ("PUT", body())):
            server = Server(once(then), well)
            async with serving(server) as url, transport() as used:
                await fetch(used, url)
                with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
                    await fetch(used, url, method, content=content, headers={"Content-Length": "2"})
            assert len(server.requests) == 2

    run(test())


def test_it_is_sent_again_once_and_on_a_fresh_connection(run: Run) -> None:
    async def end(server: Server, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await server.request(reader)

    async def test() -> None:
        together = asyncio.Barrier(2)

        async def both(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            await together.wait()
            writer.write(OK)
            await server.request(reader)

        server = Server(both, both, end)
        async with serving(server) as url, transport() as used:
            await asyncio.gather(fetch(used, url), fetch(used, url))  # two kept connections, both soon dead
            with pytest.raises(httpx.RemoteProtocolError):
                await fetch(used, url)
        assert server.connections == 3

    run(test())


def test_an_answer_that_breaks_off_is_not_asked_for_again(run: Run) -> None:
    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(OK)
        await server.request(reader)
        writer.write(OK[:20])

    async def test() -> None:
        server = Server(step)
        async with serving(server) as url, transport() as used:
            await fetch(used, url)
            with pytest.raises(httpx.RemoteProtocolError):
                await fetch(used, url)
        assert server.connections == 1

    run(test())


def test_a_connection_that_the_server_has_closed_is_never_used_even_for_a_post(run: Run) -> None:
    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(OK)

    async def test() -> None:
        server = Server(step)
        async with serving(server) as url, transport() as used:
            for _ in range(20):
                assert await fetch(used, url, "POST", content=b"xy") == b"hi"
        assert server.connections == 20

    run(test())


# Time.


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_silence_before_an_answer_is_a_read_timeout(run: Run, answer: bytes) -> None:
    async def test() -> None:
        server = Server(saying(answer))
        async with serving(server) as url, transport() as used:
            with pytest.raises(httpx.ReadTimeout):
                await fetch(used, url, times={"read": 0.05})
            await server.gone.wait()

    run(test())


def test_silence_within_a_body_is_a_read_timeout(run: Run) -> None:
    async def test() -> None:
        server = Server(saying(CHUNKED + b"2\r\nhi\r\n"))
        async with serving(server) as url, transport() as used:
            with pytest.raises(httpx.ReadTimeout):
                await fetch(used, url, times={"read": 0.05})
            await server.gone.wait()

    run(test())


def test_who_does_not_read_is_a_write_timeout_and_is_not_sent_without_end(run: Run) -> None:
    async def test() -> None:
        made = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal made
            while True:
                made += 65536
                yield b"x" * 65536

        async with serving(Server(deaf)) as url, transport() as used:
            with pytest.raises(httpx.WriteTimeout):
                await fetch(used, url, "POST", content=endless(), times={"write": 0.2})
        assert made < 64 * 1024 * 1024  # what the system holds for both ends, and a little more

    run(test())


def test_an_upload_may_take_longer_than_the_read_timeout(run: Run) -> None:
    async def test() -> None:
        async def slow() -> AsyncIterator[bytes]:
            yield b"x"
            await asyncio.sleep(0.3)
            yield b"y"

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"0\r\n\r\n")
            writer.write(OK)
            await server.until_gone(reader)

        async with serving(Server(step)) as url, transport() as used:
            assert await fetch(used, url, "POST", content=slow(), times={"read": 0.1}) == b"hi"

    run(test())


def test_a_handshake_that_never_ends_is_a_connect_timeout(run: Run) -> None:
    async def test() -> None:
        server = Server(silent)
        async with serving(server) as url, transport() as used:
            with pytest.raises(httpx.ConnectTimeout):
                await fetch(used, url.replace("http", "https"), times={"connect": 0.05})
            await server.gone.wait()

    run(test())


def test_no_time_given_is_all_the_time(run: Run) -> None:
    async def test() -> None:
        async with serving(Server(well)) as url, transport() as used:
            response = await used.handle_async_request(httpx.Request("GET", url))
            assert await response.aread() == b"hi"

    run(test())


# Giving up.


class Endless(httpx.AsyncByteStream):
    """A body without an end that knows whether somebody still wants it."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while True:
                self.begun.set()
                yield b"x" * 10_000
                await asyncio.sleep(0)
        finally:
            self.closed.set()


def upload(url: str, stream: httpx.AsyncByteStream) -> httpx.Request:
    headers = {"Transfer-Encoding": "chunked"}
    return httpx.Request("POST", url, headers=headers, stream=stream, extensions={"timeout": TIMES})


async def cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("answer", [b"", OK[:-1], CHUNKED], ids=["before", "within", "chunks"])
def test_the_server_sees_that_a_call_was_cancelled_and_its_place_is_free(run: Run, answer: bytes) -> None:
    async def test() -> None:
        asked = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            writer.write(answer)
            asked.set()
            await server.until_gone(reader)

        server = Server(step, well)
        async with serving(server) as url, transport(limits=limits(1)) as used:
            call = asyncio.create_task(fetch(used, url))
            await asked.wait()
            await cancelled(call)
            await server.gone.wait()
            assert await fetch(used, url) == b"hi"

    run(test())


def test_a_cancelled_upload_stops_its_source(run: Run) -> None:
    async def test() -> None:
        body = Endless()
        server = Server(silent, well)
        async with serving(server) as url, transport(limits=limits(1)) as used:
            call = asyncio.create_task(used.handle_async_request(upload(url, body)))
            await body.begun.wait()
            await cancelled(call)
            await server.gone.wait()
            await body.closed.wait()
            assert await fetch(used, url) == b"hi"

    run(test())


def test_a_cancelled_handshake_leaves_nothing(run: Run) -> None:
    async def test() -> None:
        arrived = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            arrived.set()
            await server.until_gone(reader)

        server = Server(step, well)
        async with serving(server) as url, transport(limits=limits(1)) as used:
            call = asyncio.create_task(fetch(used, url.replace("http", "https")))
            await arrived.wait()
            await cancelled(call)
            await server.gone.wait()
            assert await fetch(used, url) == b"hi"

    run(test())


def test_a_call_cancelled_while_it_waits_for_its_turn_takes_none(run: Run) -> None:
    async def test() -> None:
        server = Server(saying(CHUNKED), well)
        async with serving(server) as url, transport(limits=limits(1)) as used:
            held = await send(used, url)
            waiting = [asyncio.create_task(fetch(used, url)) for _ in range(3)]
            await asyncio.sleep(0)
            for call in waiting[:2]:
                await cancelled(call)
            await held.aclose()
            assert await waiting[2] == b"hi"
            assert await fetch(used, url) == b"hi"

    run(test())


def test_an_answer_that_is_not_read_to_its_end_closes_its_connection(run: Run) -> None:
    async def test() -> None:
        server = Server(saying(CHUNKED + b"2\r\nhi\r\n"))
        async with serving(server) as url, transport() as used:
            response = await send(used, url)
            async for piece in response.aiter_raw():
                assert piece == b"hi"
                break
            await response.aclose()
            await server.gone.wait()

    run(test())


def test_closing_the_transport_ends_what_is_under_way(run: Run) -> None:
    async def test() -> None:
        server = Server(silent)
        async with serving(server) as url, transport() as used:
            call = asyncio.create_task(fetch(used, url))
            await until(lambda: server.connections == 1)
            await used.aclose()
            with pytest.raises(httpx.ReadError):
                await call

    run(test())


# Streams.


def test_an_answer_comes_piece_by_piece(run: Run) -> None:
    async def test() -> None:
        seen = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            writer.write(CHUNKED + b"3\r\none\r\n")
            await seen.wait()
            writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
            await server.until_gone(reader)

        async with serving(Server(step)) as url, transport() as used:
            pieces = []
            async for piece in (await send(used, url)).aiter_raw():
                pieces.append(piece)
                seen.set()
            assert pieces == [b"one", b"two"]

    run(test())


def test_a_server_waits_for_who_reads_slowly(run: Run) -> None:
    size = 30_000_000

    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // 100_000):
            writer.write(b"x" * 100_000)
            await writer.drain()
        await server.until_gone(reader)

    async def test() -> None:
        async with serving(Server(step)) as url, transport() as used:
            response = await send(used, url)
            exchange = response.stream
            await until(lambda: exchange._wire._reading_paused)
            assert exchange._reader.held <= 2 * _HELD  # one read may come on top
            pieces = []
            async for piece in response.aiter_raw():
                pieces.append(len(piece))
                await asyncio.sleep(0)
            assert sum(pieces) == size
            assert max(pieces) <= 64 * 1024

    run(test())


def test_an_upload_goes_piece_by_piece(run: Run) -> None:
    async def test() -> None:
        received = asyncio.Event()

        async def pieces() -> AsyncIterator[bytes]:
            yield b"one"
            await received.wait()
            yield b"two"

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"3\r\none\r\n")
            received.set()
            assert await reader.readuntil(b"0\r\n\r\n") == b"3\r\ntwo\r\n0\r\n\r\n"
            writer.write(OK)
            await server.until_gone(reader)

        async with serving(Server(step)) as url, transport() as used:
            assert await fetch(used, url, "POST", content=pieces()) == b"hi"

    run(test())


@pytest.mark.parametrize("closing", [True, False])
def test_an_early_refusal_ends_the_upload(run: Run, closing: bool) -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!"

    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(refusal)
        if not closing:
            await server.until_gone(reader)

    async def test() -> None:
        body = Endless()
        server = Server(step, well)
        async with serving(server) as url, transport() as used:
            response = await used.handle_async_request(upload(url, body))
            assert (response.status_code, await response.aread()) == (413, b"no!")
            await body.closed.wait()
            assert await fetch(used, url) == b"hi"
            assert server.connections == 2

    run(test())


def test_a_refusal_while_the_source_of_an_upload_waits_is_heard(run: Run) -> None:
    async def test() -> None:
        async def stuck() -> AsyncIterator[bytes]:
            yield b"x"
            await asyncio.Event().wait()

        async with serving(Server(saying(b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n"))) as url, transport() as used:
            assert (await send(used, url, "POST", content=stuck())).status_code == 400

    run(test())


def test_both_ends_may_speak_at_the_same_time(run: Run) -> None:
    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED)
        while (size := int(await reader.readuntil(b"\r\n"), 16)) > 0:
            writer.write(b"%x\r\n" % size + await reader.readexactly(size + 2))
        writer.write(b"0\r\n\r\n")
        await reader.readexactly(2)
        while await server.request(reader):
            writer.write(OK)

    async def test() -> None:
        echoed: asyncio.Queue[bytes] = asyncio.Queue()

        async def pieces() -> AsyncIterator[bytes]:
            yield b"0"
            for number in range(1, 4):
                assert await echoed.get() == b"%d" % (number - 1)
                yield b"%d" % number

        server = Server(step)
        async with serving(server) as url, transport() as used:
            response = await send(used, url, "POST", content=pieces())
            async for piece in response.aiter_raw():
                echoed.put_nowait(piece)
            assert echoed.qsize() == 1
            assert await fetch(used, url) == b"hi"
            assert server.connections == 1

    run(test())


def test_a_source_that_fails_is_told_as_it_is_and_no_end_is_sent(run: Run) -> None:
    async def test() -> None:
        async def broken() -> AsyncIterator[bytes]:
            yield b"one"
            raise KeyError("source")

        received = bytearray()

        async def step(server: Server, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(100):
                received.extend(data)
            server.gone.set()

        server = Server(step)
        async with serving(server) as url, transport() as used:
            with pytest.raises(KeyError, match="source"):
                await fetch(used, url, "POST", content=broken())
            await server.gone.wait()
        assert b"0\r\n\r\n" not in received

    run(test())


# Endless heads.


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"AAAAAAAA"),
        (b"HTTP/1.1 200 OK\r\nA: ", b"AAAAAAAA"),
        (b"HTTP/1.1 200 ", b"AAAAAAAA"),
        (b"", b"HTTP/1.1 103 Hints\r\nA: b\r\n\r\n"),
        (b"", b"\r\n"),
        (CHUNKED + b"0\r\n", b"A: b\r\n"),
        (CHUNKED + b"0\r\n", b"AAAAAAAA"),
        (CHUNKED + b"1", b";a=b"),
    ],
)
def test_what_never_becomes_an_answer_is_given_up(run: Run, begin: bytes, more: bytes) -> None:
    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(begin)
        while True:
            writer.write(more * 1000)
            await writer.drain()

    async def test() -> None:
        async with serving(Server(step)) as url, transport() as used:
            with pytest.raises(httpx.RemoteProtocolError):
                await fetch(used, url)

    run(test())


def test_a_protocol_that_nobody_asked_for_is_refused(run: Run) -> None:
    async def test() -> None:
        switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
        async with serving(Server(saying(switch))) as url, transport() as used:
            with pytest.raises(httpx.RemoteProtocolError, match="nobody asked for"):
                await fetch(used, url)

    run(test())


# Connecting.


class Resolving(asyncio.SelectorEventLoop):
    """An event loop to which each name has these addresses."""

    def __init__(self, *addresses: tuple[str, int]) -> None:
        super().__init__()
        self._addresses = addresses

    async def getaddrinfo(self, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place) for place in self._addresses]


@pytest.fixture
def refusing() -> tuple[str, int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address: tuple[str, int] = free.getsockname()
    return address


@pytest.fixture
def hanging() -> Iterator[tuple[str, int]]:
    """An address where connecting neither succeeds nor fails, for the queue of who waits is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        yield full.getsockname()
        for one in waiting:
            one.close()


def test_of_several_addresses_the_first_that_answers_is_used(
    hanging: tuple[str, int], refusing: tuple[str, int]
) -> None:
    with echoing() as echo:
        host, port = echo.url.removeprefix("http://").split(":")

        async def test() -> None:
            async with transport() as used:
                assert (await send(used, "http://api.test/")).status_code == 204

        with asyncio.Runner(loop_factory=lambda: Resolving(hanging, refusing, (host, int(port)), hanging)) as runner:
            runner.run(test())


def test_addresses_that_all_refuse_are_a_connect_error_with_its_causes(refusing: tuple[str, int]) -> None:
    async def test() -> None:
        async with transport() as used:
            with pytest.raises(httpx.ConnectError) as failed:
                await send(used, "http://api.test/")
        assert failed.value.__cause__
        group = failed.value.__cause__.__cause__
        assert isinstance(group, ExceptionGroup)
        assert [type(error) for error in group.exceptions] == [ConnectionRefusedError] * 2

    with asyncio.Runner(loop_factory=lambda: Resolving(refusing, refusing)) as runner:
        runner.run(test())


def test_an_address_that_hangs_is_a_connect_timeout(hanging: tuple[str, int], run: Run) -> None:
    async def test() -> None:
        async with transport() as used:
            with pytest.raises(httpx.ConnectTimeout):
                await send(used, f"http://{hanging[0]}:{hanging[1]}", times={"connect": 0.05})

    run(test())


def test_a_refused_connection_and_an_unknown_host_are_connect_errors(refusing: tuple[str, int], run: Run) -> None:
    async def test() -> None:
        async with transport() as used:
            for url, cause in (
                (f"http://{refusing[0]}:{refusing[1]}", ConnectionRefusedError),
                ("http://name.invalid", socket.gaierror),
            ):
                with pytest.raises(httpx.ConnectError) as failed:
                    await send(used, url)
                assert isinstance(failed.value.__cause__, cause)

    run(test())


def test_a_scheme_that_is_not_http_is_refused_as_httpx_does(run: Run) -> None:
    async def test() -> None:
        async with transport() as used:
            with pytest.raises(httpx.UnsupportedProtocol):
                await send(used, "ftp://127.0.0.1/")

    run(test())


def test_a_body_that_cannot_be_read_asynchronously_is_the_callers_mistake(run: Run) -> None:
    async def test() -> None:
        async with serving(Server(silent)) as url, transport() as used:
            with pytest.raises(TypeError):
                await send(used, url, "POST", content=iter([b"x"]))

    run(test())


# TLS.


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    authority = identity("the test's authority")
    authority.write(folder, "ca")
    identity("server", authority).write(folder, "server")
    return folder


@pytest.fixture
def secure(certificates: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


def test_over_tls_connections_are_kept_and_speak_http_1(run: Run, certificates: Path, secure: ssl.SSLContext) -> None:
    async def test() -> None:
        spoken = []

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            spoken.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
            await well(server, reader, writer)

        server = Server(step)
        trusted = ssl.create_default_context(cafile=certificates / "ca.pem")
        async with serving(server, secure) as url, transport(verify=trusted) as used:
            assert [await fetch(used, url) for _ in range(3)] == [b"hi"] * 3
        assert spoken == ["http/1.1"]

    run(test())


def test_who_is_not_trusted_hears_nothing(run: Run, secure: ssl.SSLContext) -> None:
    async def test() -> None:
        server = Server(well)
        async with serving(server, secure) as url, transport() as used:
            with pytest.raises(httpx.ConnectError) as failed:
                await fetch(used, url)
            assert isinstance(failed.value.__cause__, ssl.SSLCertVerificationError)
        assert server.requests == []

    run(test())


def test_a_large_answer_over_tls_is_whole(run: Run, certificates: Path, secure: ssl.SSLContext) -> None:
    async def test() -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000
        trusted = ssl.create_default_context(cafile=certificates / "ca.pem")
        async with serving(Server(saying(answer)), secure) as url, transport(verify=trusted) as used:
            pieces = 0
            async for piece in (await send(used, url)).aiter_raw():
                pieces += len(piece)
                await asyncio.sleep(0)
            assert pieces == 3_000_000

    run(test())


# What is handed on.


def test_a_proxy_of_the_environment_is_used(run: Run) -> None:
    async def test() -> None:
        proxy, api = Server(well), Server(well)
        async with serving(proxy) as proxy_url, serving(api) as url:
            async with Transport(environment={"http": proxy_url}) as used:
                assert await fetch(used, "http://api.test/x") == b"hi"
            async with Transport(environment={"all": proxy_url, "no": "127.0.0.1"}) as used:
                assert await fetch(used, f"{url}/x") == b"hi"
        assert [request.split(b" ")[1] for request in proxy.requests] == [b"http://api.test/x"]
        assert [request.split(b" ")[1] for request in api.requests] == [b"/x"]

    run(test())


def test_an_unreachable_proxy_is_a_failure_of_httpx(run: Run, refusing: tuple[str, int]) -> None:
    async def test() -> None:
        async with Transport(environment={"http": f"{refusing[0]}:{refusing[1]}"}) as used:
            with pytest.raises(httpx.ConnectError):
                await fetch(used, "http://api.test/x")

    run(test())
