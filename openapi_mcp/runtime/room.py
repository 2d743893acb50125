"""`Room`: how much is in work at once; who brings more waits until there is room again.

A message counts the more the larger it is, so that neither many nor large ones make memory grow without bound.
"""

import asyncio
from typing import Final

UNITS: Final = 1024
"""So many small messages, or 64 MiB of large ones: a client asks for a few things at once, and a flood is a mistake."""

_UNIT: Final = 64 * 1024
"""Bytes of a message that count as much as a message by itself."""


class Room:
    """Room for messages in one event loop."""

    def __init__(self, units: int = UNITS) -> None:
        self._left = units
        self._free = asyncio.Event()
        self._free.set()

    async def wait(self) -> None:
        """Wait until there is any room. The next message may be larger than that, or some could never come through."""
        await self._free.wait()

    def occupy(self, size: int, task: asyncio.Task[None]) -> None:
        """Take the room of a message of `size` bytes until its task is done."""
        units = 1 + size // _UNIT
        self._change(-units)
        task.add_done_callback(lambda _: self._change(units))

    def _change(self, units: int) -> None:
        self._left += units
        if self._left > 0:
            self._free.set()
        else:
            self._free.clear()
