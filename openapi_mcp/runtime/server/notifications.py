"""`ClientNotifier`: sends a client, during its call, the progress for its token and the log messages of its level.

A client that did not ask gets nothing, nothing follows the result, and no message contains a credential or the value of
a query parameter. `Progress` numbers always grow: bytes sent, bytes received, entries of a stream. A body is reported
if it is large or slow, an entry always. A `Heartbeat` reports the elapsed seconds of a call that is silent otherwise.
Specification: basic/utilities/progress, server/utilities/logging.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import httpx

from .. import event_streams, media_types
from ..protocol import LogLevel, ToolCall, jsonrpc
from ..request.redaction import redact
from ..result.sanitizer import NO_SECRETS, Sanitizer
from ..tool import Tool
from ..upstream.events import CallEvents
from ..upstream.timers import Timers
from .hooks import Findings, Notify

logger = logging.getLogger("openapi_mcp")

PROGRESS_BYTES: Final = 1024 * 1024
"""Bytes from one progress notification to the next: a smaller body is soon transferred, one of 64 MiB gets 64."""

PROGRESS_SECONDS: Final = 1.0
"""Seconds after the last notification from which any further bytes are notified."""

MAX_QUICK_STEPS: Final = 20
"""Steps of a call that are notified however quickly they follow each other; later ones once in PROGRESS_SECONDS."""

PROGRESS_INTERVAL: Final = 5.0
"""Seconds without a notification after which a call reports that it goes on; clients give up after 60, or 10."""

KEEP_ALIVE_INTERVAL: Final = 15.0
"""Seconds after which a call without a token begins its event stream: proxies close connections that are silent for 30
or 60."""

BINARY_DELAY: Final = 25.0
"""Seconds before the first sign of life of a call whose answer is an image or a file: what follows one is cut."""

MAX_FINDINGS_WAIT: Final = 0.25
"""Seconds that a client which asked for log messages waits for findings; after that the result is sent without."""

_MAX_ENTRY_CHARACTERS: Final = 200
"""Characters of an entry that a progress message shows: a line or two. The result has all of it."""

_MEGABYTE: Final = 1_000_000

# A timer may be early by the resolution of its clock.
_TIMER_TOLERANCE: Final = 0.05


class ClientNotifier(CallEvents):
    """The receiver of a call's events that notifies the client of the call.

    A body of at most `max_binary_bytes` that is not text is received without progress: it will be part of the result,
    and a result that follows a notification may be too small for it.
    """

    has_notified = False
    _requested_at = 0.0
    _steps = 0

    def __init__(
        self, call: ToolCall, notify: Notify, *, max_binary_bytes: int = 0, sanitizer: Sanitizer = NO_SECRETS
    ) -> None:
        self._call = call
        self._tool = call.name
        self._notify = notify
        self._sanitizer = sanitizer
        self._max_binary_bytes = max_binary_bytes
        self._progress = None if call.progress_token is None else Progress(call, self._send)
        self.counts_bytes = self._progress is not None
        # A client that set no level gets warnings.
        self.ignores_requests = not self.counts_bytes and (call.log_level is None or not call.wants_log("info"))
        self._notified_at = self._started_at = time.monotonic()
        self._interval = KEEP_ALIVE_INTERVAL if self._progress is None else PROGRESS_INTERVAL

    def heartbeat(self, heartbeats: "Heartbeats", *, is_binary: bool = False) -> "Heartbeat":
        """Start the heartbeat of this call, which begins later if the answer is expected to be binary."""
        return heartbeats.start(self._beat, max(self._interval, BINARY_DELAY) if is_binary else self._interval)

    def is_enabled_for(self, level: LogLevel, /) -> bool:
        """Return whether the client asked for log messages of this level."""
        return self._call.wants_log(level)

    async def log(self, level: LogLevel, message: str, **facts: Any) -> None:
        """Send a log message with the tool's name and `facts`, if the client asked for the level."""
        data = self._sanitizer.value({"message": message, "tool": self._tool, **facts})
        notification = self._call.log(level, data)
        if notification is not None:
            await self._send(jsonrpc.encode(notification))

    def on_call(self, tool: str) -> None:
        """Name this tool in the log messages that follow."""
        self._tool = tool

    async def on_step(self, text: str) -> None:
        """Notify of a step, unless many were notified just now; the heartbeats that follow tell it too."""
        if self._progress is not None:
            self._steps += 1
            self._progress.note = self._sanitizer.text(text)
            if self._steps <= MAX_QUICK_STEPS or time.monotonic() - self._notified_at >= PROGRESS_SECONDS:
                await self._progress.entry(self._progress.note)

    async def on_request(self, request: httpx.Request) -> None:
        """Start the progress of the request's body; log the request."""
        self._requested_at = time.monotonic()
        if self._progress is not None:
            self._progress.begin("sent", len(request.content))
        if self.is_enabled_for("debug"):
            await self.log("debug", "The request is sent.", method=request.method, url=redact(str(request.url)))

    async def on_bytes_sent(self, count: int) -> None:
        """Notify of the bytes sent, if they are news."""
        if self._progress is not None:
            await self._progress.advance(count)

    async def on_response_head(self, response: httpx.Response) -> None:
        """Start the progress of the response's body, unless entries are reported instead or it is binary and small."""
        if self._progress is None:
            return
        content_type, total = response.headers.get("content-type", ""), _length(response)
        has_entries = event_streams.parser_for(content_type) is not None
        if has_entries or (self._fits_result(total) and not media_types.is_text(content_type)):
            self._progress.skip()
        else:
            self._progress.begin("received", total)

    async def on_bytes_received(self, count: int) -> None:
        """Notify of the bytes received, if they are news."""
        if self._progress is not None:
            await self._progress.advance(count)

    async def on_entry(self, text: str) -> None:
        """Notify of an entry."""
        if self._progress is not None:
            await self._progress.entry(self._sanitizer.text(text))

    async def on_response(self, response: httpx.Response) -> None:
        """Log the response: status, bytes, seconds since the request."""
        if not self.is_enabled_for("info"):
            return
        seconds = round(time.monotonic() - self._requested_at, 3)
        facts = {"status": response.status_code, "bytes": len(response.content), "seconds": seconds}
        await self.log("info", "The API answered.", **facts)

    async def on_retry(self, attempt: int, reason: str, wait: float) -> None:
        """Log the failed attempt."""
        message = f"The request failed ({reason}); it is sent again in {wait:.1f} seconds."
        await self.log("warning", message, attempt=attempt, why=reason, wait_seconds=round(wait, 3))

    def _fits_result(self, total: int | None) -> bool:
        return total is None or total <= self._max_binary_bytes

    async def _beat(self) -> float:
        """Tell the client that the call goes on, unless a notification did; return the seconds until the next time."""
        now = time.monotonic()
        remaining = self._notified_at + self._interval - now
        if remaining > _TIMER_TOLERANCE:
            return remaining
        if self._progress is None:
            await self._send(b"")
        else:
            await self._progress.beat(now - self._started_at)
        return self._interval

    async def _send(self, message: bytes) -> None:
        self.has_notified = True
        self._notified_at = time.monotonic()
        await self._notify(message)


