"""`OAuthTokens`: the access tokens of a document's security schemes, fetched when a call needs one and renewed in time.

A token comes from a sign-in (`openapi-mcp login`, or of each user: see `sign_ins`), from the client credentials grant,
or in exchange for the token of a caller. It is renewed before it expires, by one request for all calls that wait for
it, and once after the API refused it with 401.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from ..compilation import OAuthScheme
from ..elicitation.asker import ASKER
from ..errors import UsageError
from ..runtime.errors import RequestError
from ..runtime.request.redaction import redact
from ..runtime.server.grants import SUBJECT_TOKEN, subject
from ..runtime.tool import SecurityScheme, Tool
from ..runtime.upstream.tls import tls_context
from .clients import ID_JAG, OAuthClient, OAuthSettings
from .endpoints import TOKEN_EXCHANGE, AccessToken, AuthorizationServer, OAuthFailure, SignInNeeded
from .sealed_store import ProcessLock
from .store import TokenStore, store_key

CLIENT_CREDENTIALS: Final = "clientCredentials"
AUTHORIZATION_CODE: Final = "authorizationCode"

MAX_CALLERS: Final = 10_000
"""Callers whose exchanged tokens are remembered; the oldest are forgotten. Some 20 MB."""

_ID_JAG_TYPE: Final = "urn:ietf:params:oauth:token-type:id-jag"
_JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_ACCESS_TOKEN: Final = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105  # the name of a type

_ON_MACHINE: Final = "on the server's machine"

FAILURE_SECONDS: Final = 5.0
"""Seconds for which a failed token request is not repeated, so that calls do not flood an authorization server."""


class SignInStore(Protocol):
    """A store of the tokens of sign-ins by key, as `TokenStore` is one. Methods may wait, and run in threads."""

    def get(self, key: str) -> AccessToken | None:
        """Return a stored token; None if there is none that can be read."""

    def put(self, key: str, token: AccessToken) -> str:
        """Store a token; return where. Raises UsageError or OAuthFailure."""

    def drop(self, key: str) -> None:
        """Remove a stored token."""

    def lock(self, key: str) -> ProcessLock:
        """Return a lock that one process at a time holds."""


@dataclass(slots=True)
class TokenSource:
    """The source of one scheme's tokens. `key` is that of its sign-in in `store`; `document` names it for errors.

    `is_machine` tells whether the client may have a token without a sign-in (client credentials), `is_personal` that
    each user of this server signs in for themselves: `user` is the one of this source, `api` the name of the API where
    a server has several. `subject_token` is that of the
    caller where it is exchanged for one that is for the API; `identity_provider` gives an assertion for it before.
    """

    server: AuthorizationServer
    store: SignInStore
    key: str
    document: str
    name: str
    is_machine: bool
    is_personal: bool = False
    user: str = field(default="", repr=False)
    api: str = ""
    identity_provider: AuthorizationServer | None = None
    subject_token: str | None = field(default=None, repr=False)
    token: AccessToken | None = field(default=None, repr=False)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    failure: tuple[float, OAuthFailure] | None = field(default=None, repr=False)

    async def get(self, refused: str | None = None) -> str:
        """Return an access token that is not `refused`. Raises OAuthFailure."""
        if self._is_usable(self.token, refused):
            return self.token.value  # type: ignore[union-attr]  # as `_is_usable` found
        async with self.lock:
            if self._is_usable(self.token, refused):
                return self.token.value  # type: ignore[union-attr]
            if self.failure and time.monotonic() < self.failure[0]:
                raise self.failure[1]
            try:
                self.token = await self._new(refused)
            except OAuthFailure as error:
                self.failure = time.monotonic() + FAILURE_SECONDS, error
                raise
            self.failure = None
            return self.token.value

    def _is_usable(self, token: AccessToken | None, refused: str | None) -> bool:
        return token is not None and token.value != refused and token.is_fresh(time.time())

    async def _new(self, refused: str | None) -> AccessToken:
        if self.subject_token is not None:
            return await self._exchanged(self.subject_token)
        stored = await asyncio.to_thread(self.store.get, self.key)
        if stored is not None:
            return stored if self._is_usable(stored, refused) else await self._refreshed(refused)
        if self.is_machine:
            scope = self.server.scope
            return await self.server.token("client_credentials", {"scope": scope})
        who = "The user has not" if self.is_personal else "Nobody has"
        raise SignInNeeded(f"{who} signed in for the security scheme `{self.name}`.{self._cure(_ON_MACHINE)}")

    async def _exchanged(self, subject_token: str) -> AccessToken:
        """Return a token for the API in exchange for that of a caller."""
        scope = {"scope": self.server.scope}
        parameters = {"subject_token": subject_token, "subject_token_type": _ACCESS_TOKEN, **scope}
        if self.server.client.exchange == "token-exchange":
            return await self.server.token(TOKEN_EXCHANGE, parameters)
        assertion = subject_token
        if self.identity_provider is not None:
            audience = {"audience": await self._issuer()}
            assertion = await self.identity_provider.assertion({**parameters, **audience}, _ID_JAG_TYPE)
        return await self.server.token(_JWT_BEARER, {"assertion": assertion, **scope})

    async def _issuer(self) -> str:
        """Return the issuer of tokens for the API, which an assertion is meant for. Raises OAuthFailure."""
        issuer = self.server.client.audience or (await self.server.metadata()).get("issuer")
        if not isinstance(issuer, str):
            hint = f"set --oauth {self.name}.audience to the issuer of its authorization server"
            raise OAuthFailure(f"The document names no issuer for the security scheme `{self.name}`; {hint}.")
        return issuer

    def of_caller(self, subject_token: str) -> "TokenSource":
        """Return the source of the tokens of one caller, in exchange for the caller's own."""
        return self._copy(subject_token=subject_token)

    def of_user(self, user: str) -> "TokenSource":
        """Return the source of the tokens of one user, who signs in for themselves."""
        server, client = self.server, self.server.client
        asked = [client.client_id, client.audience, client.resource, server.scope]
        key = hashlib.sha256(json.dumps([self.api, self.name, server.hosts(), asked, user]).encode())
        return self._copy(user=user, key=key.hexdigest())

    def _copy(self, **changes: str) -> "TokenSource":
        """Return a source without a token of its own yet."""
        fresh = {"token": None, "failure": None, "lock": asyncio.Lock()}
        return replace(self, **fresh, **changes)  # type: ignore[arg-type]  # by the names of their fields

    async def _refreshed(self, refused: str | None) -> AccessToken:
        """Renew the stored token, unless another process has done so meanwhile."""
        async with _held(self.store.lock(self.key)):
            stored = await asyncio.to_thread(self.store.get, self.key)
            if stored is not None and self._is_usable(stored, refused):
                return stored
            if stored is None or not stored.refresh_token:
                await self._forget()
                raise SignInNeeded(self._expired("has expired, and there is no refresh token"))
            try:
                token = await self.server.token("refresh_token", {"refresh_token": stored.refresh_token}, stored)
            except OAuthFailure as error:
                if error.error == "invalid_grant":
                    await self._forget()
                    raise SignInNeeded(self._expired("is no longer valid")) from error
                raise
            await asyncio.to_thread(self.store.put, self.key, token)
            return token

    async def _forget(self) -> None:
        """Forget the token of a user that is worth nothing any more, so that the next call lets the user sign in."""
        if self.is_personal:
            self.token = None
            await asyncio.to_thread(self.store.drop, self.key)

    def _expired(self, reason: str) -> str:
        return f"The sign-in for the security scheme `{self.name}` {reason}.{self._cure('again')}"

    def _cure(self, how: str) -> str:
        return "" if self.is_personal else f" Run `openapi-mcp login {self.document}` {how}."


