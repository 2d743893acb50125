"""MCP over Streamable HTTP: an ASGI application with one endpoint, where each POST is one message with one response.

The access policy is checked before the message is read. Responses are JSON unless notifications precede the answer (see
`responses`). A session id carries what was negotiated (see `sessions`), so any process that has the secret and serves
the same tools can answer any request.

Work whose client, time or server is gone is cancelled, and its cancellation is waited for: nothing is left behind.
Specification: basic/transports, "Streamable HTTP", of 2025-03-26 to 2026-07-28.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from .. import protocol
from ..protocol import Session, Step, Subscription, ToolCall, jsonrpc
from ..request.context import CALLER_HEADERS, FORWARDED
from ..server.grants import GRANT, SUBJECT_TOKEN
from ..server.reloadable import ReloadableServer
from ..server.server import Reply, Server
from ..session_state import SESSION_STATE
from ..types import MISSING
from ..upstream.shares import CALLER, Caller
from . import access
from .access import LOOPBACK, AccessPolicy, Door, Headers
from .callers import Callers, TrustedProxies
from .direct import DirectRequest
from .heads import Application
from .limits import (
    MAX_CONCURRENCY,
    MAX_MEMORY_FACTOR,
    MAX_STREAMS,
    RECEIVE_TIMEOUT,
    Capacity,
    MessageMemory,
    MessageReader,
    TakenPlace,
    Turns,
)
from .responses import EVENT_STREAM, KEEP_ALIVE, HTTPError, ResponseBody, ResponseWriter
from .sessions import SESSION, RegisterStop, SessionManager, Sessions, SessionStore, Stop
from .timeouts import AnswerTimeouts

if TYPE_CHECKING:
    from .workers import WorkerChannel

REQUEST_TIMEOUT: Final = 600.0
"""Seconds for a complete message: far more than clients wait, and the end of work that no client waits for."""

_CACHED_HEADERS: Final = 128
"""Requests whose parsed headers are cached: of many clients at once, and 8 MiB if all are as long as allowed."""


def create_app(
    server: Server | ReloadableServer,
    *,
    path: str = "/mcp",
    allowed_hosts: Collection[str] | None = LOOPBACK,
    allowed_origins: Collection[str] | None = (),
    auth_token: str | None = None,
    door: Door | None = None,
    trusted_proxies: Collection[str] = (),
    forwarded_headers: Collection[str] = (),
    sessions: Sessions | None = None,
    channel: "WorkerChannel | None" = None,
    max_body_bytes: int = jsonrpc.MAX_MESSAGE_BYTES,
    max_concurrency: int | None = MAX_CONCURRENCY,
    max_streams: int | None = MAX_STREAMS,
    receive_timeout: float = RECEIVE_TIMEOUT,
    request_timeout: float | None = REQUEST_TIMEOUT,
    keep_alive: float = KEEP_ALIVE,
    background: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> Application:
    """Return an ASGI application that serves MCP at `path`, and probes at `/health`, `/healthz` and `/readyz`.

    Hosts, origins, token and door are those of `AccessPolicy`; `trusted_proxies` are addresses and networks, ValueError
    for one that is neither. `sessions` (random by default) have one secret in all processes that serve the same
    clients; `channel` connects those on this machine. Times are seconds, `receive_timeout` until a message has arrived,
    `request_timeout` until it is handled, `keep_alive` between two comments on a silent stream. `max_concurrency` are
    messages received and calls made at once, no client has all of them (see `shares`). `background` has the lifespan.
    """
    proxies, live = TrustedProxies(trusted_proxies), ReloadableServer.wrap(server)
    issuer = (sessions or Sessions.random()).for_principal(auth_token or "")
    store = _session_store(issuer, channel)
    endpoint = _Endpoint(
        live,
        AccessPolicy(allowed_hosts=allowed_hosts, allowed_origins=allowed_origins, auth_token=auth_token, door=door),
        MessageReader(max_body_bytes, receive_timeout),
        SessionManager(issuer, store),
        AnswerTimeouts(request_timeout),
        writer=partial(ResponseWriter, keep_alive=keep_alive),
        forwarded_headers=forwarded_headers,
        callers=Callers(proxies, has_token=bool(auth_token)),
        messages=Capacity(max_concurrency, "messages at once"),
        calls=Capacity(max_concurrency, "calls at once"),
        streams=Capacity(max_streams, "open streams"),
    )
    app = Application(path, endpoint, _lifespan(live, channel, store, background))
    app.trusted_proxies, app.sessions = proxies, store
    return app


def _session_store(issuer: Sessions, channel: "WorkerChannel | None") -> SessionStore:
    broadcast, ended = (_ignore, None) if channel is None else (channel.broadcast, channel.ended)
    return SessionStore(broadcast, ended, issuer.derived_key("state"))


def _lifespan(
    live: ReloadableServer,
    channel: "WorkerChannel | None",
    store: SessionStore,
    background: Callable[[], AbstractAsyncContextManager[None]],
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return the lifespan of an application: `background` is entered and left with it, at its end the server closed."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            with nullcontext() if channel is None else channel.connect(live, store.receive):
                async with background():
                    yield
        finally:
            await live.aclose()

    return lifespan


def _ignore(_message: bytes) -> None:
    """Do nothing with a message for other processes, where there are none."""


class _ClientRequest(NamedTuple):
    """One HTTP request of an allowed client, and the writer of its response."""

    scope: Scope
    receive: Receive
    headers: Headers
    writer: ResponseWriter
    caller: Caller
    direct: DirectRequest | None


class _Endpoint:
    """The MCP endpoint, an ASGI application for all methods."""

    def __init__(
        self,
        server: ReloadableServer,
        policy: AccessPolicy,
        reader: MessageReader,
        sessions: SessionManager,
        timeouts: AnswerTimeouts,
        *,
        writer: Callable[..., ResponseWriter],
        forwarded_headers: Collection[str],
        callers: Callers,
        messages: Capacity,
        calls: Capacity,
        streams: Capacity,
    ) -> None:
        self._server = server
        self._policy = policy
        self._headers = lru_cache(_CACHED_HEADERS)(self._checked_headers)
        self._reader = reader
        self._sessions = sessions
        self._timeouts = timeouts
        self._writer = writer
        self._callers = callers
        self._forwarded = tuple((name, name.lower()) for name in forwarded_headers)
        self._messages = messages
        self._turns = Turns()
        self._memory = MessageMemory(MAX_MEMORY_FACTOR * reader.max_bytes)
        self._calls = calls
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send, allowed: Headers | None = None) -> None:
        """Answer a request; `allowed` are its headers if they were judged before."""
        direct = DirectRequest.of(receive, send)
        writer = self._writer(send, direct=direct)
        try:
            response = await self._respond(scope, receive, writer, direct, allowed)
        except HTTPError as error:
            await writer.finish(error.response)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            # Only a server that stops cancels a request, after its grace period. This is the outermost frame of the
            # request's task: raised further, the cancellation would be logged as a failure.
            await writer.finish(HTTPError(503, "The server is stopping.", code=jsonrpc.INTERNAL_ERROR).response)
        else:
            await (writer.end() if response is None else writer.finish(response))
        finally:
            writer.close()

    async def _respond(
        self,
        scope: Scope,
        receive: Receive,
        writer: ResponseWriter,
        direct: DirectRequest | None,
        allowed: Headers | None,
    ) -> ResponseBody | None:
        """Return the response; None if the stream that `writer` has begun, or an empty one, is the response."""
        method: str = scope["method"]
        if allowed is not None:
            CALLER_HEADERS.set(allowed)
            request = _ClientRequest(scope, receive, allowed, writer, self._callers.caller(scope, allowed), direct)
            return _response(await self._post(request))
        _, port = scope.get("server") or ("", None)
        headers = self._headers(tuple(map(tuple, scope["headers"])), port)
        writer.headers += access.cors_headers(headers)
        if access.is_preflight(method, headers):
            return access.preflight_response(headers)
        self._policy.check_token(headers)
        if self._policy.door is not None:
            door, query = self._policy.door, scope.get("query_string", b"")
            GRANT.set(door.known(headers, query) or await door.admit(headers, query))
            SUBJECT_TOKEN.set(headers.get("authorization", "").partition(" ")[2].strip(" "))
        CALLER_HEADERS.set(headers)
        if self._forwarded:
            FORWARDED.set(tuple((name, headers[key]) for name, key in self._forwarded if key in headers))
        self._check_method(method, headers)
        request = _ClientRequest(scope, receive, headers, writer, self._callers.caller(scope, headers), direct)
        if method == "POST":
            access.check_media_types(headers)
            if direct is not None and self._policy.door is None and not self._forwarded and "origin" not in headers:
                direct.remember(partial(self.__call__, allowed=headers))
            return _response(await self._post(request))
        session = self._sessions.session(headers)
        if method == "GET":
            access.check_accepts_events(headers)
            return _response(await self._get(session, request))
        self._sessions.store.end(session)
        return ResponseBody(204)

    def _checked_headers(self, lines: tuple[tuple[bytes, bytes], ...], port: int | None) -> Headers:
        """Return the headers of an allowed request to a port; a client sends the same ones again and again."""
        access.check_size(lines)
        access.check_host(lines)
        headers = access.combine_lines(lines)
        self._policy.check_address(headers, port)
        return headers

    def _check_method(self, method: str, headers: Headers) -> None:
        """Raise HTTPError (405) for a method that is not served.

        GET and DELETE concern a session of the handshake era; GET is the stream of changes, if the list can change.
        """
        if method == "POST":
            return
        allowed = ["POST"]
        if SESSION in headers and not protocol.is_stateless(None, headers):
            allowed += ["GET", "DELETE"] if self._server.description.list_changed else ["DELETE"]
        if method not in allowed:
            message = "Only POST is served, and GET or DELETE for a session of the handshake era."
            raise HTTPError(405, message, headers={"Allow": ", ".join(allowed)})

    async def _post(self, request: _ClientRequest) -> Reply | None:
        message = self._reader.read_arrived(request.direct)
        if message is not MISSING:
            return await self._handle(protocol.classify(message), request)
        with self._memory.of(request.caller) as memory:
            with self._messages.place(request.caller):
                message = await self._reader.read(request.receive, request.headers, memory)
            return await self._handle(protocol.classify(message), request)

    async def _handle(self, message: Any, request: _ClientRequest) -> Reply | None:
        caller, headers = request.caller, request.headers
        is_alone = SESSION not in headers or protocol.is_stateless(message, headers)
        session = _NO_SESSION if is_alone else self._sessions.session(headers)
        step = self._server.receive(message, session, headers)
        if self._policy.door is not None and (scopes := self._server.server.demanded_scopes(step)):
            raise self._policy.door.refusal(scopes, None if step.action is None else step.action.request_id)
        CALLER.set(caller)
        SESSION_STATE.set(partial(self._sessions.store.state, session))
        if isinstance(step.action, Subscription):
            access.check_accepts_events(headers)
            with self._streams.place(caller, step.action.request_id):
                return await self._stream(self._server.perform(step, request.writer.notify), request)
        if not (isinstance(step.action, ToolCall) or step.batch):  # takes no time, so it needs no place
            return await self._reply(step, session, request)
        with await self._place(caller, None if step.action is None else step.action.request_id) as place:
            if (turn := self._turns.begin()) is not None:
                await turn
            return await self._reply(step, session, request, self._callers.counted_as(caller, session), place)

    async def _place(self, caller: Caller, request_id: jsonrpc.RequestId | None) -> TakenPlace:
        """Return a place for a call, if need be that of one whose client has left. Raises HTTPError."""
        try:
            return self._calls.place(caller, request_id)
        except HTTPError:
            if not await self._calls.stop_abandoned():
                raise
            return self._calls.place(caller, request_id)

    async def _reply(
        self,
        step: Step,
        session: Session,
        request: _ClientRequest,
        counted_as: str = "",
        place: TakenPlace | None = None,
    ) -> Reply | None:
        """Carry out a Step, whose calls count for `counted_as`; return its reply, None if the client stopped it."""
        headers, writer = request.headers, request.writer
        writer.headers += self._sessions.apply(step, session)
        notify = writer.notify if access.accepts(headers, EVENT_STREAM) else None
        work = self._server.perform(step, notify, counted_as)
        if step.action is None and not step.batch:
            reply: Reply | None = await work
        else:
            tracker = self._sessions.call_tracker(step, session)
            client = (request.direct or request.receive) if step.ends_with_connection else None
            if client is None and place is not None:
                tracker = partial(_leavable, place, request.receive, tracker)
            reply = await self._timeouts.call(work, step, tracker, client)
        if reply is not None and reply.status == 200 and not access.accepts(headers, access.JSON):
            await writer.notify(b"")  # so that the reply is an event
        return reply

    async def _get(self, session: Session, request: _ClientRequest) -> Reply | None:
        """Serve the one stream of a session, for changes ("Listening for Messages from the Server")."""
        with self._streams.place(request.caller):
            work = self._send_changes(session, request.writer)
            await self._stream(work, request, partial(self._sessions.store.track_stream, session))
        return None

    async def _stream(
        self, work: Awaitable[Reply], request: _ClientRequest, tracker: RegisterStop | None = None
    ) -> Reply | None:
        end, grant = self._server.changes.end, GRANT.get()
        expires = math.inf if grant is None else grant.expires
        return await self._timeouts.stream(work, request.scope, request.receive, end, tracker, expires=expires)

    async def _send_changes(self, session: Session, writer: ResponseWriter) -> Reply:
        changes = self._server.changes.listen()
        await writer.begin()
        sending: set[asyncio.Task[None]] = set()

        def say_completed(page_id: str) -> None:
            from ..protocol import elicitation

            task = asyncio.create_task(writer.notify(jsonrpc.encode(elicitation.completed(page_id))))
            sending.add(task)
            task.add_done_callback(sending.discard)

        with self._sessions.store.listening(session, say_completed):
            async for _ in changes:
                await writer.notify(jsonrpc.encode(protocol.list_changed()))
        return Reply(None, session, 200)


_NO_SESSION: Final = Session()


def _leavable(
    place: TakenPlace, receive: Receive, tracker: RegisterStop | None, stop: Stop
) -> AbstractContextManager[None]:
    """Let a call be stopped where its client has left and its place is needed, and as its session may stop it."""
    place.may_be_left(receive, stop)
    return nullcontext() if tracker is None else tracker(stop)


def _response(reply: Reply | None) -> ResponseBody | None:
    return None if reply is None else ResponseBody(reply.status, reply.body)
