"""The monitor of a server's calls, made of what its options ask for; None where nothing is asked for."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..runtime.server.monitoring import CallMonitor, CallStart, MonitoredCall
from ..runtime.types import CallToolResult
from .records import Recorder, Sink


class TelemetryOptions(NamedTuple):
    """What is written of calls: `call_log` is `text`, `json` or empty; `audit` a file, with values or without."""

    call_log: str = ""
    audit: Path | None = None
    audit_arguments: bool = False
    metrics: bool = False


@cache
def monitor(
    options: TelemetryOptions, write: Callable[[str], None], redact: Callable[[str], str]
) -> CallMonitor | None:
    """Return the monitor of this process; a server that replaces another goes on counting. Raises UsageError.

    `write` writes a line of the call log; `redact` removes secrets from a text.
    """
    from . import tracing

    sinks = list(_sinks(options, write, redact))
    monitors: list[CallMonitor] = [Recorder(sinks)] if sinks else []
    if tracing.is_configured():
        tracing.start_sdk()
        monitors.append(tracing.Tracer())
    return monitors[0] if len(monitors) == 1 else _Several(monitors) if monitors else None


def _sinks(options: TelemetryOptions, write: Callable[[str], None], redact: Callable[[str], str]) -> Sequence[Sink]:
    sinks: list[Sink] = []
    if options.call_log:
        from . import call_log

        sinks.append(call_log.json_lines(write) if options.call_log == "json" else call_log.text_lines(write))
    if options.audit:
        from . import audit

        sinks.append(audit.audit_file(options.audit, redact, with_arguments=options.audit_arguments))
    if options.metrics:
        from . import metrics

        sinks.append(metrics.metrics())
    return sinks


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
