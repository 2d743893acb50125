"""Serve a bridge over HTTP until a signal comes, in one process or several.

`runtime.serve` opens the socket and checks access; messages and reloading are those of stdio (`stdio`). This is a
module of its own because it imports starlette, which a start on stdio must not.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...bridge import Bridge
from ...config import Config
from ...document.addresses import Certificates
from ...errors import BridgeError, UsageError
from ...replicas.channel import ReplicaChannel
from ...runtime import serve as runtime_serve
from ...runtime.errors import RequestError
from ...runtime.http import hosting, supervisor
from ...runtime.http.access import AccessPolicy
from ...runtime.http.app import create_app
from ...runtime.http.responses import HTTPError
from ...runtime.http.sessions import Sessions
from ...runtime.http.timeouts import SHUTDOWN_EVENT
from ...runtime.http.workers import WorkerChannel, private_folder
from ...telemetry.feed import CallFeed
from .. import console, destinations, report
from ..settings import HttpSettings, Settings
from . import page
from .reload import Reloader, warn
from .stdio import STOP_HANDLER, drift_summary, print_start

if TYPE_CHECKING:
    from ...authorization.discovery import Tls
    from ...authorization.door import OAuthDoor
    from ...authorization.settings import DoorSettings
    from ...gateway.gateway import Gateway, Served
    from ...oauth.sealed_store import Storage
    from ...oauth.sign_ins import UserSignIns


def serve(settings: Settings, served: "Served", http: HttpSettings) -> None:
    """Serve Streamable HTTP on an address until a signal comes. Raises UsageError."""
    if served.config.sign_in_port is not None:
        hint = "let each user sign in with --sign-in-url, or sign in once with `openapi-mcp login`"
        raise UsageError("--sign-in-port works over stdio only", where="--sign-in-port", hint=hint)
    bridges = (served,) if isinstance(served, Bridge) else tuple(served.bridges.values())
    if any(bridge.config.file_roots for bridge in bridges):
        message = "clients over HTTP cannot name files on this machine"
        raise UsageError(message, where="--allow-files", hint="use --transport stdio, or leave --allow-files out")
    console.use_format(served.config.log_format, quiet=served.config.quiet)
    with _listen(http) as listener:
        local = runtime_serve.is_local(listener)
        _check_access(http, listener)
        if http.sign_in_url is not None:
            from . import sign_ins

            sign_ins.check(served.config, bridges, http, local=local)
        url = runtime_serve.url(listener, http.path)
        connections = [*report.connections(served, url), *page.connection(http, url, local=local)]
        if http.workers == 1:
            users = _sign_ins(served, http, None)
            calls = page.feed(http, local=local)
            reloader = Reloader(settings, served, feed=calls, sign_ins=users)
            _serve_metrics(served.config.metrics)
            print_start(served, connections)
            with drift_summary(reloader):
                hosting.serve(_app(reloader, http, users, calls, local=local), listener)
        else:
            for bridge in bridges:
                destinations.check(bridge)
            with private_folder() as folder:
                _share_metrics(served.config.metrics, folder)
                _serve_metrics(served.config.metrics)
                print_start(served, connections)
                worker = ServerWorker(settings, _with_secret(http), folder, local=local)
                _serve_workers(worker, listener, http.workers)


def _serve_workers(worker: "ServerWorker", listener: socket.socket, workers: int) -> None:
    try:
        supervisor.serve_workers(worker, listener, workers)
    except RuntimeError as error:
        raise BridgeError(str(error)) from error


@dataclass(frozen=True)
class ServerWorker:
    """The application of one of several processes. Each loads the document; they find each other in `folder`."""

    settings: Settings
    http: HttpSettings
    folder: Path | None
    local: bool

    def __call__(self) -> Starlette:
        """Make the application; called once in each process."""
        console.guard()
        served = self.settings.open(check=destinations.check)
        console.use_format(served.config.log_format, quiet=served.config.quiet)
        users = _sign_ins(served, self.http, self.folder)
        calls = page.feed(self.http, local=self.local, folder=self.folder)
        reloader = Reloader(self.settings, served, feed=calls, sign_ins=users)
        return _app(reloader, self.http, users, calls, local=self.local, folder=self.folder, has_siblings=True)


def _app(
    reloader: Reloader,
    http: HttpSettings,
    users: "UserSignIns | None",
    calls: CallFeed | None,
    *,
    local: bool,
    folder: Path | None = None,
    has_siblings: bool = False,
) -> Starlette:
    """Make the application, which reloads its tools for as long as it runs; `users` sign in on its pages.

    The page shows the `calls`; without them there is no page.
    Raises UsageError. With `has_siblings` it is one of several processes, which find each other in `folder`.
    """
    config = reloader.served.config
    shared = WorkerChannel(folder) if has_siblings else None
    channel = _replica_channel(config.redis, http, folder) if config.redis else shared
    door = None if http.door is None else _door(http.door, reloader)
    hosts = runtime_serve.allowed_names(_names(http, local=local), local=local)
    secret = http.session_secret
    app = create_app(
        reloader.live,
        path=http.path,
        allowed_hosts=hosts,
        allowed_origins=http.allow_origin,
        auth_token=http.auth_token,
        door=door,
        trusted_proxies=http.trusted_proxy,
        forwarded_headers=http.forward_header,
        sessions=Sessions(secret.encode()) if secret else None,
        max_concurrency=http.max_concurrency,
        max_body_bytes=http.max_body_bytes,
        request_timeout=http.request_timeout,
        channel=channel,
        background=partial(_background, reloader, channel, door),
    )
    if door is not None:
        app.router.routes.extend(door.routes())
    if calls is not None:
        entrance = None if door is None else page.Entrance(door, _tls(config), partial(_storage, config.redis, folder))
        app.router.routes.extend(page.routes(reloader, calls, http, hosts, entrance))
    if users is not None:
        users.tell = app.sessions.complete
    _add_routes(app, reloader, http, users, hosts)
    return app


@asynccontextmanager
async def _background(
    reloader: Reloader, channel: WorkerChannel | None, door: "OAuthDoor | None"
) -> AsyncIterator[None]:
    """Reload the tools and prepare the door for as long as the application runs."""
    STOP_HANDLER.loop_runs = True
    if isinstance(channel, ReplicaChannel):
        await channel.synchronised()
    async with reloader.running():
        preparation = None if door is None else asyncio.create_task(door.prepare())
        yield
        if preparation is not None:
            preparation.cancel()


def _add_routes(
    app: Starlette,
    reloader: Reloader,
    http: HttpSettings,
    users: "UserSignIns | None",
    hosts: Collection[str] | None,
) -> None:
    """Add the routes of sign-ins and metrics, and the probe of a server of several APIs. Raises UsageError."""
    if users is not None:
        from ...oauth.pages import SignInPages

        app.router.routes.extend(SignInPages(users).routes())
    if (metrics := reloader.served.config.metrics or "").startswith("/"):
        app.router.routes.insert(0, _metrics_route(metrics, http, hosts))
    if not isinstance(reloader.served, Bridge):
        app.router.routes.insert(0, _readiness(reloader))


def _readiness(reloader: Reloader) -> Route:
    """Return `/readyz` of several APIs: a line for the server, one for each. It is ready as long as one API is."""

    async def ready(request: Request) -> Response:
        stopping = request.scope.get("state", {}).get(SHUTDOWN_EVENT)
        is_stopping = stopping is not None and stopping.is_set()
        states = _states(reloader.served) if not isinstance(reloader.served, Bridge) else {}
        lines = ["stopping" if is_stopping else "ok", *(f"{name}: {state}" for name, state in states.items())]
        return Response("\n".join(lines) + "\n", 503 if is_stopping else 200, media_type="text/plain")

    return Route("/readyz", ready)


def _states(gateway: "Gateway") -> dict[str, str]:
    failed = {failure.name: "old" if failure.is_old else "failed" for failure in gateway.failures}
    return dict.fromkeys(gateway.bridges, "ok") | failed


def _replica_channel(url: str, http: HttpSettings, folder: Path | None) -> ReplicaChannel:
    """Return the channel to all replicas. Raises UsageError without a secret that they share, or without the extra."""
    if not http.session_secret:
        hint = "give all replicas the same OPENAPI_MCP_SESSION_SECRET"
        raise UsageError("replicas need a session secret", where="--redis", hint=hint)
    if find_spec("redis") is None:
        hint = "pip install 'mcp-openapi-bridge[redis]'"
        raise UsageError("Redis needs the extra `redis`", where="--redis", hint=hint)
    return ReplicaChannel(folder, url, http.session_secret)


def _metrics_route(path: str, http: HttpSettings, hosts: Collection[str] | None) -> Route:
    """Return the route of the metrics, which needs a name and the token of the endpoint. Raises UsageError."""
    if http.door is not None:
        hint = "name a port: --metrics 9464"
        raise UsageError("metrics need a port of their own with --auth-issuer", where=f"--metrics {path}", hint=hint)
    from ...telemetry import metrics

    policy = AccessPolicy(allowed_hosts=hosts, auth_token=http.auth_token)

    async def endpoint(request: Request) -> Response:
        try:
            policy.check_address(dict(request.headers))  # as at the endpoint: no page of another site reads them
            policy.check_token(dict(request.headers))
        except HTTPError as error:
            return Response(error.response.body, error.response.status, error.response.headers)
        return await metrics.endpoint(request)

    return Route(path, endpoint)


def _serve_metrics(where: str | None) -> None:
    """Serve the metrics on a port, if they have one. Raises UsageError."""
    if where and where.isdecimal():
        from ...telemetry import metrics

        metrics.serve_on(int(where))


def _share_metrics(where: str | None, folder: Path | None) -> None:
    """Let the workers, which begin after this, count together."""
    if where and folder is not None:
        from ...telemetry.metrics import MULTIPROCESS

        os.environ.setdefault(MULTIPROCESS, str(folder))


def _door(settings: "DoorSettings", reloader: Reloader) -> "OAuthDoor":
    """Make the door."""
    config = reloader.served.config
    return settings.door(_tls(config), lambda: reloader.served.rights.offered, config.egress)


def _sign_ins(served: "Served", http: HttpSettings, folder: Path | None) -> "UserSignIns | None":
    """Make what lets users sign in, with `--sign-in-url`."""
    if http.sign_in_url is None:
        return None
    from .sign_ins import sign_ins

    return sign_ins(served.config, http, _tls(served.config), folder)


def _storage(redis: str | None, folder: Path | None, secret: bytes) -> "Storage":
    from . import sign_ins

    return sign_ins.storage(redis, folder, secret)


def _tls(config: Config) -> "Tls":
    """Return what makes the certificates for the authorization server of clients: those of the document's host."""
    return cache(lambda: Certificates(config.ca, config.client_cert, config.client_key).context(own=False))


