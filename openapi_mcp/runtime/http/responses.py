"""Responses of the MCP endpoint: JSON, or an event stream where notifications precede the answer.

A status cannot change once a stream has begun, so a stream begins as late as possible. Each write waits until the
client reads.
Specification: basic/transports, "Sending Messages to the Server"; WHATWG HTML, "Server-sent events".
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from starlette.types import Message, Send

from ..protocol import jsonrpc
from .direct import DirectRequest

EVENT_STREAM: Final = "text/event-stream"

KEEP_ALIVE: Final = 15.0
"""Seconds between two comments on a silent stream: proxies often close a connection after 30 or 60 silent seconds."""

Fields: TypeAlias = list[tuple[bytes, bytes]]
"""Header fields as ASGI has them, the names in lower case."""

_DISCONNECTED: Final = (OSError, RuntimeError)
"""Raised by ASGI `send` when the client has left, and by uvloop when the connection was closed for another reason."""

_COMMENT: Final = b": keep-alive\n\n"
_NO_CONTENT: Final = 204
_STREAM_FIELDS: Final = (
    (b"content-type", EVENT_STREAM.encode()),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would buffer the events
)


class ResponseBody(NamedTuple):
    """An HTTP response: status, JSON body or None, and header fields besides those that follow from the body."""

    status: int
    body: bytes | None = None
    headers: Mapping[str, str] | None = None

    @property
    def is_plain(self) -> bool:
        """True for a JSON body with status 200 and no other header fields."""
        return self.status == 200 and self.body is not None and self.headers is None

    def fields(self) -> Fields:
        """Return all its header fields."""
        fields = [(name.lower().encode(), value.encode("latin-1")) for name, value in (self.headers or {}).items()]
        if self.status != _NO_CONTENT:
            fields.append((b"content-length", b"%d" % len(self.body or b"")))
        if self.body is not None:
            fields.append((b"content-type", b"application/json"))
        return fields


class HTTPError(Exception):
    """An error response with an HTTP status; its body is a JSON-RPC error, without an id if that is unknown."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: int = jsonrpc.INVALID_REQUEST,
        request_id: jsonrpc.RequestId | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.response = ResponseBody(
            status, jsonrpc.encode(jsonrpc.error(code, message, request_id=request_id)), headers
        )


class ResponseWriter:
    """Writer of one HTTP response; its user calls `close`. `headers` are added to every kind of response.

    On a stream, a comment every `keep_alive` seconds keeps the connection open.
    """

    def __init__(self, send: Send, keep_alive: float = KEEP_ALIVE, direct: DirectRequest | None = None) -> None:
        self._direct = direct
        self.headers: Fields = []
        self._send = send
        self._keep_alive = keep_alive
        self._streaming = False
        self._heartbeat: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()  # notifications, the heartbeat and the answer come from different tasks

    async def begin(self) -> None:
        """Begin the stream with a comment: some proxies forward nothing before the first byte of a body."""
        async with self._lock:
            await self._begin()
            await self._write(_COMMENT)

    async def notify(self, message: bytes) -> None:
        """Send a notification as an event, which begins the stream; an empty one is a comment, if it begins it."""
        async with self._lock:
            is_comment_due = not (message or self._streaming)
            await self._begin()
            if message or is_comment_due:
                await self._write(_event(message) if message else _COMMENT)

    async def finish(self, response: ResponseBody) -> None:
        """Send the response; on a stream, its body is the last event."""
        is_plain = response.is_plain and not (self._streaming or self.headers)
        if is_plain and self._direct is not None and self._direct.answer(response.body or b""):
            return
        async with self._lock:
            if self._streaming:
                await self._write(_event(response.body or b""), more=False)
            else:
                await self._start(response.status, [*response.fields(), *self.headers])
                await self._write(response.body or b"", more=False)

    async def end(self) -> None:
        """End without an answer: end the stream, an empty one if none has begun."""
        async with self._lock:
            await self._begin()
            await self._write(b"", more=False)

    def close(self) -> None:
        """Stop the heartbeat."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()

    async def _begin(self) -> None:
        if not self._streaming:
            await self._start(200, [*_STREAM_FIELDS, *self.headers])
            self._streaming = True
            self._heartbeat = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        """Write a comment at intervals; skip it while a write is under way, which is a sign of life itself."""
        while True:
            await asyncio.sleep(self._keep_alive)
            if not self._lock.locked():
                async with self._lock:
                    await self._write(_COMMENT)

    async def _start(self, status: int, headers: Fields) -> None:
        await self._emit({"type": "http.response.start", "status": status, "headers": headers})

    async def _write(self, data: bytes, *, more: bool = True) -> None:
        await self._emit({"type": "http.response.body", "body": data, "more_body": more})

    async def _emit(self, message: Message) -> None:
        with contextlib.suppress(*_DISCONNECTED):  # the endpoint notices by itself where it matters
            await self._send(message)


def _event(message: bytes) -> bytes:
    """Format a message as one event: the JSON written here has no line breaks."""
    return b"event: message\ndata: " + message + b"\n\n"
