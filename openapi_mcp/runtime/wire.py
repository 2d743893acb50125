"""One connection to the API and what arrives on it: bytes go in as they are, what comes back goes to a Reader.

It waits for the API and never for anybody else; when its reader holds enough, the API waits. Whatever ends it is kept
as an httpx exception for who waits next.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Final, TypeAlias, cast

import httpx

from .reader import Reader

Origin: TypeAlias = tuple[str, str, int]
"""Scheme, host and port, to which a connection is made."""

_HELD: Final = 256 * 1024
"""How much of a body waits in memory for its reader before the API has to wait: one read of a fast connection."""


class Wire(asyncio.Protocol):
    """A connection, and the exchange under way on it if there is one. `used` says that there was one before."""

    def __init__(self, origin: Origin, lost: Callable[["Wire"], None]) -> None:
        self.origin = origin
        self.used = False
        self._idle_since = 0.0
        self.error: Exception | None = None
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._reader: Reader | None = None
        self._arrival: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._full = self._reading_paused = False

    # What the event loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected, and over TLS also trusted."""
        self._transport = cast("asyncio.Transport", transport)
        self._waiting = _Waiting(transport.get_extra_info("socket").fileno())

    def data_received(self, data: bytes) -> None:
        """Something came."""
        if self._reader is None:
            self.abort()  # nobody asked
            return
        try:
            self._reader.feed(data)
        except httpx.RemoteProtocolError as error:
            self.fail(error)
        if self._reader.held > _HELD and not self._reading_paused:
            self._transport.pause_reading()
            self._reading_paused = True
        self.wake()

    def eof_received(self) -> None:
        """Nothing more will come. Whoever sends no more is not sent to either."""
        try:
            if self._reader is not None:
                self._reader.end()
        except httpx.RemoteProtocolError as error:
            self.error = self.error or error
        self.wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed, by whichever end."""
        if self.error is None:
            self.error = httpx.ReadError(str(exc) if exc else "the connection is closed")
            self.error.__cause__ = exc
        self.wake()
        self.resume_writing()
        self._lost(self)

    def pause_writing(self) -> None:
        """The API is slower than what is sent."""
        self._full = True

    def resume_writing(self) -> None:
        """There is room again."""
        self._full = False
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    # What an exchange asks for.

    def is_open(self) -> bool:
        """Whether it is, as far as the event loop has seen."""
        return self.error is None and not self._transport.is_closing()

    def is_usable(self) -> bool:
        """Whether it is open and silent: what the event loop has not seen yet is asked of the socket."""
        return self.is_open() and not self._waiting.is_readable()

    def rest(self) -> None:
        """It waits for its next exchange from now on."""
        self._idle_since = self._loop.time()

    @property
    def idle(self) -> float:
        """Seconds that it has waited so."""
        return self._loop.time() - self._idle_since

    def begin(self, reader: Reader) -> None:
        """What arrives from now on is for `reader`."""
        self._reader = reader

    def write(self, data: bytes | memoryview) -> None:
        """Send, or keep until it can be sent; `drained` says when there is no more to keep."""
        if not self._transport.is_closing():
            self._transport.write(data)

    async def drained(self, seconds: float | None) -> None:
        """Until there is room for more to send, or no use for it. Raises httpx.WriteTimeout."""
        if not self._full:
            await asyncio.sleep(0)  # what arrives meanwhile may be a reason not to go on
            return
        self._room = self._loop.create_future()
        await self._until(self._room, seconds, httpx.WriteTimeout)

    async def arrived(self, seconds: float | None) -> None:
        """Until something happened. Raises httpx.ReadTimeout, or what ended the connection."""
        if self.error is not None:
            raise self.error
        self._arrival = self._loop.create_future()
        await self._until(self._arrival, seconds, httpx.ReadTimeout)

    def taken(self) -> None:
        """The reader was emptied."""
        if self._reading_paused:
            self._reading_paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()

    def wake(self) -> None:
        """Let who waits in `arrived` look again."""
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    def end(self) -> None:
        """The exchange is over, and nothing more is expected."""
        self.taken()
        self._reader = None
        self.used = True

    def fail(self, error: Exception) -> None:
        """Close it because of `error`."""
        self.error = self.error or error
        self.wake()
        self.abort()

    def abort(self) -> None:
        """Close it at once, as httpx does: without waiting for what was not sent or for the end of TLS."""
        self._transport.abort()

    async def _until(
        self, waiter: asyncio.Future[None], seconds: float | None, kind: type[httpx.TimeoutException]
    ) -> None:
        if seconds is None:
            await waiter
            return
        timer = self._loop.call_later(seconds, _expire, waiter, kind)
        try:
            await waiter
        finally:
            timer.cancel()


def _expire(waiter: asyncio.Future[None], kind: type[httpx.TimeoutException]) -> None:
    if not waiter.done():
        waiter.set_exception(kind("the time is over"))


class _Waiting:
    """Whether a socket has something to read, the end of its connection included."""

    def __init__(self, fileno: int) -> None:
        self._fileno = fileno
        if hasattr(select, "poll"):
            self._poll = select.poll()
            self._poll.register(fileno, select.POLLIN)

    def is_readable(self) -> bool:
        if hasattr(select, "poll"):
            return bool(self._poll.poll(0))
        return bool(select.select([self._fileno], [], [], 0)[0])
