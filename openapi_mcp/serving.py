"""Puts a bridge's server on stdio or on a port until it is told to stop; it knows sockets and signals only."""

import asyncio
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Final

from .bridge import Bridge
from .errors import UsageError
from .runtime import stdio
from .runtime.streamable_http import LOOPBACK, create_app

GRACE: Final = 5
"""Seconds that calls in flight have to finish in after a signal; container managers kill after ten."""

BACKLOG: Final = 128
"""Connections that wait to be accepted: what Linux allows without being asked for more."""


def end_on_signals() -> None:
    """From now on SIGINT and SIGTERM end the process with 0: being stopped is how a server ends, and not a failure.

    While a transport serves it has handlers of its own, which finish what is in flight; uvicorn raises the signal again
    once it has stopped, and then it arrives here.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))


def over_stdio(bridge: Bridge) -> None:
    """Serve stdin and stdout until stdin ends or a signal comes."""
    with _drift_summed_up(bridge):
        asyncio.run(stdio.serve(bridge.server()))


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket; port 0 takes a free one. Raises UsageError where that cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named so that asyncio sets TCP_NODELAY: without it, each answer on a kept connection waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"cannot listen: {error.strerror or error}",
            where=f"{host}:{port}",
            hint="choose another with --port or --host",
        ) from None
    with listener:
        yield listener


def address(listener: socket.socket) -> str:
    """`host:port` as it stands in a URL."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def over_http(bridge: Bridge, listener: socket.socket, path: str) -> None:
    """Serve Streamable HTTP on a listening socket until a signal comes."""
    import uvicorn

    local = ip_address(listener.getsockname()[0]).is_loopback
    app = create_app(bridge.server(), path=path, allowed_hosts=LOOPBACK if local else None)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=GRACE)
    with _drift_summed_up(bridge):
        uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _drift_summed_up(bridge: Bridge) -> Iterator[None]:
    """Say on stderr at the end, however it comes, what a contract check found."""
    try:
        yield
    finally:
        if bridge.drift:
            bridge.drift.close()
            sys.stderr.write("\n".join([*bridge.drift.summary(), ""]))
