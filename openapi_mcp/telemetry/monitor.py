"""The monitor of a server's calls, made of what its options ask for; None where nothing is asked for."""

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path

from ..runtime.server.hooks import CallStart, Monitor, MonitoredWork
from ..runtime.types import CallToolResult
from .monitoring import CallMonitor, MonitoredCall, observe
from .records import Recorder, Sink


@cache
def monitor(
    *,
    call_log: str,
    audit: Path | None,
    audit_arguments: bool,
    metrics: bool,
    several: bool = False,
    write: Callable[[str], None],
    redact: Callable[[str], str],
) -> Monitor | None:
    """Return the monitor of this process; a server that replaces another goes on counting. Raises UsageError.

    `call_log` is `text`, `json` or empty, `audit` a file. `write` writes a line of the call log; `redact` removes
    secrets from a text; metrics of `several` APIs name that of each call. Traces are made where the environment asks
    for them (see `tracing`).
    """
    from . import tracing

    sinks: list[Sink] = []
    if call_log:
        from .call_log import json_lines, text_lines

        sinks.append(json_lines(write) if call_log == "json" else text_lines(write))
    if audit:
        from .audit import audit_file

        sinks.append(audit_file(audit, redact, with_arguments=audit_arguments))
    if metrics:
        from .metrics import counters

        sinks.append(counters(several=several))
    monitors: list[CallMonitor] = [Recorder(sinks)] if sinks else []
    if tracing.is_configured():
        tracing.start_sdk()
        monitors.append(tracing.Tracer())
    return _Monitor(monitors[0] if len(monitors) == 1 else _Several(monitors)) if monitors else None


class _Monitor:
    """A Monitor of calls. It is false while it observes nothing: then a server makes its calls without it."""

    def __init__(self, monitor: CallMonitor) -> None:
        self._monitor = monitor

    def __bool__(self) -> bool:
        return bool(self._monitor)

    def __call__(
        self, start: CallStart, on_sent: Callable[[int], None], work: MonitoredWork
    ) -> Awaitable[CallToolResult]:
        return observe(self._monitor, start, on_sent, work)


class _Several:
    """Monitors one inside the other: each gets the trace context of the one before it."""

    def __init__(self, monitors: Sequence[CallMonitor]) -> None:
        self._monitors = monitors

    def begin(self, start: CallStart) -> "_SeveralCalls":
        """Begin the call in all of them."""
        calls: list[MonitoredCall] = []
        for each in reversed(self._monitors):  # the tracer first, so that records have its trace id
            call = each.begin(start)
            start = start._replace(trace=call.trace)
            calls.append(call)
        return _SeveralCalls(calls)


class _SeveralCalls:
    """A call that several monitors began."""

    def __init__(self, calls: Sequence[MonitoredCall]) -> None:
        self._calls = calls
        self.trace = calls[-1].trace

    def end(self, result: CallToolResult | None, status: int) -> None:
        """End the call in all of them."""
        for call in self._calls:
            call.end(result, status)
