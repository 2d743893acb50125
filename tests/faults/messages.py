"""Rows of large messages: many at once, each of them within the limits, or just beyond."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

from tests.faults.clients import FINE, HEAD, LIST, PING, connections, counted, demand, received, request, send, statuses
from tests.faults.rows import Row, Run, Target

BIG: Final = "x" * 3_900_000
BUSY: Final = "200 429 503"
BATCHES: Final = "2025-03-26"
"""The one revision that has batches."""

LONG: Final = frozenset(
    {
        *("20 times 200,000 capabilities", "20 times 1,200,000 nested lists", "20 times 1,900,000 capabilities"),
        *("100 paths of 60,000 characters that are encoded", "250 messages of 48 KB", "8 ids of 1,900,000 letters"),
        *("20 messages of numbers of 4,200 digits", "a batch of 1,900,000 numbers", "a batch of 20,000 unknown tools"),
    }
)
"""Rows that take seconds, which `make test` leaves to `make faults`."""


def together(data: Callable[[], bytes], allowed: str, times: int) -> Run:
    """Return the row of bytes that are sent on several connections at once, whose answers have the statuses allowed."""

    async def run(target: Target) -> str:
        sent = data()
        async with connections(target, times) as opened:
            reading = [asyncio.create_task(received(reader, 15)) for reader, _ in opened]
            await asyncio.gather(*(send(writer, sent, 15) for _, writer in opened))
            count = statuses(*[await each for each in reading])
        return demand(counted(count), fits=set(count) <= set(allowed.split()))

    return run


def row(description: str, data: Callable[[], bytes], allowed: str = BUSY, times: int = 20) -> Row:
    return Row("clients", description, together(data, allowed, times), short=description not in LONG)


def message(method: str, params: Any, request_id: Any = 1) -> Callable[[], bytes]:
    """Return a function that makes a request as its client sends it."""
    value = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return lambda: closing(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def initialize(name: str = "x", experimental: Any = None) -> Callable[[], bytes]:
    """Return a function that makes the first message of a client."""
    capabilities = {} if experimental is None else {"experimental": experimental}
    info = {"name": name, "version": "1"}
    return message("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info})


def batch(part: Callable[[int], bytes], count: int) -> Callable[[], bytes]:
    """Return a function that makes a batch of a client that may send some."""
    return lambda: closing(b"[" + b",".join(map(part, range(count))) + b"]").replace(b"2025-11-25", BATCHES.encode())


def closing(body: bytes, *headers: str) -> bytes:
    return request(body, *headers, "Connection: close")


def chunked(size: int, count: int, extension: bytes = b"") -> Callable[[], bytes]:
    """Return a function that makes a body of so many chunks of one size."""
    chunk = b"%x%b\r\n" % (size, extension) + b" " * size + b"\r\n"
    return lambda: (HEAD + "Transfer-Encoding: chunked\r\n\r\n").encode() + chunk * count


def unknown_tool(number: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sendRecord_%d"}}' % (number, number)


REFUSED: Final = "400 413 -"
ROWS: Final = [
    row("20 times 300,000 chunks of a byte", chunked(1, 300_000), REFUSED),
    row("20 times 100,000 chunks with extensions", chunked(1, 100_000, b";name=value"), REFUSED),
    row("50 times 60,000 fields of two characters", lambda: HEAD.encode() + b"a:\r\n" * 60_000, "400 431 -", 50),
    row("200 times 990 fields", lambda: closing(PING, *["X-Field: a"] * 990), "400 431 -", 200),
    row(
        "100 paths of 60,000 characters that are encoded",
        lambda: closing(PING).replace(b"/mcp", b"/" + b"%2e" * 20_000, 1),
        "400 404 414 -",
        100,
    ),
    row("20 first messages with names of 3.9 MB", initialize(BIG)),
    row("20 times 200,000 capabilities", initialize(experimental={f"k{n}": {} for n in range(200_000)})),
    row("20 times 1,200,000 nested lists", initialize(experimental={"a": [[[1]]] * 400_000})),
    row("20 times 1,900,000 capabilities", initialize(experimental={"a": [1] * 1_900_000})),
    row("20 ids of 3.9 MB", message("ping", {}, BIG)),
    row("8 ids of 1,900,000 letters", message("ping", {}, "\u00e9" * 1_900_000), times=8),
    row("20 methods of 3.9 MB", message(BIG, {})),
    row("20 tools whose names have 3.9 MB", message("tools/call", {"name": BIG, "arguments": {}})),
    row("20 resources whose addresses have 3.9 MB", message("resources/read", {"uri": f"skill://{BIG}"})),
    row("20 tasks whose ids have 3.9 MB", message("tasks/get", {"taskId": BIG})),
    row("20 messages of numbers of 4,200 digits", message("ping", {"a": [10**4199] * 900})),
    row("250 messages of 48 KB", message("ping", {"a": [1] * 24_000}), times=250),
    row("a batch of 90,000 pings of 2025-03-26", batch(lambda _: PING, 90_000), "400", 1),
    row("a batch of 80,000 lists", batch(lambda _: LIST, 80_000), "400", 1),
    row("a batch of 30,000 calls of 2025-03-26", batch(lambda _: FINE, 30_000), "400", 1),
    row("a batch of 20,000 unknown tools", batch(unknown_tool, 20_000), "400", 1),
    row("a batch of 1,900,000 numbers", batch(lambda _: b"1", 1_900_000), "400", 1),
    row("20 batches of 100 unknown tools", batch(unknown_tool, 100)),
    row("20 batches of 100 lists", batch(lambda _: LIST, 100)),
]
"""Messages that may cost the server more than they cost who sends them."""
