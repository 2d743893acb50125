"""`OAuthDoor`: the verifier of access tokens that the HTTP server asks about each request.

A verified token is remembered by its digest, so a request with a known one costs a hash and a look into a table.
Specification: MCP basic/authorization, "Access Token Usage", "Error Handling"; RFC 6750 §§2, 3; RFC 9728 §5.1.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ..runtime.http.access import Headers, bearer_token, unauthorized
from ..runtime.http.responses import HTTPError
from ..runtime.protocol import jsonrpc
from ..runtime.server.grants import Grant
from .discovery import AuthorizationServerError
from .keys import retrieve
from .resource import ProtectedResource
from .tokens import MAX_TOKEN_BYTES, InvalidToken, TokenVerifier, UnknownKey, VerifiedToken

logger = logging.getLogger("openapi_mcp")

MAX_KNOWN_TOKENS: Final = 10_000
"""Verified tokens that are remembered; the oldest are forgotten. About 10 MB."""

MAX_REFUSED_TOKENS: Final = 1_000
"""Refused tokens that are remembered, so that the same one is not verified again and again."""

MAX_REFUSED_SECONDS: Final = 10.0
"""Seconds for which a refused token is remembered: its time may begin."""

_CACHED_DIGESTS: Final = 128
"""Headers whose digest is cached: as many as the endpoint keeps parsed, so that no token is kept for longer by this."""

MAX_METADATA_AGE: Final = 300
"""Seconds for which clients may cache the metadata of this server."""


class OAuthDoor:
    """Lets requests in whose token is valid. `scopes` returns those that the tools need, for challenges."""

    def __init__(
        self,
        resource: ProtectedResource,
        verifier: TokenVerifier,
        scopes: Callable[[], Collection[str]] = tuple,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.resource = resource
        self._verifier = verifier
        self._scopes = scopes
        self._clock = clock
        self._known: dict[bytes, VerifiedToken] = {}
        self._refused: dict[bytes, tuple[float, str]] = {}
        self._verifying: dict[bytes, asyncio.Task[VerifiedToken]] = {}
        self._digest = lru_cache(_CACHED_DIGESTS)(_digest)
        verifier.on_change(self._known.clear)

    def known(self, headers: Headers, query: bytes) -> Grant | None:
        """Return what a token grants that was verified before; None also where a request needs a closer look."""
        if query:
            return None
        known = self._known.get(self._digest(headers.get("authorization", "")))
        return known.grant if known is not None and self._clock() < known.expires else None

    async def admit(self, headers: Headers, query: bytes) -> Grant:
        """Return what the token of a request grants. Raises HTTPError: 401, 400 for a malformed one, 503."""
        if query and b"access" in query and _has_token(query):
            message = "An access token must not be in the address; send Authorization: Bearer <token>."
            raise unauthorized(message, 400, error="invalid_request", challenge=self._challenge())
        digest = self._digest(headers.get("authorization", ""))
        known = self._known.get(digest)
        if known is not None and self._clock() < known.expires:
            return known.grant
        token = bearer_token(headers, self._challenge())
        try:
            return (await self._verified(digest, token)).grant
        except InvalidToken as error:
            described = f'error_description="{error}", {self._challenge()}'
            raise unauthorized(f"No access: {error}.", error="invalid_token", challenge=described) from None
        except AuthorizationServerError as error:
            logger.warning("Tokens cannot be verified: %s", error)
            message = "The token cannot be verified now: the authorization server does not answer as it should."
            raise HTTPError(503, message, code=jsonrpc.INTERNAL_ERROR, headers={"Retry-After": "5"}) from None

    def refusal(self, scopes: Collection[str], request_id: jsonrpc.RequestId | None) -> HTTPError:
        """Return the error (403) for a request whose token lacks some of the scopes that it needs, with all of them."""
        challenge = 'Bearer error="insufficient_scope", error_description="the token lacks a scope", '
        return HTTPError(
            403,
            f"The access token does not have all scopes that this call needs: {', '.join(scopes)}.",
            request_id=request_id,
            headers={"WWW-Authenticate": challenge + self.resource.challenge(scopes)},
        )

    def routes(self) -> list[Route]:
        """Return the routes of the metadata, which anybody may read, also a page of any origin."""
        return [Route(path, self._metadata, methods=["GET", "OPTIONS"]) for path in self.resource.metadata_paths]

    async def prepare(self) -> None:
        """Load what the first request would wait for; a failure is logged, since the server may start before others."""
        try:
            await self._verifier.prepare()
        except AuthorizationServerError as error:
            logger.warning("The authorization server cannot be used yet: %s", error)

    async def _verified(self, digest: bytes, token: str) -> VerifiedToken:
        """Verify a token that is not known; requests with the same one wait together."""
        until, reason = self._refused.get(digest, (0.0, ""))
        if self._clock() < until:
            raise InvalidToken(reason)
        if len(token) > MAX_TOKEN_BYTES:
            raise InvalidToken("the token is too long")
        if digest not in self._verifying:
            self._verifying[digest] = task = asyncio.create_task(self._verify(digest, token))
            task.add_done_callback(retrieve)
        return await asyncio.shield(self._verifying[digest])

    async def _verify(self, digest: bytes, token: str) -> VerifiedToken:
        self._known.pop(digest, None)
        try:
            verified = await self._verifier.verify(token)
        except UnknownKey:  # which costs nothing, and may become known
            raise
        except InvalidToken as error:
            self._refused.pop(digest, None)
            _remember(self._refused, digest, (self._clock() + MAX_REFUSED_SECONDS, str(error)), MAX_REFUSED_TOKENS)
            raise
        finally:
            del self._verifying[digest]
        if verified.keys == self._verifier.number:  # else its keys have changed meanwhile
            _remember(self._known, digest, verified, MAX_KNOWN_TOKENS)
        return verified

    def _challenge(self) -> str:
        return self.resource.challenge(self._scopes())

    async def _metadata(self, _request: Request) -> JSONResponse:
        headers = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Headers": "*",
            "Cache-Control": f"public, max-age={MAX_METADATA_AGE}",
        }
        return JSONResponse(self.resource.metadata(self._scopes()), headers=headers)


def _digest(authorization: str) -> bytes:
    return hashlib.sha256(authorization.encode("latin-1")).digest()


def _has_token(query: bytes) -> bool:
    return any(name == "access_token" for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True))


_Value = TypeVar("_Value")


def _remember(values: dict[bytes, _Value], digest: bytes, value: _Value, limit: int) -> None:
    values[digest] = value
    if len(values) > limit:
        del values[next(iter(values))]
