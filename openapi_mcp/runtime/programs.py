"""A server as a program: on stdio or on a port, until it is told to stop.

Whoever runs it is told on stderr where it listens; stdout belongs to the client.
"""

import signal
import socket
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Final

from . import hosting, stdio
from .door import LOOPBACK
from .errors import RequestError
from .server import Server
from .streamable_http import create_app

BACKLOG: Final = 128
"""Connections that wait to be accepted: what Linux allows without being asked for more."""


async def serve_stdio(server: Server) -> None:
    """Serve stdin and stdout until stdin ends or a signal comes."""
    await stdio.serve(server)


def serve_http(
    server: Server,
    *,
    host: str,
    port: int,
    path: str = "/mcp",
    auth_token: str | None = None,
    allow_unauthenticated: bool = False,
    allowed_hosts: Collection[str] = (),
    allowed_origins: Collection[str] = (),
) -> None:
    """Serve Streamable HTTP on a port (0 is a free one) until SIGINT or SIGTERM comes, and end the process then.

    `auth_token` is what clients must show (`Authorization: Bearer …`). Without one only this machine is listened to,
    unless `allow_unauthenticated`. `allowed_hosts` and `allowed_origins` are names besides those of this machine.
    Raises RequestError where that cannot be.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    with _listening(host, port) as listener:
        address, chosen = listener.getsockname()[:2]
        local = ip_address(address).is_loopback
        if not (local or auth_token or allow_unauthenticated):
            raise RequestError("Anybody who reaches this address could use the API: say what token clients must show.")
        app = create_app(
            server,
            path=path,
            allowed_hosts=(*LOOPBACK, *allowed_hosts) if local or allowed_hosts else None,
            allowed_origins=(*LOOPBACK, *allowed_origins),
            auth_token=auth_token,
        )
        sys.stderr.write(f"http://{f'[{address}]' if ':' in address else address}:{chosen}{path}\n")
        sys.stderr.flush()
        hosting.serve(app, listener)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket. Raises RequestError where that cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named so that asyncio sets TCP_NODELAY: without it, each answer on a kept connection waits 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(BACKLOG)
        except OSError as error:
            raise RequestError(f"Cannot listen on {host}:{port}: {error.strerror or error}.") from None
        yield listener
