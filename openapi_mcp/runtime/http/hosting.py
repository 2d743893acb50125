"""Run an ASGI application on a listening socket with uvicorn, until SIGINT or SIGTERM comes.

A server that is stopped ends with exit code 0: streams end at once, and calls in flight have GRACE_PERIOD to finish in.
Several processes: `supervisor`.
"""

import functools
import logging
import socket
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from starlette.types import ASGIApp

from .. import background
from .access import MAX_HEADER_BYTES
from .connections import MAX_PIPELINED_REQUESTS, MissingAttribute, Part, TimeoutProtocol
from .heads import HeadProtocol

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

logger = logging.getLogger("openapi_mcp")

GRACE_PERIOD: Final = 5
"""Seconds after a signal in which calls in flight may finish; container managers kill after ten."""

IDLE_TIMEOUT: Final = 30
"""Seconds that a connection waits for its next request: longer than clients wait, so that the client closes it."""

MAX_PARSED_HEADERS: Final = 200
"""Header fields of a request that are read at all; `access` allows half of them, and tells the client so."""

MAX_TARGET_BYTES: Final = 8 * 1024
"""Bytes of the path and query of a request, as many as usual servers allow: each `%` of them takes time."""

MIN_CHUNK_BYTES: Final = 256
"""Bytes of a chunk on average, beyond MAX_SMALL_CHUNKS: what is read at once then has a thousand chunks."""

MAX_SMALL_CHUNKS: Final = 1000
"""Chunks of any size that a body may have: of a client that sends each token of a usual message by itself."""


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve an application in this process until SIGINT or SIGTERM comes; raise that signal again at the end."""
    import uvicorn

    background.collect_rarely()
    uvicorn.Server(server_config(app)).run(sockets=[listener])


def server_config(app: Any, *, workers: int | None = None) -> Any:
    """Return the configuration of uvicorn. With `workers`, `app` is a factory of applications."""
    import uvicorn

    connection: Any = _connection  # uvicorn takes any callable, and a function can be pickled
    return uvicorn.Config(
        app,
        factory=workers is not None,
        workers=workers or 1,
        http=connection,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # uvicorn would believe the X-Forwarded-For of every program of this machine
        timeout_keep_alive=IDLE_TIMEOUT,
        timeout_graceful_shutdown=GRACE_PERIOD,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )


def _connection(**options: Any) -> Any:
    """Return the protocol of one connection; uvicorn's own if the classes here do not fit this version of uvicorn."""
    try:
        return _connection_class()(**options)
    except (ImportError, MissingAttribute) as error:
        _warn_once(repr(error))
        from uvicorn.protocols.http.auto import AutoHTTPProtocol

        own: Any = AutoHTTPProtocol
        return own(**options)


@functools.cache
def _warn_once(reason: str) -> None:
    logger.warning("Slow clients are not limited: not supported with this version of uvicorn (%s).", reason)


@functools.cache
def _connection_class() -> type[TimeoutProtocol]:
    try:
        return _httptools_connection()
    except ImportError:
        return _h11_connection()


class PieceLimits:
    """Ends a connection whose request takes long to parse: very many fields or small chunks, or a very long path.

    Each piece is a call of a function, and a packet can have 60,000. Fields behind a body must not change the head, so
    they are dropped; uvicorn would add them. For a connection that is parsed by httptools: what is raised here ends the
    parsing of a packet, and `send_400_response` follows.
    """

    _reading = "head"
    _trailer_bytes = 0
    _chunks_left: float = 0
    excess = ""
    """The part of a request that exceeds its limit, in words for the client; empty if none does."""

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a field of the head. Raises OverflowError for too many, there or behind the body."""
        if self._reading == "head":
            super().on_header(name, value)  # type: ignore[misc]  # of uvicorn's protocol
            if len(cast("HttpToolsProtocol", self).headers) > MAX_PARSED_HEADERS:
                self._refuse(f"The request has more than {MAX_PARSED_HEADERS} header fields.")
            return
        self._trailer_bytes += len(name) + len(value) + 4
        if self._trailer_bytes > MAX_HEADER_BYTES:
            self._refuse(f"The fields behind the body have more than {MAX_HEADER_BYTES} bytes.")

    def on_url(self, url: bytes) -> None:
        """Store a part of the path and query. Raises OverflowError for too long ones."""
        super().on_url(url)  # type: ignore[misc]  # of uvicorn's protocol
        if len(cast("HttpToolsProtocol", self).url) > MAX_TARGET_BYTES:
            self._refuse(f"The path and query have more than {MAX_TARGET_BYTES} bytes.")

    def on_chunk_header(self) -> None:
        """Count a chunk. Raises OverflowError for one too many."""
        self._chunks_left -= 1
        if self._chunks_left < 0:
            self._refuse(f"The body is in chunks of less than {MIN_CHUNK_BYTES} bytes on average: send larger ones.")

    def on_body(self, body: bytes) -> None:
        """Store a part of the body, which lets further chunks follow."""
        self._chunks_left += len(body) / MIN_CHUNK_BYTES
        super().on_body(body)  # type: ignore[misc]  # of uvicorn's protocol

    def _refuse(self, excess: str) -> NoReturn:
        self.excess = excess
        raise OverflowError(excess)


def _httptools_connection() -> type[TimeoutProtocol]:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class HttpToolsConnection(PieceLimits, HeadProtocol, HttpToolsProtocol):
        """A connection parsed by httptools, whose callbacks tell which part is read."""

        required = (
            *TimeoutProtocol.required, "headers", "on_body", "on_header", "on_headers_complete", "on_message_begin",
            "on_message_complete", "on_url", "pipeline", "send_400_response", "_unset_keepalive_if_required",
        )  # fmt: skip

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._reading, self.is_between = "head", False
            self._trailer_bytes, self._chunks_left = 0, MAX_SMALL_CHUNKS

        def on_headers_complete(self) -> None:
            if len(self.pipeline) >= MAX_PIPELINED_REQUESTS:
                raise OverflowError  # so that the rest of the packet is not parsed; `send_400_response` follows
            super().on_headers_complete()
            self._reading = "body"
            self._expect(None)  # the next part, perhaps in the same packet, is another one

        def on_message_complete(self) -> None:
            super().on_message_complete()
            self._reading, self.is_between = "", True

        def part(self) -> Part | None:
            if self._reading == "body":
                return "rest" if self.is_answered() else None
            return "head" if self._reading else None

        def send_400_response(self, msg: str) -> None:
            """Answer a request that is not HTTP, or is one too many; after the responses to those before it."""
            if self._reading == "body" and self.pipeline:  # its headers were right, and it has a place in the line
                self.cycle.body.clear()
                self.cycle.more_body = False
                self.cycle.message_event.set()
            elif self._reading == "body" or not self.is_busy():
                super().send_400_response(self.excess or msg)
                return
            self.end_after_responses()

    return HttpToolsConnection


def _h11_connection() -> type[TimeoutProtocol]:
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class H11Connection(TimeoutProtocol, H11Protocol):  # type: ignore[misc]  # both are asyncio.Protocol at run time
        """A connection parsed by h11, whose state machine tells which part is read."""

        required = (*TimeoutProtocol.required, "conn")

        def part(self) -> Part | None:
            state = self.conn.their_state
            if state is h11.SEND_BODY:
                return "rest" if self.is_answered() else None
            return "head" if state is h11.IDLE and self.conn.trailing_data[0] else None

    return H11Connection
