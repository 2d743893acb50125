"""`LocalSignIns`: the user signs in while a call waits, or between two calls, and the token is stored as `login` does.

For a server of one user on that user's machine: the page of the authorization server returns to 127.0.0.1 there, so
that nobody who is elsewhere completes a sign-in, whoever gets the address of the page. The client never sees a token.

Specification: client/elicitation of 2025-11-25 and 2026-07-28 (URL mode), RFC 8252.
"""

import asyncio
import logging
import secrets
from dataclasses import dataclass
from typing import Any, Final

from ..elicitation.asker import ASKER
from ..errors import UsageError
from ..runtime.protocol.elicitation import URL, WebPage
from ..runtime.tool import Tool
from .endpoints import OAuthFailure, SignInNeeded
from .login import with_browser
from .store import TokenStore
from .tokens import SignInStore, TokenSource

logger = logging.getLogger("openapi_mcp")

_ID_BYTES: Final = 12


@dataclass(slots=True)
class _PendingSignIn:
    """A sign-in that has begun: `address` is that of its page; the task ends when the token is stored."""

    id: str
    address: "asyncio.Future[str]"
    task: "asyncio.Task[None]"


class LocalSignIns:
    """The sign-ins that calls begin, one at a time for each key of the store; each ends after SIGN_IN_SECONDS.

    The pages return to `port` of 127.0.0.1; 0 takes a free one.
    """

    def __init__(self, port: int, store: SignInStore) -> None:
        self._port = port
        self.store = store
        self._pending: dict[str, _PendingSignIn] = {}

    async def sign_in(self, source: TokenSource, tool: Tool, needed: SignInNeeded) -> None:
        """Let the user sign in before a call of a tool. Raises RuntimeFailure where that is not done yet, or fails."""
        try:
            pending, address = await self._begin(source)
        except OAuthFailure as error:
            raise OAuthFailure(f"{needed} {error}") from error
        asker = ASKER.get()
        if asker is None or not asker.can_ask(tool, URL):
            raise OAuthFailure(
                "The call was not made: it needs a sign-in of the user. Give the user the address of the page, and "
                f"make the call again when they have signed in: {address}"
            )
        message = f"Sign in to let the tools of this server call the API (security scheme {source.name})."
        await asker.open_page(tool, WebPage(message, address, pending.id), pending.task)
        pending.task.result()

    async def _begin(self, source: TokenSource) -> tuple[_PendingSignIn, str]:
        """Return the sign-in for a source and the address of its page, one that was begun before if there is one.

        Raises OAuthFailure.
        """
        pending = self._pending.get(source.key)
        if pending is None or pending.task.done():
            address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(self._run(source, address))
            task.add_done_callback(_report)
            self._pending[source.key] = pending = _PendingSignIn(secrets.token_urlsafe(_ID_BYTES), address, task)
        begun: set[asyncio.Future[Any]] = {pending.address, pending.task}
        await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)
        if not pending.address.done():
            pending.task.result()
        return pending, pending.address.result()

    async def _run(self, source: TokenSource, address: "asyncio.Future[str]") -> None:
        token = await with_browser(source.server, self._port, address.set_result)
        try:
            await asyncio.to_thread(self.store.put, source.key, token)
        except UsageError as error:
            raise OAuthFailure(str(error)) from error
        source.failure = None


def local_sign_ins(port: int | None) -> LocalSignIns | None:
    """Return what lets the user of this machine sign in during a call; None where that was not chosen."""
    return None if port is None else LocalSignIns(port, TokenStore())


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("A sign-in was not completed: %s", error)