class SignIns(Protocol):
    """The way in which users sign in during calls."""

    @property
    def store(self) -> SignInStore:
        """The store of their tokens."""

    async def sign_in(self, source: TokenSource, tool: Tool, needed: SignInNeeded) -> None:
        """Let the user sign in before a call. Raises RuntimeFailure where that is not done yet, or fails."""


class OAuthTokens:
    """The tokens of a document's schemes by name: a CredentialSource (see `runtime.server.hooks`).

    `sign_ins` let users sign in during calls. `api` is the name of the API where a server has several.
    """

    def __init__(self, settings: OAuthSettings, sign_ins: SignIns | None = None, api: str = "") -> None:
        self._sign_ins = sign_ins
        self._api = api
        self.sources: dict[str, TokenSource] = {}
        self._settings = settings
        self._store = TokenStore()
        self._of_callers: dict[tuple[str, bytes], TokenSource] = {}

    def add(self, scheme: OAuthScheme, variable: str) -> None:
        """Fetch tokens for a scheme if its OAuth client is configured. Raises UsageError.

        `variable` is that of the scheme's static credential.
        """
        client = self._settings.client(scheme.name, variable)
        if client.client_id:
            is_personal = self._settings.callback is not None and client.exchange is None and has_pages(scheme)
            takes_clients = CLIENT_CREDENTIALS in scheme.flows or not scheme.flows
            self.sources[scheme.name] = TokenSource(
                server=authorization_server(self._settings, scheme, client),
                store=self._sign_ins.store if is_personal and self._sign_ins is not None else self._store,
                key=store_key(self._settings.source, scheme, client),
                document=redact(self._settings.source),
                name=scheme.name,
                is_machine=bool(client.client_secret) and takes_clients and not is_personal,
                is_personal=is_personal,
                api=self._api,
                identity_provider=_identity_provider(self._settings, scheme.name, client),
            )

    def lines(self) -> Iterator[str]:
        """Yield a line for each scheme: how its token is had, and which host gets the client's secret."""
        for name, source in self.sources.items():
            means = "client credentials, or a sign-in" if source.is_machine else "the sign-in of `openapi-mcp login`"
            if source.is_personal:
                means = f"the sign-in of each user, which returns to {self._settings.callback}"
            if source.server.client.exchange:
                means = "exchange for the token of each caller"
            yield f"{name}: OAuth token by {means}; the client is known to {', '.join(source.server.hosts())}"

    async def credentials(
        self, tool: Tool, static: Mapping[str, str], refused: Mapping[str, str] | None = None
    ) -> Mapping[str, str]:
        """Return the static credentials and the tokens that a call needs, none of them `refused`. Raises OAuthFailure.

        The first alternative of `security` is used whose credentials are all static or can be fetched.
        """
        names = self._needed(tool, static)
        if not names:
            return static
        tokens = [await self._token(name, tool, None if refused is None else refused.get(name)) for name in names]
        return {**static, **dict(zip(names, tokens, strict=True))}

    async def _token(self, name: str, tool: Tool, refused: str | None) -> str:
        """Return the token of a scheme; one after a sign-in, unless the API has just refused one."""
        source = self._source(name)
        try:
            return await source.get(refused)
        except SignInNeeded as needed:
            is_for_users = self._settings.callback is not None
            if self._sign_ins is None or refused is not None or is_for_users != source.is_personal:
                raise
            await self._sign_ins.sign_in(source, tool, needed)
        return await source.get()

    async def renewed(self, tool: Tool, static: Mapping[str, str], used: Mapping[str, str]) -> Mapping[str, str] | None:
        """Return new credentials after the API refused those that were used; None if there are no others."""
        if not self._needed(tool, static):
            return None
        with suppress(OAuthFailure):
            renewed = await self.credentials(tool, static, used)
            return renewed if renewed != used else None
        return None

    def _source(self, name: str) -> TokenSource:
        """Return the source of a scheme's tokens; that of the caller who is being served where each has their own.

        Raises OAuthFailure for a caller without a token.
        """
        source = self.sources[name]
        if source.is_personal:
            user = user_of_call()
            return self._remembered(name, user, lambda: source.of_user(user))
        if source.server.client.exchange is None:
            return source
        token = SUBJECT_TOKEN.get()
        if not token:
            raise OAuthFailure(
                f"The security scheme `{name}` takes a token in exchange for the caller's, and this caller has none: "
                "start the server with --auth-issuer."
            )
        return self._remembered(name, token, lambda: source.of_caller(token))

    def _remembered(self, name: str, caller: str, make: Callable[[], TokenSource]) -> TokenSource:
        """Return the source of a caller, a new one if it was never used or is forgotten."""
        key = name, hashlib.sha256(caller.encode()).digest()
        own = self._of_callers.pop(key, None) or make()
        self._of_callers[key] = own
        if len(self._of_callers) > MAX_CALLERS:
            del self._of_callers[next(iter(self._of_callers))]
        return own

    def _needed(self, tool: Tool, static: Mapping[str, str]) -> Sequence[str]:
        """Return the names of the schemes whose tokens a call needs; none if static credentials suffice."""
        for alternative in tool.security:
            names = [scheme.name for scheme in alternative if not _is_static(scheme, static)]
            if alternative and all(name in self.sources for name in names):
                return names
        return ()


