"""`Progress`: how far a call has come, in numbers that always grow: bytes sent, bytes received, entries of a stream.

A body is spoken of when it is large or slow, an entry always. Specification: basic/utilities/progress.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from .protocol import ToolCall, jsonrpc

Notify: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Sends a message of its own before the answer; done when it is on its way, so that a slow client slows its call."""

STEP: Final = 1024 * 1024
"""Bytes from one notification to the next: a body below that is soon through, one of 64 MiB is worth 64 of them."""

PATIENCE: Final = 1.0
"""Seconds after which even few bytes are news."""

_MAX_CHARACTERS: Final = 200
"""How much of an entry is shown: a line or two. The whole is in the result."""

_MEGABYTE: Final = 1_000_000


@dataclass(slots=True)
class _Transfer:
    """A body on its way: what was told before it, what of it was told last, and when."""

    verb: str
    total: int | None
    before: int
    at: float
    count: int = 0

    def is_news(self, count: int, now: float) -> bool:
        if count <= self.count:
            return False
        ended = count == self.total and self.count > 0
        return ended or count - self.count >= STEP or now - self.at >= PATIENCE

    def said(self) -> str:
        whole = "" if self.total is None else f" of {self.total / _MEGABYTE:.1f}"
        return f"{self.verb} {self.count / _MEGABYTE:.1f}{whole} MB"


class Progress:
    """The progress of one call, for the client that gave it a token."""

    def __init__(self, call: ToolCall, notify: Notify, clock: Callable[[], float] = time.monotonic) -> None:
        self._call = call
        self._notify = notify
        self._clock = clock
        self._value = 0
        self._transfer: _Transfer | None = None

    def begin(self, verb: Literal["sent", "received"], total: int | None) -> None:
        """From now on `move` speaks of this body, of which `total` bytes are expected."""
        self._transfer = _Transfer(verb, total, self._value, self._clock())

    def leave(self) -> None:
        """The body that comes now is not spoken of."""
        self._transfer = None

    async def move(self, count: int) -> None:
        """So many bytes of the body are through; the client is notified where that is news."""
        transfer, now = self._transfer, self._clock()
        if transfer is not None and transfer.is_news(count, now):
            transfer.count, transfer.at = count, now
            total = None if transfer.total is None else transfer.before + transfer.total
            await self._tell(transfer.before + count, transfer.said(), total)

    async def entry(self, text: str) -> None:
        """Notify the client of one more entry."""
        await self._tell(self._value + 1, _shortened(text))

    async def _tell(self, value: int, message: str, total: int | None = None) -> None:
        self._value = value
        await self._notify(jsonrpc.encode(self._call.progress(value, message, total=total)))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
