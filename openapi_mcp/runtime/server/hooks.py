"""Functions that a server may be given: limits, credentials that are fetched, and observers of calls and responses."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol, TypeAlias

import httpx

from ..tool import Tool
from ..types import CallToolResult

Findings: TypeAlias = Future[Sequence[str]]
"""Sentences about a call, which may become known while its result is made or later."""

Observer: TypeAlias = Callable[[Tool, httpx.Request, httpx.Response], Findings | None]
"""A function that is called for each response of the API. It must not block, and must not change its arguments."""

Limiter: TypeAlias = Callable[[str, str], float | Awaitable[float | None] | None]
"""A rate limit: for a caller and a tool's name None if the call may be made, else the seconds until it may."""


class CredentialSource(Protocol):
    """A source of credentials that are fetched, such as access tokens. Both methods raise RuntimeFailure."""

    async def credentials(self, tool: Tool, static: Mapping[str, str]) -> Mapping[str, str]:
        """Return the credentials of a call by their scheme: `static` itself if it needs no others."""

    async def renewed(self, tool: Tool, static: Mapping[str, str], used: Mapping[str, str]) -> Mapping[str, str] | None:
        """Return credentials in the place of those that the API refused with 401; None if there are no others."""


class CallStart(NamedTuple):
    """A call that begins: the tool, its arguments as the client sent them, and the client's name for limits.

    `trace` is the W3C trace context that the client sent, by header.
    """

    tool: str
    arguments: Mapping[str, Any]
    caller: str
    trace: Mapping[str, str]


MonitoredWork: TypeAlias = Callable[[Mapping[str, str], Callable[[int], None]], Awaitable[CallToolResult]]
"""A call that is made with a trace context for the API; the function gets the status of each answer."""

Monitor: TypeAlias = Callable[[CallStart, Callable[[int], None], MonitoredWork], Awaitable[CallToolResult]]
"""An observer of calls from their beginning to their result, which it returns: for logs, metrics and traces."""
