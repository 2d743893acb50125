"""Puts an application on a listening socket, in this process or in several, until a signal ends it; uvicorn does it.

A server that is told to stop ends with exit code 0: streams end at once, and calls in flight have GRACE to finish in.
"""

import functools
import socket
from collections.abc import Callable
from typing import Any, Final

from starlette.types import ASGIApp

from .connections import MAX_AHEAD, Part, Patient
from .door import MAX_HEADER_BYTES
from .supervisor import Ready, supervise

GRACE: Final = 5
"""Seconds that calls in flight have to finish in after a signal; container managers kill after ten."""

IDLE: Final = 30
"""Seconds that a connection waits for its next request: longer than clients do, so that none is closed under them."""


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve an application in this process until SIGINT or SIGTERM comes, which is raised again in the end."""
    import uvicorn

    uvicorn.Server(_config(app)).run(sockets=[listener])


def serve_workers(factory: Callable[[], ASGIApp], listener: socket.socket, workers: int) -> None:
    """Serve in `workers` processes, each with an application of its own, until SIGINT or SIGTERM comes.

    `factory` is called in each of them (in its event loop, on the main thread), and is pickled to get there. SIGHUP is
    passed on to all. A process that dies is replaced; when one cannot begin, all end, and RuntimeError is raised.
    """
    supervisor = supervise(_config(Ready(factory), workers=workers), listener)
    supervisor.run()
    if not supervisor.stopped:
        raise RuntimeError("A worker could not start; what it said is above.")


def _config(app: Any, *, workers: int | None = None) -> Any:
    import uvicorn

    connection: Any = _connection  # any callable will do, and this one can be pickled
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
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )


def _connection(**given: Any) -> Any:
    return _connection_class()(**given)


@functools.cache
def _connection_class() -> type[Patient]:
    try:
        return _of_httptools()
    except ImportError:
        return _of_h11()


def _of_httptools() -> type[Patient]:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Connection(Patient, HttpToolsProtocol):
        """The parser says where it is."""

        _reading = "head"

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._reading = "head"

        def on_headers_complete(self) -> None:
            if len(self.pipeline) >= MAX_AHEAD:
                self.drop()
                raise ConnectionAbortedError  # so that the rest of the packet is not parsed
            super().on_headers_complete()
            self._reading = "body"
            self._expect(None)  # what comes next, perhaps in the same packet, is something else

        def on_message_complete(self) -> None:
            super().on_message_complete()
            self._reading = ""

        def part(self) -> Part | None:
            if self._reading == "body":
                return "rest" if self.cycle.response_complete else None
            return "head" if self._reading else None

    return Connection


def _of_h11() -> type[Patient]:
    from uvicorn.protocols.http import h11_impl

    h11: Any = vars(h11_impl)["h11"]

    class Connection(Patient, h11_impl.H11Protocol):  # type: ignore[misc]  # both are asyncio.Protocol at run time
        """The state machine says where it is."""

        def data_received(self, data: bytes) -> None:
            if len(self.conn.trailing_data[0]) > MAX_HEADER_BYTES:  # of requests to come
                self.drop()
            else:
                super().data_received(data)

        def part(self) -> Part | None:
            state = self.conn.their_state
            if state is h11.SEND_BODY:
                return "rest" if self.cycle.response_complete else None
            return "head" if state is h11.IDLE and self.conn.trailing_data[0] else None

    return Connection