def has_pages(scheme: OAuthScheme) -> bool:
    """Return whether users can sign in for a scheme on the pages of its authorization server."""
    return AUTHORIZATION_CODE in scheme.flows or not scheme.flows


def user_of_call() -> str:
    """Return who makes the call that is being answered: the subject of the access token, else the client's session.

    Calls without either have one user together: whoever uses this machine.
    """
    asker = ASKER.get()
    session = "" if asker is None else asker.session_id
    return subject() or (f"session {session}" if session else "")


def authorization_server(settings: OAuthSettings, scheme: OAuthScheme, client: OAuthClient) -> AuthorizationServer:
    """Return the authorization server of a scheme. Raises UsageError for certificates that cannot be used."""
    try:
        verify = tls_context(settings.ca, settings.client_cert, settings.client_key)
    except RequestError as error:
        hint = "see --ca, --client-cert and --client-key"
        raise UsageError(str(error), where="the certificates", hint=hint) from None
    return AuthorizationServer(scheme, client, verify, settings.egress)


def _identity_provider(settings: OAuthSettings, name: str, client: OAuthClient) -> AuthorizationServer | None:
    """Return the identity provider that gives assertions about callers; None where none is asked. Raises UsageError."""
    if client.exchange != ID_JAG:
        return None
    if client.idp_token_url is None:
        hint = f"set --oauth {name}.idp-token-url to the token endpoint of the callers' identity provider"
        raise UsageError("the exchange id-jag needs an identity provider", where="--oauth", hint=hint)
    return authorization_server(settings, OAuthScheme(name=name), client.of_identity_provider())


@asynccontextmanager
async def _held(lock: ProcessLock) -> AsyncIterator[None]:
    """Hold a lock of processes without blocking the event loop. Raises OAuthFailure if another holds it too long."""
    try:
        await asyncio.to_thread(lock.acquire)
    except (TimeoutError, OSError) as error:
        raise OAuthFailure("Another process is renewing the same token and has not finished.") from error
    try:
        yield
    finally:
        await asyncio.to_thread(lock.release)


def _is_static(scheme: SecurityScheme, static: Mapping[str, str]) -> bool:
    return scheme.type == "mutualTLS" or bool(static.get(scheme.name))
