"""Protocol classes for uvicorn with a time limit for each part of a request, and with one write for each response.

uvicorn itself waits without limit for the rest of a request, and for a client to read. A slow client is dropped here,
so that it cannot take resources from others; of those that only hold connections open, the ones that wait longest are
closed (`IdleConnections`). A connection that ends has first the responses to its complete requests.

`TimeoutProtocol.required` names what is used of uvicorn's private parts: with a version of uvicorn that lacks one,
`hosting` uses uvicorn's own protocol, without these limits.
Specification: RFC 9112 §9 (connections), RFC 9110 §15.5.9 (408).
"""

import asyncio
import os
import socket
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeAlias, cast

from .access import MAX_HEADER_BYTES
from .callers import TrustedProxies
from .timeouts import SHUTDOWN_EVENT

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as _Base
else:
    _Base = asyncio.Protocol

Part: TypeAlias = Literal["head", "rest"]

PART_TIMEOUTS: Final[dict[Part, float]] = {"head": 10.0, "rest": 10.0}
"""Seconds for a request's line and headers, and for the rest of a body whose request was answered already."""

STALL_TIMEOUT: Final = 30.0
"""Seconds that a client may leave a response unread, when more is to be sent than the buffers hold."""

MAX_PIPELINED_REQUESTS: Final = 16
"""Requests that a client may send before the responses to earlier ones; uvicorn would queue any number of them."""

MAX_BUFFERED_BYTES: Final = 64 * 1024
"""Bytes that wait for the end of a turn of the event loop: as many as a transport takes before it pauses writing."""

MAX_IDLE_CONNECTIONS: Final = 1024
"""Idle connections of one address, if the process may open enough files: about 10 MB."""

_FILES_PER_IDLE: Final = 8
"""Files that a process may open for each idle connection of one address; all addresses together have twice as many."""

_USUAL_FILES: Final = 1024
"""Files that a process may open where that cannot be asked."""

LINGER_SECONDS: Final = 2.0
"""Seconds for which a connection that ends is still read: closed before, the client might lose the last response."""

_MAX_LINGER_BYTES: Final = 1024 * 1024
"""Bytes that are read and discarded meanwhile: more than a client sends that waits for responses."""

_IDLE: Final = "idle_connections"
"""The key of the IdleConnections of this process in `app_state`."""

_NO_PROXIES: Final = TrustedProxies()
_NO_LINGERING: Final = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
_TIMED_OUT: Final = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TOO_LARGE: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class MissingAttribute(Exception):
    """An attribute that this version of uvicorn's protocol class does not have."""


