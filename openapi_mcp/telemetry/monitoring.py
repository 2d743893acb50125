"""`CallMonitor`: an observer of tool calls from their beginning to their result, for logs, metrics and traces.

A monitor must not block and must not change what it is given; its failures are logged and change no call.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from ..runtime.server.hooks import CallStart, MonitoredWork
from ..runtime.types import CallToolResult, error_result

logger = logging.getLogger("openapi_mcp")


class MonitoredCall(Protocol):
    """A call that was begun. `trace` is the trace context for the request to the API."""

    @property
    def trace(self) -> Mapping[str, str]:
        """The trace context for the request to the API."""

    def end(self, result: CallToolResult | None, status: int) -> None:
        """Note the end: the result, None if the call was cancelled; and the API's status, 0 without an answer."""


class CallMonitor(Protocol):
    """An observer of calls."""

    def begin(self, start: CallStart) -> MonitoredCall:
        """Note the beginning of a call."""


async def observe(
    monitor: CallMonitor, start: CallStart, on_sent: Callable[[int], None], work: MonitoredWork
) -> CallToolResult:
    """Return the result of a call that a monitor observes; a failure is observed as an error, and raised.

    `work` gets the trace context for the API, and an `on_sent` that notes the status of each answer too.
    """
    try:
        call = monitor.begin(start)
    except Exception:
        logger.exception("The monitor of the call of %s failed.", start.tool)
        return await work(start.trace, on_sent)
    status, observed = 0, None

    def note(answered: int) -> None:
        nonlocal status
        status = answered
        on_sent(answered)

    try:
        observed = result = await work(call.trace, note)
    except Exception:
        observed = error_result("")
        raise
    finally:
        try:
            call.end(observed, status)
        except Exception:
            logger.exception("The monitor of the call of %s failed.", start.tool)
    return result
