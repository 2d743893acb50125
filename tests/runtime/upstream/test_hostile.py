"""`Upstream` against servers that mean harm: each call ends in time, within its memory, and says what was wrong."""

import asyncio
import gzip
import socket
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.errors import UpstreamError
from openapi_mcp.runtime.upstream.client import MAX_RESPONSE_BYTES, TOTAL_TIMEOUT, TRUNCATED, Upstream
from openapi_mcp.runtime.upstream.decoding import MAX_RATIO
from openapi_mcp.runtime.upstream.errors import causes
from openapi_mcp.runtime.upstream.events import CallEvents
from openapi_mcp.runtime.upstream.retries import Retries
from tests.runtime.raw import serving

pytestmark = pytest.mark.slow

Write = Callable[[asyncio.StreamWriter], Awaitable[None]]

BUDGET = 0.4
LATE = 15.0
"""Seconds after which a call would have been ended by something else, or by nothing."""


async def sent(serve: Write, method: str = "GET", **options: Any) -> httpx.Response:
    """Send a request to a server that answers each one with `serve`."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            await serve(writer)

    upstream = Upstream(**{"total_timeout": BUDGET} | options)
    try:
        async with serving(handle) as url, asyncio.timeout(LATE):
            return await upstream.send(httpx.Request(method, f"{url}/"))
    finally:
        await upstream.aclose()


def answering(data: bytes) -> Write:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return write


def dripping(head: bytes, drop: bytes = b"x") -> Write:
    """Write a head, then one drop after the other without an end."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            await asyncio.sleep(0.02)
            writer.write(drop)
            await writer.drain()

    return write


def failure(serve: Write, method: str = "GET", **options: Any) -> str:
    with pytest.raises(UpstreamError) as caught:
        asyncio.run(sent(serve, method, **options))
    return str(caught.value).partition(" ")[2]


# One limit of time for a whole call.


def test_call_has_a_limit_of_time_by_default() -> None:
    assert Upstream().total_timeout == TOTAL_TIMEOUT
    assert 50 <= TOTAL_TIMEOUT < 60
    assert Upstream(total_timeout=0).total_timeout is None


OK = b"HTTP/1.1 200 OK\r\n"
GZIP_START = b"\x1f\x8b\x08\0\0\0\0\0\0\0"


