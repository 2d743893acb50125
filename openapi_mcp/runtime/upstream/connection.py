"""`Connection`: one connection to the API. `Exchange`: one request and its response on a connection.

A Connection writes bytes as they are and gives what arrives to a ResponseParser; when the parser holds enough, it stops
reading, so that the API has to wait. Whatever ends it is stored as an httpx exception for whoever waits next.

However an Exchange ends (complete, broken, cancelled), it releases the connection exactly once: as reusable if nothing
of the exchange is left on it, else to be closed, so that the API sees that nobody reads.

Specification: RFC 9112 §9.3 to §9.6. `transport` says why this is not httpx's connection.
"""

import asyncio
import select
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final, TypeAlias, cast

import httpx

from .http11 import SURPLUS, BodyWriter, BufferedResponse, ResponseParser, request_head
from .progress import EXTENSION, CallProgress

Origin: TypeAlias = tuple[str, str, int]
"""Scheme, host and port to which a connection is made."""

_MAX_BUFFERED_BYTES: Final = 256 * 1024
"""Bytes of a body that are held in memory before the API has to wait: one read of a fast connection."""

_PARSED_BYTES: Final = 16 * 1024
_MANY_PIECES: Final = 256
"""Bytes that are parsed at once, and the pieces of a body in them after which the event loop serves others: each chunk
takes about a millionth of a second, and one read may have 40,000."""

_PIECE_BYTES: Final = 64 * 1024
"""Bytes written or yielded at a time: a body up to this size is sent together with its head, a larger one in pieces."""


