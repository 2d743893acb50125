"""Puts a bridge's server on a port until it is told to stop: the address, the door, the processes behind it.

What is said to whoever runs it, and how its tools stay at what the document says, is as on stdio (`serving`).
"""

import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from starlette.applications import Starlette

from . import report
from .bridge import Bridge
from .endpoint import Endpoint
from .errors import BridgeError, UsageError
from .opening import Opening
from .reloading import Reloader, on_stderr
from .runtime import hosting
from .runtime.door import LOOPBACK
from .runtime.peers import Peers, private_folder
from .runtime.sessions import Sessions
from .runtime.streamable_http import create_app
from .serving import ENDING, drift_summed_up, say

BACKLOG: Final = 128
"""Connections that wait to be accepted: what Linux allows without being asked for more."""


def over_http(opening: Opening, bridge: Bridge, endpoint: Endpoint) -> None:
    """Serve Streamable HTTP on the endpoint's address until a signal comes. Raises UsageError."""
    if bridge.config.file_roots:
        raise UsageError("files by name are for clients on this machine", where="--allow-files", hint="use stdio")
    with listening(endpoint.host, endpoint.port) as listener:
        local = ip_address(listener.getsockname()[0]).is_loopback
        _check_access(endpoint, local=local)
        connections = report.connections(bridge, f"http://{address(listener)}{endpoint.path}")
        if endpoint.workers == 1:
            reloader = Reloader(opening, bridge, on_stderr)
            say(bridge, connections)
            with drift_summed_up(reloader):
                hosting.serve(_app(reloader, endpoint, local=local), listener)
        else:
            with private_folder() as folder:
                say(bridge, connections)
                worker = Worker(opening, _signed(endpoint), folder, local=local)
                _serve_workers(worker, listener, endpoint.workers)


def _serve_workers(worker: "Worker", listener: socket.socket, workers: int) -> None:
    try:
        hosting.serve_workers(worker, listener, workers)
    except RuntimeError as error:
        raise BridgeError(str(error)) from error


@dataclass(frozen=True)
class Worker:
    """What one of several processes serves. The document is loaded in each; `folder` is where they find each other."""

    opening: Opening
    endpoint: Endpoint
    folder: Path | None
    local: bool

    def __call__(self) -> Starlette:
        """The application; called once in each process."""
        reloader = Reloader(self.opening, self.opening.bridge(), on_stderr)
        return _app(reloader, self.endpoint, local=self.local, peers=Peers(self.folder))


def _app(reloader: Reloader, endpoint: Endpoint, *, local: bool, peers: Peers | None = None) -> Starlette:
    """The application, which keeps its tools at what the document says as long as it runs."""

    @asynccontextmanager
    async def alongside() -> AsyncIterator[None]:
        ENDING.begun = True
        async with reloader.running():
            yield

    secret = endpoint.session_secret
    return create_app(
        reloader.live,
        path=endpoint.path,
        allowed_hosts=(*LOOPBACK, *endpoint.allow_host) if local or endpoint.allow_host else None,
        allowed_origins=(*LOOPBACK, *endpoint.allow_origin),
        auth_token=endpoint.auth_token,
        sessions=Sessions(secret.encode()) if secret else None,
        max_concurrency=endpoint.max_concurrency,
        max_body_bytes=endpoint.max_body_bytes,
        request_timeout=endpoint.request_timeout,
        peers=peers,
        alongside=alongside,
    )


def _signed(endpoint: Endpoint) -> Endpoint:
    """The endpoint with a secret that all its processes share."""
    return replace(endpoint, session_secret=endpoint.session_secret or secrets.token_urlsafe(32))


def _check_access(endpoint: Endpoint, *, local: bool) -> None:
    """MCP asks every server of tools for access control; a machine's own users are trusted without."""
    if local or endpoint.auth_token:
        return
    if not endpoint.allow_unauthenticated:
        raise UsageError(
            "anybody who reaches this address could call the API with your credentials",
            where=f"--host {endpoint.host}",
            hint="set OPENAPI_MCP_AUTH_TOKEN to what clients must show, or say --allow-unauthenticated",
        )
    on_stderr("warning: anybody who reaches this address can call every tool; OPENAPI_MCP_AUTH_TOKEN would change that")


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
