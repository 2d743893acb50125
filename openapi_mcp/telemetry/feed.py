"""`CallFeed`: the calls of a server for whoever listens just now, and the request and answer of a single call.

A server that has a feed pays for it with a look at an empty set and a context variable in each call; nothing is
recorded while nobody listens.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeAlias

import httpx

from ..runtime.server.hooks import CallStart, Findings, Monitor, MonitoredWork, Observer
from ..runtime.tool import Tool
from ..runtime.types import CallToolResult
from .records import Recorder, Sink

Exchange: TypeAlias = tuple[httpx.Request, httpx.Response]
"""A request to the API and its response, whose body has been read."""

_EXCHANGES: Final[ContextVar[list[Exchange] | None]] = ContextVar("exchanges", default=None)
"""The exchanges of the call that is made in this context; None where nobody asked for them."""


class CallFeed:
    """The finished calls of a server, given to any number of listeners."""

    def __init__(self) -> None:
        self._sinks: tuple[Sink, ...] = ()

    @property
    def is_idle(self) -> bool:
        """Whether nobody listens."""
        return not self._sinks

    @contextmanager
    def listen(self, sink: Sink) -> Iterator[None]:
        """Give each call that ends within the block to a sink."""
        self._sinks = (*self._sinks, sink)
        try:
            yield
        finally:
            self._sinks = tuple(each for each in self._sinks if each is not sink)

    def monitor(self, inner: Monitor | None) -> Monitor:
        """Return a monitor that passes calls on to another one, and to the listeners if there are any."""

        def watch(start: CallStart, on_sent: Callable[[int], None], work: MonitoredWork) -> Awaitable[CallToolResult]:
            if not self._sinks:
                return work(start.trace, on_sent) if inner is None else inner(start, on_sent, work)
            return self._record(inner, start, on_sent, work)

        return watch

    def _record(
        self, inner: Monitor | None, start: CallStart, on_sent: Callable[[int], None], work: MonitoredWork
    ) -> Awaitable[CallToolResult]:
        from .monitoring import observe

        recorder = Recorder(self._sinks)
        if inner is None:
            return observe(recorder, start, on_sent, work)
        return observe(recorder, start, on_sent, lambda trace, sent: inner(start._replace(trace=trace), sent, work))

    def observer(self, inner: Observer | None) -> Observer:
        """Return an observer that notes the exchanges of calls within `exchanges`, and passes all on to another one."""

        def note(tool: Tool, request: httpx.Request, response: httpx.Response) -> Findings | None:
            if (noted := _EXCHANGES.get()) is not None:
                noted.append((request, response))
            return None if inner is None else inner(tool, request, response)

        return note


@contextmanager
def exchanges() -> Iterator[list[Exchange]]:
    """Note the exchanges of the calls that are made within the block, in its context."""
    noted: list[Exchange] = []
    token = _EXCHANGES.set(noted)
    try:
        yield noted
    finally:
        _EXCHANGES.reset(token)
