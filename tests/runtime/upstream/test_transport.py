"""`transport`: against servers that misbehave in every way a connection allows, on both event loops."""

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

from openapi_mcp.runtime.upstream.connection import _MAX_BUFFERED_BYTES, _PARSED_BYTES
from openapi_mcp.runtime.upstream.http11 import SURPLUS
from openapi_mcp.runtime.upstream.transport import Transport
from tests.runtime.certificates import identity
from tests.runtime.echo import echoing
from tests.runtime.raw import serving

pytestmark = pytest.mark.slow

Run = Callable[[Coroutine[Any, Any, None]], None]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TIMES = httpx.Timeout(5).as_dict()


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a test's coroutine on one of the event loops, for at most 20 seconds."""
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
    async with Transport(environment={}, **options) as produced:
        yield produced


def limits(most: int | None = 100, expiry: float | None = 4.0) -> httpx.Limits:
    return httpx.Limits(max_connections=most, max_keepalive_connections=most, keepalive_expiry=expiry)


async def send(
    client: Transport, url: str, method: str = "GET", times: dict[str, float] | None = None, **options: Any
) -> Any:
    """Send a request and return the response, its body not read."""
    timeouts = TIMES | (times or {})
    return await client.handle_async_request(httpx.Request(method, url, extensions={"timeout": timeouts}, **options))


async def fetch(client: Transport, url: str, method: str = "GET", **options: Any) -> bytes:
    response: httpx.Response = await send(client, url, method, **options)
    return await response.aread()


