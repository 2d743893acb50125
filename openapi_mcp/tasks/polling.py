"""Follow an operation to its end: ask for its status as often as the API wants, then for its result.

Requests stay at the origin of the call and carry its credentials; the egress policy and the limits of the API's host
hold for each. The answer to the last one is the answer to the call.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import httpx

from ..runtime.errors import UpstreamError
from ..runtime.server.hooks import PollExchange
from ..runtime.tool import Tool
from ..runtime.upstream.retries import requested_wait
from .status import Status, get_request, read_status, status_request

FIRST_INTERVAL: Final = 1.0
"""Seconds before the first question, and the least between two, where the API names no interval."""

MAX_INTERVAL: Final = 15.0
"""Seconds between two questions where the API names no interval: it grows by half with each."""

MIN_INTERVAL: Final = 0.2
"""Seconds between two questions, whatever the API says (`Retry-After: 0`)."""

MAX_FAILURES: Final = 3
"""Answers in a row that say nothing about the operation (429, 5xx, no answer); it goes on in the meantime."""

_GROWTH: Final = 1.5


class Finished(NamedTuple):
    """The end of an operation: its answer, and whether it failed though the answer is none of an error."""

    response: httpx.Response
    has_failed: bool = False


class Unfinished(NamedTuple):
    """An operation that goes on: the last status, and the seconds that the API asks to wait."""

    status: Status
    wait: float


class AcceptedOperation:
    """One operation that an API accepted. `url` is its status address; `interval` the seconds to the next question."""

    def __init__(self, tool: Tool, first: httpx.Response, request: httpx.Request, exchange: PollExchange) -> None:
        self.tool = tool
        self.first = first
        self.status = Status("running")
        self._request = request
        self._exchange = exchange
        self.interval = _asked_interval(first) or FIRST_INTERVAL

    @classmethod
    def accepted(cls, tool: Tool, first: httpx.Response, exchange: PollExchange) -> "AcceptedOperation | None":
        """Return the operation that a response accepted; None where it accepted none, or names no address to ask."""
        request = status_request(first.request, first)
        return None if request is None else cls(tool, first, _with_keys(tool, first.request, request), exchange)

    @property
    def url(self) -> httpx.URL:
        """The address that is asked."""
        return self._request.url

    async def delete(self) -> None:
        """Send a DELETE to the status address. Raises UpstreamError."""
        request = _copy(self._request)
        request.method = "DELETE"
        await self._exchange.send(request)

    async def finish(
        self, seconds: float | None, report: Callable[["AcceptedOperation"], Awaitable[None]]
    ) -> Finished | Unfinished:
        """Ask until the operation ends, or until the next question would come after so many seconds.

        `report` is called before each question. Raises UpstreamError where the status cannot be asked for.
        """
        end = None if seconds is None else asyncio.get_running_loop().time() + seconds
        failures = 0
        while True:
            await report(self)
            if end is not None and asyncio.get_running_loop().time() + self.interval >= end:
                return Unfinished(self.status, self.interval)
            await asyncio.sleep(self.interval)
            try:
                async with asyncio.timeout_at(end):
                    finished, is_failure = await self._ask(failures)
            except TimeoutError:
                return Unfinished(self.status, self.interval)
            if finished is not None:
                return finished
            failures = failures + 1 if is_failure else 0

    async def _ask(self, failures: int) -> tuple[Finished | None, bool]:
        """Ask once; return the end, if it is one, and whether the answer said nothing about the operation."""
        try:
            response = await self._answer()
        except UpstreamError:
            if failures + 1 >= MAX_FAILURES:
                raise
            return None, True
        self.interval = _asked_interval(response) or min(self.interval * _GROWTH, MAX_INTERVAL)
        if response.status_code in (429, 502, 503, 504) and failures + 1 < MAX_FAILURES:
            return None, True
        if response.status_code >= 300:
            return Finished(response), False
        self.status = read_status(self.first, self.url, response)
        if self.status.outcome == "running":
            return None, False
        return Finished(await self._result(response), self.status.outcome == "failed"), False

    async def _answer(self) -> httpx.Response:
        """Return the answer to a question, asked once more with other credentials if these are refused."""
        response = await self._exchange.send(_copy(self._request))
        if response.status_code != 401:
            return response
        renewed = await self._exchange.renewed()
        request = None if renewed is None else get_request(renewed, str(self.url))
        if request is None:
            return response
        self._request = request
        return await self._exchange.send(_copy(request))

    async def _result(self, response: httpx.Response) -> httpx.Response:
        """Return the result of an operation that has succeeded: at its own address, else the status itself."""
        if not self.status.result_url or self.status.outcome != "succeeded":
            return response
        request = get_request(self._request, self.status.result_url)
        if request is None or request.url == self.url:
            return response
        result = await self._exchange.send(_with_keys(self.tool, self.first.request, request))
        return result if result.is_success else response


def _asked_interval(response: httpx.Response) -> float | None:
    wait = requested_wait(response, time.time())
    return None if wait is None else max(wait, MIN_INTERVAL)


def _with_keys(tool: Tool, call: httpx.Request, request: httpx.Request) -> httpx.Request:
    """Return a request to the same origin with the API keys that stand in the query of the call."""
    names = {
        scheme.parameter
        for alternative in (*tool.security, tool.required_schemes)
        for scheme in alternative
        if scheme.location == "query" and scheme.parameter
    }
    given, own = call.url.params, request.url.params
    missing = {name: given[name] for name in names if name in given and name not in own}
    if missing:
        request.url = request.url.copy_merge_params(missing)
    return request


def _copy(request: httpx.Request) -> httpx.Request:
    """Return the same GET to be sent again; sending adds to the extensions of a request."""
    return httpx.Request("GET", request.url, headers=request.headers.raw, extensions=dict(request.extensions))
