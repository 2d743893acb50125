"""A socket to a host: its addresses one after the other, each given a moment before the next is tried as well.

The first that answers wins and the others are closed, whatever ends the race. Specification: RFC 8305 §4 and §5.
"""

import asyncio
import socket
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Final, TypeAlias

_HEAD_START: Final = 0.25
"""Seconds between two attempts: the Connection Attempt Delay that RFC 8305 §5 recommends."""

_Address: TypeAlias = tuple[
    socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
]
_Attempt: TypeAlias = asyncio.Task[socket.socket]


async def dial(host: str, port: int) -> socket.socket:
    """A connected socket that does not wait for more to send. Raises OSError, several of them as a group's."""
    found: Sequence[_Address] = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = _families_in_turn(found)
    return await (_connected(addresses[0]) if len(addresses) == 1 else _first(addresses))


def _families_in_turn(found: Sequence[_Address]) -> list[_Address]:
    """The resolver's order, but IPv6 and IPv4 by turns, beginning with what it prefers."""
    preferred = [address for address in found if address[0] == found[0][0]]
    others = [address for address in found if address[0] != found[0][0]]
    return [address for address in chain(*zip_longest(preferred, others)) if address is not None]


async def _first(addresses: list[_Address]) -> socket.socket:
    pending: set[_Attempt] = set()
    failures: list[Exception] = []
    try:
        while addresses or pending:
            if addresses:
                pending.add(asyncio.create_task(_connected(addresses.pop(0))))
            await asyncio.wait(pending, timeout=_HEAD_START if addresses else None, return_when=asyncio.FIRST_COMPLETED)
            for attempt in [attempt for attempt in pending if attempt.done()]:
                pending.discard(attempt)
                if (error := attempt.exception()) is None:
                    return attempt.result()
                failures.append(error if isinstance(error, Exception) else OSError(str(error)))
    finally:
        for attempt in pending:
            attempt.cancel()
            attempt.add_done_callback(_close)
    raise OSError("none of its addresses can be reached") from ExceptionGroup("attempts", failures)


async def _connected(address: _Address) -> socket.socket:
    family, kind, protocol, _, place = address
    connection = socket.socket(family, kind, protocol)
    try:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(connection, place)
    except BaseException:
        connection.close()
        raise
    return connection


def _close(attempt: _Attempt) -> None:
    """Close what came too late to win."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()
