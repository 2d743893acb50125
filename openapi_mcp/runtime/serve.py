"""Serve an MCP server until a signal comes: on stdio, or over HTTP on a port that this module opens.

The URL that an HTTP server listens on is written to stderr; stdout belongs to the client.
"""

import signal
import socket
import sys
from collections.abc import Collection
from ipaddress import ip_address
from typing import Final

from . import stdio
from .errors import RequestError
from .http import hosting
from .http.access import LOOPBACK
from .http.app import create_app
from .server.server import Server

BACKLOG: Final = 128
"""Connections that wait to be accepted: what Linux allows by default."""


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
    trusted_proxies: Collection[str] = (),
) -> None:
    """Serve Streamable HTTP on a port (0 is a free one) until SIGINT or SIGTERM comes, and end the process then.

    Clients must send `auth_token` (`Authorization: Bearer …`). Without a token the server listens to this machine only,
    unless `allow_unauthenticated`. `allowed_hosts` and `allowed_origins` are names besides those of this machine,
    `trusted_proxies` the addresses and networks of proxies whose X-Forwarded-For is believed.
    Raises RequestError as `listen` and `check_access` do.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    with listen(host, port) as listener:
        check_access(listener, auth_token=auth_token, allow_unauthenticated=allow_unauthenticated)
        app = create_app(
            server,
            path=path,
            allowed_hosts=allowed_names(allowed_hosts, local=is_local(listener)),
            allowed_origins=allowed_origins,
            auth_token=auth_token,
            trusted_proxies=trusted_proxies,
        )
        sys.stderr.write(f"{url(listener, path)}\n")
        sys.stderr.flush()
        hosting.serve(app, listener)


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 takes a free one. Raises RequestError if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named so that asyncio sets TCP_NODELAY: without it, each answer on a kept connection waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise RequestError(f"Cannot listen on {host}:{port}: {error.strerror or error}.") from None
    return listener


def check_access(listener: socket.socket, *, auth_token: str | None, allow_unauthenticated: bool) -> None:
    """Raise RequestError for a server that other machines reach without a token, unless that is allowed.

    MCP asks every server of tools for access control; the users of this machine are trusted without it.
    Specification: server/tools, "Security Considerations".
    """
    if not (is_local(listener) or auth_token or allow_unauthenticated):
        raise RequestError("Everybody who reaches this address could call the API with your credentials: set a token.")


def allowed_names(hosts: Collection[str], *, local: bool) -> Collection[str] | None:
    """Return the values that Host may have; None allows any, for a public server whose names are not configured."""
    return (*LOOPBACK, *hosts) if local or hosts else None


def is_local(listener: socket.socket) -> bool:
    """Return whether only this machine reaches a listening socket."""
    return ip_address(listener.getsockname()[0]).is_loopback


def url(listener: socket.socket, path: str) -> str:
    """Return the URL of a path on a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