class Connection(asyncio.Protocol):
    """A connection to an origin. `is_reused` tells whether an exchange took place on it before.

    `error` is what ended it, None while it is open. `on_close` is called once it is closed.
    """

    def __init__(self, origin: Origin, on_close: Callable[["Connection"], None]) -> None:
        self.origin = origin
        self.is_reused = False
        self.error: Exception | None = None
        self._idle_since = 0.0
        self._on_close = on_close
        self._loop = asyncio.get_running_loop()
        self._parser: ResponseParser | None = None
        self._data_waiter: asyncio.Future[None] | None = None
        self._write_waiter: asyncio.Future[None] | None = None
        self._is_writing_paused = self._is_reading_paused = False
        self._rest = b""

    # Callbacks of the event loop (asyncio.Protocol).

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport of a connection whose TLS handshake, if any, is complete."""
        self._transport = cast("asyncio.Transport", transport)
        self._readability = _Readability(transport.get_extra_info("socket").fileno())

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; close the connection if no exchange is in progress or it is not HTTP."""
        if self._parser is None:
            self.abort()  # nothing was requested
            return
        if self._rest:
            self._rest += data
        elif len(data) <= _PARSED_BYTES:
            self._parse(self._parser, data)
        else:
            self._parse_in_turns(self._parser, data)
        if self._parser.buffered_bytes > _MAX_BUFFERED_BYTES or self._rest:
            self._pause_reading()
        self.wake()

    def _parse(self, parser: ResponseParser, data: bytes) -> None:
        try:
            parser.feed(data)
        except httpx.RemoteProtocolError as error:
            self.fail(error)

    def _parse_in_turns(self, parser: ResponseParser, data: bytes) -> None:
        """Parse what arrived; where it is in tiny chunks, leave the rest to the next turn of the event loop."""
        for start in range(0, len(data), _PARSED_BYTES):
            pieces = len(parser.body)
            self._parse(parser, data[start : start + _PARSED_BYTES])
            if self.error is not None:
                return
            if len(parser.body) - pieces > _MANY_PIECES and not parser.is_complete:
                self._rest = data[start + _PARSED_BYTES :]
                self._loop.call_soon(self._parse_rest)
                return

    def _parse_rest(self) -> None:
        """Parse what the turn before has left, unless its exchange has ended."""
        rest, self._rest = self._rest, b""
        if self._parser is None or not rest or self.error is not None:
            return
        self._parse_in_turns(self._parser, rest)
        if not self._rest and self._parser.buffered_bytes <= _MAX_BUFFERED_BYTES:
            self.resume_reading()
        self.wake()

    def _parse_all(self) -> None:
        """Parse what a turn has left, since the connection ends."""
        rest, self._rest = self._rest, b""
        if self._parser is not None and rest:
            self._parse(self._parser, rest)

    def _pause_reading(self) -> None:
        if not self._is_reading_paused:
            self._transport.pause_reading()
            self._is_reading_paused = True

    def eof_received(self) -> None:
        """Note that nothing more will arrive; the transport then closes the connection for writing too."""
        self._parse_all()
        try:
            if self._parser is not None:
                self._parser.end()
        except httpx.RemoteProtocolError as error:
            self.error = self.error or error
        self.wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is closed, by either end."""
        self._parse_all()
        if self.error is None:
            self.error = httpx.ReadError(str(exc) if exc else "the connection is closed")
            self.error.__cause__ = exc
        self.wake()
        self.resume_writing()
        self._on_close(self)

    def pause_writing(self) -> None:
        """Note that the API reads more slowly than this end writes."""
        self._is_writing_paused = True

    def resume_writing(self) -> None:
        """Let `drain` return."""
        self._is_writing_paused = False
        if self._write_waiter is not None and not self._write_waiter.done():
            self._write_waiter.set_result(None)

    # Methods for the pool and for an exchange.

    def is_open(self) -> bool:
        """Return whether the connection is open, as far as the event loop has noticed."""
        return self.error is None and not self._transport.is_closing()

    def is_usable(self) -> bool:
        """Return whether the connection is open and nothing arrived on it, by asking the socket too."""
        return self.is_open() and not self._readability.is_readable()

    def mark_idle(self) -> None:
        """Start to count `idle_seconds`."""
        self._idle_since = self._loop.time()

    @property
    def idle_seconds(self) -> float:
        """The seconds since `mark_idle`."""
        return self._loop.time() - self._idle_since

    def start_exchange(self, parser: ResponseParser) -> None:
        """Give what arrives from now on to `parser`."""
        self._parser = parser

    def end_exchange(self) -> None:
        """Expect nothing more to arrive; read again if reading was paused."""
        self._rest = b""
        self.resume_reading()
        self._parser = None
        self.is_reused = True

    def write(self, data: bytes | memoryview) -> None:
        """Send bytes, or buffer them until they can be sent; `drain` waits for the buffer."""
        if not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self, seconds: float | None) -> None:
        """Wait until more can be written, or the connection is closed. Raises httpx.WriteTimeout."""
        if not self._is_writing_paused:
            await asyncio.sleep(0)  # an early response may arrive meanwhile and end the upload
            return
        self._write_waiter = self._loop.create_future()
        await self._wait(self._write_waiter, seconds, httpx.WriteTimeout)

    def wait_for_data(self, seconds: float | None) -> Awaitable[None]:
        """Wait until `wake` is called. Raises httpx.ReadTimeout, or the error that ended the connection."""
        if self.error is not None:
            raise self.error
        self._data_waiter = waiter = self._loop.create_future()
        return waiter if seconds is None else self._wait(waiter, seconds, httpx.ReadTimeout)

    def wake(self) -> None:
        """Let `wait_for_data` return."""
        if self._data_waiter is not None and not self._data_waiter.done():
            self._data_waiter.set_result(None)

    def resume_reading(self) -> None:
        """Read again after the parser's body was taken, unless something that was read is to be parsed."""
        if self._is_reading_paused and not self._rest:
            self._is_reading_paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()

    def fail(self, error: Exception) -> None:
        """Close the connection because of `error`."""
        self.error = self.error or error
        self.wake()
        self.abort()

    def abort(self) -> None:
        """Close the connection at once, as httpx does, without sending what is buffered or ending TLS."""
        self._transport.abort()

    async def _wait(
        self, waiter: asyncio.Future[None], seconds: float | None, timeout_error: type[httpx.TimeoutException]
    ) -> None:
        if seconds is None:
            await waiter
            return
        timer = self._loop.call_later(seconds, _expire, waiter, timeout_error)
        try:
            await waiter
        finally:
            timer.cancel()


def _expire(waiter: asyncio.Future[None], timeout_error: type[httpx.TimeoutException]) -> None:
    if not waiter.done():
        waiter.set_exception(timeout_error("the time is over"))


class _Readability:
    """A check of whether a socket has something to read, the end of its connection included."""

    def __init__(self, fileno: int) -> None:
        self._fileno = fileno
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(fileno, select.POLLIN)

    def is_readable(self) -> bool:
        if self._poll is not None:
            return bool(self._poll.poll(0))
        return bool(select.select([self._fileno], [], [], 0)[0])


Release: TypeAlias = Callable[[Connection, bool], None]
"""A function that takes a connection back, and whether it can be reused."""


