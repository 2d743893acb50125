"""`Reply`: one HTTP response, in JSON unless something is said before the answer; then it is a stream of events.

A status cannot change once a stream has begun, so it begins as late as it can. Each write waits for the client to read.
Specification: basic/transports, "Sending Messages to the Server"; WHATWG HTML "Server-sent events".
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from .protocol import jsonrpc

EVENT_STREAM: Final = "text/event-stream"

_GONE: Final = (OSError, RuntimeError)
"""By what ASGI says that the client left; and uvloop, that the connection was closed for what else came on it."""

_HEADERS: Final = (
    (b"content-type", EVENT_STREAM.encode()),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would keep the events until there are many
)


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
        body = jsonrpc.encode(jsonrpc.error(code, message))
        self.response = Response(body, status, headers, media_type="application/json")


class Reply:
    """The response to one HTTP request. `headers` are added to it, whatever it is."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self._scope = scope
        self._receive = receive
        self._send = send
        self._begun = False
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

    async def keep_alive(self) -> None:
        """Show whatever lies between that a stream which has begun still lives; one that is being written to does."""
        if self._begun and not self._turn.locked():
            async with self._turn:
                await self._write(b":\n\n")

    async def finish(self, response: Response) -> None:
        """Answer with `response`: as it is, or on a stream with its body as the last event."""
        async with self._turn:
            if self._begun:
                await self._write(_event(bytes(response.body)), more=False)
            else:
                response.raw_headers.extend(self.headers)
                with contextlib.suppress(*_GONE):
                    await response(self._scope, self._receive, self._send)

    async def end(self) -> None:
        """End without an answer: a stream that is over, and an empty one if nothing was said."""
        async with self._turn:
            await self._begin()
            await self._write(b"", more=False)

    async def _begin(self) -> None:
        if not self._begun:
            headers = [*_HEADERS, *self.headers]
            await self._emit({"type": "http.response.start", "status": 200, "headers": headers})
            self._begun = True

    async def _write(self, data: bytes, *, more: bool = True) -> None:
        await self._emit({"type": "http.response.body", "body": data, "more_body": more})

    async def _emit(self, message: Message) -> None:
        with contextlib.suppress(*_GONE):  # the endpoint knows if that matters
            await self._send(message)


def _event(message: bytes) -> bytes:
    """A message as one event: JSON as it is written here has no line breaks."""
    return b"event: message\ndata: " + message + b"\n\n"
