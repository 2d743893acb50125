"""`Upstream`: sends requests to the API through one pool of connections, with time and response size bounded.

This module decides about retries, redirects and limits; `transport` sends. Requests go to the transport directly and
not through an `httpx.AsyncClient`, which would take half of a call's CPU time and decide nothing: a user in the URL is
sent as Basic credentials as httpx does, and cookies that the API sets are not stored, since the next call may be
another user's. Proxies, and trusted certificates where none are configured, come from the environment as with httpx
(`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`, …). Errors name the host, never a path, a query or a credential.

`CountedBody` sends a request's body in pieces and reports each. Only the pieces differ from httpx's own stream: the
length is known and sent in the same header, and the body can be sent any number of times.

Specification: RFC 9110 §15.4.
"""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import httpx

from ..errors import UpstreamError
from ..event_streams import EVENT_STREAM, EntryReader, parser_for
from .errors import describe
from .events import NO_EVENTS, CallEvents
from .http11 import BufferedResponse, content_type
from .redirects import MAX_REDIRECTS, redirected_request
from .retries import Retries
from .tls import tls_context
from .transport import Transport

TRUNCATED: Final = "openapi_mcp.truncated"
"""The response extension that marks a body of which only the first `max_bytes` were read."""

PIECE_BYTES: Final = 64 * 1024
"""Bytes written at a time: as much as a socket accepts without waiting."""

MAX_RESPONSE_BYTES: Final = 64 * 1024 * 1024
"""How much of one body is held in memory: far more than a result shows, so that a truncated value can be counted."""

logger = logging.getLogger("openapi_mcp")

