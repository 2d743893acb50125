"""`Outgoing`: what is written to a connection in one turn of the event loop, sent together in the end of that turn.

A head and its body are one packet so, and wake the client once: on a fast network that costs more than making them.
"""

import asyncio
from typing import Any, Final

_AT_MOST: Final = 64 * 1024
"""Bytes that wait for the end of a turn: as many as a transport takes before it asks for patience."""


class Outgoing:
    """Lies over a transport, and is one but for when `write` sends."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self.is_closing = transport.is_closing
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Send in the end of this turn, or now if it is much."""
        if not self._pieces:
            self._loop.call_soon(self._send)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > _AT_MOST:
            self._send()

    def close(self) -> None:
        """Send what waits, and close."""
        self._send()
        self._transport.close()

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
