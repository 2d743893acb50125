"""`Reply`: one HTTP response, in JSON unless something is said before the answer; then it is a stream of events.

A status cannot change once a stream has begun, so it begins as late as it can. Each write waits for the client to read.
Specification: basic/transports, "Sending Messages to the Server"; WHATWG HTML "Server-sent events".
"""

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from starlette.types import Message, Send

from .protocol import jsonrpc

EVENT_STREAM: Final = "text/event-stream"

_GONE: Final = (OSError, RuntimeError)
"""By what ASGI says that the client left; and uvloop, that the connection was closed for what else came on it."""

KEEP_ALIVE: Final = 15.0
"""Seconds between two signs of life on a stream: what lies between client and server often gives up after 30 or 60."""

Fields: TypeAlias = list[tuple[bytes, bytes]]
"""Header fields as ASGI has them, the names in lower case."""

_NO_CONTENT: Final = 204
_HEADERS: Final = (
    (b"content-type", EVENT_STREAM.encode()),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would keep the events until there are many
)


class Content(NamedTuple):
    """What is answered: an HTTP status, a body of JSON or none, and header fields besides those of every body."""

    status: int
    body: bytes | None = None
    headers: Mapping[str, str] | None = None

    def fields(self) -> Fields:
        """All its header fields."""
        fields = [(name.lower().encode(), value.encode("latin-1")) for name, value in (self.headers or {}).items()]
        if self.status != _NO_CONTENT:
            fields.append((b"content-length", b"%d" % len(self.body or b"")))
        if self.body is not None:
            fields.append((b"content-type", b"application/json"))
        return fields


class Refused(Exception):
    """An HTTP request that gets an error of its own status, whose body is a JSON-RPC error without an id."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: int = jsonrpc.INVALID_REQUEST,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.content = Content(status, jsonrpc.encode(jsonrpc.error(code, message)), headers)


class Reply:
    """The response to one HTTP request; `close` it. `headers` are added to it, whatever it is.

    A stream that has begun shows every `keep_alive` seconds that it lives.
    """

    def __init__(self, send: Send, keep_alive: float = KEEP_ALIVE) -> None:
        self.headers: Fields = []
        self._send = send
        self._keep_alive = keep_alive
        self._begun = False
        self._beating: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()  # two tasks may have something to say

    async def begin(self) -> None:
        """Let the stream begin, with a comment, as much may lie between that waits for a first byte."""
        async with self._turn:
            await self._begin()
            await self._write(b":\n\n")

    async def notify(self, message: bytes) -> None:
        """Say something before the answer."""
        async with self._turn:
            await self._begin()
            await self._write(_event(message))

    async def finish(self, content: Content) -> None:
        """Answer with `content`: as it is, or on a stream with its body as the last event."""
        if not (self._begun or self._turn.locked()):
            await self._answer(content)
            return
        async with self._turn:
            if self._begun:
                await self._write(_event(content.body or b""), more=False)
            else:
                await self._answer(content)

    async def end(self) -> None:
        """End without an answer: a stream that is over, and an empty one if nothing was said."""
        async with self._turn:
            await self._begin()
            await self._write(b"", more=False)

    def close(self) -> None:
        """Nothing more will be said."""
        if self._beating is not None:
            self._beating.cancel()

    async def _begin(self) -> None:
        if not self._begun:
            await self._start(200, [*_HEADERS, *self.headers])
            self._begun = True
            self._beating = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        """Show whatever lies between that the stream still lives; one that is being written to does."""
        while True:
            await asyncio.sleep(self._keep_alive)
            if not self._turn.locked():
                async with self._turn:
                    await self._write(b":\n\n")

    async def _answer(self, content: Content) -> None:
        await self._start(content.status, [*content.fields(), *self.headers])
        await self._write(content.body or b"", more=False)

    async def _start(self, status: int, headers: Fields) -> None:
        await self._emit({"type": "http.response.start", "status": status, "headers": headers})

    async def _write(self, data: bytes, *, more: bool = True) -> None:
        await self._emit({"type": "http.response.body", "body": data, "more_body": more})

    async def _emit(self, message: Message) -> None:
        try:  # noqa: SIM105  # which would cost as much as what it does
            await self._send(message)
        except _GONE:
            pass  # the endpoint knows if that matters


def _event(message: bytes) -> bytes:
    """A message as one event: JSON as it is written here has no line breaks."""
    return b"event: message\ndata: " + message + b"\n\n"
