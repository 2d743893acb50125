"""A load generator of its own process: one request again and again on some connections; prints calls per second.

    python -m benchmarks.load URL CONCURRENCY SECONDS < request.json

`request.json` holds `headers`, `body`, and perhaps `first`: bodies to be sent before, whose answers may name a session.
With `streamed` a POST is only taken (202), and what it asks for comes as an event on a GET of the session.
It waits for whole answers and does nothing else, so that what is measured is the server.
"""

import asyncio
import json
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

import httptools

Said: TypeAlias = dict[str, Any]
WARMING: float = 0.3
"""Of the time, how much goes by before it is counted: connections are made, caches filled."""


class Client(asyncio.Protocol):
    """One connection: sends, waits for the whole answer, sends again."""

    def __init__(self, request: bytes, tally: "Tally") -> None:
        self._request = request
        self._tally = tally

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.WriteTransport", transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        """More of an answer."""
        self._parser.feed_data(data)

    def on_headers_complete(self) -> None:
        """Anything but 200 would make the measurement worthless."""
        if self._parser.get_status_code() != self._tally.status:
            self._tally.failed = f"status {self._parser.get_status_code()}"

    def on_body(self, body: bytes) -> None:
        """A piece of the answer."""
        if b'"isError":true' in body or b'"error":{' in body:
            self._tally.failed = body.decode("utf-8", "replace")[:300]

    def on_message_complete(self) -> None:
        """The answer is whole."""
        if self._tally.status == 200:
            self.answered()

    def answered(self) -> None:
        """An answer is there: ask for the next."""
        self._tally.calls += 1
        if not self._tally.over:
            asyncio.get_running_loop().call_soon(self._ask)

    def connection_lost(self, exc: Exception | None) -> None:
        """A server that closes is asked on."""
        if not self._tally.over:
            self._tally.failed = f"connection lost {exc or ''}"

    def _ask(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._transport.write(self._request)


@dataclass
class Tally:
    """What was counted."""

    status: int = 200
    calls: int = 0
    over: bool = False
    failed: str = ""


@dataclass
class First(asyncio.Protocol):
    """One connection for one request: its answer's headers."""

    request: bytes
    headers: dict[str, str] = field(default_factory=dict)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self._parser = httptools.HttpResponseParser(self)
        cast("asyncio.WriteTransport", transport).write(self.request)

    def data_received(self, data: bytes) -> None:
        """More of the answer."""
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        self.headers[name.decode().lower()] = value.decode()

    def on_message_complete(self) -> None:
        """That was all."""
        self.done.set()


def request(url: str, headers: dict[str, str], body: str) -> bytes:
    """The bytes of a POST, or of a GET where there is no body."""
    parts = urlsplit(url)
    data = body.encode()
    lines = [f"{'POST' if body else 'GET'} {parts.path or '/'} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in headers.items()] + (
        [f"Content-Length: {len(data)}"] if body else []
    )
    return "\r\n".join([*lines, "", ""]).encode() + data


class Stream(asyncio.Protocol):
    """The events of one session, each the answer to what one of its clients asked; which one does not matter."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self.clients: deque[Client] = deque()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Open the stream."""
        self._parser = httptools.HttpResponseParser(self)
        cast("asyncio.WriteTransport", transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        """More of it."""
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """Perhaps the end of an event, or of several."""
        for _ in range(body.count(b"\n\n") if self.clients else 0):
            self.clients[0].answered()
            self.clients.rotate()


async def run(url: str, concurrency: int, seconds: float, said: Said) -> float:
    """Calls per second. Raises RuntimeError where an answer was no success."""
    tally = Tally(status=202 if said.get("streamed") else 200)
    headers = await begin(url, said)
    loop = asyncio.get_running_loop()
    stream = Stream(request(url, headers, ""))
    if said.get("streamed"):
        await loop.create_connection(lambda: stream, *place(url))
        await asyncio.sleep(0.1)  # it has to be there before the first answer
    for _ in range(concurrency):
        _, client = await loop.create_connection(
            lambda: Client(request(url, headers, said["body"]), tally), *place(url)
        )
        stream.clients.append(client)
    await asyncio.sleep(seconds * WARMING)
    before, began = tally.calls, time.perf_counter()
    await asyncio.sleep(seconds * (1 - WARMING))
    rate = (tally.calls - before) / (time.perf_counter() - began)
    tally.over = True
    if tally.failed or not rate:
        raise RuntimeError(tally.failed or "no answers")
    return rate


async def begin(url: str, said: Said) -> dict[str, str]:
    """The headers of a session that has begun, where the server has sessions."""
    headers = dict(said["headers"])
    for body in said.get("first", ()):
        first = First(request(url, headers, body))
        transport, _ = await asyncio.get_running_loop().create_connection(lambda one=first: one, *place(url))  # type: ignore[misc]
        await asyncio.wait_for(first.done.wait(), 20)
        transport.close()
        if "mcp-session-id" in first.headers:
            headers["mcp-session-id"] = first.headers["mcp-session-id"]
    return headers


def place(url: str) -> tuple[str, int]:
    """Host and port."""
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or 80


def main() -> None:
    """Run as a program."""
    import uvloop  # noqa: PLC0415  # the servers have it too

    url, concurrency, seconds = sys.argv[1:]
    print(uvloop.run(run(url, int(concurrency), float(seconds), json.load(sys.stdin))))


if __name__ == "__main__":
    main()
