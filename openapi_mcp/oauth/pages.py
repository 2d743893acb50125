"""The pages of users' sign-ins: the one that a link opens, and the one that authorization servers return to.

    /oauth/start?id=…   who opens it signs in at the door's authorization server, and must be who made the call;
    /oauth/callback     then they sign in at the API's one, and its token is kept for them.

A browser gets a cookie at the start, and only that browser goes on: neither a link, nor the address of an authorization
server that it leads to, nor an answer of one does anything in the browser of somebody else. Pages show nothing of what
they were sent but the words of an authorization server, escaped.

Specification: client/elicitation of 2026-07-28, "Phishing"; RFC 6749 §10.12 (forged answers); RFC 9700 §4.7.
"""

import hashlib
import hmac
import html
import logging
import secrets
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from .clients import CALLBACK
from .code_flow import CodeRequest
from .endpoints import AuthorizationServer, OAuthFailure
from .sign_ins import LIFETIME, START, UserSignIn, UserSignIns

logger = logging.getLogger("openapi_mcp")

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE: Final = """\
<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><h1>{title}</h1><p>{text}</p></html>
"""
_GONE: Final = "This link is not valid any more: it was used, or is older than ten minutes. Make the call again."
_ELSEWHERE: Final = "This sign-in was begun in another browser. Open the link that your MCP client showed in this one."
_STRANGER: Final = (
    "Somebody else asked for this sign-in, so it was not continued, and nothing was connected. If you were given the "
    "link, do not use it. If it is your own, you are signed in at {issuer} as another user: sign out there first."
)
_DONE: Final = "You can close this page. Your MCP client repeats the call; if it does not, ask it to."


class SignInPages:
    """The pages of some sign-ins."""

    def __init__(self, sign_ins: UserSignIns) -> None:
        self._sign_ins = sign_ins
        self._is_secure = sign_ins.url.startswith("https:")

    def routes(self) -> list[Route]:
        """Return the routes of the pages, with and without the public path: proxies pass it on, or take it away."""
        pages = ((START, self.start), (CALLBACK, self.callback))
        prefixes = dict.fromkeys(("", urlsplit(self._sign_ins.url).path))
        return [Route(prefix + path, page, methods=["GET"]) for prefix in prefixes for path, page in pages]

    async def start(self, request: Request) -> Response:
        """Send a browser away to sign in."""
        if request.method == "HEAD":  # a preview of a link, not a person
            return Response(headers=_HEADERS)
        try:
            pending = await self._sign_ins.find(request.query_params.get("id", ""))
            if pending is None or self._sign_ins.source_of(pending) is None:
                return _page("Not valid", _GONE, 404)
            cookie = secrets.token_urlsafe(32)
            is_identified = self._sign_ins.door is None
            response = await self._send_away(replace(pending, browser=_digest(cookie), is_identified=is_identified))
        except OAuthFailure as error:
            return _failure(error)
        response.set_cookie(
            self._cookie_of(pending.id), cookie, max_age=int(LIFETIME), secure=self._is_secure, httponly=True,
            samesite="lax",
        )  # fmt: skip
        return response

    async def callback(self, request: Request) -> Response:
        """Take the answer of an authorization server."""
        if request.method == "HEAD":
            return Response(headers=_HEADERS)
        answer = dict(request.query_params)
        state = answer.get("state", "")
        sign_in_id = state.partition(".")[0]
        try:
            pending = await self._sign_ins.find(sign_in_id)
            if pending is None or not pending.is_answered_by(state):
                return _page("Not valid", _GONE, 400)
            cookie = request.cookies.get(self._cookie_of(sign_in_id), "")
            if not hmac.compare_digest(_digest(cookie), pending.browser):
                return _page("Not continued", _ELSEWHERE, 403)
            if not await self._sign_ins.take(pending):
                return _page("Not valid", _GONE, 400)
            try:
                return await self._continue(pending, answer)
            except OAuthFailure:
                await self._sign_ins.keep(_anew(pending))
                raise
        except OAuthFailure as error:
            return _failure(error)

    async def _continue(self, pending: UserSignIn, answer: dict[str, str]) -> Response:
        """Take the answer to the request for a code of a browser that has the cookie. Raises OAuthFailure."""
        request = CodeRequest(self._redirect, pending.state, pending.verifier)
        token = await request.token(await self._server(pending), answer)
        door = self._sign_ins.door
        if pending.is_identified:
            await self._sign_ins.finish(pending, token)
            return _page("Signed in", _DONE, 200)
        if door is not None and hmac.compare_digest((await door.subject(token)).encode(), pending.user.encode()):
            return await self._send_away(replace(pending, is_identified=True))
        await self._sign_ins.keep(_anew(pending))
        logger.warning("The link of a sign-in was opened by another user than the one who was asked; it did nothing.")
        return _page("Not continued", _STRANGER.format(issuer="" if door is None else door.issuer), 403)

    async def _send_away(self, pending: UserSignIn) -> Response:
        """Send a browser to the authorization server that is next. Raises OAuthFailure."""
        request = CodeRequest.new(self._redirect, prefix=f"{pending.id}.")
        address = await request.page(await self._server(pending))
        await self._sign_ins.keep(replace(pending, state=request.state, verifier=request.verifier))
        return RedirectResponse(address, 303, headers=_HEADERS)

    async def _server(self, pending: UserSignIn) -> AuthorizationServer:
        """Return the authorization server at which a user is, or is next. Raises OAuthFailure."""
        if self._sign_ins.door is not None and not pending.is_identified:
            return await self._sign_ins.door.server()
        source = self._sign_ins.source_of(pending)
        if source is None or source.of_user(pending.user).key != pending.key:
            raise OAuthFailure("The document of this server has changed since the call was made. Make it again.")
        return source.server

    @property
    def _redirect(self) -> str:
        return f"{self._sign_ins.url}{CALLBACK}"

    def _cookie_of(self, sign_in_id: str) -> str:
        """Return the name of a cookie; with `__Host-` no other host of the same domain can set it."""
        return f"{'__Host-' if self._is_secure else ''}openapi-mcp-{_digest(sign_in_id)[:16]}"


def _anew(pending: UserSignIn) -> UserSignIn:
    """Return a sign-in as it was before its link was opened."""
    return replace(pending, browser="", state="", verifier="", is_identified=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _failure(error: OAuthFailure) -> Response:
    logger.warning("A sign-in was not completed: %s", error)
    return _page("Not signed in", f"{error} Open the link again to try it once more.", 502)


def _page(title: str, text: str, status: int) -> Response:
    return HTMLResponse(_PAGE.format(title=title, text=html.escape(text)), status, headers=_HEADERS)
