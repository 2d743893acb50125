"""Sending requests to the API behind the bridge: one pool of connections, bounded time, bounded answers.

What decides here and `transport` carries. Requests go straight to it, for a client of httpx would do half a call's work
and decide nothing: a user in the URL is sent as Basic credentials as it does, and cookies that the API sets are not
kept, for the next call may be another user's. Proxies, and trusted certificates where none are given, are taken from
the environment as httpx does (`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`, …). Errors name the host, never a path, a
query or a credential. Specification: RFC 9110 §15.4.
"""

import asyncio
import itertools
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import httpx

from . import counting
from .errors import UpstreamError
from .failures import sentence
from .listener import SILENT, Listener
from .redirects import MAX_REDIRECTS, following
from .results import CUT_SHORT
from .retries import Retries
from .streams import EVENT_STREAM, Entries, kind_of
from .tls import tls_context
from .transport import Transport
from .whole import Whole, content_type

logger = logging.getLogger("openapi_mcp")

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""How much of one answer is held in memory: far more than a result shows, so that what is cut is still counted."""

_DEFAULT_RETRIES: Final = Retries()


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, between two pieces of a message, and for everything, retries too; None is for ever."""

    connect: float | None
    read: float | None
    total: float | None


class Upstream:
    """An asynchronous client of the upstream; make one for an event loop, share it, close it.

    `ca`, `client_cert` and `client_key` are files in PEM form, as `tls.tls_context` takes them; it raises RequestError.
    """

    def __init__(
        self,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        total_timeout: float | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
        retries: Retries = _DEFAULT_RETRIES,
        ca: Path | None = None,
        client_cert: Path | None = None,
        client_key: Path | None = None,
    ) -> None:
        verify = tls_context(ca, client_cert, client_key)
        self._transport = transport or Transport(verify=verify)
        self._timeouts = Timeouts(connect_timeout, read_timeout, total_timeout)
        self._limits = httpx.Timeout(read_timeout, connect=connect_timeout).as_dict()
        self._retries = retries
        self._max_bytes = max_bytes

    async def send(self, request: httpx.Request, listener: Listener = SILENT) -> httpx.Response:
        """The answer with its body read, redirects followed, asked again as `retries` says. Raises UpstreamError.

        A body of more than `max_bytes` is read so far and marked with the extension `results.CUT_SHORT`. `listener` is
        told how it goes meanwhile.
        """
        try:
            if self._timeouts.total is None:
                return await self._follow(request, None, listener)
            async with asyncio.timeout(self._timeouts.total) as limit:
                return await self._follow(request, limit.when(), listener)
        except (httpx.HTTPError, OSError) as error:  # a TLS alert after the handshake passes through httpx as it is
            raise UpstreamError(sentence(error, _host(request), asdict(self._timeouts))) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _follow(self, request: httpx.Request, deadline: float | None, listener: Listener) -> httpx.Response:
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._insist(request, deadline, listener)
            next_request = following(request, response)
            if next_request is None:
                return response
            request = next_request
        raise UpstreamError(f"The API at {_host(request)} redirects more than {MAX_REDIRECTS} times; that is a loop.")

    async def _insist(self, request: httpx.Request, deadline: float | None, listener: Listener) -> httpx.Response:
        """The answer to one request, which is sent again where `retries` says so and its time lasts."""
        for tried in itertools.count(1):
            outcome = await self._attempt(request, listener)
            wait = self._retries.wait(request.method, outcome, tried)
            if wait is None or not _lasts(deadline, wait):
                break
            logger.info("%s: attempt %d, %s; the next in %.1f s", _host(request), tried, _shown(outcome), wait)
            await listener.retrying(tried, _shown(outcome), wait)
            await self._retries.sleep(wait)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _attempt(
        self, request: httpx.Request, listener: Listener
    ) -> httpx.Response | httpx.TransportError | OSError:
        """An answer, or why there was none. What goes wrong after an answer has begun is raised."""
        request.extensions = {**request.extensions, "timeout": self._limits}
        if listener.counts:
            counting.count(request, listener.sent)
        await listener.asked(request)
        try:
            response = await self._transport.handle_async_request(_authorized(request))
        except (httpx.TransportError, OSError) as error:
            return error
        response.request = request
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s %s%s: %d", request.method, _host(request), request.url.path, response.status_code)
        try:
            await listener.answering(response)
            answer = await self._read(response, listener)
        finally:
            await response.aclose()
        await listener.answered(answer)
        return answer

    async def _read(self, response: httpx.Response, listener: Listener) -> httpx.Response:
        """The same response with its body in memory, decoded; its headers no longer say how it was transferred."""
        if isinstance(response, Whole) and not listener.counts and self._is_plain(response):
            return response
        body = bytearray()
        cut_short = not await self._fill(body, response, listener)
        transfer = _TRANSFER if body else frozenset[bytes]()
        return httpx.Response(
            response.status_code,
            headers=[(name, value) for name, value in response.headers.raw if name.lower() not in transfer],
            content=bytes(body[: self._max_bytes]),
            request=response.request,
            extensions={**response.extensions, CUT_SHORT: cut_short},
        )

    def _is_plain(self, response: Whole) -> bool:
        """Whether a body can stay as it is: it is within the limit, and no stream of entries."""
        return len(response.content) <= self._max_bytes and kind_of(response.content_type) is None

    async def _fill(self, body: bytearray, response: httpx.Response, listener: Listener) -> bool:
        """Read a body up to the limit; whether it ended before. An event stream may never: it has the read timeout."""
        kind = content_type(response)
        entries = Entries(kind if response.is_success else "", listener.entry)
        try:
            async with asyncio.timeout(self._timeouts.read if kind.startswith(EVENT_STREAM) else None):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > self._max_bytes:
                        return False
                    if listener.counts:
                        await listener.received(response.num_bytes_downloaded)
                    await entries.take(chunk)
                await entries.take(b"", final=True)
        except TimeoutError as error:
            if not body:
                raise httpx.ReadTimeout("no event came", request=response.request) from error
            return False
        return True


_TRANSFER: Final = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


def _lasts(deadline: float | None, seconds: float) -> bool:
    """Whether the time for everything is not over before a wait is."""
    return deadline is None or asyncio.get_running_loop().time() + seconds < deadline


def _shown(outcome: httpx.Response | Exception) -> str:
    return str(outcome.status_code) if isinstance(outcome, httpx.Response) else type(outcome).__name__


def _authorized(request: httpx.Request) -> httpx.Request:
    """The request with the user and password of its URL, where it has them."""
    url = request.url
    return next(httpx.BasicAuth(url.username, url.password).auth_flow(request)) if url.userinfo else request


def _host(request: httpx.Request) -> str:
    return request.url.netloc.decode("ascii")
