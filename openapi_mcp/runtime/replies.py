"""`Reply`: one HTTP response, in JSON unless something is said before the answer; then it is a stream of events.

A status cannot change once a stream has begun, so it begins as late as it can. Each write waits for the client to read.
Specification: basic/transports, "Sending Messages to the Server"; WHATWG HTML "Server-sent events".
"""

import asyncio
import contextlib
from typing import Final

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would keep the events until there are many
)


class Reply:
    """The response to one HTTP request."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._begun = False
        self._turn = asyncio.Lock()  # two tasks may have something to say

    async def notify(self, message: bytes) -> None:
        """Say something before the answer."""
        async with self._turn:
            if not self._begun:
                await self._emit({"type": "http.response.start", "status": 200, "headers": _HEADERS})
                self._begun = True
            await self._write(_event(message))

    async def keep_alive(self) -> None:
        """Show whatever lies between that a stream which has begun still lives."""
        async with self._turn:
            if self._begun:
                await self._write(b":\n\n")

    async def finish(self, response: Response) -> None:
        """Answer with `response`: as it is, or on a stream with its body as the last event."""
        async with self._turn:
            if self._begun:
                await self._write(_event(bytes(response.body)), more=False)
            else:
                await response(self._scope, self._receive, self._send)

    async def _write(self, data: bytes, *, more: bool = True) -> None:
        await self._emit({"type": "http.response.body", "body": data, "more_body": more})

    async def _emit(self, message: Message) -> None:
        with contextlib.suppress(OSError):  # so ASGI may say that the client left; the endpoint knows if that matters
            await self._send(message)


def _event(message: bytes) -> bytes:
    """A message as one event: JSON as it is written here has no line breaks."""
    return b"event: message\ndata: " + message + b"\n\n"
