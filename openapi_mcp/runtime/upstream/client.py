"""`Upstream`: sends requests to the API through one pool of connections, with time and response size bounded.

This module decides about retries, redirects and limits; `transport` sends. One limit of time holds for all that a call
does: waits, redirects, and answers that arrive a byte a second. Requests go to the transport directly and
not through an `httpx.AsyncClient`, which would take half of a call's CPU time and decide nothing: a user in the URL is
sent as Basic credentials as httpx does, and cookies that the API sets are not stored, since the next call may be
another user's. Proxies, and trusted certificates where none are configured, come from the environment as with httpx
(`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`, …). Errors name the host, never a path, a query or a credential.

`CountedBody` sends a request's body in pieces and reports each. Only the pieces differ from httpx's own stream: the
length is known and sent in the same header, and the body can be sent any number of times.

Specification: RFC 9110 §15.4.
"""

import asyncio
import io
import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import httpx

from ..errors import UpstreamError
from ..event_streams import EVENT_STREAM, EntryReader, parser_for
from .decoding import Decoder
from .errors import describe
from .events import NO_EVENTS, CallEvents
from .http11 import SURPLUS, BufferedResponse, content_type
from .pool import Egress
from .progress import EXTENSION, CallProgress
from .redirects import MAX_REDIRECTS, STATUSES, redirected_request
from .retries import Retries
from .timers import TimeLimit, Timers
from .tls import tls_context
from .transport import Transport

TRUNCATED: Final = "openapi_mcp.truncated"
"""The response extension of a body of which a part is missing: a sentence that says which; empty for a whole body."""

TOTAL_TIMEOUT: Final = 55.0
"""Seconds for a call by default: a little less than the minute after which the first clients give a call up, so that
the model gets the reason and not their timeout."""

PIECE_BYTES: Final = 64 * 1024
"""Bytes written at a time: as much as a socket accepts without waiting."""

MAX_RESPONSE_BYTES: Final = 16 * 1024 * 1024
"""Bytes of one body that are held in memory by default: far more than a result shows, so that a truncated value can be
counted, and so few that twenty bodies at once take less memory than a small machine has."""

T = TypeVar("T")

_Outcome: TypeAlias = httpx.Response | httpx.TransportError | OSError
"""The response to one attempt, or the error that came before any."""

_SPECIAL: Final = STATUSES | {429, 503}
"""Statuses after which another request may follow: redirects and what is tried again (see `retries`)."""

logger = logging.getLogger("openapi_mcp")

_STREAM_MARGIN: Final = 1.0
"""Seconds before the end of a call's time at which a stream is no longer read, so that what arrived is returned."""

_ENTRY_BYTES: Final = 4096
"""Bytes of a stream in which entries are looked for at a time; each may be an empty line."""

_INCOMPLETE: Final = "The API's compressed body ends too early, so that its end is missing."
_SURPLUS: Final = "The API sent more than the Content-Length that it announced; only so many bytes were read."