@pytest.mark.parametrize(
    ("serve", "stage"),
    [
        (dripping(b"HTTP/1.1 200 OK\r\nX-A: "), "the head of the response had not arrived"),
        (dripping(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), "the head of the response had not arrived"),
        (dripping(b"", b"\r\n"), "the head of the response had not arrived"),
        (dripping(OK + b"Content-Length: 1000000\r\n\r\n"), "the body of the response (200) was still arriving, "),
        (dripping(OK + b"\r\n"), "the body of the response (200) was still arriving, "),
        (
            dripping(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
            "the body of the response (200) was still arriving, ",
        ),
        (
            dripping(OK + b"Transfer-Encoding: chunked\r\n\r\n1;"),
            "the body of the response (200) was still arriving, 0 bytes so far",
        ),
        (
            dripping(OK + b"Content-Encoding: gzip\r\n\r\n" + GZIP_START, b"\0\0\0\xff\xff"),
            "the body of the response (200) was still arriving, ",
        ),
    ],
    ids=["header", "1xx", "no head", "length", "until closed", "chunks", "extension", "compressed"],
)
def test_call_ends_in_time_whatever_arrives_slowly(serve: Write, stage: str) -> None:
    text = failure(serve)
    assert text.startswith("call of the API at 127.0.0.1:")
    assert f"did not finish within 0.4 seconds (`--total-timeout`): {stage}" in text


def test_waits_before_retries_are_part_of_the_time() -> None:
    busy = answering(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")

    async def forever(_: float) -> None:
        await asyncio.Event().wait()

    text = failure(busy, retries=Retries(first_wait=0, sleep=forever))
    assert (
        "within 0.4 seconds (`--total-timeout`): it was waiting before the next attempt; 1 attempt had failed" in text
    )


def test_time_is_counted_over_attempts_and_redirects() -> None:
    count = 0

    async def serve(writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        await asyncio.sleep(0.15)
        if count == 1:
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n")
        elif count == 2:
            writer.write(b"HTTP/1.1 429 Later\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n")
        else:
            await asyncio.Event().wait()

    text = failure(serve)
    assert text.endswith(
        "the head of the response had not arrived; 1 attempt had failed before, with 0 seconds of waiting; "
        "1 redirect had been followed."
    )


def test_waiting_for_a_connection_is_part_of_the_time_and_nothing_was_sent() -> None:
    async def call() -> UpstreamError:
        upstream = Upstream(total_timeout=BUDGET, connect_timeout=None)
        with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
            port = full.getsockname()[1]
            others = [socket.create_connection(("127.0.0.1", port)) for _ in range(1)]
            hanging = [asyncio.create_task(asyncio.open_connection("127.0.0.1", port)) for _ in range(3)]
            try:
                async with asyncio.timeout(LATE):
                    await upstream.send(httpx.Request("POST", f"http://127.0.0.1:{port}/", content=b"x"))
            except UpstreamError as error:
                return error
            finally:
                for task in hanging:
                    task.cancel()
                for other in others:
                    other.close()
                await upstream.aclose()
        raise AssertionError

    error = asyncio.run(call())
    assert "it was waiting for a connection" in str(error)
    assert any(isinstance(cause, httpx.PoolTimeout) for cause in causes(error))


def test_upload_that_is_not_read_is_part_of_the_time() -> None:
    async def call() -> None:
        async def ignore(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            await asyncio.Event().wait()

        upstream = Upstream(total_timeout=BUDGET)
        async with serving(ignore) as url, asyncio.timeout(LATE):
            await upstream.send(httpx.Request("POST", url, content=bytes(30_000_000)))

    with pytest.raises(UpstreamError, match="the request was still being sent"):
        asyncio.run(call())


@pytest.mark.parametrize("content_type", ["text/event-stream", "application/x-ndjson", "application/json-seq"])
def test_endless_stream_is_read_until_the_end_of_the_time(content_type: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n".encode()
    response = asyncio.run(sent(dripping(head, b"data: 1\n\n")))
    assert response.content.startswith(b"data: 1\n\n")
    assert response.extensions[TRUNCATED].startswith("The API's stream goes on; only its first ")


def test_cancelled_call_is_cancelled_and_does_not_time_out() -> None:
    async def call() -> None:
        task = asyncio.create_task(sent(dripping(OK + b"\r\n"), total_timeout=5))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(call())


def test_calls_at_once_end_each_in_its_own_time_and_their_tasks_go_on() -> None:
    async def call(url: str, upstream: Upstream, delay: float) -> float:
        await asyncio.sleep(delay)
        start = asyncio.get_running_loop().time()
        for _ in range(2):
            with pytest.raises(UpstreamError, match="did not finish within"):
                await upstream.send(httpx.Request("GET", url))
        task = asyncio.current_task()
        assert task
        assert not task.cancelling()
        async with asyncio.timeout(LATE):
            await asyncio.sleep(0)
        return asyncio.get_running_loop().time() - start

    async def calls() -> list[float]:
        async def ignore(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            await asyncio.Event().wait()

        upstream = Upstream(total_timeout=BUDGET)
        try:
            async with serving(ignore) as url:
                return await asyncio.gather(*(call(url, upstream, delay) for delay in (0, 0.1, 0.3, 0.5)))
        finally:
            await upstream.aclose()

    assert all(2 * BUDGET <= seconds + 0.01 < LATE for seconds in asyncio.run(calls()))


def test_caller_that_cancels_when_the_time_is_over_is_obeyed() -> None:
    async def call() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(BUDGET / 2):
                await sent(dripping(OK + b"\r\n"))

    asyncio.run(call())


# Bodies that unpack to gigabytes.


def gigabytes() -> bytes:
    """Return 8 GiB of null bytes that were compressed twice: a block of 1 MiB again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return gzip.compress(GZIP_START + block * 8192)


def test_body_compressed_twice_takes_little_memory_and_lets_others_run() -> None:
    bomb = gigabytes()
    assert len(bomb) < 100_000
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def call() -> httpx.Response:
        other = asyncio.create_task(count_turns())
        try:
            return await sent(answering(head + bomb), total_timeout=60, max_bytes=2**26)
        finally:
            other.cancel()

    tracemalloc.start()
    with pytest.raises(UpstreamError, match="compressed several times and unpacks to more than 1100 times its size"):
        asyncio.run(call())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * MAX_RATIO * len(bomb)
    assert turns > MAX_RATIO * len(bomb) // 65536


def test_body_compressed_once_is_read_up_to_the_limit() -> None:
    bomb = gzip.decompress(gigabytes())[: 2**17]
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    tracemalloc.start()
    response = asyncio.run(sent(answering(head + bomb), total_timeout=60))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(response.content) == MAX_RESPONSE_BYTES
    missing = f"Only its first {MAX_RESPONSE_BYTES} bytes were read (`--max-response-size`)."
    assert response.extensions[TRUNCATED] == missing
    assert peak < 2 * MAX_RESPONSE_BYTES  # the body is not copied


def test_stream_of_empty_lines_lets_others_run_while_its_entries_are_reported() -> None:
    class Counting(CallEvents):
        counts_bytes = True
        entries = 0

        async def on_entry(self, _text: str) -> None:
            self.entries += 1

    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def call(events: CallEvents) -> httpx.Response:
        body = b"data: 1\n\n" + b"\n" * 1_000_000
        answer = OK + b"Content-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            await answering(answer)(writer)

        upstream, other = Upstream(), asyncio.create_task(count_turns())
        try:
            async with serving(handle) as url:
                return await upstream.send(httpx.Request("GET", url), events)
        finally:
            other.cancel()
            await upstream.aclose()

    counting = Counting()
    response = asyncio.run(call(counting))
    assert (len(response.content), counting.entries) == (1_000_009, 1)
    assert turns >= 1_000_000 // 4096


# Answers that are not what they say.


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "it does not begin with HTTP/1.1 or HTTP/1.0"),
        (b"HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nhi", "it does not begin with HTTP/1.1 or HTTP/1.0"),
        (b"RTSP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "it does not begin with HTTP/1.1 or HTTP/1.0"),
        (b"ICE/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "it does not begin with HTTP/1.1 or HTTP/1.0"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/2.0 200 OK\r\n\r\n", "it does not begin with HTTP/1.1 or HTTP/1.0"),
        (b"HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nhi", "its status is below 100"),
        (b"HTTP/1.1 1000 High\r\nContent-Length: 2\r\n\r\nhi", "Invalid response status"),
        (OK + b"Content-Length: -1\r\n\r\nhi", "Invalid character in Content-Length"),
        (OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi", "Duplicate Content-Length"),
        (OK + b"Content-Length: 99999999999999999999999\r\n\r\nhi", "Content-Length overflow"),
        (OK + b"X-A: a\0b\r\nContent-Length: 2\r\n\r\nhi", "a header field has a null character"),
        (OK + b"a: b\r\n" * 1001 + b"\r\n", "it has more than 1000 header fields"),
        (OK + b"A: " + b"a" * 200_000 + b"\r\n\r\n", "it has more than 102400 bytes of header fields"),
        (b"HTTP/1.1 103 Early\r\n\r\n" * 20_000, "it has more than 102400 bytes of header fields"),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n" + (b"1;" + b"a" * 20_000 + b"\r\nh\r\n") * 500 + b"0\r\n\r\n",
            "its chunks have far more bytes around the body than in it",
        ),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n2;" + b"a" * 200_000 + b"\r\nhi\r\n0\r\n\r\n",
            "its chunks have far more bytes around the body than in it",
        ),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n0\r\n\r\n", "Invalid character in chunk size"),
    ],
)
def test_answer_that_is_not_http_is_refused_with_its_reason_and_not_asked_for_again(answer: bytes, reason: str) -> None:
    requests = 0

    async def serve(writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += 1
        await answering(answer)(writer)

    assert f"sent something that is not HTTP/1.1: {reason}." in failure(serve, total_timeout=10)
    assert requests == 1


def test_answer_that_is_not_http_is_not_asked_for_again_on_a_reused_connection() -> None:
    requests = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        while await reader.readuntil(b"\r\n\r\n"):
            requests += 1
            writer.write(OK + b"Content-Length: 2\r\n\r\nhi" if requests == 1 else b"SSH-2.0-OpenSSH\r\n")

    async def calls() -> None:
        upstream = Upstream()
        try:
            async with serving(handle) as url:
                await upstream.send(httpx.Request("GET", url))
                with pytest.raises(UpstreamError, match=r"not HTTP/1\.1"):
                    await upstream.send(httpx.Request("GET", url))
        finally:
            await upstream.aclose()

    asyncio.run(calls())
    assert requests == 2


def test_chunks_of_one_byte_are_read() -> None:
    body = b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n"
    response = asyncio.run(sent(answering(OK + b"Transfer-Encoding: chunked\r\n\r\n" + body), total_timeout=10))
    assert response.content == b"x" * 100_000


def test_status_beyond_the_classes_is_passed_on() -> None:
    response = asyncio.run(sent(answering(b"HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nhi"), total_timeout=10))
    assert (response.status_code, response.content) == (999, b"hi")


def test_reason_phrase_has_no_control_characters() -> None:
    response = asyncio.run(sent(answering(b"HTTP/1.1 404 a\0b\x1b[2J\r\nContent-Length: 0\r\n\r\n"), total_timeout=10))
    assert response.extensions["reason_phrase"] == b"ab[2J"


@pytest.mark.parametrize("body", [b"half a body", b"ha" * 50_000])
def test_body_longer_than_its_length_is_marked(body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body) // 2}\r\n\r\n".encode()
    response = asyncio.run(sent(answering(head + body), total_timeout=10))
    assert response.content == body[: len(body) // 2]
    assert response.extensions[TRUNCATED].startswith("The API sent more than the Content-Length that it announced")


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_answer_without_a_body_is_not_marked(method: str) -> None:
    status = "204 No Content" if method == "GET" else "200 OK"
    answer = f"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nhi".encode()
    response = asyncio.run(sent(answering(answer), method, total_timeout=10))
    assert not response.extensions.get(TRUNCATED)


@pytest.mark.parametrize("framing", ["length", "closing"])
def test_compressed_body_without_its_end_is_shown_and_marked(framing: str) -> None:
    data = gzip.compress(b"abc" * 1000)[:-9]
    length = f"Content-Length: {len(data)}\r\n" if framing == "length" else ""
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n{length}\r\n".encode()
    response = asyncio.run(sent(answering(head + data), total_timeout=10))
    assert (b"abc" * 1000).startswith(response.content)
    assert response.extensions[TRUNCATED] == "The API's compressed body ends too early, so that its end is missing."


def test_coding_that_was_not_asked_for_is_an_error_with_the_status() -> None:
    text = failure(answering(b"HTTP/1.1 201 Made\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nhi"), "POST")
    assert text.endswith(
        "sent a body that is compressed as br, which was not asked for. The status of its response is 201."
    )


def test_fault_after_a_redirect_is_that_of_its_own_response() -> None:
    requests = 0

    async def serve(writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += 1
        if requests == 1:
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: /next\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        else:
            await answering(b"HTTP/1.1 2")(writer)

    text = failure(serve, total_timeout=10, retries=Retries(attempts=1))
    assert text.endswith("closed the connection early, within the head of its response.")


async def never() -> AsyncIterator[bytes]:
    yield b""
    await asyncio.Event().wait()


def test_time_holds_for_another_transport() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=never()))

    async def call() -> None:
        await Upstream(transport=transport, total_timeout=BUDGET).send(httpx.Request("GET", "http://api.test/"))

    with pytest.raises(UpstreamError, match=r"within 0\.4 seconds .* 0 bytes so far"):
        asyncio.run(call())
