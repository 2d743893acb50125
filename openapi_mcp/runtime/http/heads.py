"""`Application`, and the heads of requests that it has allowed (`KnownHeads`).

A client sends the same head with many messages, so one is parsed, judged and allowed only once.

A request whose head is known byte for byte, and whose body has the length that its head announces, goes to the endpoint
without httptools, uvicorn's objects for parts of a request, routing, and checks of its header fields: 7 % of a call.
All others are parsed by uvicorn, and so is each first one. What depends on time is judged for each request: sessions,
and access tokens (with a `Door` no head is known).
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .callers import TrustedProxies
from .connections import TimeoutProtocol
from .sessions import SessionStore
from .timeouts import SHUTDOWN_EVENT

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as _Base
else:
    _Base = object

MAX_KNOWN_HEADS: Final = 256
"""Heads that are remembered: of many clients at once, each with several lengths of its messages."""

MAX_KNOWN_BYTES: Final = 8 * 1024
"""Bytes of a head that is remembered, twice those of usual ones: 2 MiB, and as much as what was read of them."""

_END_OF_HEAD: Final = b"\r\n\r\n"


class KnownHead(NamedTuple):
    """The scope of requests with a head, the length of their bodies, and the application that answers them."""

    scope: Scope
    length: int
    app: ASGIApp


class KnownHeads:
    """The heads of requests that are allowed whatever their bodies are; of many the newest."""

    def __init__(self) -> None:
        self._heads: dict[bytes, KnownHead] = {}
        self.get = self._heads.get

    def remember(self, head: bytes, known: KnownHead) -> None:
        """Let requests with a head be answered by an application from now on."""
        if len(head) <= MAX_KNOWN_BYTES:
            self._heads[head] = known
            if len(self._heads) > MAX_KNOWN_HEADS:
                del self._heads[next(iter(self._heads))]


class HeadProtocol(TimeoutProtocol, _Base):
    """A connection of httptools that does not parse a complete request with a known head.

    Only an application that is served itself has known heads (`heads`): one around it sees all requests.
    """

    is_direct = True
    is_between = True
    """True if all that was parsed belongs to complete requests."""

    _reading = "head"  # the part of a request that is read, empty after a complete one

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._heads: KnownHeads | None = getattr(self.app, "heads", None)

    def data_received(self, data: bytes) -> None:
        """Begin a request with a known head; parse any other, and note its head if all of it came at once."""
        if self._heads is None or not self.is_between or self._is_ending or self.is_busy():
            super().data_received(data)
            return
        head, _, body = data.partition(_END_OF_HEAD)
        known = self._heads.get(head)
        if known is not None and known.length == len(body):
            self._begin(known, body)
            return
        super().data_received(data)
        if self.is_between and self.is_busy() and len(self.cycle.body) == len(body) > 0 and self.cycle.keep_alive:
            vars(self.cycle)["head"] = head  # the rest is the body as it is: neither in chunks nor of another protocol

    def remember(self, cycle: Any, app: ASGIApp) -> None:
        """Let further requests with the head of this one be answered by an application (see `DirectRequest`)."""
        head: bytes | None = vars(cycle).get("head")
        if self._heads is not None and head is not None and not cycle.waiting_for_100_continue:
            self._heads.remember(head, KnownHead(cycle.scope, len(cycle.body), app))

    def _begin(self, known: KnownHead, body: bytes) -> None:
        self._unset_keepalive_if_required()
        self._reading = ""
        self._expect(None)
        if self._address is not None:
            self._idle.discard(self, self._address)
        scope = {**known.scope, "client": self.client, "server": self.server}
        self.cycle = cycle = _arrived_request_class()(self, scope, body)
        task = asyncio.Task(cycle.run_asgi(known.app), loop=self.loop, name="call")  # another name is made for each
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)


@cache
def _arrived_request_class() -> Any:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    class ArrivedRequest(RequestResponseCycle):
        """A complete request on a connection that is kept, without what uvicorn prepares for parts of one."""

        disconnected = more_body = waiting_for_100_continue = response_started = response_complete = False
        keep_alive = True
        chunked_encoding = None
        expected_content_length = 0

        def __init__(self, connection: HeadProtocol, scope: Any, body: bytes) -> None:
            self.scope = scope
            self.body = body  # type: ignore[assignment]  # it does not grow
            self.transport, self.flow, self.logger = connection.transport, connection.flow, connection.logger
            self.access_log, self.access_logger = connection.access_log, connection.access_logger
            self.default_headers = connection.server_state.default_headers
            self.on_response = connection.on_response_complete
            self.message_event = asyncio.Event()
            self.message_event.set()

    return ArrivedRequest


class Application(Starlette):
    """A Starlette application whose `shortcut`, a path and its endpoint, bypasses routing: a tenth of a call.

    `trusted_proxies` is for the limits of connections, which know no requests (see `connections`), `sessions` for what
    clients are told outside of their requests, and `heads` for connections too (see `heads`).
    """

    trusted_proxies: TrustedProxies
    sessions: SessionStore

    def __init__(
        self, path: str, endpoint: ASGIApp, lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]]
    ) -> None:
        # A path with a slash at its end is served too: a redirect to the other one would repeat any Host header.
        probes = [Route("/health", _health), Route("/healthz", _health), Route("/readyz", _ready)]
        routes = [*probes, *(Route(each, endpoint) for each in {path, path.rstrip("/") + "/"})]
        super().__init__(routes=routes, lifespan=lifespan)
        self.router.redirect_slashes = False
        self.shortcut = path, endpoint
        self.heads = KnownHeads()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI)."""
        path, endpoint = self.shortcut
        if scope["type"] == "http" and scope["path"] == path and not scope.get("root_path"):
            await endpoint(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


async def _health(_request: Request) -> PlainTextResponse:
    """Say that the process lives."""
    return PlainTextResponse("ok\n")


async def _ready(request: Request) -> PlainTextResponse:
    """Say that new work is taken: from the start, when tools are loaded, until the server begins to stop."""
    stopping = request.scope.get("state", {}).get(SHUTDOWN_EVENT)
    if stopping is not None and stopping.is_set():
        return PlainTextResponse("stopping\n", 503)
    return PlainTextResponse("ok\n")