class Heartbeats:
    """The heartbeats of the calls in one event loop. Few calls last until the first one, so they share timers."""

    def __init__(self) -> None:
        self._timers: dict[float, Timers] = {}

    def start(self, beat: Callable[[], Awaitable[float]], delay: float) -> "Heartbeat":
        """Call `beat`, which returns the seconds until the next time, after `delay` seconds for the first time."""
        timers = self._timers.get(delay) or self._timers.setdefault(delay, Timers(delay))
        return Heartbeat(beat, timers)


class Heartbeat:
    """A function that is called at intervals until `stop`."""

    def __init__(self, beat: Callable[[], Awaitable[float]], timers: Timers) -> None:
        self._beat = beat
        self._task: asyncio.Task[None] | None = None
        self._timers = timers
        self._number = timers.start(self._start)

    def stop(self) -> asyncio.Task[None] | None:
        """Stop; return the task that may be sending something just now."""
        self._timers.stop(self._number)
        if self._task is not None:
            self._task.cancel()
        return self._task

    def _start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        delay = 0.0
        while True:
            await asyncio.sleep(delay)
            delay = await self._beat()


class Progress:
    """The progress of one call, for the client that sent a token. `note` is added to the messages of `beat`."""

    def __init__(self, call: ToolCall, notify: Notify, clock: Callable[[], float] = time.monotonic) -> None:
        self._call = call
        self._notify = notify
        self._clock = clock
        self.note = ""
        self._value = 0
        self._elapsed = 0
        self._transfer: _Transfer | None = None

    def begin(self, verb: Literal["sent", "received"], total: int | None) -> None:
        """Start the transfer of a body of `total` bytes, if that is known, for `advance`."""
        self._transfer = _Transfer(verb, total, self._value, self._clock())

    def skip(self) -> None:
        """Ignore `advance` for the next body."""
        self._transfer = None

    async def advance(self, count: int) -> None:
        """Notify the client that `count` bytes of the body were transferred, if that is news."""
        transfer, now = self._transfer, self._clock()
        if transfer is not None and transfer.is_news(count, now):
            transfer.count, transfer.notified_at = count, now
            total = None if transfer.total is None else transfer.start_value + transfer.total
            await self._send(transfer.start_value + count, transfer.message(), total)

    async def entry(self, text: str) -> None:
        """Notify the client of one more entry."""
        self._skip_values(1)
        await self._send(self._value + 1, _shorten(text))

    async def beat(self, seconds: float) -> None:
        """Notify the client that the call has lasted for `seconds`; the value grows by those since the last time."""
        step = max(1, round(seconds) - self._elapsed)
        self._elapsed = round(seconds)
        self._skip_values(step)
        note = f": {_shorten(self.note)}" if self.note else ""
        await self._send(self._value + step, f"still running after {self._elapsed} s{note}")

    def _skip_values(self, step: int) -> None:
        """Let the next bytes of the body, if there is one, be more than the value that is sent besides them."""
        if self._transfer is not None:
            self._transfer.start_value += step

    async def _send(self, value: int, message: str, total: int | None = None) -> None:
        self._value = value
        await self._notify(jsonrpc.encode(self._call.progress(value, message, total=total)))