_DEFAULT_RETRIES: Final = Retries()
_TRANSFER_HEADERS: Final = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, between two pieces of a message, and in total for a call; None means no limit."""

    connect: float | None
    read: float | None
    total: float | None


class Upstream:
    """An asynchronous client of the API. It belongs to one event loop; its creator calls `aclose`.

    Times are in seconds; None is no limit, and so is a `total_timeout` of 0. `follow_redirects_to` are hosts as
    `redirects.is_host` takes them. `ca`, `client_cert` and `client_key` are PEM files as `tls.tls_context` takes them,
    which raises RequestError. `egress` judges what is contacted.
    """

    def __init__(
        self,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        total_timeout: float | None = TOTAL_TIMEOUT,
        max_bytes: int = MAX_RESPONSE_BYTES,
        retries: Retries = _DEFAULT_RETRIES,
        follow_redirects_to: Collection[str] = (),
        ca: Path | None = None,
        client_cert: Path | None = None,
        client_key: Path | None = None,
        egress: Egress | None = None,
    ) -> None:
        verify = tls_context(ca, client_cert, client_key)
        self._transport = transport or Transport(verify=verify, egress=egress)
        self._timeouts = Timeouts(connect_timeout, read_timeout, total_timeout or None)
        self._limits = _limits(self._timeouts)
        self._timers = Timers(self._timeouts.total)
        self._retries = retries
        self._redirect_hosts = tuple(follow_redirects_to)
        self._max_bytes = max_bytes

    async def send(self, request: httpx.Request, events: CallEvents = NO_EVENTS) -> httpx.Response:
        """Return the response with its body read, after following redirects and retrying. Raises UpstreamError.

        Of a body of more than `max_bytes` only so many are read, of an endless stream what arrives in time; the
        response's extension `TRUNCATED` says so. `events` receives what happens meanwhile.
        """
        progress, limit = CallProgress(), TimeLimit(self._timers)
        try:
            with limit:
                outcome = await self._attempt(request, limit, events, progress)
                if isinstance(outcome, httpx.Response) and outcome.status_code not in _SPECIAL:
                    return outcome
                return await self._follow(request, outcome, limit, events, progress)
        except asyncio.CancelledError as error:
            error.add_note(progress.describe())  # for a caller whose own time is over
            raise
        except (httpx.HTTPError, OSError) as error:  # httpx does not wrap a TLS alert that follows the handshake
            if limit.is_over and isinstance(error, TimeoutError):
                unsent = httpx.PoolTimeout("no connection in time") if progress.is_unsent else error
                raise UpstreamError(self._out_of_time(request, progress)) from unsent
            sentence = describe(error, _host(request), asdict(self._timeouts))
            raise UpstreamError(sentence + progress.status_note()) from error

    @property
    def max_bytes(self) -> int:
        """The bytes of one body that are read."""
        return self._max_bytes

    @property
    def total_timeout(self) -> float | None:
        """The seconds that a call may take, None for any."""
        return self._timeouts.total

    async def in_time(self, work: Awaitable[T], name: str) -> T:
        """Return the result of work that may send several requests, and has the time of one call for all of them.

        `name` is that of the tool. Raises UpstreamError.
        """
        try:
            async with asyncio.timeout(self._timeouts.total) as limit:
                return await work
        except TimeoutError as error:
            if not limit.expired():
                raise
            stages: Sequence[str] = getattr(error.__cause__, "__notes__", ())
            stage = f": in its last call of the API {stages[0]}" if stages else ""
            seconds = f"{self._timeouts.total:g} seconds (`--total-timeout`)"
            raise UpstreamError(f"The function of {name} did not finish within {seconds}{stage}.") from error

    def _out_of_time(self, request: httpx.Request, progress: CallProgress) -> str:
        limit = f"{self._timeouts.total:g} seconds (`--total-timeout`)"
        return f"The call of the API at {_host(request)} did not finish within {limit}: {progress.describe()}."

    async def aclose(self) -> None:
        """Close the connections."""
        self._timers.close()
        await self._transport.aclose()

    async def _follow(
        self,
        request: httpx.Request,
        outcome: "_Outcome",
        limit: TimeLimit,
        events: CallEvents,
        progress: CallProgress,
    ) -> httpx.Response:
        """Return the response after retries and redirects, given the outcome of the first attempt."""
        first = request.url
        for hop in range(MAX_REDIRECTS + 1):
            outcome = await self._attempt(request, limit, events, progress) if hop else outcome
            response = await self._retried(request, outcome, limit, events, progress)
            if response.status_code not in STATUSES:
                return response
            next_request = redirected_request(request, response, first, self._redirect_hosts)
            if next_request is None:
                return response
            request = next_request
            progress.redirects += 1
        raise UpstreamError(f"The API at {_host(request)} redirects more than {MAX_REDIRECTS} times; that is a loop.")

    async def _retried(
        self,
        request: httpx.Request,
        outcome: "_Outcome",
        limit: TimeLimit,
        events: CallEvents,
        progress: CallProgress,
    ) -> httpx.Response:
        """Return the response to one request, which is retried while `retries` and the deadline allow."""
        for attempt in itertools.count(1):
            wait = self._retries.wait(request.method, outcome, attempt, progress.waited)
            if wait is None or not _ends_before(limit.end, wait):
                break
            reason = _describe_outcome(outcome)
            logger.info("%s: attempt %d, %s; the next in %.1f s", _host(request), attempt, reason, wait)
            progress.stage = "wait"
            progress.attempts += 1
            await events.on_retry(attempt, reason, wait)
            await self._retries.sleep(wait)
            progress.waited += wait
            outcome = await self._attempt(request, limit, events, progress)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _attempt(
        self, request: httpx.Request, limit: TimeLimit, events: CallEvents, progress: CallProgress
    ) -> "_Outcome":
        """Return the response, or the error that came before any. Errors after the response began are raised."""
        request.extensions = {**request.extensions, "timeout": self._limits, EXTENSION: progress}
        progress.stage, progress.status = "response", 0
        if not events.ignores_requests:
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
        if events.ignores_requests and self._is_read(response):
            return response
        try:
            await events.on_response_head(response)
            buffered = await self._read(response, limit, events, progress)
        finally:
            await response.aclose()
        await events.on_response(buffered)
        return buffered

    async def _read(
        self, response: httpx.Response, limit: TimeLimit, events: CallEvents, progress: CallProgress
    ) -> httpx.Response:
        """Return the response with its body read and decoded, without the headers about its transfer."""
        if self._is_read(response) and not events.counts_bytes:
            return response
        progress.stage, progress.status, progress.received = "body", response.status_code, 0
        body = io.BytesIO()  # whose bytes are returned without a copy
        missing = await self._read_body(response, body, limit, events, progress)
        surplus = _SURPLUS if SURPLUS in response.extensions else ""
        transfer = _TRANSFER_HEADERS if body.tell() else frozenset[bytes]()
        return httpx.Response(
            response.status_code,
            headers=[(name, value) for name, value in response.headers.raw if name.lower() not in transfer],
            content=body.getvalue(),
            request=response.request,
            extensions={**response.extensions, TRUNCATED: missing or surplus},
        )

    def _is_read(self, response: httpx.Response) -> bool:
        """Return whether a body has arrived with its head, is all that was sent, and no stream of entries."""
        if not isinstance(response, BufferedResponse) or SURPLUS in response.extensions:
            return False
        return len(response.content) <= self._max_bytes and parser_for(response.content_type) is None

    async def _read_body(
        self,
        response: httpx.Response,
        body: io.BytesIO,
        limit: TimeLimit,
        events: CallEvents,
        progress: CallProgress,
    ) -> str:
        """Append a response's body to `body` up to the limit; return what is missing of it.

        A stream of entries may never end: it is read until the end of the call's time, one of server-sent events for
        the read timeout.
        """
        kind = content_type(response)
        is_stream = parser_for(kind) is not None
        is_reported = is_stream and response.is_success and events.counts_bytes
        entries = EntryReader(kind if is_reported else "", events.on_entry)
        decoder = Decoder(response.headers.get("content-encoding", ""), self._max_bytes)
        try:
            async with asyncio.timeout_at(self._stream_end(kind, limit.end) if is_stream else None):
                async for chunk in _unpacked(response, decoder):
                    body.write(chunk)
                    if body.tell() > self._max_bytes:
                        body.truncate(self._max_bytes)
                        return f"Only its first {self._max_bytes} bytes were read (`--max-response-size`)."
                    progress.received = response.num_bytes_downloaded
                    if events.counts_bytes:
                        await events.on_bytes_received(response.num_bytes_downloaded)
                    if is_reported:
                        await _report_entries(entries, chunk)
                await entries.feed(b"", final=True)
        except (TimeoutError, httpx.ReadTimeout) as error:
            if is_stream and body.tell():
                return f"The API's stream goes on; only its first {body.tell()} bytes were read."
            deadline = limit.end
            if deadline is not None and asyncio.get_running_loop().time() >= deadline - self._stream_margin:
                raise UpstreamError(self._out_of_time(response.request, progress)) from error
            raise httpx.ReadTimeout("nothing arrived in time", request=response.request) from error
        return "" if decoder.is_complete else _INCOMPLETE

    def _stream_end(self, kind: str, deadline: float | None) -> float | None:
        """Return the time of the event loop until which a stream of this media type is read."""
        ends = [] if deadline is None else [deadline - self._stream_margin]
        if kind.startswith(EVENT_STREAM) and self._timeouts.read is not None:
            ends.append(asyncio.get_running_loop().time() + self._timeouts.read)
        return min(ends, default=None)

    @property
    def _stream_margin(self) -> float:
        return min(_STREAM_MARGIN, (self._timeouts.total or 0.0) / 4)


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


async def _unpacked(response: httpx.Response, decoder: Decoder) -> AsyncIterator[bytes]:
    """Yield the body of a response as it arrives, unpacked; while one piece unpacks to many, others are served."""
    if response.is_stream_consumed:  # by httpx, which has unpacked it
        yield response.content
        return
    async for piece in response.aiter_raw():
        for index, chunk in enumerate(decoder.feed(piece)):
            if index:
                await asyncio.sleep(0)
            yield chunk


async def _report_entries(entries: EntryReader, chunk: bytes) -> None:
    """Report the entries of a piece of a stream, which may be thousands; others are served meanwhile."""
    for start in range(0, len(chunk), _ENTRY_BYTES):
        if start:
            await asyncio.sleep(0)
        await entries.feed(chunk[start : start + _ENTRY_BYTES])


def _limits(timeouts: Timeouts) -> dict[str, float | None]:
    """Return the limits of one request as httpx takes them, without timers that the total limit makes useless."""
    read = timeouts.read
    if timeouts.total is not None and read is not None and read >= timeouts.total:
        read = None
    return httpx.Timeout(read, connect=timeouts.connect).as_dict()


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
