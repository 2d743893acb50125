"""Generate load from a process of its own: one request repeated at a given concurrency; print calls per second.

    python -m benchmarks.load URL CONCURRENCY SECONDS < request.json
    python -m benchmarks.load stdio CONCURRENCY SECONDS COMMAND… < request.json

`request.json` holds `headers`, `body`, and optionally `first`: bodies to send before, whose answers may name a session.
Each request has an id of its own in place of the body's `"id": 1`, since some servers match answers by id only. With
`streamed` a POST is accepted with 202 and its answer arrives as an event on a GET of the session. A command is measured
over its stdin and stdout. The generator only waits for complete answers, so the server is what is measured.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

import httptools

Spec: TypeAlias = dict[str, Any]

WARMING: Final = 0.3
"""Of the time, how much goes by before it is counted: connections are made, caches filled."""

_FIRST_ID: Final = 10**9  # all ids have as many digits, and so all requests one length
_ID: Final = re.compile(rb'"id":\s?(1\d{9})')
_LINE_BYTES: Final = 64 * 1024 * 1024


@dataclass
class Question:
    """A request without its id: the bytes before and after it."""

    before: bytes
    after: bytes
    last: int = _FIRST_ID

    def next(self) -> tuple[int, bytes]:
        """Return the next id and the complete request."""
        self.last += 1
        return self.last, b"%b%d%b" % (self.before, self.last, self.after)


@dataclass
class Tally:
    """The counts of a run; `waiting` has a callback for each id whose answer is due."""

    status: int = 200
    calls: int = 0
    over: bool = False
    failed: str = ""
    waiting: dict[int, Callable[[], None]] = field(default_factory=dict)

    def check(self, answer: bytes) -> None:
        """Fail the run unless the answer is a success."""
        if b'"isError":true' in answer or b'"error":{' in answer:
            self.failed = answer.decode("utf-8", "replace")[:300]

    def receive(self, answers: bytes) -> None:
        """Count complete answers and call their callbacks."""
        self.check(answers)
        for number in _ID.findall(answers):
            if (waiting := self.waiting.pop(int(number), None)) is not None:
                waiting()

    async def rate(self, seconds: float) -> float:
        """Count calls from now on; return calls per second. Raises RuntimeError if an answer was an error."""
        await asyncio.sleep(seconds * WARMING)
        before, began = self.calls, time.perf_counter()
        await asyncio.sleep(seconds * (1 - WARMING))
        rate = (self.calls - before) / (time.perf_counter() - began)
        self.over = True
        if self.failed or not rate:
            raise RuntimeError(self.failed or "no answers")
        return rate


class Client(asyncio.Protocol):
    """A connection that sends, waits for the complete answer, and sends again."""

    def __init__(self, question: Question, tally: Tally) -> None:
        self._question = question
        self._tally = tally
        self._awaited = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self._transport = cast("asyncio.WriteTransport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        """Parse a part of an answer."""
        self._parser.feed_data(data)

    def on_headers_complete(self) -> None:
        """Fail the run unless the status is 200."""
        if self._parser.get_status_code() != self._tally.status:
            self._tally.failed = f"status {self._parser.get_status_code()}"

    def on_body(self, body: bytes) -> None:
        """Collect a part of the answer's body."""
        self._tally.check(body)

    def on_message_complete(self) -> None:
        """Note that the answer is complete, or that the request was accepted."""
        self._on_part()

    def connection_lost(self, exc: Exception | None) -> None:
        """Connect again if the server closed the connection."""
        if not self._tally.over:
            self._tally.failed = f"connection lost {exc or ''}"

    def _on_part(self) -> None:
        """Note one awaited part; send the next request when all have arrived."""
        self._awaited -= 1
        if not self._awaited:
            self._tally.calls += 1
            if not self._tally.over:
                asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        number, data = self._question.next()
        self._awaited = 1
        if self._tally.status != 200:
            self._awaited = 2
            self._tally.waiting[number] = self._on_part
        self._parser = httptools.HttpResponseParser(self)
        self._transport.write(data)


