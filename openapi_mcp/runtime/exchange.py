"""One request and its answer on a connection: what is sent, what comes back meanwhile, and what becomes of both.

However it ends (whole, broken, given up), the connection is let go exactly once: kept where nothing of this exchange is
left on it, else closed, so that the API sees that nobody listens. Specification: RFC 9112 §9.3 to §9.6.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Final, TypeAlias

import httpx

from .framing import Framing, request_head
from .reader import Reader
from .whole import Whole
from .wire import Wire

Release: TypeAlias = Callable[[Wire, bool], None]
"""Takes a connection back, and whether it can be used again."""

_AT_ONCE: Final = 64 * 1024
"""Bytes that are written together, or read: a body up to this size goes with its head, larger ones in such pieces."""


class Exchange(httpx.AsyncByteStream):
    """A request on its way, and as a stream its answer's body. `begun` says that something of the answer came."""

    def __init__(self, wire: Wire, request: httpx.Request, release: Release) -> None:
        timeouts = request.extensions.get("timeout", {})
        self._read_timeout: float | None = timeouts.get("read")
        self._write_timeout: float | None = timeouts.get("write")
        self._wire = wire
        self._request = request
        self._release = release
        self._reader = Reader(request.method)
        self._uploading: asyncio.Task[None] | None = None
        self._sent = self._ended = False

    @property
    def begun(self) -> bool:
        """Whether anything of the answer came."""
        return self._reader.begun

    async def answer(self) -> httpx.Response:
        """The answer, its body still to be read. Raises httpx.TransportError."""
        reader = self._reader
        try:
            self._send()
            while not reader.status:
                # As long as there is something to send, nobody owes an answer.
                uploading = self._uploading is not None and not self._uploading.done()
                await self._wire.arrived(None if uploading else self._read_timeout)
        except BaseException:
            self._end()
            raise
        said = {"http_version": b"HTTP/" + reader.version.encode(), "reason_phrase": reader.reason}
        if reader.complete:
            self._end()
            if reader.held <= _AT_ONCE and not reader.coded:
                body, kind = reader.take(), reader.content_type
                return Whole(reader.status, reader.headers, body, content_type=kind, extensions=said)
        return httpx.Response(reader.status, headers=reader.headers, stream=self, extensions=said)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises httpx.TransportError."""
        try:
            while self._reader.held or not self._reader.complete:
                if self._reader.held:
                    taken = self._reader.take()
                    if not self._ended:
                        self._wire.taken()
                    for start in range(0, len(taken), _AT_ONCE):  # what unpacks a piece may make a thousand of it
                        yield taken[start : start + _AT_ONCE]
                else:
                    await self._wire.arrived(self._read_timeout)
        finally:
            self._end()

    async def aclose(self) -> None:
        """Read no more."""
        self._end()

    def _send(self) -> None:
        head, framing = request_head(self._request)
        self._wire.begin(self._reader)
        stream = self._request.stream
        if isinstance(stream, httpx.ByteStream) and len(self._request.content) <= _AT_ONCE:
            self._wire.write(head + framing.piece(self._request.content) + framing.end())
            self._sent = True
        else:
            self._wire.write(head)
            self._uploading = asyncio.create_task(self._upload(framing))
            self._uploading.add_done_callback(lambda _: self._wire.wake())

    async def _upload(self, framing: Framing) -> None:
        """Send the body, as long as somebody wants it."""
        try:
            async with aclosing(_pieces(self._request, framing)) as pieces:
                async for piece in pieces:
                    if self._is_unwanted():
                        return
                    self._wire.write(piece)
                    await self._wire.drained(self._write_timeout)
            self._sent = True
        except Exception as error:  # noqa: BLE001  # of the stream: whoever waits for the answer hears of it
            self._wire.fail(error)

    def _is_unwanted(self) -> bool:
        """Whether the answer is there already and is no success, or there will be none."""
        return self._reader.complete or self._reader.status >= 300 or self._wire.error is not None

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self._uploading is not None:
            self._uploading.cancel()
        self._wire.end()
        self._release(self._wire, self._sent and self._reader.complete and self._reader.reusable)


async def _pieces(request: httpx.Request, framing: Framing) -> AsyncGenerator[memoryview, None]:
    """The body as it is sent, in pieces of a bounded size."""
    if not isinstance(request.stream, httpx.AsyncByteStream):
        raise TypeError("The body of the request cannot be read asynchronously.")
    source = aiter(request.stream)
    try:
        async for data in source:
            written = memoryview(framing.piece(data))
            for start in range(0, len(written), _AT_ONCE):
                yield written[start : start + _AT_ONCE]
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()  # what it holds open is closed now, also where it was not read to its end
    if end := framing.end():
        yield memoryview(end)