_DEFAULT_RETRIES: Final = Retries()
_TRANSFER_HEADERS: Final = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, between two pieces of a message, and in total with all retries; None means no limit."""

    connect: float | None
    read: float | None
    total: float | None


class Upstream:
    """An asynchronous client of the API. It belongs to one event loop; its creator calls `aclose`.

    `ca`, `client_cert` and `client_key` are PEM files as `tls.tls_context` takes them, which raises RequestError.
    """

    def __init__(
        self,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        total_timeout: float | None = None,
        max_bytes: int = MAX_RESPONSE_BYTES,
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

    async def send(self, request: httpx.Request, events: CallEvents = NO_EVENTS) -> httpx.Response:
        """Return the response with its body read, after following redirects and retrying. Raises UpstreamError.

        Of a body of more than `max_bytes` only so many are read, and the response has the extension `TRUNCATED`.
        `events` receives what happens meanwhile.
        """
        try:
            if self._timeouts.total is None:
                return await self._follow(request, None, events)
            async with asyncio.timeout(self._timeouts.total) as limit:
                return await self._follow(request, limit.when(), events)
        except (httpx.HTTPError, OSError) as error:  # httpx does not wrap a TLS alert that follows the handshake
            raise UpstreamError(describe(error, _host(request), asdict(self._timeouts))) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _follow(self, request: httpx.Request, deadline: float | None, events: CallEvents) -> httpx.Response:
        waited = 0.0
        for _ in range(MAX_REDIRECTS + 1):
            response, waited = await self._send_with_retries(request, deadline, waited, events)
            next_request = redirected_request(request, response)
            if next_request is None:
                return response
            request = next_request
        raise UpstreamError(f"The API at {_host(request)} redirects more than {MAX_REDIRECTS} times; that is a loop.")

    async def _send_with_retries(
        self, request: httpx.Request, deadline: float | None, waited: float, events: CallEvents
    ) -> tuple[httpx.Response, float]:
        """Return the response to one request, which is retried while `retries` and the deadline allow.

        `waited` are the seconds that were waited for the requests before it, and are returned with those for this one.
        """
        for attempt in itertools.count(1):
            outcome = await self._attempt(request, events)
            wait = self._retries.wait(request.method, outcome, attempt, waited)
            if wait is None or not _ends_before(deadline, wait):
                break
            reason = _describe_outcome(outcome)
            logger.info("%s: attempt %d, %s; the next in %.1f s", _host(request), attempt, reason, wait)
            await events.on_retry(attempt, reason, wait)
            await self._retries.sleep(wait)
            waited += wait
        if isinstance(outcome, Exception):
            raise outcome
        return outcome, waited

    async def _attempt(
        self, request: httpx.Request, events: CallEvents
    ) -> httpx.Response | httpx.TransportError | OSError:
        """Return the response, or the error that came before any. Errors after the response began are raised."""
        request.extensions = {**request.extensions, "timeout": self._limits}
        if events.counts_bytes:
            report_sent_bytes(request, events.on_bytes_sent)
        await events.on_request(request)
        try:
            response = await self._transport.handle_async_request(_authorized(request))
        except (httpx.TransportError, OSError) as error:
            return error
        response.request = request
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s %s%s: %d", request.method, _host(request), request.url.path, response.status_code)
        try:
            await events.on_response_head(response)
            buffered = await self._read(response, events)
        finally:
            await response.aclose()
        await events.on_response(buffered)
        return buffered

    async def _read(self, response: httpx.Response, events: CallEvents) -> httpx.Response:
        """Return the response with its body read and decoded, without the headers about its transfer."""
        if isinstance(response, BufferedResponse) and not events.counts_bytes and self._is_usable_as_is(response):
            return response
        body = bytearray()
        is_complete = await self._read_body(response, body, events)
        transfer = _TRANSFER_HEADERS if body else frozenset[bytes]()
        return httpx.Response(
            response.status_code,
            headers=[(name, value) for name, value in response.headers.raw if name.lower() not in transfer],
            content=bytes(body[: self._max_bytes]),
            request=response.request,
            extensions={**response.extensions, TRUNCATED: not is_complete},
        )

    def _is_usable_as_is(self, response: BufferedResponse) -> bool:
        """Return whether a body is within the limit and not a stream of entries."""
        return len(response.content) <= self._max_bytes and parser_for(response.content_type) is None

    async def _read_body(self, response: httpx.Response, body: bytearray, events: CallEvents) -> bool:
        """Append a response's body to `body` up to the limit; return whether that was all of it.

        A stream of server-sent events may never end: it is read for the read timeout.
        """
        kind = content_type(response)
        entries = EntryReader(kind if response.is_success else "", events.on_entry)
        try:
            async with asyncio.timeout(self._timeouts.read if kind.startswith(EVENT_STREAM) else None):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > self._max_bytes:
                        return False
                    if events.counts_bytes:
                        await events.on_bytes_received(response.num_bytes_downloaded)
                    await entries.feed(chunk)
                await entries.feed(b"", final=True)
        except TimeoutError as error:
            if not body:
                raise httpx.ReadTimeout("no event arrived in time", request=response.request) from error
            return False
        return True


class CountedBody(httpx.AsyncByteStream):
    """A request's body that reports, after each piece, how many bytes were taken; each iteration starts again."""

    def __init__(self, content: bytes, report: Callable[[int], Awaitable[None]]) -> None:
        self._content = content
        self._report = report

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._content), PIECE_BYTES):
            piece = self._content[start : start + PIECE_BYTES]
            yield piece
            await self._report(start + len(piece))


def report_sent_bytes(request: httpx.Request, report: Callable[[int], Awaitable[None]]) -> None:
    """Make a request report how much of its body is sent, if that is more than one piece."""
    if len(request.content) > PIECE_BYTES:
        request.stream = CountedBody(request.content, report)


def _ends_before(deadline: float | None, seconds: float) -> bool:
    """Return whether a wait of so many seconds ends before the deadline."""
    return deadline is None or asyncio.get_running_loop().time() + seconds < deadline


def _describe_outcome(outcome: httpx.Response | Exception) -> str:
    return str(outcome.status_code) if isinstance(outcome, httpx.Response) else type(outcome).__name__


def _authorized(request: httpx.Request) -> httpx.Request:
    """Return the request with the user and password of its URL, if any, as Basic credentials."""
    url = request.url
    return next(httpx.BasicAuth(url.username, url.password).auth_flow(request)) if url.userinfo else request


def _host(request: httpx.Request) -> str:
    return request.url.netloc.decode("ascii")
