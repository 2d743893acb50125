"""`Rollout`: changes of the list of tools which listeners hear of once every process of the server has them.

A client that hears of a change asks for the list at once, and any process may answer: one that is still behind would
give it the old one. Each process tells its siblings when it has the change; who is late is not waited for, but what
listeners may have missed for that is said again when it comes.
"""

import asyncio
import time
from typing import Final

from .live import Changes
from .peers import Peers

PATIENCE: Final = 1.0
"""Seconds to wait for siblings; they begin at the same time, and clients shall hear of a change within two."""

_MEMORY: Final = 10.0
"""Seconds for which a sibling that was faster counts as having the next change here; then that was another one."""

_HERE: Final = b"h"


class Rollout(Changes):
    """As Changes; `announce` says that this process has the change, `hear` that a sibling has."""

    def __init__(self, peers: Peers, patience: float = PATIENCE) -> None:
        super().__init__()
        self._peers = peers
        self._patience = patience
        self._faster: dict[bytes, float] = {}
        self._awaited: set[bytes] = set()
        self._late: set[bytes] = set()
        self._timer: asyncio.TimerHandle | None = None

    def announce(self) -> None:
        """Tell listeners as soon as the siblings have the change too, or have had their time."""
        self._peers.tell(_HERE + self._peers.name)
        latest = time.monotonic() - _MEMORY
        self._awaited = self._peers.others() - {name for name, heard in self._faster.items() if heard > latest}
        self._faster.clear()
        self._late.clear()
        self._stop_waiting()
        if self._awaited:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._give_up)
        else:
            super().announce()

    def hear(self, message: bytes) -> None:
        """A sibling has a change; other messages are ignored."""
        name = message[1:]
        if message[:1] != _HERE:
            return
        if name in self._awaited:
            self._awaited.discard(name)
            if not self._awaited:
                self._stop_waiting()
                super().announce()
        elif name in self._late:
            self._late.discard(name)
            super().announce()
        else:
            self._faster[name] = time.monotonic()

    def end(self) -> None:
        """As of Changes; nobody is waited for any more."""
        self._stop_waiting()
        super().end()

    def _give_up(self) -> None:
        self._late, self._awaited = self._awaited, set()
        super().announce()

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