class Server:
    """A server that handles connection number n (from 0) with `steps[n]`, further ones with the last step."""

    def __init__(
        self, *steps: Callable[["Server", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self.client_closed = asyncio.Event()
        self._steps = steps

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        step = self._steps[min(self.connections, len(self._steps) - 1)]
        self.connections += 1
        await step(self, reader, writer)

    async def request(self, reader: asyncio.StreamReader) -> bool:
        """Read a head, and two bytes of a body if it declares one; return whether there was another request."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            self.client_closed.set()
            return False
        self.requests.append(head)
        if b"content-length" in head.lower():
            await reader.readexactly(2)
        return True

    async def read_until_closed(self, reader: asyncio.StreamReader) -> None:
        """Read until the client closes the connection."""
        try:
            while await reader.read(65536):
                pass
        finally:
            self.client_closed.set()


async def answer_all(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request."""
    while await server.request(reader):
        writer.write(OK)


def answer_once_with(answer: bytes) -> Callable[[Server, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return a step that answers one request with these bytes, and then only reads."""

    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(answer)
        await server.read_until_closed(reader)

    return step


def answer_once_then(then: str) -> Callable[[Server, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return a step that answers one request, and closes or resets the connection after the next."""

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


async def read_only(server: Server, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Read and answer nothing."""
    await server.read_until_closed(reader)


async def ignore(_server: Server, _reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Neither read nor answer."""
    await asyncio.Event().wait()


async def until(condition: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds; the test's own time limit applies."""
    while not condition():  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0)


# Reuse of connections.


def test_connection_is_reused(run: Run) -> None:
    async def test() -> None:
        server = Server(answer_all)
        async with serving(server) as url, transport() as client:
            assert [await fetch(client, url) for _ in range(3)] == [b"hi"] * 3
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
def test_connection_with_leftover_bytes_is_not_reused(run: Run, answer: bytes) -> None:
    async def test() -> None:
        server = Server(answer_once_with(answer), answer_all)
        async with serving(server) as url, transport() as client:
            await fetch(client, url)
            assert await fetch(client, url) == b"hi"
            assert server.connections == 2

    run(test())


@pytest.mark.parametrize("ending", ["", "Connection: close\r\n"])
def test_body_in_chunks_of_a_byte_is_complete_and_lets_others_run(run: Run, ending: str) -> None:
    head = CHUNKED.replace(b"\r\n", b"\r\n" + ending.encode(), 1)
    answer = head + b"1\r\nx\r\n" * 200_000 + b"0\r\n\r\n"

    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await server.request(reader):
            writer.write(answer)
            if ending:
                return

    async def test() -> None:
        server, turns = Server(step), 0
        async with serving(server) as url, transport() as client:
            fetching = asyncio.create_task(fetch(client, url))
            while not fetching.done():
                await asyncio.sleep(0)
                turns += 1
            assert fetching.result() == b"x" * 200_000
            assert await fetch(client, url) == b"x" * 200_000
        assert turns > len(answer) / (2 * _PARSED_BYTES)
        assert server.connections == (2 if ending else 1)

    run(test())


def test_unrequested_bytes_close_an_idle_connection(run: Run) -> None:
    async def test() -> None:
        later = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            writer.write(OK)
            await later.wait()
            writer.write(OK)
            await server.read_until_closed(reader)

        server = Server(step)
        async with serving(server) as url, transport() as client:
            await fetch(client, url)
            later.set()
            await server.client_closed.wait()

    run(test())


def test_idle_connection_expires(run: Run) -> None:
    async def test() -> None:
        server = Server(answer_all)
        async with serving(server) as url, transport(limits=limits(expiry=0.05)) as client:
            await fetch(client, url)
            await server.client_closed.wait()
            assert await fetch(client, url) == b"hi"
            assert server.connections == 2

    run(test())


def test_connections_are_limited_and_calls_wait(run: Run) -> None:
    async def test() -> None:
        server = Server(answer_all)
        async with serving(server) as url, transport(limits=limits(2)) as client:
            assert await asyncio.gather(*(fetch(client, url) for _ in range(20))) == [b"hi"] * 20
        assert server.connections == 2

    run(test())


def test_idle_connection_is_closed_for_another_origin(run: Run) -> None:
    async def test() -> None:
        one, other = Server(answer_all), Server(answer_all)
        async with serving(one) as url, serving(other) as other_url, transport(limits=limits(1)) as client:
            await fetch(client, url)
            assert await fetch(client, other_url) == b"hi"
            await one.client_closed.wait()

    run(test())


def test_pool_timeout_takes_no_connection(run: Run) -> None:
    async def test() -> None:
        server = Server(answer_once_with(CHUNKED + b"2\r\nhi\r\n"), answer_all)
        async with serving(server) as url, transport(limits=limits(1)) as client:
            open_response = await send(client, url)
            for _ in range(3):
                with pytest.raises(httpx.PoolTimeout):
                    await send(client, url, times={"pool": 0.01})
            waiting = asyncio.create_task(fetch(client, url))
            await open_response.aclose()
            assert await waiting == b"hi"

    run(test())


# Reused connections that the server has closed.


@pytest.mark.parametrize("then", ["close", "reset"])
def test_repeatable_request_is_resent_when_a_reused_connection_is_closed(run: Run, then: str) -> None:
    async def test() -> None:
        server = Server(answer_once_then(then), answer_all)
        async with serving(server) as url, transport() as client:
            await fetch(client, url)
            assert await fetch(client, url, "PUT", content=b"xy") == b"hi"
        assert (server.connections, len(server.requests)) == (2, 3)

    run(test())


@pytest.mark.parametrize("then", ["close", "reset"])
def test_unrepeatable_request_is_not_resent(run: Run, then: str) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"xy"

    async def test() -> None:
        for method, content in (("POST", b"xy"), ("PUT", body())):
            server = Server(answer_once_then(then), answer_all)
            async with serving(server) as url, transport() as client:
                await fetch(client, url)
                with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
                    await fetch(client, url, method, content=content, headers={"Content-Length": "2"})
            assert len(server.requests) == 2

    run(test())


def test_request_is_resent_once_on_a_new_connection(run: Run) -> None:
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
        async with serving(server) as url, transport() as client:
            await asyncio.gather(fetch(client, url), fetch(client, url))  # two idle connections, both soon closed
            with pytest.raises(httpx.RemoteProtocolError):
                await fetch(client, url)
        assert server.connections == 3

    run(test())


def test_truncated_response_is_not_retried(run: Run) -> None:
    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(OK)
        await server.request(reader)
        writer.write(OK[:20])

    async def test() -> None:
        server = Server(step)
        async with serving(server) as url, transport() as client:
            await fetch(client, url)
            with pytest.raises(httpx.RemoteProtocolError):
                await fetch(client, url)
        assert server.connections == 1

    run(test())


def test_closed_connection_is_never_used_even_for_post(run: Run) -> None:
    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(OK)

    async def test() -> None:
        server = Server(step)
        async with serving(server) as url, transport() as client:
            for _ in range(20):
                assert await fetch(client, url, "POST", content=b"xy") == b"hi"
        assert server.connections == 20

    run(test())


# Timeouts.


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_silence_before_a_response_is_a_read_timeout(run: Run, answer: bytes) -> None:
    async def test() -> None:
        server = Server(answer_once_with(answer))
        async with serving(server) as url, transport() as client:
            with pytest.raises(httpx.ReadTimeout):
                await fetch(client, url, times={"read": 0.05})
            await server.client_closed.wait()

    run(test())


def test_silence_within_a_body_is_a_read_timeout(run: Run) -> None:
    async def test() -> None:
        server = Server(answer_once_with(CHUNKED + b"2\r\nhi\r\n"))
        async with serving(server) as url, transport() as client:
            with pytest.raises(httpx.ReadTimeout):
                await fetch(client, url, times={"read": 0.05})
            await server.client_closed.wait()

    run(test())


def test_server_that_does_not_read_is_a_write_timeout(run: Run) -> None:
    async def test() -> None:
        produced = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal produced
            while True:
                produced += 65536
                yield b"x" * 65536

        async with serving(Server(ignore)) as url, transport() as client:
            with pytest.raises(httpx.WriteTimeout):
                await fetch(client, url, "POST", content=endless(), times={"write": 0.2})
        assert produced < 64 * 1024 * 1024  # the socket buffers of both ends, and a little more

    run(test())


def test_upload_may_take_longer_than_the_read_timeout(run: Run) -> None:
    async def test() -> None:
        async def slow() -> AsyncIterator[bytes]:
            yield b"x"
            await asyncio.sleep(0.3)
            yield b"y"

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"0\r\n\r\n")
            writer.write(OK)
            await server.read_until_closed(reader)

        async with serving(Server(step)) as url, transport() as client:
            assert await fetch(client, url, "POST", content=slow(), times={"read": 0.1}) == b"hi"

    run(test())


def test_endless_handshake_is_a_connect_timeout(run: Run) -> None:
    async def test() -> None:
        server = Server(read_only)
        async with serving(server) as url, transport() as client:
            with pytest.raises(httpx.ConnectTimeout):
                await fetch(client, url.replace("http", "https"), times={"connect": 0.05})
            await server.client_closed.wait()

    run(test())


def test_request_without_timeouts_has_none(run: Run) -> None:
    async def test() -> None:
        async with serving(Server(answer_all)) as url, transport() as client:
            response = await client.handle_async_request(httpx.Request("GET", url))
            assert await response.aread() == b"hi"

    run(test())


# Cancellation.


class Endless(httpx.AsyncByteStream):
    """An endless body; `started` and `closed` tell whether it was read and closed."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while True:
                self.started.set()
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
def test_cancelled_call_closes_its_connection_and_frees_its_slot(run: Run, answer: bytes) -> None:
    async def test() -> None:
        requested = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            writer.write(answer)
            requested.set()
            await server.read_until_closed(reader)

        server = Server(step, answer_all)
        async with serving(server) as url, transport(limits=limits(1)) as client:
            call = asyncio.create_task(fetch(client, url))
            await requested.wait()
            await cancelled(call)
            await server.client_closed.wait()
            assert await fetch(client, url) == b"hi"

    run(test())


def test_cancelled_upload_closes_its_source(run: Run) -> None:
    async def test() -> None:
        body = Endless()
        server = Server(read_only, answer_all)
        async with serving(server) as url, transport(limits=limits(1)) as client:
            call = asyncio.create_task(client.handle_async_request(upload(url, body)))
            await body.started.wait()
            await cancelled(call)
            await server.client_closed.wait()
            await body.closed.wait()
            assert await fetch(client, url) == b"hi"

    run(test())


def test_cancelled_handshake_closes_its_connection(run: Run) -> None:
    async def test() -> None:
        arrived = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            arrived.set()
            await server.read_until_closed(reader)

        server = Server(step, answer_all)
        async with serving(server) as url, transport(limits=limits(1)) as client:
            call = asyncio.create_task(fetch(client, url.replace("http", "https")))
            await arrived.wait()
            await cancelled(call)
            await server.client_closed.wait()
            assert await fetch(client, url) == b"hi"

    run(test())


def test_call_cancelled_in_the_queue_takes_no_connection(run: Run) -> None:
    async def test() -> None:
        server = Server(answer_once_with(CHUNKED), answer_all)
        async with serving(server) as url, transport(limits=limits(1)) as client:
            open_response = await send(client, url)
            waiting = [asyncio.create_task(fetch(client, url)) for _ in range(3)]
            await asyncio.sleep(0)
            for call in waiting[:2]:
                await cancelled(call)
            await open_response.aclose()
            assert await waiting[2] == b"hi"
            assert await fetch(client, url) == b"hi"

    run(test())


def test_partly_read_response_closes_its_connection(run: Run) -> None:
    async def test() -> None:
        server = Server(answer_once_with(CHUNKED + b"2\r\nhi\r\n"))
        async with serving(server) as url, transport() as client:
            response = await send(client, url)
            async for piece in response.aiter_raw():
                assert piece == b"hi"
                break
            await response.aclose()
            await server.client_closed.wait()

    run(test())


def test_closing_the_transport_ends_calls_in_progress(run: Run) -> None:
    async def test() -> None:
        server = Server(read_only)
        async with serving(server) as url, transport() as client:
            call = asyncio.create_task(fetch(client, url))
            await until(lambda: server.connections == 1)
            await client.aclose()
            with pytest.raises(httpx.ReadError):
                await call

    run(test())


# Streams.


def test_response_is_streamed(run: Run) -> None:
    async def test() -> None:
        first_seen = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            writer.write(CHUNKED + b"3\r\none\r\n")
            await first_seen.wait()
            writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
            await server.read_until_closed(reader)

        async with serving(Server(step)) as url, transport() as client:
            pieces = []
            async for piece in (await send(client, url)).aiter_raw():
                pieces.append(piece)
                first_seen.set()
            assert pieces == [b"one", b"two"]

    run(test())


@pytest.mark.parametrize("is_late", [False, True], ids=["with the head", "after it"])
def test_bytes_after_the_declared_end_are_noted(run: Run, is_late: bool) -> None:
    async def test() -> None:
        head_seen = asyncio.Event()

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            head, body = OK.removesuffix(b"hi"), b"hi and more"
            if is_late:
                writer.write(head)
                await head_seen.wait()
            writer.write(body if is_late else head + body)
            await server.read_until_closed(reader)

        async with serving(Server(step)) as url, transport() as client:
            response = await send(client, url)
            head_seen.set()
            assert await response.aread() == b"hi"
            assert SURPLUS in response.extensions

    run(test())


def test_slow_reader_makes_the_server_wait(run: Run) -> None:
    size = 30_000_000

    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // 100_000):
            writer.write(b"x" * 100_000)
            await writer.drain()
        await server.read_until_closed(reader)

    async def test() -> None:
        async with serving(Server(step)) as url, transport() as client:
            response = await send(client, url)
            exchange = response.stream
            await until(lambda: exchange._connection._is_reading_paused)
            assert exchange._parser.buffered_bytes <= 2 * _MAX_BUFFERED_BYTES  # one read may come on top
            pieces = []
            async for piece in response.aiter_raw():
                pieces.append(len(piece))
                await asyncio.sleep(0)
            assert sum(pieces) == size
            assert max(pieces) <= 64 * 1024

    run(test())


def test_upload_is_streamed(run: Run) -> None:
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
            await server.read_until_closed(reader)

        async with serving(Server(step)) as url, transport() as client:
            assert await fetch(client, url, "POST", content=pieces()) == b"hi"

    run(test())


@pytest.mark.parametrize("closing", [True, False])
def test_early_refusal_ends_the_upload(run: Run, closing: bool) -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!"

    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(refusal)
        if not closing:
            await server.read_until_closed(reader)

    async def test() -> None:
        body = Endless()
        server = Server(step, answer_all)
        async with serving(server) as url, transport() as client:
            response = await client.handle_async_request(upload(url, body))
            assert (response.status_code, await response.aread()) == (413, b"no!")
            await body.closed.wait()
            assert await fetch(client, url) == b"hi"
            assert server.connections == 2

    run(test())


def test_refusal_arrives_while_the_upload_waits_for_its_source(run: Run) -> None:
    async def test() -> None:
        async def waiting_source() -> AsyncIterator[bytes]:
            yield b"x"
            await asyncio.Event().wait()

        async with (
            serving(Server(answer_once_with(b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n"))) as url,
            transport() as client,
        ):
            assert (await send(client, url, "POST", content=waiting_source())).status_code == 400

    run(test())


def test_request_and_response_are_streamed_at_the_same_time(run: Run) -> None:
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
        async with serving(server) as url, transport() as client:
            response = await send(client, url, "POST", content=pieces())
            async for piece in response.aiter_raw():
                echoed.put_nowait(piece)
            assert echoed.qsize() == 1
            assert await fetch(client, url) == b"hi"
            assert server.connections == 1

    run(test())


def test_failing_upload_source_is_raised_and_the_body_not_ended(run: Run) -> None:
    async def test() -> None:
        async def broken() -> AsyncIterator[bytes]:
            yield b"one"
            raise KeyError("source")

        received = bytearray()

        async def step(server: Server, reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(100):
                received.extend(data)
            server.client_closed.set()

        server = Server(step)
        async with serving(server) as url, transport() as client:
            with pytest.raises(KeyError, match="source"):
                await fetch(client, url, "POST", content=broken())
            await server.client_closed.wait()
        assert b"0\r\n\r\n" not in received

    run(test())


# Endless heads.


@pytest.mark.parametrize(
    ("begin", "repeated"),
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
def test_endless_head_is_an_error(run: Run, begin: bytes, repeated: bytes) -> None:
    async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(begin)
        while True:
            writer.write(repeated * 1000)
            await writer.drain()

    async def test() -> None:
        async with serving(Server(step)) as url, transport() as client:
            with pytest.raises(httpx.RemoteProtocolError):
                await fetch(client, url)

    run(test())


def test_unrequested_protocol_switch_is_an_error(run: Run) -> None:
    async def test() -> None:
        switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
        async with serving(Server(answer_once_with(switch))) as url, transport() as client:
            with pytest.raises(httpx.RemoteProtocolError, match="was not requested"):
                await fetch(client, url)

    run(test())


# Connecting.


class Resolving(asyncio.SelectorEventLoop):
    """An event loop that resolves each name to these addresses."""

    def __init__(self, *addresses: tuple[str, int]) -> None:
        super().__init__()
        self._addresses = addresses

    async def getaddrinfo(self, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", address) for address in self._addresses]


@pytest.fixture
def refusing() -> tuple[str, int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address: tuple[str, int] = free.getsockname()
    return address


@pytest.fixture
def hanging() -> Iterator[tuple[str, int]]:
    """An address where connecting neither succeeds nor fails: the backlog is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        yield full.getsockname()
        for one in waiting:
            one.close()


def test_first_address_that_connects_is_used(hanging: tuple[str, int], refusing: tuple[str, int]) -> None:
    with echoing() as echo:
        host, port = echo.url.removeprefix("http://").split(":")

        async def test() -> None:
            async with transport() as client:
                assert (await send(client, "http://api.test/")).status_code == 204

        with asyncio.Runner(loop_factory=lambda: Resolving(hanging, refusing, (host, int(port)), hanging)) as runner:
            runner.run(test())


def test_refusal_by_all_addresses_is_a_connect_error_with_causes(refusing: tuple[str, int]) -> None:
    async def test() -> None:
        async with transport() as client:
            with pytest.raises(httpx.ConnectError) as failure_info:
                await send(client, "http://api.test/")
        assert failure_info.value.__cause__
        group = failure_info.value.__cause__.__cause__
        assert isinstance(group, ExceptionGroup)
        assert [type(error) for error in group.exceptions] == [ConnectionRefusedError] * 2

    with asyncio.Runner(loop_factory=lambda: Resolving(refusing, refusing)) as runner:
        runner.run(test())


def test_hanging_address_is_a_connect_timeout(hanging: tuple[str, int], run: Run) -> None:
    async def test() -> None:
        async with transport() as client:
            with pytest.raises(httpx.ConnectTimeout):
                await send(client, f"http://{hanging[0]}:{hanging[1]}", times={"connect": 0.05})

    run(test())


def test_refused_connection_and_unknown_host_are_connect_errors(refusing: tuple[str, int], run: Run) -> None:
    async def test() -> None:
        async with transport() as client:
            for url, cause in (
                (f"http://{refusing[0]}:{refusing[1]}", ConnectionRefusedError),
                ("http://name.invalid", socket.gaierror),
            ):
                with pytest.raises(httpx.ConnectError) as failure_info:
                    await send(client, url)
                assert isinstance(failure_info.value.__cause__, cause)

    run(test())


def test_scheme_other_than_http_is_refused_as_by_httpx(run: Run) -> None:
    async def test() -> None:
        async with transport() as client:
            with pytest.raises(httpx.UnsupportedProtocol):
                await send(client, "ftp://127.0.0.1/")

    run(test())


def test_body_without_async_iteration_is_a_type_error(run: Run) -> None:
    async def test() -> None:
        async with serving(Server(read_only)) as url, transport() as client:
            with pytest.raises(TypeError):
                await send(client, url, "POST", content=iter([b"x"]))

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


def test_tls_connections_are_reused_and_negotiate_http_1(run: Run, certificates: Path, secure: ssl.SSLContext) -> None:
    async def test() -> None:
        protocols = []

        async def step(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            protocols.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
            await answer_all(server, reader, writer)

        server = Server(step)
        trusted = ssl.create_default_context(cafile=certificates / "ca.pem")
        async with serving(server, secure) as url, transport(verify=trusted) as client:
            assert [await fetch(client, url) for _ in range(3)] == [b"hi"] * 3
        assert protocols == ["http/1.1"]

    run(test())


def test_untrusted_certificate_gets_no_request(run: Run, secure: ssl.SSLContext) -> None:
    async def test() -> None:
        server = Server(answer_all)
        async with serving(server, secure) as url, transport() as client:
            with pytest.raises(httpx.ConnectError) as failure_info:
                await fetch(client, url)
            assert isinstance(failure_info.value.__cause__, ssl.SSLCertVerificationError)
        assert server.requests == []

    run(test())


def test_large_response_over_tls_is_complete(run: Run, certificates: Path, secure: ssl.SSLContext) -> None:
    async def test() -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000
        trusted = ssl.create_default_context(cafile=certificates / "ca.pem")
        async with serving(Server(answer_once_with(answer)), secure) as url, transport(verify=trusted) as client:
            pieces = 0
            async for piece in (await send(client, url)).aiter_raw():
                pieces += len(piece)
                await asyncio.sleep(0)
            assert pieces == 3_000_000

    run(test())


# Proxies.


def test_proxy_of_the_environment_is_used(run: Run) -> None:
    async def test() -> None:
        proxy, api = Server(answer_all), Server(answer_all)
        async with serving(proxy) as proxy_url, serving(api) as url:
            async with Transport(environment={"http": proxy_url}) as client:
                assert await fetch(client, "http://api.test/x") == b"hi"
            async with Transport(environment={"all": proxy_url, "no": "127.0.0.1"}) as client:
                assert await fetch(client, f"{url}/x") == b"hi"
        assert [request.split(b" ")[1] for request in proxy.requests] == [b"http://api.test/x"]
        assert [request.split(b" ")[1] for request in api.requests] == [b"/x"]

    run(test())


def test_unreachable_proxy_is_a_connect_error(run: Run, refusing: tuple[str, int]) -> None:
    async def test() -> None:
        async with Transport(environment={"http": f"{refusing[0]}:{refusing[1]}"}) as client:
            with pytest.raises(httpx.ConnectError):
                await fetch(client, "http://api.test/x")

    run(test())
