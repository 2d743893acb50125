"""`UserSignIns`: each user of a server over HTTP signs in at the API's authorization server for themselves.

A call that needs it is answered with the address of a page of this server. Only the person who made the call gets on
from there (see `pages`); the token of the API is sealed in the store, under who they are, and no client ever sees it.
Any process with the same secret and store takes the next request of a sign-in.

Specification: client/elicitation of 2025-11-25 and 2026-07-28 (URL mode, "URL Mode Elicitation for OAuth Flows").
"""

import asyncio
import hmac
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Final

from ..elicitation.asker import ASKER
from ..runtime.protocol.elicitation import WebPage
from ..runtime.tool import Tool
from .endpoints import AccessToken, OAuthFailure, SignInNeeded
from .identity import DoorClient
from .sealed_store import ProcessLock, SealedStore
from .tokens import TokenSource

LIFETIME: Final = 600.0
"""Seconds for a person to open the page and to sign in, twice if need be."""

MAX_TOKEN_AGE: Final = 30 * 86_400.0
"""Seconds that a token is kept which is not renewed: who was away for longer signs in again."""

POLL_SECONDS: Final = 0.5
"""Seconds between two looks whether the user, who may be at another process, has signed in."""

START: Final = "/oauth/start"

_ID_BYTES: Final = 18


@dataclass(frozen=True, slots=True)
class UserSignIn:
    """A sign-in of a user for a scheme that is not done yet; `key` is that of its token.

    `browser` is the digest of the cookie of the browser that opened the page, `state` and `verifier` are those of the
    request for a code that it was sent away with. `is_identified`: the user has shown who they are. `session` is that
    of the client which was asked (2025-11-25), `api` the name of the API where a server has several.
    """

    id: str
    scheme: str
    key: str
    user: str = field(repr=False)
    browser: str = field(default="", repr=False)
    state: str = field(default="", repr=False)
    verifier: str = field(default="", repr=False)
    is_identified: bool = False
    session: str = field(default="", repr=False)
    api: str = ""

    def is_answered_by(self, state: str) -> bool:
        """Return whether a state is that of the request for a code."""
        return bool(self.state) and hmac.compare_digest(self.state.encode(), state.encode())


class UserTokens:
    """The sealed tokens of users, by the keys of their sources (a SignInStore)."""

    def __init__(self, store: SealedStore, max_age: float = MAX_TOKEN_AGE) -> None:
        self._store = store
        self._max_age = max_age

    def get(self, key: str) -> AccessToken | None:
        """Return a token; None if there is none."""
        value = self._store.get(f"token {key}")
        with suppress(TypeError):
            return None if value is None else AccessToken(**value)
        return None

    def put(self, key: str, token: AccessToken) -> str:
        """Store a token; return where."""
        self._store.put(f"token {key}", asdict(token), self._max_age)
        return "the sealed store of this server"

    def drop(self, key: str) -> None:
        """Remove a token."""
        self._store.take(f"token {key}")

    def lock(self, key: str) -> ProcessLock:
        """Return the lock of a token."""
        return self._store.lock(f"token {key}")


