"""`GuardedTransport`: a transport that spares hosts which fail, keeps to a rate, and keeps places free for other hosts.

- A host that does not answer is left alone for a while (see `breaker`).
- With a rate limit (`--upstream-rate-limit`) requests to a host wait for their turn, or are refused if that is far off.
- Where several hosts are called, one of them has at most MAX_REQUESTS_OF_HOST requests in progress, waiting ones
  included: calls of a host that hangs do not take the places of the others.

Nothing of this is retried: each refusal is an UpstreamError that says what to do.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, cast

import httpx

from ..runtime.errors import UpstreamError
from ..runtime.upstream.errors import describe
from ..runtime.upstream.http11 import BufferedResponse, MalformedResponse
from ..runtime.upstream.progress import EXTENSION
from ..runtime.upstream.transport import PlaceKeeper
from .breaker import CircuitBreaker

MAX_REQUESTS_OF_HOST: Final = 200
"""Requests to one host in progress where several are called: more than the 117 connections that it may have (see
`runtime.upstream.pool`), and fewer than the 256 calls that one client may make at once."""

MAX_WAIT: Final = 10.0
"""Seconds that a request waits for its turn; then a model can wait better than a connection, as with Retry-After."""

MIN_UNANSWERED: Final = 10.0
"""Seconds after which a request that its caller gives up means that the host does not answer: many APIs take some."""

GATEWAY_STATUSES: Final = frozenset({502, 503, 504})
"""Statuses of a gateway whose API does not answer; without a body, they count as no answer."""

RateLimiter: TypeAlias = Callable[[str, str], Awaitable[float | None] | float | None]
"""Counts a request of a caller to a host; returns None, or the seconds to wait where it would exceed the limit."""

_CALLER: Final = "api"


class GuardedTransport(httpx.AsyncBaseTransport):
    """A transport for requests to the API over another one.

    `breaker` None never refuses a host, `limiter` None has no rate limit (`rate` is its text). `is_shared` tells that
    several hosts are called. `patience` are the seconds after which a request that its caller gives up counts as one
    that the host did not answer.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        breaker: CircuitBreaker | None,
        limiter: RateLimiter | None = None,
        *,
        rate: str = "",
        is_shared: bool = False,
        patience: float = MIN_UNANSWERED,
    ) -> None:
        self._patience = patience
        self._inner = inner
        self._breaker = breaker
        self._limiter = limiter
        self._rate = rate
        self._is_shared = is_shared
        self._in_progress: Counter[str] = Counter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises UpstreamError where it is refused here, and as the other transport does."""
        host = request.url.netloc.decode("ascii")
        if self._is_shared and self._in_progress[host] >= MAX_REQUESTS_OF_HOST:
            raise UpstreamError(
                f"{MAX_REQUESTS_OF_HOST} requests to {host} are in progress; others of this server's hosts can be "
                "called. Try again when some have ended."
            )
        breaker = self._breaker
        is_probe = breaker is not None and breaker.admit(host)
        place = _HostPlace(self._in_progress, host) if self._is_shared else None
        began = time.monotonic()
        failure: BaseException | None = None
        try:
            if self._limiter is not None:
                await self._wait_for_turn(self._limiter, host, request)
                began = time.monotonic()
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            if place is not None:
                place.give_back()
            failure = error
            raise
        finally:
            if failure is not None and breaker is not None:
                seconds = time.monotonic() - began
                if _is_unanswered(failure, request, seconds >= self._patience):
                    breaker.fail(host, _reason(failure, host, seconds), is_probe=is_probe)
                elif is_probe:
                    breaker.release(host)
        if breaker is not None:
            _judge_answer(breaker, host, response, is_probe=is_probe)
        if place is not None:
            _keep(place, response)
        return response

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()

    async def _wait_for_turn(self, limiter: RateLimiter, host: str, request: httpx.Request) -> None:
        """Wait until the rate limit lets a request pass. Raises UpstreamError where that takes longer than MAX_WAIT."""
        waited = 0.0
        while True:
            verdict = limiter(_CALLER, host)
            wait = verdict if verdict is None or isinstance(verdict, float | int) else await verdict
            if wait is None:
                return
            if waited + wait > MAX_WAIT:
                raise UpstreamError(
                    f"No request was sent: the limit for requests to {host}, {self._rate} (`--upstream-rate-limit`), "
                    f"is used up. Try again in {max(1, round(wait))} seconds."
                )
            if (progress := request.extensions.get(EXTENSION)) is not None:
                progress.stage = "wait"
            await asyncio.sleep(max(wait, 0.01))
            waited += max(wait, 0.01)
            if progress is not None:
                progress.stage = "response"


class _HostPlace:
    """A place among the requests in progress of a host, to be given back; a second time does nothing."""

    __slots__ = ("_counts", "_host")

    def __init__(self, counts: Counter[str], host: str) -> None:
        self._counts: Counter[str] | None = counts
        self._host = host
        counts[host] += 1

    def give_back(self) -> None:
        """Let another request begin."""
        counts, self._counts = self._counts, None
        if counts is not None:
            counts[self._host] -= 1


def _keep(place: _HostPlace, response: httpx.Response) -> None:
    """Keep the place of a response until its body is closed."""
    if isinstance(response, BufferedResponse):  # which has its body
        place.give_back()
    else:
        response.stream = PlaceKeeper(cast("httpx.AsyncByteStream", response.stream), place.give_back)


def _judge_answer(breaker: CircuitBreaker, host: str, response: httpx.Response, *, is_probe: bool) -> None:
    is_nothing = (
        response.status_code in GATEWAY_STATUSES
        and isinstance(response, BufferedResponse)
        and not response.content
        and "retry-after" not in response.headers
    )
    if is_nothing:
        reason = f"The last answer was {response.status_code} without a body."
        breaker.fail(host, reason, is_probe=is_probe)
    else:
        breaker.succeed(host)


def _is_unanswered(error: BaseException, request: httpx.Request, is_long: bool) -> bool:
    """Return whether an error means that the host does not answer; `is_long`: the request took its time."""
    if isinstance(error, asyncio.CancelledError):
        progress = request.extensions.get(EXTENSION)
        is_sent = progress is None or progress.stage not in {"connection", "wait"}
        return is_long and is_sent
    if isinstance(error, httpx.PoolTimeout | httpx.LocalProtocolError | httpx.UnsupportedProtocol | MalformedResponse):
        return False
    return isinstance(error, httpx.TransportError | OSError)


def _reason(error: BaseException, host: str, seconds: float) -> str:
    """Return a sentence about the error of the last request."""
    if isinstance(error, Exception):
        return describe(error, host, {"connect": seconds, "read": seconds})
    return f"The last one had no answer within {seconds:.0f} seconds."
