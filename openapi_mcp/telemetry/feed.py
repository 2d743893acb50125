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
        """True if nobody listens."""
        return not self._sinks

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """The receivers of a call that ends."""
        return self._sinks

    @contextmanager
    def listen(self, sink: Sink) -> Iterator[None]:
        """Give each call that ends within the block to a sink."""
        self._sinks = (*self._sinks, sink)
        try:
            yield
        finally:
            self._sinks = tuple(each for each in self._sinks if each is not sink)

    def monitor(self, inner: Monitor | None) -> Monitor:
        """Return a monitor that passes calls on to another one, and to the listeners.

        It is false while it observes nothing: then a server makes its calls without it.
        """
        return _FeedMonitor(self, inner)

    def observer(self, inner: Observer | None) -> Observer:
        """Return an observer that notes the exchanges of calls within `exchanges`, and passes all on to another one.

        It is false where there is neither.
        """
        return _FeedObserver(inner)

    def record(
        self, inner: Monitor | None, start: CallStart, on_sent: Callable[[int], None], work: MonitoredWork
    ) -> Awaitable[CallToolResult]:
        """Return the result of a call that the listeners get when it has ended."""
        from .monitoring import observe

        recorder = Recorder(self.sinks)
        if not inner:
            return observe(recorder, start, on_sent, work)
        return observe(recorder, start, on_sent, lambda trace, sent: inner(start._replace(trace=trace), sent, work))


class _FeedMonitor:
    """A Monitor of a feed."""

    def __init__(self, feed: CallFeed, inner: Monitor | None) -> None:
        self._feed = feed
        self._inner = inner

    def __bool__(self) -> bool:
        return bool(self._inner) or not self._feed.is_idle

    def __call__(
        self, start: CallStart, on_sent: Callable[[int], None], work: MonitoredWork
    ) -> Awaitable[CallToolResult]:
        if not self._feed.is_idle:
            return self._feed.record(self._inner, start, on_sent, work)
        return self._inner(start, on_sent, work) if self._inner else work(start.trace, on_sent)


class _FeedObserver:
    """An Observer of a feed."""

    def __init__(self, inner: Observer | None) -> None:
        self._inner = inner

    def __bool__(self) -> bool:
        return self._inner is not None or _EXCHANGES.get() is not None

    def __call__(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> Findings | None:
        if (noted := _EXCHANGES.get()) is not None:
            noted.append((request, response))
        return None if self._inner is None else self._inner(tool, request, response)


@contextmanager
def exchanges() -> Iterator[list[Exchange]]:
    """Note the exchanges of the calls that are made within the block, in its context."""
    noted: list[Exchange] = []
    token = _EXCHANGES.set(noted)
    try:
        yield noted
    finally:
        _EXCHANGES.reset(token)
