"""Rows of hostile clients: what one client does to the server while another, at another address, pings it."""

import asyncio
import contextlib
import json
import os
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from tests.faults import calling
from tests.faults.rows import Row, Run, Target, UnexpectedResult

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

HOLD_SECONDS: Final = 0.75
"""Time for which a row goes on where nothing ends it: the other client pings thirty times meanwhile."""

HEAD: Final = "POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in calling.HEADERS.items())
PING: Final = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
LIST: Final = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
HANG: Final = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getFault","arguments":{"name":"hang"}}}'
FINE: Final = HANG.replace(b'"hang"', b'"fine"')
STATUS: Final = b"HTTP/1.1 "
NO_ANSWER: Final = "-"


LONG: Final = frozenset(
    {
        *("300 bodies a byte at a time", "2,000 idle connections", "3,000 connections one after the other"),
        *("20,000 pipelined pings", "10,000 lists that nobody reads", "500 clients that leave", "3,000 sessions"),
        *("3,000 forged sessions", "3,000 cancellations", "1,000 lists", "a length of 10 GB", "600 streams"),
        *("a batch of 30,000 calls", "a message of 400,000 keys"),
    }
)
"""Rows that take seconds, which `make test` leaves to `make faults`."""


def request(body: bytes, *headers: str, length: int | None = None) -> bytes:
    """Return a whole POST, or one whose length is not that of its body."""
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"{HEAD}{lines}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode("latin-1") + body


@asynccontextmanager
async def connections(target: Target, count: int) -> AsyncIterator[list[Streams]]:
    """Open connections, a hundred at a time, and close them at the end; refused ones are left out."""
    opened: list[Streams] = []
    try:
        for start in range(0, count, 100):
            some = [_connect(target) for _ in range(min(100, count - start))]
            opened += [pair for pair in await asyncio.gather(*some) if pair]
        yield opened
    finally:
        for _, writer in opened:
            writer.transport.abort()


async def _connect(target: Target) -> Streams | None:
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(5):
            return await asyncio.open_connection(target.host, target.port)
    return None


async def send(writer: asyncio.StreamWriter, data: bytes, seconds: float = HOLD_SECONDS) -> bool:
    """Send bytes; return whether the server took them in time."""
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(seconds):
            if not writer.is_closing():
                writer.write(data)
                await writer.drain()
                return True
    return False


async def received(reader: asyncio.StreamReader, seconds: float = HOLD_SECONDS) -> bytes:
    """Return what the server sends until it closes the connection, or for a time."""
    data = bytearray()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(seconds):
            while chunk := await reader.read(1 << 16):
                data += chunk
    return bytes(data)


def statuses(*answers: bytes) -> Counter[str]:
    """Count the statuses in what was received; NO_ANSWER where a connection ended without one."""
    found: list[str] = []
    for answer in answers:
        found += [part[:3].decode("latin-1") for part in answer.split(STATUS)[1:]] or [NO_ANSWER]
    return Counter(found)


def counted(count: Counter[str]) -> str:
    return ", ".join(f"{number} times {status}" for status, number in sorted(count.items()))


def demand(outcome: str, *, fits: bool) -> str:
    """Return the outcome; raises UnexpectedResult if it does not fit."""
    if not fits:
        raise UnexpectedResult(outcome)
    return outcome


async def slowloris(target: Target) -> str:
    async with connections(target, 300) as opened:
        for _ in range(int(HOLD_SECONDS / 0.1)):
            await asyncio.gather(*(send(writer, b"X") for _, writer in opened))
            await asyncio.sleep(0.1)
        return f"{len(opened)} connections sent a byte of a header every 100 ms"


async def slow_bodies(target: Target) -> str:
    async with connections(target, 300) as opened:
        head = request(b"", length=4_000_000)
        await asyncio.gather(*(send(writer, head) for _, writer in opened))
        for _ in range(int(HOLD_SECONDS / 0.1)):
            await asyncio.gather(*(send(writer, b"x") for _, writer in opened))
            await asyncio.sleep(0.1)
        return f"{len(opened)} connections sent a byte of a body every 100 ms"


async def large_bodies(target: Target) -> str:
    """Send 3.9 MB of each of 100 bodies, and not the rest."""
    async with connections(target, 100) as opened:
        part = request(b'{"a":"' + b"x" * 3_900_000, length=4_000_000)
        await asyncio.gather(*(send(writer, part, 5) for _, writer in opened))
        await asyncio.sleep(HOLD_SECONDS)
        return f"{len(opened)} connections sent 3.9 MB of a message each"


async def idle_connections(target: Target) -> str:
    async with connections(target, 2000) as opened:
        await asyncio.sleep(HOLD_SECONDS)
        closed = sum(reader.at_eof() for reader, _ in opened)
        return f"{len(opened)} connections, of which the server closed {closed}"


async def reconnecting(target: Target) -> str:
    count = 0
    for _ in range(30):
        async with connections(target, 100) as opened:
            count += len(opened)
    return f"{count} connections opened and closed at once"