def _names(http: HttpSettings, *, local: bool) -> tuple[str, ...]:
    """Return the names that clients reach the server by, where names are checked; its canonical URI has one of them."""
    if http.door is None or not (local or http.allow_host):
        return http.allow_host
    return (*http.allow_host, http.door.resource.host)


def _with_secret(http: HttpSettings) -> HttpSettings:
    """Return the settings with a session secret, which all processes share."""
    return replace(http, session_secret=http.session_secret or secrets.token_urlsafe(32))


@contextmanager
def _usage_errors(where: str, hint: str) -> Iterator[None]:
    """Turn a RequestError of the runtime into a UsageError."""
    try:
        yield
    except RequestError as error:
        raise UsageError(str(error), where=where, hint=hint) from None


def _listen(http: HttpSettings) -> socket.socket:
    """Open the listening socket. Raises UsageError if the address cannot be used."""
    with _usage_errors(f"{http.host}:{http.port}", "choose another address with --host and --port"):
        return runtime_serve.listen(http.host, http.port)


def _check_access(http: HttpSettings, listener: socket.socket) -> None:
    """Raise UsageError if other machines could connect without a token; warn if that is allowed."""
    hint = (
        "set OPENAPI_MCP_AUTH_TOKEN to the token that clients must send, or name the authorization server of their "
        "tokens with --auth-issuer, or use --allow-unauthenticated"
    )
    with _usage_errors(f"--host {http.host}", hint):
        runtime_serve.check_access(
            listener,
            auth_token=http.auth_token or (None if http.door is None else http.door.resource.issuer),
            allow_unauthenticated=http.allow_unauthenticated,
        )
    if not (http.auth_token or http.door or runtime_serve.is_local(listener)):
        warn("warning: everybody who reaches this address can call every tool; OPENAPI_MCP_AUTH_TOKEN prevents it")
