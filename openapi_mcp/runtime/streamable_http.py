"""MCP over Streamable HTTP: one endpoint, one POST a message, one answer; the door is checked before the message.

Specification: basic/transports, "Streamable HTTP", of 2025-03-26 to 2026-07-28. Answers are JSON unless notifications
precede them (see `replies`). What a session settled is in its id (see `sessions`), so any process that has the secret
and serves the same tools can answer any request; what more is known of it is in the `ledger`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import lru_cache, partial
from typing import Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from . import cors, door, protocol
from .door import LOOPBACK, Door, Headers
from .intake import MAX_CONCURRENCY, MAX_STREAMS, RECEIVE_TIMEOUT, Capacity, Intake
from .ledger import Follow, Ledger
from .live import Live
from .peers import Peers
from .protocol import Session, Step, Subscription, jsonrpc
from .reception import SESSION, Reception
from .replies import EVENT_STREAM, KEEP_ALIVE, Content, Refused, Reply
from .rollout import Rollout
from .server import Answer, Server
from .sessions import Sessions
from .waiting import REQUEST_TIMEOUT, Waiting

_KNOWN_HEADERS: Final = 128
"""Requests whose headers are remembered: of many clients at once, and 8 MiB if all have as many as they may."""


def create_app(
    server: Server | Live,
    *,
    path: str = "/mcp",
    allowed_hosts: Collection[str] | None = LOOPBACK,
    allowed_origins: Collection[str] | None = LOOPBACK,
    auth_token: str | None = None,
    sessions: Sessions | None = None,
    peers: Peers | None = None,
    max_body_bytes: int = jsonrpc.MAX_MESSAGE_BYTES,
    max_concurrency: int | None = MAX_CONCURRENCY,
    max_streams: int | None = MAX_STREAMS,
    receive_timeout: float = RECEIVE_TIMEOUT,
    request_timeout: float | None = REQUEST_TIMEOUT,
    keep_alive: float = KEEP_ALIVE,
    alongside: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> Starlette:
    """An ASGI application that serves MCP at `path` and says at `/health` that it lives.

    `allowed_hosts`, `allowed_origins` and `auth_token` are those of `Door`. `sessions` (random where not given) have to
    be the same in all processes that serve the same clients, and `peers` are those among them on this machine. Times
    are in seconds: `receive_timeout` for a message to arrive, `request_timeout` for all that is done for it, and
    `keep_alive` is how long a stream of events is silent at most. `max_concurrency` messages are dealt with at once,
    and `max_streams` held open. What runs `alongside` begins and ends with the application's lifespan, at whose end the
    server is closed.
    """
    live, peers = Live.of(server), peers or Peers()
    ledger, rollout = Ledger(peers.tell), Rollout(peers)
    live.changes = rollout
    endpoint = _Endpoint(
        live,
        Door(allowed_hosts=allowed_hosts, allowed_origins=allowed_origins, auth_token=auth_token),
        Intake(max_body_bytes, receive_timeout),
        Reception((sessions or Sessions.random()).of(auth_token or ""), ledger),
        Waiting(request_timeout),
        reply=partial(Reply, keep_alive=keep_alive),
        calls=Capacity(max_concurrency, "messages at once"),
        streams=Capacity(max_streams, "open streams"),
    )

    def hear(message: bytes) -> None:
        ledger.hear(message)
        rollout.hear(message)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        peers.open(hear)
        try:
            async with alongside():
                yield
        finally:
            peers.close()
            await live.aclose()

    # With a slash at the end it is the same: a redirect would say whatever Host says.
    routes = [Route("/health", _health), *(Route(each, endpoint) for each in {path, path.rstrip("/") + "/"})]
    app = _Application(routes=routes, lifespan=lifespan)
    app.router.redirect_slashes = False
    app.shortcut = (path, endpoint)
    return app


async def _health(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok\n")


class _Application(Starlette):
    """A Starlette with a `shortcut`: its routing takes a tenth of a call, and so nearly all requests go past it."""

    shortcut: tuple[str, "_Endpoint"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, endpoint = self.shortcut
        if scope["type"] == "http" and scope["path"] == path and not scope.get("root_path"):
            await endpoint(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class _Endpoint:
    """The MCP endpoint, an ASGI application for all methods."""

    def __init__(
        self,
        live: Live,
        entrance: Door,
        intake: Intake,
        reception: Reception,
        waiting: Waiting,
        *,
        reply: Callable[[Send], Reply],
        calls: Capacity,
        streams: Capacity,
    ) -> None:
        self._live = live
        self._door = entrance
        self._headers = lru_cache(_KNOWN_HEADERS)(self._let_in)
        self._intake = intake
        self._reception = reception
        self._waiting = waiting
        self._reply = reply
        self._calls = calls
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = self._reply(send)
        try:
            content = await self._respond(scope, receive, reply)
        except Refused as refused:
            await reply.finish(refused.content)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except asyncio.CancelledError:
            # Only a server that stops cancels a request. It has waited as long as it was told to, and this is the
            # outermost frame of the request's task: raised further, it would be logged as a failure.
            await reply.finish(Refused(503, "The server is stopping.", code=jsonrpc.INTERNAL_ERROR).content)
        else:
            await (reply.end() if content is None else reply.finish(content))
        finally:
            reply.close()

    async def _respond(self, scope: Scope, receive: Receive, reply: Reply) -> Content | None:
        """The response; None where there is nothing to add to what was said, if anything was."""
        method: str = scope["method"]
        headers = self._headers(tuple(map(tuple, scope["headers"])))
        reply.headers += cors.permission(headers)
        if cors.is_preflight(method, headers):
            return cors.preflight(headers)
        self._door.check_token(headers)
        self._check_method(method, headers)
        if method == "POST":
            door.check_media_types(headers)
            return _content(await self._post(scope, receive, headers, reply))
        session = self._reception.session(headers)
        if method == "GET":
            door.check_takes_events(headers)
            return _content(await self._get(session, scope, receive, reply))
        self._reception.ledger.end(session)
        return Content(204)

    def _let_in(self, lines: tuple[tuple[bytes, bytes], ...]) -> Headers:
        """The headers of a request that comes from where it may; a client's are the same again and again."""
        door.check_size(lines)
        headers = door.joined(lines)
        self._door.check_address(headers)
        return headers

    def _check_method(self, method: str, headers: Headers) -> None:
        """GET and DELETE are about a session of the handshake era; GET is for hearing of changes, if there are any."""
        if method == "POST":
            return
        allowed = ["POST"]
        if SESSION in headers and not protocol.is_stateless(None, headers):
            allowed += ["GET", "DELETE"] if self._live.description.list_changed else ["DELETE"]
        if method not in allowed:
            message = "Only POST is served here, and what a session of the handshake era needs."
            raise Refused(405, message, headers={"Allow": ", ".join(allowed)})

    async def _post(self, scope: Scope, receive: Receive, headers: Headers, reply: Reply) -> Answer | None:
        with self._calls:
            message = protocol.classified(await self._intake.read(receive, headers))
            stateless = protocol.is_stateless(message, headers)
            session = Session() if stateless else self._reception.session(headers)
            step = self._live.receive(message, session, headers)
            reply.headers += self._reception.note(step, session)
            if not isinstance(step.action, Subscription):
                caller, _ = scope.get("client") or ("", 0)
                notify = reply.notify if door.accepts(headers, EVENT_STREAM) else None
                return await self._answer(step, session, self._live.perform(step, notify, caller), receive)
        door.check_takes_events(headers)
        with self._streams:
            work = self._live.perform(step, reply.notify)
            return await self._stream(work, scope, receive)

    async def _answer(self, step: Step, session: Session, work: Awaitable[Answer], receive: Receive) -> Answer | None:
        if step.action is None and not step.batch:
            return await work
        follow = self._reception.following(step, session)
        return await self._waiting.call(work, step, follow, receive if step.ends_with_connection else None)

    async def _get(self, session: Session, scope: Scope, receive: Receive, reply: Reply) -> Answer | None:
        """The one stream of a session, on which it hears of changes ("Listening for Messages from the Server")."""
        with self._streams:
            work = self._tell_changes(session, reply)
            await self._stream(work, scope, receive, partial(self._reception.ledger.stream, session))
        return None

    async def _stream(
        self, work: Awaitable[Answer], scope: Scope, receive: Receive, follow: Follow | None = None
    ) -> Answer | None:
        return await self._waiting.stream(work, scope, receive, self._live.changes.end, follow)

    async def _tell_changes(self, session: Session, reply: Reply) -> Answer:
        changes = self._live.changes.listen()
        await reply.begin()
        async for _ in changes:
            await reply.notify(jsonrpc.encode(protocol.list_changed()))
        return Answer(None, session, 200)


def _content(answer: Answer | None) -> Content | None:
    return None if answer is None else Content(answer.status, answer.body)
