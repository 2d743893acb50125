"""`StepEvents`: the events of one step's call, passed on to the client, with the responses kept for the step."""

from typing import Any

import httpx

from ..runtime.protocol import LogLevel
from ..runtime.upstream.events import CallEvents


class StepEvents(CallEvents):
    """A receiver of events that adds each response to `responses` and passes everything on to another receiver."""

    ignores_requests = False

    def __init__(self, events: CallEvents, responses: list[httpx.Response]) -> None:
        self._events = events
        self._responses = responses
        self.counts_bytes = events.counts_bytes

    @property
    def has_notified(self) -> bool:
        """True if anything was sent to the client."""
        return self._events.has_notified

    @has_notified.setter
    def has_notified(self, value: bool) -> None:
        self._events.has_notified = value

    def is_enabled_for(self, level: LogLevel, /) -> bool:
        """Return whether the client asked for log messages of this level."""
        return self._events.is_enabled_for(level)

    async def log(self, level: LogLevel, message: str, **facts: Any) -> None:
        """Pass on a log message."""
        await self._events.log(level, message, **facts)

    def on_call(self, tool: str) -> None:
        """Pass on the name of the tool."""
        self._events.on_call(tool)

    async def on_step(self, text: str) -> None:
        """Pass on a step."""
        await self._events.on_step(text)

    async def on_request(self, request: httpx.Request) -> None:
        """Pass on a request."""
        await self._events.on_request(request)

    async def on_bytes_sent(self, count: int) -> None:
        """Pass on a count of bytes."""
        await self._events.on_bytes_sent(count)

    async def on_response_head(self, response: httpx.Response) -> None:
        """Pass on the head of a response."""
        await self._events.on_response_head(response)

    async def on_bytes_received(self, count: int) -> None:
        """Pass on a count of bytes."""
        await self._events.on_bytes_received(count)

    async def on_entry(self, text: str) -> None:
        """Pass on an entry of a stream."""
        await self._events.on_entry(text)

    async def on_response(self, response: httpx.Response) -> None:
        """Keep a response, and pass it on."""
        self._responses.append(response)
        await self._events.on_response(response)

    async def on_retry(self, attempt: int, reason: str, wait: float) -> None:
        """Pass on a retry, whose response is none of the step."""
        self._responses.clear()
        await self._events.on_retry(attempt, reason, wait)
