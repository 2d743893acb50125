"""`PageDoor`: the entrance of the page behind an authorization server, where people sign in as users of clients do.

    /ui/sign-in     sends a browser to the authorization server;
    /ui/callback    takes the answer of that, and lets the browser in.

The access token of a person stays here, sealed, under the cookie of their browser, and is renewed as long as the
authorization server allows it. Each request of the page is judged with it by the door that judges those of clients:
the page has the same rights, limits and names, and a token that was revoked or has expired opens neither.

Specification: MCP basic/authorization; RFC 6749 §4.1 and §10.12, RFC 7009, RFC 7636, RFC 8707, RFC 9207.
"""

import asyncio
import hmac
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.responses import HTMLResponse, RedirectResponse, Response

from ..authorization.door import OAuthDoor
from ..authorization.settings import PAGE_CALLBACK
from ..oauth.endpoints import AuthorizationServer, OAuthFailure, SignInNeeded
from ..oauth.identity import DoorClient
from ..oauth.sign_ins import UserTokens
from ..oauth.tokens import TokenSource
from ..runtime.http.access import Headers
from ..runtime.http.responses import HTTPError
from ..runtime.server.grants import Grant
from .access import SIGN_IN, PageAccess, PageRefused, SignInRefused

logger = logging.getLogger("openapi_mcp")

MAX_SESSIONS: Final = 1_000
"""Sessions whose tokens one process keeps at hand; those of others are unsealed again."""

_UNAUTHORIZED: Final = 401
_ELSEWHERE: Final = "This sign-in was begun in another browser, or too long ago."
_UNKNOWN: Final = "The page cannot check now who you are. Try again in a few seconds."


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person who is signed in: what their access token grants, and the token."""

    grant: Grant
    token: str = field(repr=False)


class PageDoor:
    """The entrance of a page. The `client` signs people in, the `door` judges their `tokens`, one for each session."""

    def __init__(self, access: PageAccess, client: DoorClient, door: OAuthDoor, tokens: UserTokens) -> None:
        self._access = access
        self._client = client
        self._door = door
        self._tokens = tokens
        self._sources: dict[str, TokenSource] = {}

    @property
    def issuer(self) -> str:
        """The authorization server."""
        return self._client.issuer

    @property
    def url(self) -> str:
        """The address at which people begin to sign in."""
        return f"{self._door.resource.origin}{SIGN_IN}"

    async def begin(self, port: int) -> Response:
        """Send a browser to the authorization server. Raises SignInRefused."""
        cookie = self._access.new_sign_in()
        try:
            request = self._access.code_request(self._redirect, cookie)
            address = await request.page(await self._client.server())
        except OAuthFailure as error:
            raise _refused(error) from error
        return RedirectResponse(address, 303, headers={"Set-Cookie": self._sign_in_cookie(cookie, port)})

    async def finish(self, answer: Mapping[str, str], headers: Headers, port: int) -> Response:
        """Let a browser in with the answer of the authorization server. Raises SignInRefused.

        Its next request has to come from this page: a redirect of another site is followed without the new cookie.
        """
        cookie = self._access.sign_in_of(headers, port)
        request = self._access.code_request(self._redirect, cookie)
        if not cookie or not hmac.compare_digest(answer.get("state", "").encode(), request.state.encode()):
            raise SignInRefused(403, _ELSEWHERE)
        session = self._access.new_session()
        try:
            token = await request.token(await self._client.server(), answer)
            await self._grant(token.value)
            await asyncio.to_thread(self._tokens.put, session, token)
        except (OAuthFailure, HTTPError) as error:
            raise _refused(error) from error
        response = HTMLResponse(_SIGNED_IN, headers={"Referrer-Policy": "no-referrer"})
        response.headers.append("Set-Cookie", self._access.set_cookie(session, port))
        response.headers.append("Set-Cookie", self._sign_in_cookie("", port))
        return response

    async def visitor(self, session: str) -> Visitor | None:
        """Return who has a session; None for nobody. Raises PageRefused where that cannot be found out now."""
        try:
            return await self._visitor(session)
        except (OAuthFailure, HTTPError) as error:
            logger.warning("The page does not know who has a session: %s", error)
            raise PageRefused(503, _UNKNOWN) from error

    async def leave(self, session: str) -> None:
        """End a session and revoke its token. Raises PageRefused where the session goes on."""
        token = await asyncio.to_thread(self._tokens.get, session)
        await self._end(session)
        if token is not None:
            try:
                await (await self._client.server()).revoke(token)
            except OAuthFailure as error:
                logger.warning("Somebody signed out of the page, and their token could not be revoked: %s", error)

    async def _end(self, session: str) -> None:
        self._sources.pop(session, None)
        try:
            await asyncio.to_thread(self._tokens.drop, session)
        except OAuthFailure as error:
            raise PageRefused(503, str(error)) from error

    async def _visitor(self, session: str) -> Visitor | None:
        if not session or await asyncio.to_thread(self._tokens.get, session) is None:
            return None
        try:
            token = await self._source(session, await self._client.server()).get()
            return Visitor(await self._grant(token), token)
        except SignInNeeded:
            return None
        except HTTPError as error:
            if error.response.status != _UNAUTHORIZED:
                raise
            await self._end(session)
            return None

    async def _grant(self, token: str) -> Grant:
        """Return what a token grants. Raises HTTPError, as for a request of a client."""
        return await self._door.admit({"authorization": f"Bearer {token}"}, b"")

    def _source(self, session: str, server: AuthorizationServer) -> TokenSource:
        """Return the source of a session's token, one for all requests, so that they renew it once."""
        source = self._sources.pop(session, None) or TokenSource(
            server=server,
            store=self._tokens,
            key=session,
            document="",
            name="auth-issuer",
            is_machine=False,
            is_personal=True,
        )
        self._sources[session] = source
        if len(self._sources) > MAX_SESSIONS:
            del self._sources[next(iter(self._sources))]
        return source

    @property
    def _redirect(self) -> str:
        return f"{self._door.resource.origin}{PAGE_CALLBACK}"

    def _sign_in_cookie(self, value: str, port: int) -> str:
        return self._access.set_cookie(value, port, sign_in=True)


def _refused(error: Exception) -> SignInRefused:
    logger.warning("Nobody was let in to the page: %s", error)
    return SignInRefused(502, str(error))


_SIGNED_IN: Final = """\
<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="0; url=/ui/"><title>Signed in</title>
<p><a href="/ui/">Go on to the tools</a></p></html>
"""