class Exchange(httpx.AsyncByteStream):
    """A request being sent, and the stream of its response's body."""

    def __init__(self, connection: Connection, request: httpx.Request, release: Release) -> None:
        timeouts = request.extensions.get("timeout", {})
        self._read_timeout: float | None = timeouts.get("read")
        self._write_timeout: float | None = timeouts.get("write")
        self._connection = connection
        self._request = request
        self._release = release
        self._parser = ResponseParser(request.method)
        self._extensions: dict[str, Any] = {}
        self._upload: asyncio.Task[None] | None = None
        self._is_sent = self._has_ended = False
        self._progress: CallProgress = request.extensions.get(EXTENSION) or CallProgress()
        self._progress.stage = "response"

    @property
    def has_response_bytes(self) -> bool:
        """True if any bytes of the response arrived."""
        return self._parser.has_data

    async def send(self) -> httpx.Response:
        """Send the request and return the response, its body not read. Raises httpx.TransportError."""
        parser = self._parser
        try:
            self._start_sending()
            while not parser.status:
                # While the body is being sent, no response is due: the read timeout does not apply.
                is_uploading = self._upload is not None and not self._upload.done()
                await self._connection.wait_for_data(None if is_uploading else self._read_timeout)
        except BaseException:
            self._end()
            raise
        extensions: dict[str, Any] = {
            "http_version": b"HTTP/" + parser.version.encode(),
            "reason_phrase": parser.reason,
        }
        if parser.is_complete:
            if parser.has_surplus:
                extensions[SURPLUS] = True
            self._end()
            if parser.buffered_bytes <= _PIECE_BYTES and not parser.is_encoded:
                body, kind = parser.take_body(), parser.content_type
                return BufferedResponse(parser.status, parser.headers, body, content_type=kind, extensions=extensions)
        response = httpx.Response(parser.status, headers=parser.headers, stream=self, extensions=extensions)
        self._extensions = response.extensions
        return response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. Raises httpx.TransportError."""
        try:
            while self._parser.buffered_bytes or not self._parser.is_complete:
                if self._parser.buffered_bytes:
                    body = self._parser.take_body()
                    if not self._has_ended:
                        self._connection.resume_reading()
                    for start in range(0, len(body), _PIECE_BYTES):  # decompression may make a piece 1,000 times larger
                        yield body[start : start + _PIECE_BYTES]
                else:
                    await self._connection.wait_for_data(self._read_timeout)
            if self._parser.has_surplus:  # it came with the end of the body, after the response was returned
                self._extensions[SURPLUS] = True
        finally:
            self._end()

    async def aclose(self) -> None:
        """Stop reading and release the connection."""
        self._end()

    def _start_sending(self) -> None:
        head, writer = request_head(self._request)
        self._connection.start_exchange(self._parser)
        stream = self._request.stream
        if isinstance(stream, httpx.ByteStream) and len(self._request.content) <= _PIECE_BYTES:
            self._connection.write(head + writer.piece(self._request.content) + writer.end())
            self._is_sent = True
        else:
            self._connection.write(head)
            self._progress.stage = "sending"
            self._upload = asyncio.create_task(self._send_body(writer))
            self._upload.add_done_callback(lambda _: self._connection.wake())

    async def _send_body(self, writer: BodyWriter) -> None:
        """Send the body in pieces, until the API has given a final response that is no success."""
        try:
            async with aclosing(_pieces(self._request, writer)) as pieces:
                async for piece in pieces:
                    if self._is_body_unwanted():
                        return
                    self._connection.write(piece)
                    await self._connection.drain(self._write_timeout)
            self._is_sent = True
            self._progress.stage = "response"
        except Exception as error:  # noqa: BLE001  # of the request's stream: raised to the caller that waits
            self._connection.fail(error)

    def _is_body_unwanted(self) -> bool:
        """Return whether the rest of the body is of no use: the response is complete, no success, or cannot come."""
        return self._parser.is_complete or self._parser.status >= 300 or self._connection.error is not None

    def _end(self) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        if self._upload is not None:
            self._upload.cancel()
        self._connection.end_exchange()
        self._parser.close()
        self._release(self._connection, self._is_sent and self._parser.is_complete and self._parser.is_reusable)


async def _pieces(request: httpx.Request, writer: BodyWriter) -> AsyncGenerator[memoryview, None]:
    """Yield the body as it is sent, in pieces of at most `_PIECE_BYTES`."""
    if not isinstance(request.stream, httpx.AsyncByteStream):
        raise TypeError("The body of the request cannot be read asynchronously.")
    source = aiter(request.stream)
    try:
        async for data in source:
            framed = memoryview(writer.piece(data))
            for start in range(0, len(framed), _PIECE_BYTES):
                yield framed[start : start + _PIECE_BYTES]
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()  # releases what the generator holds, also when it was not read to its end
    if end := writer.end():
        yield memoryview(end)
