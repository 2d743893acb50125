"""`Page`: the page as an ASGI application: who is let in, and the beginning of what they get.

A request that is let in is answered by `views`, which are loaded for the first one. Meanwhile the head of a whole page
is sent, so that the browser can load its styles and scripts.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from ..authorization.settings import PAGE_CALLBACK
from ..runtime.http.access import Headers
from ..runtime.server.grants import GRANT, SUBJECT_TOKEN
from .access import HEADERS, SIGN_IN, FormError, PageAccess, PageRefused, SignInRefused, body_of
from .source import PageSource
from .static import static_file

if TYPE_CHECKING:
    from .door import PageDoor, Visitor
    from .views import Views

MAX_SIGN_IN: Final = 16 * 1024
"""Bytes of the form with the token: whoever sends it is nobody yet."""

_EARLY: Final = frozenset({"/", "/ui/", "/ui/connect", "/ui/problems", "/ui/calls"})
"""Whole pages, which exist whatever the document is: their head is sent at once."""

_HTMX: Final = (
    '{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,'
    '"historyCacheSize":0,"refreshOnHistoryMiss":true,"defaultSettleDelay":0,'
    '"responseHandling":[{"code":"204","swap":false},{"code":"401","swap":false,"error":true},'
    '{"code":"[23]..","swap":true},{"code":"...","swap":true,"error":true}]}'
)
"""Settings of htmx: nothing is evaluated, no script or style is inserted, no other host is asked.

What is inserted works at once: a link that is followed before htmx knows it would load a whole page.
"""

_STYLES: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/ui/static/pico.classless.min.css">
<link rel="stylesheet" href="/ui/static/page.css">
<link rel="icon" href="/ui/static/icon.svg" type="image/svg+xml">
"""
_HEAD: Final = f"""\
{_STYLES}<meta name="htmx-config" content='{_HTMX}'>
<script src="/ui/static/htmx.min.js" defer></script>
<script src="/ui/static/sse.min.js" defer></script>
<script src="/ui/static/page.js" defer></script>
"""


class Page:
    """The page of a server. It belongs to one event loop. Where there is a door, people sign in there."""

    def __init__(self, source: PageSource, access: PageAccess, door: "PageDoor | None" = None) -> None:
        self._source = source
        self._access = access
        self._door = door
        self._views: Views | None = None
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        send = _with_headers(send)
        try:
            response = await self._admit(request)
        except PageRefused as refused:
            response = Response(f"{refused.message}\n", refused.status, media_type="text/plain")
        except ClientDisconnect:
            return
        if response is not None:
            await response(scope, receive, send)
            return
        if scope["method"] == "GET" and scope["path"] in _EARLY:
            send = await self._begin(scope, send)
        views = self._views or await self._loaded()
        with _served_to(scope.get("page_visitor")):
            await views.router(scope, receive, send)

    async def _loaded(self) -> "Views":
        """Return what answers requests, made for the first one."""
        async with self._lock:
            if self._views is None:
                self._views = await asyncio.to_thread(self._load)
            return self._views

    def _load(self) -> "Views":
        from .views import Views

        return Views(self._source)

    @staticmethod
    async def _begin(scope: Scope, send: Send) -> Send:
        """Send the head of a page; return the function that sends the rest."""
        fields = [(b"content-type", b"text/html; charset=utf-8"), *scope["page_fields"]]
        await send({"type": "http.response.start", "status": 200, "headers": fields})
        await send({"type": "http.response.body", "body": _HEAD.encode(), "more_body": True})
        scope["page_head"] = ""

        async def send_rest(message: Any) -> None:
            if message["type"] != "http.response.start":
                await send(message)

        return send_rest

    async def _admit(self, request: Request) -> Response | None:
        """Return the response to a request that is not let in, or needs no entrance. Raises PageRefused."""
        headers, path = self._access.headers(request.scope), request.url.path
        request.scope["page_scheme"] = self._access.scheme(request.scope, headers)
        if path.startswith("/ui/static/"):
            return static_file(path.removeprefix("/ui/static/"))
        session = self._access.session(headers, _port(request))
        if self._door is not None:
            if request.method == "GET" and path in (SIGN_IN, PAGE_CALLBACK):
                return await self._enter(self._door, request, headers)
            request.scope["page_visitor"] = visitor = await self._door.visitor(session)
            session = session if visitor is not None else ""
        if request.method == "POST":
            return await self._admit_change(request, headers, session)
        request.scope.update(page_head=_HEAD, page_fields=[])
        if not session:
            if self._access.needs_sign_in:
                return await self._sign_in_page()
            session = self._access.new_session()
            request.scope["page_fields"] = [(b"set-cookie", self._cookie(request, session).encode())]
        request.scope["page_csrf"] = self._access.csrf(session)
        return None

    async def _enter(self, door: "PageDoor", request: Request, headers: Headers) -> Response:
        """Return the response to a person who goes to the authorization server, or who comes back from it."""
        port = _port(request)
        try:
            if request.url.path == SIGN_IN:
                return await door.begin(port)
            return await door.finish(request.query_params, headers, port)
        except SignInRefused as refused:
            return await self._sign_in_page(refused.message, refused.status)

    def _cookie(self, request: Request, session: str) -> str:
        return self._access.set_cookie(session, _port(request), is_secure=request.scope["page_scheme"] == "https")

    async def _admit_change(self, request: Request, headers: Headers, session: str) -> Response | None:
        """Return the response to a sign-in or sign-out, None for another change. Raises PageRefused."""
        if request.url.path == SIGN_IN and self._access.needs_sign_in and self._door is None:
            return await self._sign_in(request)
        self._access.check_csrf(headers, session)
        if request.url.path == "/ui/sign-out":
            if self._door is not None:
                await self._door.leave(session)
            return Response(status_code=204, headers={"Set-Cookie": self._cookie(request, ""), "HX-Refresh": "true"})
        return None

    async def _sign_in(self, request: Request) -> Response:
        """Exchange the server's token for a cookie."""
        try:
            inputs = dict(parse_qsl((await body_of(request, MAX_SIGN_IN)).decode(), max_num_fields=2))
        except (FormError, ValueError):
            raise PageRefused(400, "This is not the form with the token.") from None
        if not self._access.is_token(inputs.get("token", "").strip()):
            return await self._sign_in_page("This is not the token of this server.")
        return RedirectResponse("/ui/", 303, headers={"Set-Cookie": self._cookie(request, self._access.new_session())})

    async def _sign_in_page(self, problem: str = "", status: int = 401) -> Response:
        """Return the page on which people sign in, with what went wrong before."""
        from .templates import render

        about = self._source.served().implementation
        door = {} if self._door is None else {"issuer": self._door.issuer, "url": self._door.url}
        values = {"title": about.title or about.name, "problem": problem, "door": door}
        return HTMLResponse(_STYLES + await asyncio.to_thread(render, "sign_in.html", **values), status)


def _port(request: Request) -> int:
    server = request.scope.get("server")
    return int(server[1] or 0) if server else 0


@contextmanager
def _served_to(visitor: "Visitor | None") -> Iterator[None]:
    """Serve what is served within the block to a person who is signed in, with their rights."""
    if visitor is None:
        yield
        return
    grant, token = GRANT.set(visitor.grant), SUBJECT_TOKEN.set(visitor.token)
    try:
        yield
    finally:
        GRANT.reset(grant)
        SUBJECT_TOKEN.reset(token)


def _with_headers(send: Send) -> Send:
    """Return a function that sends responses with the header fields of the page."""

    async def send_with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            fields = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message["headers"], *(each for each in fields if each[0] not in present)]
        await send(message)

    return send_with_headers