@dataclass
class First(asyncio.Protocol):
    """A connection for one request that returns the headers of its answer."""

    request: bytes
    headers: dict[str, str] = field(default_factory=dict)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        self._parser = httptools.HttpResponseParser(self)
        cast("asyncio.WriteTransport", transport).write(self.request)

    def data_received(self, data: bytes) -> None:
        """Parse a part of the answer."""
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header."""
        self.headers[name.decode().lower()] = value.decode()

    def on_message_complete(self) -> None:
        """Deliver the headers."""
        self.done.set()


class Stream(asyncio.Protocol):
    """The event stream of a session; each event answers a request of one of its clients."""

    def __init__(self, request: bytes, tally: Tally) -> None:
        self._request = request
        self._tally = tally
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Open the stream."""
        self._parser = httptools.HttpResponseParser(self)
        cast("asyncio.WriteTransport", transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        """Parse a part of the stream."""
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """Deliver each event that is complete."""
        events, end, self._rest = (self._rest + body).rpartition(b"\n\n")
        if end:
            self._tally.receive(events)


def post(url: str, headers: dict[str, str], body: str) -> Question:
    """Return a POST with a new id for each call."""
    before, after = body.split('"id": 1,')
    head, _, rest = request(url, headers, f'{before}"id": {_FIRST_ID},{after}').partition(b"%d" % _FIRST_ID)
    return Question(head, rest)


def request(url: str, headers: dict[str, str], body: str) -> bytes:
    """Return the bytes of a POST, or of a GET if there is no body."""
    parts = urlsplit(url)
    data = body.encode()
    lines = [f"{'POST' if body else 'GET'} {parts.path or '/'} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in headers.items()] + (
        [f"Content-Length: {len(data)}"] if body else []
    )
    return "\r\n".join([*lines, "", ""]).encode() + data


async def over_http(url: str, concurrency: int, seconds: float, spec: Spec) -> float:
    """Return calls per second. Raises RuntimeError if an answer was an error."""
    streamed = spec.get("streamed", False)
    tally = Tally(status=202 if streamed else 200)
    headers = await begin(url, spec)
    loop = asyncio.get_running_loop()
    if streamed:
        stream = Stream(request(url, headers, ""), tally)
        await loop.create_connection(lambda: stream, *address(url))
        await asyncio.sleep(0.2)  # it has to be open before the first answer, and does not tell when it is
    question = post(url, headers, spec["body"])
    for _ in range(concurrency):
        await loop.create_connection(lambda: Client(question, tally), *address(url))
    return await tally.rate(seconds)


async def begin(url: str, spec: Spec) -> dict[str, str]:
    """Begin a session; return its headers, empty if the server has no sessions."""
    headers = dict(spec["headers"])
    for body in spec.get("first", ()):
        first = First(request(url, headers, body))
        transport, _ = await asyncio.get_running_loop().create_connection(lambda one=first: one, *address(url))  # type: ignore[misc]
        await asyncio.wait_for(first.done.wait(), 20)
        transport.close()
        if "mcp-session-id" in first.headers:
            headers["mcp-session-id"] = first.headers["mcp-session-id"]
    return headers


async def over_stdio(command: list[str], concurrency: int, seconds: float, spec: Spec) -> float:
    """Return calls per second. Raises RuntimeError if an answer was an error."""
    pipe, discard = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=discard, limit=_LINE_BYTES)
    written, read = cast("asyncio.StreamWriter", process.stdin), cast("asyncio.StreamReader", process.stdout)
    for body in spec.get("first", ()):
        written.write(body.encode() + b"\n")
        if '"id"' in body:
            await read.readline()
    before, after = spec["body"].encode().split(b'"id": 1,')
    question = Question(before + b'"id": ', b"," + after + b"\n")
    tally = Tally()

    def ask() -> None:
        number, data = question.next()
        tally.waiting[number] = answered
        written.write(data)

    def answered() -> None:
        tally.calls += 1
        if not tally.over:
            ask()

    async def receive() -> None:
        while line := await read.readline():
            tally.receive(line)

    for _ in range(concurrency):
        ask()
    receiving = asyncio.create_task(receive())
    try:
        return await tally.rate(seconds)
    finally:
        receiving.cancel()
        process.kill()
        await process.wait()


def address(url: str) -> tuple[str, int]:
    """Return host and port."""
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or 80


def main() -> None:
    """Run the command line."""
    import uvloop  # noqa: PLC0415  # the servers have it too

    url, concurrency, seconds, *command = sys.argv[1:]
    spec, many, time_for_it = json.load(sys.stdin), int(concurrency), float(seconds)
    work = over_stdio(command, many, time_for_it, spec) if command else over_http(url, many, time_for_it, spec)
    print(uvloop.run(work))


if __name__ == "__main__":
    main()
