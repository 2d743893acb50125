"""`Progress`: what a client hears of a call before its answer; one notification for each entry of a streamed answer.

Nothing is said to who did not ask, and nothing after the answer: who tells waits until it is told.
Specification: basic/utilities/progress.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from .protocol import ToolCall, jsonrpc

Notify: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Sends a message of its own before the answer; done when it is on its way, so that a slow client slows its call."""

_MAX_CHARACTERS: Final = 200
"""How much of an entry is shown: a line or two. The whole is in the result."""


class Progress:
    """The progress of one call; `told` is how often its client was notified."""

    def __init__(self, call: ToolCall, notify: Notify) -> None:
        self.told = 0
        self._call = call
        self._notify = notify

    async def tell(self, entry: str) -> None:
        """Notify the client of one more entry."""
        self.told += 1
        await self._notify(jsonrpc.encode(self._call.progress(self.told, _shortened(entry))))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
