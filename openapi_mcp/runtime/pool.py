"""Connections kept between exchanges, and how many there may be; each belongs to one exchange or waits for the next.

The one used last is used next, so that those which are too many grow old; the old, the closed and those on which
something came that nobody asked for are never used. Specification: RFC 9112 §9.3 to §9.5.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

import httpx

from .dialling import dial
from .wire import Origin, Wire

LIMITS: Final = httpx.Limits(max_connections=100, max_keepalive_connections=100, keepalive_expiry=4.0)
"""As many connections as httpx has, all of them kept: else 64 calls at a time would connect anew again and again. Four
seconds: many servers close after five, and who closes first is not surprised."""

_NO_LIMIT: Final = 2**31
# How long closed connections are waited for in the end: they are closed at once, and only the event loop has to see it.
_LAST_WAIT: Final = 1.0


class Pool:
    """Connections to any origins; `tls` makes the context when the first secure connection needs it."""

    def __init__(self, tls: Callable[[], ssl.SSLContext], limits: httpx.Limits = LIMITS) -> None:
        self._tls = tls
        self._most = _NO_LIMIT if limits.max_connections is None else limits.max_connections
        self._most_idle = self._most if limits.max_keepalive_connections is None else limits.max_keepalive_connections
        self._expiry = limits.keepalive_expiry
        self._turns = asyncio.Semaphore(self._most)
        self._open: set[Wire] = set()
        self._idle: list[Wire] = []  # the one that waits longest is first
        self._sweep: asyncio.TimerHandle | None = None
        self._last: asyncio.Event | None = None

    async def acquire(self, origin: Origin, timeouts: Mapping[str, float | None], *, fresh: bool = False) -> Wire:
        """A connection of one's own, `fresh` or kept; `release` it. Raises httpx.TransportError."""
        await self._turn(timeouts.get("pool"))
        try:
            kept = None if fresh else self._kept(origin)
            return kept or await self._connect(origin, timeouts.get("connect"))
        except BaseException:
            self._turns.release()
            raise

    def release(self, wire: Wire, reusable: bool) -> None:
        """Give a connection back, to be kept or closed."""
        self._turns.release()
        if not reusable or self._last is not None or not wire.is_open():
            wire.abort()
            return
        wire.rest()
        self._idle.append(wire)
        if len(self._idle) > self._most_idle:
            self._idle.pop(0).abort()
        self._expect_sweep()

    async def aclose(self) -> None:
        """Close all connections, those in use too."""
        self._last = asyncio.Event()
        if self._sweep is not None:
            self._sweep.cancel()
        for wire in self._open:
            wire.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WAIT if self._open else 0):
                await self._last.wait()

    async def _turn(self, seconds: float | None) -> None:
        if not self._turns.locked():
            await self._turns.acquire()
            return
        try:
            async with asyncio.timeout(seconds):
                await self._turns.acquire()
        except TimeoutError as error:
            raise httpx.PoolTimeout("all connections are in use") from error

    def _kept(self, origin: Origin) -> Wire | None:
        for index in range(len(self._idle) - 1, -1, -1):
            if self._idle[index].origin == origin:
                wire = self._idle.pop(index)
                if wire.is_usable() and not self._is_old(wire):
                    return wire
                wire.abort()
        return None

    async def _connect(self, origin: Origin, seconds: float | None) -> Wire:
        if len(self._open) >= self._most and self._idle:
            self._idle.pop(0).abort()
        context = self._tls() if origin[0] == "https" else None
        try:
            async with asyncio.timeout(seconds):
                return await self._connected(origin, context)
        except TimeoutError as error:
            raise httpx.ConnectTimeout("no connection in time") from error
        except OSError as error:  # ssl.SSLError is one
            raise httpx.ConnectError(str(error)) from error

    async def _connected(self, origin: Origin, context: ssl.SSLContext | None) -> Wire:
        _, host, port = origin
        name = None if context is None else host
        socket = await dial(host, port)
        try:
            _, wire = await asyncio.get_running_loop().create_connection(
                lambda: Wire(origin, self._lost), sock=socket, ssl=context, server_hostname=name
            )
        except BaseException:
            socket.close()
            raise
        self._open.add(wire)
        if self._last is not None:
            wire.fail(httpx.ReadError("the transport is closed"))
        return wire

    def _lost(self, wire: Wire) -> None:
        self._open.discard(wire)
        if wire in self._idle:
            self._idle.remove(wire)
        if self._last is not None and not self._open:
            self._last.set()

    def _is_old(self, wire: Wire) -> bool:
        return self._expiry is not None and wire.idle >= self._expiry

    def _expect_sweep(self) -> None:
        if self._sweep is None and self._expiry is not None and self._idle:
            self._sweep = asyncio.get_running_loop().call_later(self._expiry - self._idle[0].idle, self._sweep_up)

    def _sweep_up(self) -> None:
        self._sweep = None
        while self._idle and self._is_old(self._idle[0]):
            self._idle.pop(0).abort()
        self._expect_sweep()
