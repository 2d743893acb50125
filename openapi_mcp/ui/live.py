"""`LiveCalls`: the calls that end while the page is open, as events of a stream. None of them is kept."""

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from ..runtime import background
from ..telemetry.audit import without_secrets
from ..telemetry.call_log import size
from ..telemetry.feed import CallFeed
from ..telemetry.records import CallRecord

MAX_ARGUMENTS: Final = 16_384
"""Characters of a call's arguments that are shown: those of all rows of the page take a few megabytes."""

MAX_PARTS: Final = 5_000
"""Values of arguments that are shown: writing them takes some milliseconds."""

MAX_WAITING: Final = 500
"""Calls that wait for a slow browser; the oldest are left out, and the page says how many."""

MAX_LISTENERS: Final = 128
"""Pages that listen at once."""

MAX_OF_CALLER: Final = 32
"""Pages of one person, or of all where the page does not tell people apart."""

KEEP_ALIVE: Final = 15.0
"""Seconds between two comments on a silent stream, as at the MCP endpoint."""


@dataclass(frozen=True, slots=True)
class LiveCall:
    """A call as a row of the page; `arguments` are JSON without secrets."""

    clock: str
    caller: str
    tool: str
    status: str
    outcome: str
    milliseconds: int
    size: str
    tokens: int
    arguments: str


class TooManyListeners(Exception):
    """More pages listen than the server allows."""


class LiveCalls:
    """The calls of a feed. `redact` removes the secrets that the program knows; it belongs to one event loop."""

    def __init__(self, feed: CallFeed, redact: Callable[[str], str]) -> None:
        self._feed = feed
        self._redact = redact
        self._queues: dict[asyncio.Queue[LiveCall], str | None] = {}
        self._dropped: dict[asyncio.Queue[LiveCall], int] = {}
        self._subscription = ExitStack()

    def check(self, caller: str | None = None) -> None:
        """Raise TooManyListeners if no other page, or none of a caller, may listen."""
        own = sum(each == caller for each in self._queues.values())
        if own >= MAX_OF_CALLER or len(self._queues) >= MAX_LISTENERS:
            raise TooManyListeners

    async def listen(
        self, end: asyncio.Event | None, caller: str | None = None, expires: float = math.inf
    ) -> AsyncGenerator[tuple[LiveCall, int] | None, None]:
        """Yield each call, with the number of those left out before it; None where none came for a while.

        With a `caller` these are its calls alone. `expires` is the end in seconds since 1970.
        """
        queue: asyncio.Queue[LiveCall] = asyncio.Queue(MAX_WAITING)
        ended = asyncio.ensure_future(end.wait()) if end is not None else asyncio.get_running_loop().create_future()
        self._add(queue, caller)
        try:
            async for each in self._items(queue, ended, expires):
                yield each
        finally:
            self._remove(queue)
            ended.cancel()

    def _add(self, queue: "asyncio.Queue[LiveCall]", caller: str | None) -> None:
        """Add a listener; with the first one the server begins to record its calls."""
        if not self._queues:
            self._subscription.enter_context(self._feed.listen(self._take))
        self._queues[queue] = caller
        self._dropped[queue] = 0

    def _remove(self, queue: "asyncio.Queue[LiveCall]") -> None:
        del self._queues[queue]
        del self._dropped[queue]
        if not self._queues:
            self._subscription.close()

    async def _items(
        self, queue: "asyncio.Queue[LiveCall]", ended: "asyncio.Future[Any]", expires: float
    ) -> AsyncIterator[tuple[LiveCall, int] | None]:
        while not ended.done() and (left := expires - time.time()) > 0:
            getting = asyncio.ensure_future(queue.get())
            timeout = min(KEEP_ALIVE, left)
            await asyncio.wait([getting, ended], timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                dropped, self._dropped[queue] = self._dropped[queue], 0
                yield getting.result(), dropped
            else:
                getting.cancel()
                yield None

    def _take(self, record: CallRecord) -> None:
        """Give a finished call to each listener who may see it."""
        queues = [queue for queue, caller in self._queues.items() if caller in (None, record.caller)]
        if not queues:
            return
        call = self._call(record)
        for queue in queues:
            if queue.full():
                queue.get_nowait()
                self._dropped[queue] += 1
            queue.put_nowait(call)

    def _call(self, record: CallRecord) -> LiveCall:
        text, cut = _text(record.arguments)
        return LiveCall(
            clock=time.strftime("%H:%M:%S", time.localtime(record.time)),
            caller=record.caller,
            tool=record.tool,
            status="" if record.outcome == "cancelled" else str(record.status or ""),
            outcome=record.outcome,
            milliseconds=round(record.seconds * 1000),
            size=size(record.bytes),
            tokens=record.tokens,
            arguments=self._redact(text) + cut,
        )


def _text(arguments: Mapping[str, Any]) -> tuple[str, str]:
    """Return the arguments as JSON without secrets, and a note where they were cut; bounded, since the loop waits."""
    if background.exceeds(arguments, MAX_PARTS):
        return f"more than {MAX_PARTS:,} values", ""
    text = json.dumps(without_secrets(arguments), indent=2, ensure_ascii=False, default=str)
    return text[:MAX_ARGUMENTS], "" if len(text) <= MAX_ARGUMENTS else f"\n… ({len(text):,} characters)"