@dataclass(slots=True)
class _Transfer:
    """The transfer of a body: the progress value at its start, and the last notification's byte count and time."""

    verb: str
    total: int | None
    start_value: int
    notified_at: float
    count: int = 0

    def is_news(self, count: int, now: float) -> bool:
        if count <= self.count:
            return False
        is_end = count == self.total and self.count > 0
        return is_end or count - self.count >= PROGRESS_BYTES or now - self.notified_at >= PROGRESS_SECONDS

    def message(self) -> str:
        total = "" if self.total is None else f" of {self.total / _MEGABYTE:.1f}"
        return f"{self.verb} {self.count / _MEGABYTE:.1f}{total} MB"


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_ENTRY_CHARACTERS else f"{text[: _MAX_ENTRY_CHARACTERS - 1]}…"


def _length(response: httpx.Response) -> int | None:
    """Return the number of bytes that will be transferred, if the response declares it."""
    text = response.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


async def log_findings(tool: Tool, findings: Findings, events: CallEvents) -> None:
    """Send the findings that are known soon to a client that asked for them; an observer's failure is only logged."""
    future = asyncio.wrap_future(findings)
    await asyncio.wait([future], timeout=MAX_FINDINGS_WAIT)
    if not future.done() or future.cancelled():
        return
    if (error := future.exception()) is not None:
        logger.error("The call of %s succeeded, but its response could not be checked.", tool.name, exc_info=error)
        return
    for sentence in future.result():
        await events.log("notice", sentence)