class UserSignIns:
    """The sign-ins of all users of a server that browsers reach at `url`.

    `door` tells who opens a page; without it this server and its user are on one machine. `sources` are those of the
    newest documents, by the names of their APIs and schemes. `tell` gets a session and the id of a page that was done.
    """

    def __init__(self, url: str, store: SealedStore, door: DoorClient | None) -> None:
        self.tell: Callable[[str, str], None] = _nobody_listens
        self.url = url.rstrip("/")
        self.door = door
        self.store = UserTokens(store)
        self.sources: Mapping[tuple[str, str], TokenSource] = {}
        self._pending = store

    async def sign_in(self, source: TokenSource, tool: Tool, needed: SignInNeeded) -> None:
        """Let the user sign in before a call of a tool. Raises RuntimeFailure where that is not done yet."""
        if not await self._has_token(source):
            page = await self._page(source)
            asker = ASKER.get()
            if asker is None or not asker.can_demand(tool):
                raise OAuthFailure(
                    f"The call was not made. {needed} Give the user the address of this page, and make the call "
                    f"again when they have signed in there: {page.url}"
                )
            done = asyncio.create_task(self._signed_in(source))
            try:
                await asker.demand_page(tool, page, done)
            finally:
                done.cancel()
                await asyncio.gather(done, return_exceptions=True)
        source.failure = None

    def source_of(self, pending: UserSignIn) -> TokenSource | None:
        """Return the source of the tokens that a sign-in is for; None if the documents have it no more."""
        return self.sources.get((pending.api, pending.scheme))

    async def find(self, sign_in_id: str) -> UserSignIn | None:
        """Return the sign-in with an id; None for one that is done, too old or unknown. Raises OAuthFailure."""
        value = await asyncio.to_thread(self._pending.get, f"sign-in {sign_in_id}")
        with suppress(TypeError):  # of another version of this program
            return None if value is None else UserSignIn(**value)
        return None

    async def keep(self, pending: UserSignIn) -> None:
        """Keep a sign-in as it is now. Raises OAuthFailure."""
        await asyncio.to_thread(self._pending.put, f"sign-in {pending.id}", asdict(pending), LIFETIME)

    async def take(self, pending: UserSignIn) -> bool:
        """Remove a sign-in; return whether nobody else has taken it. Raises OAuthFailure."""
        return await asyncio.to_thread(self._pending.take, f"sign-in {pending.id}") is not None

    async def finish(self, pending: UserSignIn, token: AccessToken) -> None:
        """Keep the token of a user who has signed in. Raises OAuthFailure."""
        await asyncio.to_thread(self.store.put, pending.key, token)
        await asyncio.to_thread(self._pending.take, f"link {pending.key}")
        if pending.session:
            self.tell(pending.session, pending.id)

    async def _has_token(self, source: TokenSource) -> bool:
        return await asyncio.to_thread(self.store.get, source.key) is not None

    async def _signed_in(self, source: TokenSource) -> None:
        """Wait until the user has signed in."""
        while not await self._has_token(source):  # noqa: ASYNC110  # it may appear by another process
            await asyncio.sleep(POLL_SECONDS)

    async def _page(self, source: TokenSource) -> WebPage:
        """Return the page of the user's sign-in, the one that was begun before if there is one."""
        begun = await asyncio.to_thread(self._pending.get, f"link {source.key}")
        pending = await self.find(begun) if isinstance(begun, str) else None
        if pending is None:
            asker = ASKER.get()
            session = "" if asker is None else asker.session_id
            page_id = secrets.token_urlsafe(_ID_BYTES)
            pending = UserSignIn(page_id, source.name, source.key, source.user, session=session, api=source.api)
            await self.keep(pending)
            await asyncio.to_thread(self._pending.put, f"link {source.key}", pending.id, LIFETIME)
        called = source.api or "the API"
        message = f"Sign in to let the tools of this server call {called} for you (security scheme {source.name})."
        return WebPage(message, f"{self.url}{START}?id={pending.id}", pending.id)


class ApiSignIns:
    """The sign-ins of all users of a server for one of its APIs (a `SignIns`); `api` is empty for the only one."""

    def __init__(self, users: UserSignIns, api: str = "") -> None:
        self.api = api
        self.store = users.store
        self.sign_in = users.sign_in
        self._users = users

    def learn(self, sources: Mapping[str, TokenSource]) -> None:
        """Take the sources of the newest document, by the names of their schemes, instead of older ones."""
        others = {key: source for key, source in self._users.sources.items() if key[0] != self.api}
        personal = {(self.api, name): source for name, source in sources.items() if source.is_personal}
        self._users.sources = others | personal


def _nobody_listens(_session: str, _page: str) -> None:
    """Do nothing: there is no server whose clients could be told."""
