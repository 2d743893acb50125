"""`DoorClient`: this server as a client of the door's authorization server, to learn who opens one of its pages.

A person signs in there as MCP clients let them do it, and the token that comes back is verified as the door verifies
those of clients: so both say who they are in the same words. The token is used for nothing else, and not kept.

Specification: client/elicitation of 2026-07-28, "Phishing".
"""

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Final

from ..authorization.discovery import AuthorizationServerError, Tls, discover
from ..authorization.settings import DoorSettings
from ..authorization.tokens import CLIENT, InvalidToken
from ..compilation import OAuthScheme
from ..egress.policy import EgressPolicy, EgressRules
from ..runtime.types import JsonObject
from .clients import OAuthClient
from .endpoints import AccessToken, AuthorizationServer, OAuthFailure

FAILURE_SECONDS: Final = 5.0
"""Seconds for which an authorization server that could not be used is not asked again: anybody may open a page."""

_OPENID: Final = "openid"
_ENDPOINT: Final = "authorization_endpoint"


class DoorClient:
    """The client of the door's authorization server; `tls` and `egress` are for requests to it.

    `scopes` returns those that its tokens shall have besides `openid`.
    """

    def __init__(
        self, settings: DoorSettings, tls: Tls, egress: EgressRules, scopes: Callable[[], Collection[str]] = tuple
    ) -> None:
        self._settings = settings
        self._scopes = scopes
        self._tls = tls
        self._egress = EgressPolicy(egress)
        self._verifier = settings.verifier(tls, self._egress)
        self._server: AuthorizationServer | None = None
        self._asked: tuple[str, ...] = ()
        self._discovering = asyncio.Lock()
        self._found: JsonObject | None = None
        self._failure, self._next_try = "", 0.0

    @property
    def issuer(self) -> str:
        """The authorization server."""
        return self._settings.resource.issuer

    async def server(self) -> AuthorizationServer:
        """Return the authorization server with its endpoints, which are found once. Raises OAuthFailure."""
        scopes = tuple(self._scopes())
        if self._server is None or self._asked != scopes:
            metadata = await self._metadata()
            token_url = metadata.get("token_endpoint")
            supported = metadata.get("scopes_supported")
            identifying = (_OPENID,) if isinstance(supported, list) and _OPENID in supported else ()
            scheme = OAuthScheme(
                name="auth-issuer",
                authorization_url=metadata[_ENDPOINT],
                token_url=token_url if isinstance(token_url, str) else None,
                scopes=tuple(dict.fromkeys((*identifying, *scopes))),
            )
            client = OAuthClient(
                client_id=self._settings.client_id,
                client_secret=self._settings.client_secret or None,
                resource=self._settings.resource.uri,
            )
            policy = await self._egress.inside(self.issuer, scheme.token_url or self.issuer)
            self._server = AuthorizationServer(scheme, client, self._tls(), policy, metadata)
            self._asked = scopes
        return self._server

    async def _metadata(self) -> JsonObject:
        """Return the metadata; one request is under way for all who wait, and none right after one that failed."""
        async with self._discovering:
            if self._found is None:
                if time.monotonic() < self._next_try:
                    raise OAuthFailure(self._failure)
                try:
                    self._found = await discover(self.issuer, self._tls, _ENDPOINT, self._egress)
                except AuthorizationServerError as error:
                    self._failure = f"The authorization server of this server cannot be used: {error}."
                    self._next_try = time.monotonic() + FAILURE_SECONDS
                    raise OAuthFailure(self._failure) from error
            return self._found

    async def subject(self, token: AccessToken) -> str:
        """Return the subject of a token, as the door knows it. Raises OAuthFailure."""
        try:
            subject = (await self._verifier.verify(token.value)).grant.subject
        except (InvalidToken, AuthorizationServerError) as error:
            raise OAuthFailure(f"The token of {self.issuer} does not say who signed in: {error}.") from error
        if subject.startswith(CLIENT):
            raise OAuthFailure(f"The token of {self.issuer} does not say who signed in: it has no `sub`.")
        return subject
