"""MCP over Streamable HTTP: one endpoint, one POST a message, one answer; the door is checked before the message.

Specification: basic/transports, "Streamable HTTP", of 2025-03-26 to 2026-07-28. Answers are JSON unless notifications
precede them (see `replies`). No sessions are kept and no stream outlives its request, so any process that serves the
same tools can answer any request.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from . import media_types
from .protocol import Session, Step, jsonrpc
from .replies import Reply
from .server import Answer, Server

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""The hosts of a server for this machine only; with a web page's own name in Host, the page's browser was misled."""

KEEP_ALIVE: Final = 15.0
"""Seconds between two signs of life on a stream: what lies between client and server often gives up after 30 or 60."""

_STREAM: Final = "text/event-stream"
_ANSWERS: Final = ("application/json", _STREAM)
"""A client must accept both; one that names only the other is served all the same."""


def create_app(
    server: Server,
    *,
    path: str = "/mcp",
    allowed_hosts: Collection[str] | None = LOOPBACK,
    allowed_origins: Collection[str] | None = LOOPBACK,
    max_body_bytes: int = jsonrpc.MAX_MESSAGE_BYTES,
    keep_alive: float = KEEP_ALIVE,
) -> Starlette:
    """An ASGI application that serves MCP at `path` and says at `/health` that it lives.

    `allowed_hosts` are the values that Host may have, `allowed_origins` those of Origin (which only browsers send):
    each a host for every port (`localhost`), a host with its port, or for Origin also the whole
    (`https://example.com`). None lets in all. `keep_alive` is how many seconds a stream of events is silent at most.
    The server is closed when the application's lifespan ends.
    """

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await server.aclose()

    endpoint = _Endpoint(server, allowed_hosts, allowed_origins, max_body_bytes, keep_alive)
    return Starlette(routes=[Route("/health", _health), Route(path, endpoint)], lifespan=lifespan)


async def _health(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


class _Refused(Exception):
    """An HTTP request that gets an error before its message is read."""

    def __init__(self, status: int, message: str, code: int = jsonrpc.INVALID_REQUEST) -> None:
        super().__init__(message)
        body = jsonrpc.encode(jsonrpc.error(code, message))
        self.response = Response(body, status, media_type="application/json")


class _Endpoint:
    """The MCP endpoint, an ASGI application for all methods."""

    def __init__(
        self,
        server: Server,
        allowed_hosts: Collection[str] | None,
        allowed_origins: Collection[str] | None,
        max_body_bytes: int,
        keep_alive: float,
    ) -> None:
        self._server = server
        self._allowed_hosts = allowed_hosts
        self._allowed_origins = allowed_origins
        self._max_body_bytes = max_body_bytes
        self._keep_alive = keep_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        reply = Reply(scope, receive, send)
        try:
            self._check_door(request)
            _check_method(request)
            _check_media_types(request)
            answer = await self._answer(request, reply)
        except _Refused as refused:
            await reply.finish(refused.response)
        except ClientDisconnect:
            return  # nobody is there to be answered
        except asyncio.CancelledError:
            # Only a server that stops cancels a request. It has waited as long as it was told to, and this is the
            # outermost frame of the request's task: raised further, it would be logged as a failure.
            await reply.finish(_Refused(503, "The server is stopping.", jsonrpc.INTERNAL_ERROR).response)
        else:
            await reply.finish(_response(answer))

    def _check_door(self, request: Request) -> None:
        """A page in a browser must not reach a server on the same machine ("Security Warning")."""
        if not _is_allowed(_header(request, "host") or "", self._allowed_hosts):
            raise _Refused(421, "This server is not known by that host name.")
        origin = _header(request, "origin")
        if origin is not None and not _is_origin_allowed(origin, self._allowed_origins):
            raise _Refused(403, "Pages of this origin may not use this server.")

    async def _answer(self, request: Request, reply: Reply) -> Answer:
        body = await self._body(request)
        try:
            message = jsonrpc.decode(body)
        except jsonrpc.InvalidJson as problem:
            raise _Refused(400, str(problem), jsonrpc.PARSE_ERROR) from None
        headers = {name: _header(request, name) or "" for name in request.headers}
        step = self._server.receive(message, Session(), headers)
        return await self._perform(step, request, reply)

    async def _body(self, request: Request) -> bytes:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > self._max_body_bytes:
                raise _Refused(413, f"A message has at most {self._max_body_bytes} bytes.")
        return bytes(body)

    async def _perform(self, step: Step, request: Request, reply: Reply) -> Answer:
        """Do what a message asks for, and show that a stream lives meanwhile.

        Raises ClientDisconnect where a client cancels by closing its connection (2026-07-28) and did.
        """
        notify = reply.notify if _accepts(request, _STREAM) else None
        performing = asyncio.create_task(self._server.perform(step, notify))
        leaving = asyncio.create_task(_disconnected(request)) if step.ends_with_connection else None
        tasks = {task for task in (performing, leaving) if task is not None}
        try:
            while not performing.done():
                done, _ = await asyncio.wait(tasks, timeout=self._keep_alive, return_when=asyncio.FIRST_COMPLETED)
                if leaving in done and performing not in done:
                    raise ClientDisconnect
                if not done:
                    await reply.keep_alive()
            return performing.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, media_type=None if answer.body is None else "application/json")


def _header(request: Request, name: str) -> str | None:
    """A header with all its lines (RFC 9110 §5.3), so that no check looks at another line than the next reader."""
    values = request.headers.getlist(name)
    return ", ".join(values) if values else None


def _check_method(request: Request) -> None:
    if request.method != "POST":
        refused = _Refused(405, "Only POST is served here.")
        refused.response.headers["Allow"] = "POST"
        raise refused


def _check_media_types(request: Request) -> None:
    # A browser may send the other content types to anybody without asking first.
    if media_types.essence(_header(request, "content-type") or "") != "application/json":
        raise _Refused(415, "The content type must be application/json.")
    if not any(_accepts(request, kind) for kind in _ANSWERS):
        raise _Refused(406, "The answer is application/json.")


def _accepts(request: Request, kind: str) -> bool:
    accepted = (_header(request, "accept") or "*/*").split(",")
    return any(media_types.covers(item, kind) for item in accepted)


def _is_allowed(host: str, allowed: Collection[str] | None) -> bool:
    host = host.lower()
    name, _, port = host.rpartition(":")
    return allowed is None or host in allowed or (port.isdecimal() and name in allowed)


def _is_origin_allowed(origin: str, allowed: Collection[str] | None) -> bool:
    scheme, separator, host = origin.partition("://")
    if allowed is None or not separator:
        return allowed is None
    return origin in allowed or (scheme in {"http", "https"} and _is_allowed(host, allowed))
