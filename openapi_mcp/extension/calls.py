"""Calls with the hooks of a program: `watched` knows the tool of a call, `ExtendedUpstream` sends its requests.

A call's tool and origin are kept in a context variable, since the client of the API knows requests only.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import httpx

from ..errors import CallFailed
from ..runtime.errors import RequestError
from ..runtime.server.hooks import CallStart, Monitor, MonitoredWork
from ..runtime.tool import Tool
from ..runtime.types import CallToolResult
from ..runtime.upstream.client import Upstream
from ..runtime.upstream.events import NO_EVENTS, CallEvents
from ..runtime.upstream.redirects import origin
from .hooks import Extension


@dataclass(slots=True)
class _WatchedCall:
    """The tool of a call, and the origin of its first request: signatures and hooks are for that one alone."""

    tool: Tool
    origin: tuple[str, str, int | None] | None = None

    def is_own(self, request: httpx.Request) -> bool:
        """Return whether a request goes where the first one went."""
        self.origin = self.origin or origin(request.url)
        return origin(request.url) == self.origin


_CALL: Final[ContextVar[_WatchedCall | None]] = ContextVar("watched_call", default=None)


def watched(extension: Extension, monitor: Monitor | None) -> Monitor:
    """Return a monitor that tells the hooks the tool of each call, and gives them its result."""

    async def watch(start: CallStart, on_sent: Callable[[int], None], work: MonitoredWork) -> CallToolResult:
        assert start.operation is not None  # noqa: S101  # calls of operations are monitored, and no others
        token = _CALL.set(_WatchedCall(start.operation))
        try:
            made = await (work(start.trace, on_sent) if monitor is None else monitor(start, on_sent, work))
        finally:
            _CALL.reset(token)
        try:
            return await extension.result(start.operation, made)
        except CallFailed as error:
            raise RequestError(error.message) from error

    return watch


class ExtendedUpstream(Upstream):
    """A client of the API whose requests pass the hooks, and are signed by `Extension.auth`, before they are sent."""

    def __init__(self, extension: Extension, **options: Any) -> None:
        super().__init__(**options)
        self._extension = extension

    async def send(self, request: httpx.Request, events: CallEvents = NO_EVENTS) -> httpx.Response:
        """Return the response, as `Upstream.send` does. Raises UpstreamError; RequestError where a hook refuses."""
        call = _CALL.get()
        if call is None or not call.is_own(request):
            return await super().send(request, events)
        try:
            request = await self._extension.request(call.tool, request)
        except CallFailed as error:
            raise RequestError(error.message) from error
        if self._extension.auth is None:
            return await super().send(request, events)
        return await self._send_signed(self._extension.auth, request, events)

    async def _send_signed(self, auth: httpx.Auth, request: httpx.Request, events: CallEvents) -> httpx.Response:
        """Return the last response of an exchange that `auth` leads, as httpx does it."""
        flow = auth.async_auth_flow(request)
        try:
            signed = await anext(flow)
            while True:
                response = await super().send(signed, events)
                try:
                    signed = await flow.asend(response)
                except StopAsyncIteration:
                    return response
        finally:
            await flow.aclose()


class BorrowedTransport(httpx.AsyncBaseTransport):
    """A transport of a program, which the program closes: several servers use it, one after the other."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response of the other transport."""
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Leave the other transport open."""