async def hanging_calls(target: Target) -> str:
    """Call 300 times what never answers, then once what does, as the same client."""
    async with connections(target, 300) as opened:
        await asyncio.gather(*(send(writer, request(HANG)) for _, writer in opened))
        await asyncio.sleep(HOLD_SECONDS)
        return await _another_caller(target) + f" while {len(opened)} calls hang"


async def _another_caller(target: Target) -> str:
    """Return how a client from another address is served."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection(target.host, target.port, local_addr=("127.0.0.3", 0))
        writer.write(request(FINE, "Connection: close"))
        answer = await reader.read(-1)
        writer.close()
    words = f"another client's call is answered with {counted(statuses(answer))} in {loop.time() - started:.1f} s"
    return demand(words, fits=statuses(answer) == {"200": 1} and loop.time() - started < 2)


async def pipelining(target: Target) -> str:
    async with connections(target, 1) as [(reader, writer)]:
        reading = asyncio.create_task(received(reader, 5))
        await send(writer, request(PING) * 20_000)
        count = statuses(await reading)
        return demand(f"20,000 pings in one go: {counted(count)}", fits=set(count) <= {"200", "429", "503", "400"})


async def unread_answers(target: Target) -> str:
    """Ask for the list of tools again and again on 50 connections and read none."""
    async with connections(target, 50) as opened:
        for _, writer in opened:
            peer: socket.socket = writer.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await asyncio.gather(*(send(writer, request(LIST) * 200, 3) for _, writer in opened))
        await asyncio.sleep(HOLD_SECONDS)
        return f"{len(opened)} connections asked 200 times for the list of tools and read nothing"


async def leaving(target: Target) -> str:
    """Call and close the connection before the answer, 500 times."""
    for _ in range(5):
        async with connections(target, 100) as opened:
            await asyncio.gather(*(send(writer, request(HANG)) for _, writer in opened))
    return await _another_caller(target) + " after 500 clients left"


async def streams(target: Target) -> str:
    """Open 600 streams of GET, which a server may keep open."""
    head = HEAD.replace("POST", "GET").replace("Content-Type: application/json\r\n", "")
    lines = head.replace("application/json, text/event-stream", "text/event-stream") + "\r\n"
    async with connections(target, 600) as opened:
        await asyncio.gather(*(send(writer, lines.encode()) for _, writer in opened))
        answers = await asyncio.gather(*(received(reader, HOLD_SECONDS) for reader, _ in opened))
        return f"600 streams asked for: {counted(statuses(*answers))}"


async def sessions(target: Target) -> str:
    """Begin 3,000 sessions."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    return await _flood(target, [request(message)] * 3000)


async def forged_sessions(target: Target) -> str:
    made = [request(LIST, f"Mcp-Session-Id: {os.urandom(24).hex()}") for _ in range(3000)]
    return await _flood(target, made, allowed={"404", "429"})


async def long_sessions(target: Target) -> str:
    return await _flood(target, [request(LIST, f"Mcp-Session-Id: {'x' * 60_000}")] * 200, allowed={"404", "400", "431"})


async def foreign_pages(target: Target) -> str:
    return await _flood(target, [request(PING, "Origin: https://evil.example")] * 1000, allowed={"403"})


async def cancelling(target: Target) -> str:
    message = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"%s"}}' % (b"x" * 1000)
    return await _flood(target, [request(message)] * 3000, allowed={"202", "429"})


async def listing(target: Target) -> str:
    return await _flood(target, [request(LIST)] * 1000, allowed={"200", "429"})


async def _flood(target: Target, requests: Sequence[bytes], allowed: set[str] | None = None) -> str:
    """Send requests on 20 kept connections; return the statuses. By default they may be 200 or 429."""
    shares = [requests[start::20] for start in range(20)]

    async def one(pair: Streams, share: Sequence[bytes]) -> Counter[str]:
        reader, writer = pair
        count = Counter[str]()
        for data in share:
            if writer.is_closing() or not await send(writer, data, 10):
                break
            try:
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 15)
            except (OSError, EOFError, TimeoutError):
                break
            length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)
            count[head[9:12].decode()] += 1
            if b"connection: close" in head.lower():
                break
        return count

    async with connections(target, 20) as opened:
        counts = await asyncio.gather(*(one(*each) for each in zip(opened, shares, strict=True)))
    total = sum(counts, Counter[str]())
    return demand(
        f"{len(requests)} requests: {counted(total)}", fits=bool(total) and set(total) <= (allowed or {"200", "429"})
    )


def once(data: Callable[[], bytes], allowed: str, seconds: float = 5) -> Run:
    """Return the row of bytes on one connection, whose answers may only have the statuses allowed (`-`: none).

    Where no answer is allowed, the client says that it sends nothing more: the server may take that as a client that
    has left, and one that wants its answer does not.
    """

    async def run(target: Target) -> str:
        async with connections(target, 1) as [(reader, writer)]:
            reading = asyncio.create_task(received(reader, seconds))
            await send(writer, data(), seconds)
            if NO_ANSWER in allowed and not writer.is_closing():
                with contextlib.suppress(OSError):
                    writer.write_eof()
            answer = await reading
        count = statuses(answer)
        body = " ".join(answer.partition(b"\r\n\r\n")[2][:90].decode("utf-8", "replace").split())
        return demand(f"{counted(count)} {body}", fits=set(count) <= set(allowed.split()))

    return run


