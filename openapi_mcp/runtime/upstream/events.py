"""`CallEvents`: callbacks for what happens during one call; the base class ignores every event.

Callbacks are awaited before the call goes on, so a slow client slows its own call and nothing queues up.
"""

from typing import Any, Final

import httpx

from ..protocol import LogLevel


class CallEvents:
    """The receiver of one call's events.

    `ignores_requests` tells that `on_request`, `on_response_head` and `on_response` need not be called.
    `counts_bytes` tells whether `on_bytes_sent`, `on_bytes_received` and `on_entry` are to be called. `has_notified`
    tells whether anything was sent to the client, which makes the result one event of a stream.
    """

    ignores_requests = False
    counts_bytes = False
    has_notified = False

    def is_enabled_for(self, _level: LogLevel, /) -> bool:
        """Return whether the client asked for log messages of this level."""
        return False

    async def log(self, level: LogLevel, message: str, **facts: Any) -> None:
        """Send a log message to the client if it asked for the level; `facts` are JSON values."""

    def on_call(self, tool: str) -> None:
        """Note the name of the tool that is called; later events are about this call."""

    async def on_step(self, text: str) -> None:
        """Handle a step of a tool that makes several calls; `text` tells how far it has come."""

    async def on_request(self, request: httpx.Request) -> None:
        """Handle a request that is about to be sent: the first, or the next after a redirect or a failure."""

    async def on_bytes_sent(self, count: int) -> None:
        """Handle `count` bytes of the request's body having been handed to the socket, in total."""

    async def on_response_head(self, response: httpx.Response) -> None:
        """Handle a response whose head has arrived and whose body has not been read."""

    async def on_bytes_received(self, count: int) -> None:
        """Handle `count` bytes of the response's body having arrived in total, as transferred (still compressed)."""

    async def on_entry(self, text: str) -> None:
        """Handle one entry of a successful response that is a stream (see `event_streams`)."""

    async def on_response(self, response: httpx.Response) -> None:
        """Handle a response whose body has been read."""

    async def on_retry(self, attempt: int, reason: str, wait: float) -> None:
        """Handle the failure of attempt number `attempt`; the next one follows in `wait` seconds."""


NO_EVENTS: Final = CallEvents()
"""The receiver for calls whose events nobody asked for."""
