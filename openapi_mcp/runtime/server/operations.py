"""The way from a call to the follower of its operation, where the API carries that out in the background."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import httpx

from ..request.build import RequestOptions, build_request
from ..tool import Tool
from ..upstream.client import Upstream
from ..upstream.events import CallEvents
from .hooks import OperationFollower, PollExchange


class FollowedCalls(Protocol):
    """The calls of a server (`Calls`) that has a follower."""

    upstream: Upstream

    @property
    def follower(self) -> OperationFollower | None:
        """The follower."""


async def followed(  # noqa: PLR0917  # a step of `Calls._send`, with all that it has
    calls: FollowedCalls,
    tool: Tool,
    arguments: Mapping[str, Any],
    response: httpx.Response,
    renew: Callable[[], Awaitable[RequestOptions | None]],
    events: CallEvents,
    started: float,
) -> httpx.Response:
    """Return the answer to a call that began at a time of the event loop, once its operation has ended.

    `renew` returns options with other credentials than those that the API refused, None if there are none.
    """

    async def renewed() -> httpx.Request | None:
        options = await renew()
        return None if options is None else build_request(tool, arguments, options)

    if calls.follower is None:
        return response
    total = calls.upstream.total_timeout
    left = None if total is None else total - (asyncio.get_running_loop().time() - started)
    return await calls.follower.follow(tool, response, PollExchange(calls.upstream.send, renewed), events, left)