def row(description: str, run: Run) -> Row:
    return Row("clients", description, run, short=description not in LONG)


def batch(message: bytes, count: int) -> Callable[[], bytes]:
    return lambda: request(b"[" + b",".join([message] * count) + b"]", "Connection: close")


def called(params: bytes) -> Callable[[], bytes]:
    """Return a tools/list whose parameters are raw JSON."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":%s}'
    return lambda: request(body % params, "Connection: close")


REFUSED: Final = "400 413 431 -"
ROWS: Final = [
    row("slowloris: 300 connections", slowloris),
    row("300 bodies a byte at a time", slow_bodies),
    row("100 bodies of 3.9 MB that do not end", large_bodies),
    row("2,000 idle connections", idle_connections),
    row("3,000 connections one after the other", reconnecting),
    row("300 calls that hang", hanging_calls),
    row("20,000 pipelined pings", pipelining),
    row("10,000 lists that nobody reads", unread_answers),
    row("500 clients that leave", leaving),
    row("600 streams", streams),
    row("3,000 sessions", sessions),
    row("3,000 forged sessions", forged_sessions),
    row("sessions of 60,000 characters", long_sessions),
    row("1,000 requests of a foreign page", foreign_pages),
    row("3,000 cancellations", cancelling),
    row("1,000 lists", listing),
    row("a header of 16 MiB", once(lambda: request(PING, f"X-Bomb: {'x' * (16 << 20)}"), REFUSED)),
    row("200,000 headers", once(lambda: request(PING, *["X-Bomb: x"] * 200_000), REFUSED)),
    row(
        "a request line of 16 MiB", once(lambda: b"POST /" + b"x" * (16 << 20) + b" HTTP/1.1\r\n\r\n", REFUSED + " 404")
    ),
    row("4 MiB of opening brackets", once(lambda: request(b"[" * (4 << 20), "Connection: close"), REFUSED)),
    row("4 MiB that are no JSON", once(lambda: request(b"\xff" * (4 << 20), "Connection: close"), REFUSED)),
    row("4 MiB of braces", once(lambda: request(b'{"a":' * 800_000, "Connection: close"), REFUSED)),
    row(
        "a number of 4,000,000 digits as id",
        once(lambda: request(PING.replace(b":1,", b":" + b"9" * 4_000_000 + b","), "Connection: close"), "400 200 -"),
    ),
    row("a batch of 100,000 pings", once(batch(PING, 90_000), "400 413 200")),
    row("a batch of 30,000 calls", once(batch(FINE, 30_000), "400 413 200 429 503", 20)),
    row("a batch of 2,000,000 numbers", once(batch(b"1", 2_000_000), "400 413", 20)),
    row("a cursor of 4 MB", once(called(b'{"cursor":"%s"}' % (b"x" * 4_000_000)), "200 400")),
    row("a progress token of 4 MB", once(called(b'{"_meta":{"progressToken":"%s"}}' % (b"x" * 4_000_000)), "200 400")),
    row(
        "a message of 500,000 levels in _meta",
        once(called(b'{"_meta":{"a":%s1%s}}' % (b"[" * 500_000, b"]" * 500_000)), REFUSED),
    ),
    row(
        "a message of 400,000 keys",
        once(called(b"{" + b",".join(b'"%d":1' % n for n in range(350_000)) + b"}"), "200 400"),
    ),
    row("a length of 10 GB", once(lambda: request(b"x" * 1000, length=10_000_000_000), REFUSED)),
    row("a negative length", once(lambda: request(PING, length=-1), REFUSED)),
    row("a length and chunks", once(lambda: request(PING, "Transfer-Encoding: chunked") + request(PING), REFUSED)),
    row(
        "1,000,000 chunks of a byte",
        once(
            lambda: (HEAD + "Transfer-Encoding: chunked\r\n\r\n").encode() + b"1\r\n \r\n" * 1_000_000, "408 " + REFUSED
        ),
    ),
    row(
        "2,000,000 fields behind a body",
        once(
            lambda: (HEAD + "Transfer-Encoding: chunked\r\n\r\n").encode() + b"0\r\n" + b"X: y\r\n" * 2_000_000,
            REFUSED,
        ),
    ),
    row(
        "60,000 media types that are accepted",
        once(lambda: request(PING, f"Accept: {',' * 60_000}", "Connection: close"), "200"),
    ),
    row(
        "gzip that unpacks to a GB",
        once(lambda: request(b"\x1f\x8b" * 500, "Content-Encoding: gzip"), "415 " + REFUSED),
    ),
    row("HTTP/2 without asking", once(lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(1000), REFUSED + " 505")),
    row("TLS to a port without", once(lambda: b"\x16\x03\x01\x02\x00\x01" + os.urandom(1000), REFUSED)),
]
"""Acts of clients that may cost the server more than they cost them."""
