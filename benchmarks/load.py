"""A load generator of its own process: one request again and again, so many at a time; prints calls per second.

    python -m benchmarks.load URL CONCURRENCY SECONDS < request.json
    python -m benchmarks.load stdio CONCURRENCY SECONDS COMMAND… < request.json

`request.json` holds `headers`, `body`, and perhaps `first`: bodies to be sent before, whose answers may name a session.
Each request has an id of its own in place of the body's `"id": 1`, as clients have: there are servers that tell answers
apart by nothing else. With `streamed` a POST is only taken (202), and its answer comes as an event on a GET of the
session. A command is spoken to on its stdin and stdout. It waits for whole answers and does nothing else, so that what
is measured is the server.
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

Said: TypeAlias = dict[str, Any]

WARMING: Final = 0.3
"""Of the time, how much goes by before it is counted: connections are made, caches filled."""

_FIRST_ID: Final = 10**9  # all ids have as many digits, and so all requests one length
_ID: Final = re.compile(rb'"id":\s?(1\d{9})')
_LINE_BYTES: Final = 64 * 1024 * 1024


@dataclass
class Question:
    """What is asked, but for its id: the bytes before and after it."""

    before: bytes
    after: bytes
    last: int = _FIRST_ID

    def next(self) -> tuple[int, bytes]:
        """The next id, and the whole."""
        self.last += 1
        return self.last, b"%b%d%b" % (self.before, self.last, self.after)


@dataclass
class Tally:
    """What was counted; `waiting` is who waits for the answer of which id."""

    status: int = 200
    calls: int = 0
    over: bool = False
    failed: str = ""
    waiting: dict[int, Callable[[], None]] = field(default_factory=dict)

    def look(self, answer: bytes) -> None:
        """Anything but a success would make the measurement worthless."""
        if b'"isError":true' in answer or b'"error":{' in answer:
            self.failed = answer.decode("utf-8", "replace")[:300]

    def told(self, answers: bytes) -> None:
        """Whole answers came, for whoever they are."""
        self.look(answers)
        for found in _ID.findall(answers):
            if (waiting := self.waiting.pop(int(found), None)) is not None:
                waiting()

    async def rate(self, seconds: float) -> float:
        """Calls per second from now on. Raises RuntimeError where an answer was no success."""
        await asyncio.sleep(seconds * WARMING)
        before, began = self.calls, time.perf_counter()
        await asyncio.sleep(seconds * (1 - WARMING))
        rate = (self.calls - before) / (time.perf_counter() - began)
        self.over = True
        if self.failed or not rate:
            raise RuntimeError(self.failed or "no answers")
        return rate


class Client(asyncio.Protocol):
    """One connection: sends, waits for the whole answer, sends again."""

    def __init__(self, question: Question, tally: Tally) -> None:
        self._question = question
        self._tally = tally
        self._awaited = 0

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
        self._tally.look(body)

    def on_message_complete(self) -> None:
        """The answer is whole, or the request was taken."""
        self._have()

    def connection_lost(self, exc: Exception | None) -> None:
        """A server that closes is asked on."""
        if not self._tally.over:
            self._tally.failed = f"connection lost {exc or ''}"

    def _have(self) -> None:
        """One of the things that are awaited is there: ask for the next when all are."""
        self._awaited -= 1
        if not self._awaited:
            self._tally.calls += 1
            if not self._tally.over:
                asyncio.get_running_loop().call_soon(self._ask)

    def _ask(self) -> None:
        number, data = self._question.next()
        self._awaited = 1
        if self._tally.status != 200:
            self._awaited = 2
            self._tally.waiting[number] = self._have
        self._parser = httptools.HttpResponseParser(self)
        self._transport.write(data)


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


class Stream(asyncio.Protocol):
    """The events of one session, each the answer to what one of its clients asked."""

    def __init__(self, request: bytes, tally: Tally) -> None:
        self._request = request
        self._tally = tally
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Open the stream."""
        self._parser = httptools.HttpResponseParser(self)
        cast("asyncio.WriteTransport", transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        """More of it."""
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """Perhaps the end of an event, or of several."""
        events, end, self._rest = (self._rest + body).rpartition(b"\n\n")
        if end:
            self._tally.told(events)


def asked(url: str, headers: dict[str, str], body: str) -> Question:
    """A POST whose id is another one each time."""
    before, after = body.split('"id": 1,')
    head, _, rest = request(url, headers, f'{before}"id": {_FIRST_ID},{after}').partition(b"%d" % _FIRST_ID)
    return Question(head, rest)


def request(url: str, headers: dict[str, str], body: str) -> bytes:
    """The bytes of a POST, or of a GET where there is no body."""
    parts = urlsplit(url)
    data = body.encode()
    lines = [f"{'POST' if body else 'GET'} {parts.path or '/'} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += [f"{name}: {value}" for name, value in headers.items()] + (
        [f"Content-Length: {len(data)}"] if body else []
    )
    return "\r\n".join([*lines, "", ""]).encode() + data


async def over_http(url: str, concurrency: int, seconds: float, said: Said) -> float:
    """Calls per second. Raises RuntimeError where an answer was no success."""
    streamed = said.get("streamed", False)
    tally = Tally(status=202 if streamed else 200)
    headers = await begin(url, said)
    loop = asyncio.get_running_loop()
    if streamed:
        stream = Stream(request(url, headers, ""), tally)
        await loop.create_connection(lambda: stream, *place(url))
        await asyncio.sleep(0.2)  # it has to be there before the first answer, and says nothing when it is
    question = asked(url, headers, said["body"])
    for _ in range(concurrency):
        await loop.create_connection(lambda: Client(question, tally), *place(url))
    return await tally.rate(seconds)


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


async def over_stdio(command: list[str], concurrency: int, seconds: float, said: Said) -> float:
    """Calls per second. Raises RuntimeError where an answer was no success."""
    pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=nowhere, limit=_LINE_BYTES)
    written, read = cast("asyncio.StreamWriter", process.stdin), cast("asyncio.StreamReader", process.stdout)
    for body in said.get("first", ()):
        written.write(body.encode() + b"\n")
        if '"id"' in body:
            await read.readline()
    before, after = said["body"].encode().split(b'"id": 1,')
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

    async def hear() -> None:
        while line := await read.readline():
            tally.told(line)

    for _ in range(concurrency):
        ask()
    hearing = asyncio.create_task(hear())
    try:
        return await tally.rate(seconds)
    finally:
        hearing.cancel()
        process.kill()
        await process.wait()


def place(url: str) -> tuple[str, int]:
    """Host and port."""
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or 80


def main() -> None:
    """Run as a program."""
    import uvloop  # noqa: PLC0415  # the servers have it too

    url, concurrency, seconds, *command = sys.argv[1:]
    said, many, time_for_it = json.load(sys.stdin), int(concurrency), float(seconds)
    work = over_stdio(command, many, time_for_it, said) if command else over_http(url, many, time_for_it, said)
    print(uvloop.run(work))


if __name__ == "__main__":
    main()