class IdleConnections:
    """The connections without a request in progress, by address; the one that is idle longest is first.

    At most `max_per_address` of an address, and twice as many of all, stay open; beyond that the first one is closed,
    of all those of the address that has most.
    """

    def __init__(self, max_per_address: int) -> None:
        self._max_per_address = max_per_address
        self._max_total = 2 * max_per_address
        self._total = 0
        self._by_address: dict[str, dict[TimeoutProtocol, None]] = {}

    @classmethod
    def of_process(cls) -> Self:
        """Return limits that leave most of the files that this process may open to other uses."""
        return cls(min(MAX_IDLE_CONNECTIONS, _open_files() // _FILES_PER_IDLE))

    def add(self, connection: "TimeoutProtocol", address: str) -> None:
        """Note that a connection is idle from now on; close another one if there are too many."""
        idle = self._by_address.setdefault(address, {})
        self._total += connection not in idle
        idle[connection] = None
        if len(idle) > self._max_per_address:
            next(iter(idle)).close_idle()
        elif self._total > self._max_total:
            most = max(self._by_address, key=lambda address: len(self._by_address[address]))
            next(iter(self._by_address[most])).close_idle()

    def discard(self, connection: "TimeoutProtocol", address: str) -> None:
        """Note that a connection is in use, or closed."""
        idle = self._by_address.get(address, {})
        if connection in idle:
            del idle[connection]
            self._total -= 1
            if not idle:
                del self._by_address[address]


def _open_files() -> int:
    """Return how many files this process may open."""
    try:
        import resource
    except ImportError:  # on Windows
        return _USUAL_FILES
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _FILES_PER_IDLE * MAX_IDLE_CONNECTIONS if limit == resource.RLIM_INFINITY else limit


class TimeoutProtocol(_Base):
    """A connection whose client has limited time for each part; a subclass says which part is awaited."""

    required: ClassVar[tuple[str, ...]] = (
        "app", "app_state", "client", "connections", "cycle", "flow", "loop", "on_response_complete", "pause_writing",
        "resume_writing", "shutdown", "timeout_keep_alive_handler", "transport",
    )  # fmt: skip
    """Attributes of uvicorn's protocols that this class overrides or reads; a subclass adds its own."""

    part_timeouts: ClassVar[dict[Part, float]] = PART_TIMEOUTS
    stall_timeout: ClassVar[float] = STALL_TIMEOUT

    is_direct: ClassVar[bool] = False
    """True if its requests can be direct (see `direct`)."""

    on_disconnect: Callable[[], object] | None = None
    """Called when the connection is lost, for the request in progress."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.required:
            if not hasattr(super(), name) and name not in vars(self):
                raise MissingAttribute(name)
        self._awaited: Part | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._discarded_bytes = 0
        self._is_ending = False
        self._address: str | None = None
        if _IDLE not in self.app_state:
            self.app_state[_IDLE] = IdleConnections.of_process()
        self._idle: IdleConnections = self.app_state[_IDLE]
        self._shutdown: asyncio.Event = self.app_state.setdefault(SHUTDOWN_EVENT, asyncio.Event())

    def part(self) -> Part | None:
        """Return what the client has begun and not finished: a request's head, or the rest of an answered one."""
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for the head of the first request."""
        coalescing = CoalescingTransport(cast("asyncio.Transport", transport), self.loop)
        self.write_now = coalescing.write_now
        super().connection_made(coalescing)  # type: ignore[arg-type]  # it delegates
        self._expect("head")
        self._head_bytes = 0
        peer = self.client[0] if self.client else ""
        proxies: TrustedProxies = getattr(self.app, "trusted_proxies", _NO_PROXIES)
        if not proxies.trusts(peer):  # a proxy has the connections of many clients
            self._address = proxies.address(peer, "")
            self._idle.add(self, self._address)

    def data_received(self, data: bytes) -> None:
        """Parse the data; end the connection if the head is too long."""
        if self._is_ending:
            self._discard(data)
            return
        deadline = self._deadline
        super().data_received(data)
        self._limit_next_part(len(data), deadline)

    def on_response_complete(self) -> None:
        """Limit the time for the rest of a request that was answered before it arrived completely."""
        super().on_response_complete()
        if self.transport.is_closing():
            return
        is_busy = self.is_busy()
        if self._is_ending:
            if not is_busy:
                self._linger()
            return
        self._expect(self.part())
        if self._address is not None and not is_busy:
            self._idle.add(self, self._address)

    def pause_writing(self) -> None:
        """Limit the time for which the client does not read."""
        super().pause_writing()
        self._stall_timer = self.loop.call_later(self.stall_timeout, self.drop)

    def resume_writing(self) -> None:
        """Stop the timer: the client reads again."""
        super().resume_writing()
        _cancel(self._stall_timer)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; drop it if the client does not read what is still to be sent."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self.stall_timeout, self.drop)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._expect(None)
        super().connection_lost(exc)
        if self.on_disconnect is not None:
            self.on_disconnect()
        _cancel(self._stall_timer)
        _cancel(self._linger_timer)
        if self._address is not None:
            self._idle.discard(self, self._address)

    def shutdown(self) -> None:
        """Tell event streams, which would not end by themselves, that the server begins to stop."""
        self._shutdown.set()
        super().shutdown()

    def drop(self) -> None:
        """Close at once and discard what was not sent, here and in the kernel."""
        if self.transport.is_closing() and self not in self.connections:
            return  # it is closed already
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGERING)
        self.transport.abort()

    def is_answered(self) -> bool:
        """Return whether the response to the current request is complete."""
        return bool(getattr(self.cycle, "response_complete", False))

    def is_busy(self) -> bool:
        """Return whether a response is still to be sent."""
        return self.cycle is not None and not self.is_answered()

    def close_idle(self) -> None:
        """Close the connection, on which no response is to be sent."""
        self._expect(None)
        self.transport.close()

    def end_after_responses(self) -> None:
        """Read no further request, and close the connection once the responses to the others are sent."""
        self._is_ending = True
        self._expect(None)
        self.flow.pause_reading()

    def _linger(self) -> None:
        """End the connection for writing, and close it once the client has, or after LINGER_SECONDS."""
        self.transport.write_eof()
        self._linger_timer = self.loop.call_later(LINGER_SECONDS, self.drop)

    def _discard(self, data: bytes) -> None:
        if self._linger_timer is None:
            self.flow.pause_reading()
        self._discarded_bytes += len(data)
        if self._linger_timer is not None and self._discarded_bytes > _MAX_LINGER_BYTES:
            self.drop()

    def _limit_next_part(self, size: int, previous: asyncio.TimerHandle | None) -> None:
        """Limit the time of the part that is awaited after `size` bytes, and the bytes of a head."""
        if self._is_ending:
            return
        if self._address is not None and self.is_busy():
            self._idle.discard(self, self._address)
        self._expect(self.part())
        if self._awaited == "head" and self._deadline is previous:  # still the same head
            self._head_bytes += size
            if self._head_bytes > MAX_HEADER_BYTES:
                self._end(_TOO_LARGE)

    def _expect(self, part: Part | None) -> None:
        """Start the timer of a part, unless it is the part that is awaited already."""
        if part == self._awaited:
            return
        self._awaited = part
        self._head_bytes = 1
        _cancel(self._deadline)
        if part is not None:
            self._deadline = self.loop.call_later(self.part_timeouts[part], self._end, _TIMED_OUT)

    def _end(self, response: bytes) -> None:
        """Close the connection, with a response if the client has begun a request that has none.

        If responses to earlier requests are still to be sent, the connection is closed after them.
        """
        if self._awaited == "head" and self.is_busy():
            self.end_after_responses()
            return
        if self._awaited == "head" and self._head_bytes and not self.transport.is_closing():
            self.transport.write(response)
        self._expect(None)
        self.transport.close()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class CoalescingTransport:
    """A transport that sends what is written in one turn of the event loop together, at the end of that turn.

    The head and body of a response are one packet then, and wake the client once: 6 % of a call.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self.is_closing = transport.is_closing
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Send at the end of this turn, or now if more than MAX_BUFFERED_BYTES wait."""
        if not self._pieces:
            self._loop.call_soon(self._send)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MAX_BUFFERED_BYTES:
            self._send()

    def write_now(self, data: bytes) -> None:
        """Send what waits, and this, which is complete."""
        self._send()
        if not self.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """Send what waits, and close."""
        self._send()
        self._transport.close()

    def write_eof(self) -> None:
        """Send what waits, and end the connection for writing."""
        self._send()
        self._transport.write_eof()

    def abort(self) -> None:
        """Close at once, and send nothing more."""
        self._pieces.clear()
        self._transport.abort()

    def _send(self) -> None:
        if self._pieces:
            data = b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0
            if not self.is_closing():
                self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
