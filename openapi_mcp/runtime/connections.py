"""`Patient`: how long one connection may take over what it begins; it lies over a protocol class of uvicorn.

uvicorn itself waits for ever for the rest of a request, and for a client to read. Who takes too long is dropped, so
that slow clients cannot use up what fast ones need. Specification: RFC 9112 §9 (connections), RFC 9110 §15.5.9 (408).
"""

import asyncio
import os
import socket
import struct
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from .door import MAX_HEADER_BYTES
from .outgoing import Outgoing
from .waiting import STOPPING

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as _Base
else:
    _Base = asyncio.Protocol

Part: TypeAlias = Literal["head", "rest"]

LIMITS: Final[dict[Part, float]] = {"head": 10.0, "rest": 10.0}
"""Seconds for a request's line and headers, and for what is left of its body once it was answered."""

STALL: Final = 30.0
"""Seconds that a client may leave an answer unread, when more than the buffers hold is to be sent."""

MAX_AHEAD: Final = 16
"""Requests that a client may send before the answers to those before them; uvicorn would keep any number of them."""

_NO_LINGERING: Final = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
_TIMED_OUT: Final = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TOO_LARGE: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Patient(_Base):
    """A connection whose client has so long for each part; a subclass says which part is awaited."""

    limits: ClassVar[dict[Part, float]] = LIMITS
    stall: ClassVar[float] = STALL

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._awaited: Part | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._stopping: asyncio.Event = self.app_state.setdefault(STOPPING, asyncio.Event())

    def part(self) -> Part | None:
        """What the client has begun and not finished: a request's head, or the rest of one that was answered."""
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client that says nothing at first has begun all the same."""
        super().connection_made(Outgoing(transport, self.loop))  # type: ignore[arg-type]  # it is one in all that counts
        self._expect("head")
        self._head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Go on, or end it where the head is too long."""
        before = self._deadline
        super().data_received(data)
        self._expect(self.part())
        if self._awaited == "head" and self._deadline is before:  # still the same head
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEADER_BYTES:
                self._end(_TOO_LARGE)

    def on_response_complete(self) -> None:
        """What was answered early may still be sent, but not for ever."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._expect(self.part())

    def pause_writing(self) -> None:
        """The client does not read as fast as it is written to."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.stall, self.drop)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        _cancel(self._stalled)

    def timeout_keep_alive_handler(self) -> None:
        """Closing waits until all was read, and so not for ever."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self.stall, self.drop)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        self._expect(None)
        super().connection_lost(exc)
        _cancel(self._stalled)

    def shutdown(self) -> None:
        """The server begins to stop: streams, which would never end, are told."""
        self._stopping.set()
        super().shutdown()

    def drop(self) -> None:
        """Close at once, and keep nothing of what was not sent, here or in the kernel."""
        if self.transport.is_closing() and self not in self.connections:
            return  # it is closed
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
        self.transport.abort()

    def _expect(self, part: Part | None) -> None:
        """Give the client its time for another part than before."""
        if part == self._awaited:
            return
        self._awaited = part
        self._head_bytes = 1
        _cancel(self._deadline)
        if part is not None:
            self._deadline = self.loop.call_later(self.limits[part], self._end, _TIMED_OUT)

    def _end(self, answer: bytes) -> None:
        """Drop the connection; who has begun a request, and got no answer yet, hears why."""
        if self._awaited == "head" and self._head_bytes and not self.transport.is_closing():
            self.transport.write(answer)
        self._expect(None)
        self.transport.close()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
