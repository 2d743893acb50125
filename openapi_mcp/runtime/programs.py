"""A server as a program: on stdio or on a port, until it is told to stop.

Whoever runs it is told on stderr where it listens; stdout belongs to the client.
"""

import signal
import socket
import sys
from ipaddress import ip_address

from . import stdio
from .server import Server
from .streamable_http import LOOPBACK, create_app

GRACE = 5
"""Seconds that calls in flight have to finish in after a signal; container managers kill after ten."""


async def serve_stdio(server: Server) -> None:
    """Serve stdin and stdout until stdin ends or a signal comes."""
    await stdio.serve(server)


def serve_http(server: Server, *, host: str, port: int, path: str = "/mcp") -> None:
    """Serve Streamable HTTP on a port (0 is a free one) until SIGINT or SIGTERM comes, and end the process then."""
    import uvicorn

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named so that asyncio sets TCP_NODELAY: without it, each answer on a kept connection waits 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
        address, chosen = listener.getsockname()[:2]
        sys.stderr.write(f"http://{f'[{address}]' if ':' in address else address}:{chosen}{path}\n")
        app = create_app(server, path=path, allowed_hosts=LOOPBACK if ip_address(address).is_loopback else None)
        uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=GRACE)).run(
            sockets=[listener]
        )
