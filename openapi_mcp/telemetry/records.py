"""`CallRecord`: a finished call as logs, metrics and the audit file have it; `Recorder` makes one for each call."""

import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ..runtime.result import hidden_characters
from ..runtime.server.hooks import CallStart, Monitor, MonitoredWork
from ..runtime.types import CallToolResult
from ..token_budget import BYTES_PER_TOKEN

Outcome: TypeAlias = Literal["ok", "tool_error", "cancelled"]

logger = logging.getLogger("openapi_mcp")

API: Final = ContextVar("API", default="")
"""The name of the API whose tool is being called, where a server has several."""

MAX_NAME: Final = 120
"""Characters of a caller's name or of an argument's name in a record."""

MAX_ARGUMENTS: Final = 100
"""Names of arguments in a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call of a tool. `time` is its beginning in seconds since 1970, `seconds` how long it took.

    `status` is the API's HTTP status, 0 without an answer. `bytes` is the size of the texts of the result, and `tokens`
    what that costs a model, about. `arguments` are as the client sent them. `trace_id` is that of the trace context.
    `api` names the API, where a server has several.
    """

    time: float
    caller: str
    tool: str
    status: int
    outcome: Outcome
    seconds: float
    bytes: int
    arguments: Mapping[str, Any]
    trace_id: str = ""
    api: str = ""

    @property
    def tokens(self) -> int:
        """The tokens of the result, about."""
        return -(-self.bytes // BYTES_PER_TOKEN)

    @property
    def argument_names(self) -> list[str]:
        """The names of the arguments, which the client chose."""
        return [printable(name)[:MAX_NAME] for name in list(self.arguments)[:MAX_ARGUMENTS]]


Sink: TypeAlias = Callable[[CallRecord], None]
"""A receiver of finished calls. It must not block."""


class Recorder:
    """A CallMonitor that gives each finished call to some sinks."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)

    def begin(self, start: CallStart) -> "RecordedCall":
        """Begin to measure a call."""
        return RecordedCall(self._sinks, start)


class RecordedCall:
    """A call that is measured."""

    def __init__(self, sinks: Sequence[Sink], start: CallStart) -> None:
        self._sinks = sinks
        self._start = start
        self._time = time.time()
        self._begin = time.perf_counter()
        self._api = API.get()
        self.trace = start.trace

    def end(self, result: CallToolResult | None, status: int) -> None:
        """Make the record of the call."""
        record = CallRecord(
            time=self._time,
            caller=caller_name(self._start.caller),
            tool=self._start.tool,
            status=status,
            outcome="cancelled" if result is None else "tool_error" if result.is_error else "ok",
            seconds=time.perf_counter() - self._begin,
            bytes=0 if result is None else result_bytes(result),
            arguments=self._start.arguments,
            trace_id=_trace_id(self._start.trace),
            api=self._api,
        )
        for sink in self._sinks:
            try:
                sink(record)
            except Exception:  # the others get it all the same
                logger.exception("A record of the call of %s was not written.", self._start.tool)


def of_api(monitor: Monitor, api: str) -> Monitor:
    """Return a monitor whose records and spans name an API."""

    async def observe(start: CallStart, on_sent: Callable[[int], None], work: MonitoredWork) -> CallToolResult:
        token = API.set(api)
        try:
            return await monitor(start, on_sent, work)
        finally:
            API.reset(token)

    return observe


def caller_name(caller: str) -> str:
    """Return a caller as it is written down: of a session id, which is a secret, the beginning of its digest."""
    kind, _, name = caller.partition(" ")
    if kind == "session":
        return f"session {hashlib.sha256(name.encode()).hexdigest()[:8]}"
    shown = printable(caller)
    if len(shown) > MAX_NAME:  # no two callers have one name
        shown = f"{shown[: MAX_NAME - 17]}~{hashlib.sha256(caller.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return shown or "stdio"


def printable(text: str) -> str:
    """Return a text of a client in one line, with hidden characters as escapes."""
    return " ".join(hidden_characters.escape(text).split())


def result_bytes(result: CallToolResult) -> int:
    """Return the bytes of the texts and of the base64 data in a result's content."""
    return sum(_block_bytes(block) for block in result.content)


def _block_bytes(block: Mapping[str, Any]) -> int:
    inner = block.get("resource", block)
    texts = (inner.get(name) for name in ("text", "data", "blob"))
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if isinstance(text, str))


def _trace_id(trace: Mapping[str, str]) -> str:
    return trace.get("traceparent", "")[3:35]
