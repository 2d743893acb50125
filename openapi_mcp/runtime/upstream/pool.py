"""`Pool`: the connections to the API, in use and idle, within limits; `connect` opens a socket to a host.

The connections are shared among clients, their addresses, and the origins of the API (see `shares`): neither a client
whose calls hang nor a host that hangs takes those of the others.

A connection belongs to one exchange or is idle. The one used last is used next, so that surplus connections expire.
Expired and closed connections, and those on which bytes arrived that answer no request, are never used again.

`connect` tries the addresses of a host one after the other, each 0.25 s after the one before; the first that connects
is used, the others are closed, however the race ends. With `Egress` they are the addresses that it has judged.

Specification: RFC 9112 §9.3 to §9.5; RFC 8305 §4 and §5. `transport` says why this is not httpx's pool.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import Final, Protocol, TypeAlias

import httpx

from .connection import Connection, Origin
from .shares import ADDRESS_RATIO, CALLER, CLIENT_RATIO, NO_LIMIT, Caller, SharedSlots

LIMITS: Final = httpx.Limits(max_connections=125, max_keepalive_connections=125, keepalive_expiry=4.0)
"""One client may use 100 of them (see `shares`), as many as httpx has. All of them may be idle: with httpx's 20, 64
calls at a time would connect again and again. Idle ones expire after four seconds: many servers close after five, and a
connection that is closed at this end is not found closed by the next request."""

_RATIOS: Final = (ADDRESS_RATIO, 6, CLIENT_RATIO, 16)
"""The ratios (see `shares`) of an address, of a client, of the calls of one client to one origin, and of an origin: 111
of 125 connections, 107, 100 and 117. So a client whose calls to one host hang can still call another one."""

# Seconds that `aclose` waits for the event loop to notice that aborted connections are closed.
_MAX_CLOSE_SECONDS: Final = 1.0
_ATTEMPT_DELAY: Final = 0.25
"""Seconds between two attempts to connect: the Connection Attempt Delay that RFC 8305 §5 recommends."""

Address: TypeAlias = tuple[
    socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
]
"""An address of a host, as `socket.getaddrinfo` returns it."""

_Attempt: TypeAlias = asyncio.Task[socket.socket]


_Holder: TypeAlias = tuple[Caller, Origin]


def _keys(holder: _Holder) -> tuple[object, ...]:
    (address, client), origin = holder
    return address, client, (client, origin), origin


class Egress(Protocol):
    """The judge of what may be contacted; each method raises UpstreamError for a target that may not."""

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        """Return the addresses of a host; connections go to these only. Raises OSError too."""
        ...

    def check_name(self, host: str, port: int) -> None:
        """Judge a target that a proxy contacts."""
        ...


class Pool:
    """Connections to any number of origins; `tls` returns the context when the first secure connection needs it.

    `egress` judges the host of each new connection; None allows all.
    """

    def __init__(
        self, tls: Callable[[], ssl.SSLContext], limits: httpx.Limits = LIMITS, egress: Egress | None = None
    ) -> None:
        self._tls = tls
        self._egress = egress
        self._max_open = NO_LIMIT if limits.max_connections is None else limits.max_connections
        max_idle = limits.max_keepalive_connections
        self._max_idle = self._max_open if max_idle is None else max_idle
        self._expiry = limits.keepalive_expiry
        self._slots = SharedSlots(self._max_open, _RATIOS, _keys)
        self._places: dict[Connection, Place] = {}  # of the connections in use
        self._open: set[Connection] = set()
        self._idle: list[Connection] = []  # the one that has been idle longest is first
        self._expiry_timer: asyncio.TimerHandle | None = None
        self._all_closed: asyncio.Event | None = None  # set by the last connection to close, once the pool is closing

    async def acquire(self, origin: Origin, timeouts: Mapping[str, float | None], *, fresh: bool = False) -> Connection:
        """Return a connection for one exchange: an idle one unless `fresh`, else a new one.

        Raises httpx.TransportError. The caller gives the connection to `release`. `timeouts` has seconds,
        or None, for `pool` and `connect`.
        """
        place = await self.take_place(origin, timeouts)
        try:
            idle = None if fresh else self._idle_connection(origin)
            connection = idle or await self._connect(origin, timeouts.get("connect"))
        except BaseException:
            place.give_back()
            raise
        self._places[connection] = place
        return connection

    def acquire_idle(self, origin: Origin) -> Connection | None:
        """Return an idle connection as `acquire` does; None if there is none, or no place."""
        holder = (CALLER.get(), origin)
        if not self._idle or not self._slots.take(holder):
            return None
        connection = self._idle_connection(origin)
        if connection is None:
            self._slots.release(holder)
        else:
            self._places[connection] = Place(self._slots, holder)
        return connection

    def release(self, connection: Connection, reusable: bool) -> None:
        """Take a connection back: it becomes idle if it is `reusable` and open, else it is closed."""
        self._places.pop(connection).give_back()
        if not reusable or self._all_closed is not None or not connection.is_open():
            connection.abort()
            return
        connection.mark_idle()
        self._idle.append(connection)
        if len(self._idle) > self._max_idle:
            self._idle.pop(0).abort()
        self._schedule_expiry()

    async def take_place(self, origin: Origin, timeouts: Mapping[str, float | None]) -> "Place":
        """Return a place among the connections in use, for one exchange. Raises httpx.PoolTimeout."""
        holder = (CALLER.get(), origin)
        try:
            await self._slots.acquire(holder, timeouts.get("pool"))
        except TimeoutError as error:
            raise httpx.PoolTimeout("all connections are in use") from error
        return Place(self._slots, holder)

    async def aclose(self) -> None:
        """Close all connections, those in use too."""
        self._all_closed = asyncio.Event()
        if self._expiry_timer is not None:
            self._expiry_timer.cancel()
        for connection in self._open:
            connection.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(_MAX_CLOSE_SECONDS if self._open else 0):
                await self._all_closed.wait()

    def _idle_connection(self, origin: Origin) -> Connection | None:
        """Remove and return the connection to an origin that was used last; close those found unusable."""
        for index in range(len(self._idle) - 1, -1, -1):
            if self._idle[index].origin == origin:
                connection = self._idle.pop(index)
                if connection.is_usable() and not self._is_expired(connection):
                    return connection
                connection.abort()
        return None

    async def _connect(self, origin: Origin, seconds: float | None) -> Connection:
        if len(self._open) >= self._max_open and self._idle:
            self._idle.pop(0).abort()
        context = self._tls() if origin[0] == "https" else None
        try:
            async with asyncio.timeout(seconds):
                return await self._open_connection(origin, context)
        except TimeoutError as error:
            raise httpx.ConnectTimeout("no connection in time") from error
        except OSError as error:  # ssl.SSLError is one
            raise httpx.ConnectError(str(error)) from error

    async def _open_connection(self, origin: Origin, context: ssl.SSLContext | None) -> Connection:
        _, host, port = origin
        name = None if context is None else host
        socket = await connect(host, port, self._egress)
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(origin, self._on_close), sock=socket, ssl=context, server_hostname=name
            )
        except BaseException:
            socket.close()
            raise
        self._open.add(connection)
        if self._all_closed is not None:
            connection.fail(httpx.ReadError("the transport is closed"))
        return connection

    def _on_close(self, connection: Connection) -> None:
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        if self._all_closed is not None and not self._open:
            self._all_closed.set()

    def _is_expired(self, connection: Connection) -> bool:
        return self._expiry is not None and connection.idle_seconds >= self._expiry

    def _schedule_expiry(self) -> None:
        if self._expiry_timer is None and self._expiry is not None and self._idle:
            delay = self._expiry - self._idle[0].idle_seconds
            self._expiry_timer = asyncio.get_running_loop().call_later(delay, self._close_expired)

    def _close_expired(self) -> None:
        self._expiry_timer = None
        while self._idle and self._is_expired(self._idle[0]):
            self._idle.pop(0).abort()
        self._schedule_expiry()


class Place:
    """A place among the connections in use, to be given back; a second time does nothing."""

    __slots__ = ("_holder", "_slots")

    def __init__(self, slots: SharedSlots[_Holder], holder: _Holder) -> None:
        self._slots: SharedSlots[_Holder] | None = slots
        self._holder = holder

    def give_back(self) -> None:
        """Let another exchange begin."""
        slots, self._slots = self._slots, None
        if slots is not None:
            slots.release(self._holder)


async def connect(host: str, port: int, egress: Egress | None = None) -> socket.socket:
    """Return a connected socket with TCP_NODELAY set. Raises OSError; after several attempts its cause is a group."""
    resolved: Sequence[Address]
    if egress is None:
        resolved = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    else:
        resolved = await egress.resolve(host, port)
    addresses = _alternate_families(resolved)
    return await (_connect_to(addresses[0]) if len(addresses) == 1 else _race(addresses))


def _alternate_families(addresses: Sequence[Address]) -> list[Address]:
    """Return the addresses in the resolver's order, with IPv6 and IPv4 alternating; its first choice stays first."""
    preferred = [address for address in addresses if address[0] == addresses[0][0]]
    others = [address for address in addresses if address[0] != addresses[0][0]]
    return [address for address in chain(*zip_longest(preferred, others)) if address is not None]


async def _race(addresses: list[Address]) -> socket.socket:
    pending: set[_Attempt] = set()
    failures: list[Exception] = []
    try:
        while addresses or pending:
            if addresses:
                pending.add(asyncio.create_task(_connect_to(addresses.pop(0))))
            timeout = _ATTEMPT_DELAY if addresses else None
            await asyncio.wait(pending, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            for attempt in [attempt for attempt in pending if attempt.done()]:
                pending.discard(attempt)
                if (error := attempt.exception()) is None:
                    return attempt.result()
                failures.append(error if isinstance(error, Exception) else OSError(str(error)))
    finally:
        for attempt in pending:
            attempt.cancel()
            attempt.add_done_callback(_close_socket)
    raise OSError("none of its addresses can be reached") from ExceptionGroup("attempts", failures)


async def _connect_to(address: Address) -> socket.socket:
    family, kind, protocol, _, socket_address = address
    connection = socket.socket(family, kind, protocol)
    try:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(connection, socket_address)
    except BaseException:
        connection.close()
        raise
    return connection


def _close_socket(attempt: _Attempt) -> None:
    """Close the socket of an attempt that succeeded after another one had won."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()
