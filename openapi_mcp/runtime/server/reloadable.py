"""`ReloadableServer`: a server that can be replaced while it serves. `ListChanges`: changes of the list of tools.

A call ends on the server on which it began; a replaced server is closed after its last call and its last task.
Listeners learn that the list of tools changed, not how often. Specification: server/tools ("List Changed
Notification"), subscriptions (2026-07-28).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from ..protocol import ServerDescription, Session, Step, Subscription, jsonrpc
from .hooks import Notify
from .server import MAX_STREAMED_BYTES, Reply, Server

logger = logging.getLogger("openapi_mcp")


class ListChanges:
    """Changes of the list of tools, for any number of listeners in one event loop."""

    def __init__(self) -> None:
        self._announced = 0
        self._ended = False
        self._event = asyncio.Event()

    def announce(self) -> None:
        """Tell all listeners that the list changed."""
        self._announced += 1
        self._wake()

    def end(self) -> None:
        """End the iteration of all listeners, future ones included."""
        self._ended = True
        self._wake()

    def listen(self) -> AsyncIterator[None]:
        """Return an iterator with an item for each change from now on, until the end.

        Changes that are announced while an item is handled become one item: a slow listener needs no more memory.
        """
        return self._changes_after(self._announced)

    async def _changes_after(self, seen: int) -> AsyncIterator[None]:
        while True:
            if seen != self._announced:
                seen = self._announced
                yield
            elif self._ended:
                return
            else:
                await self._event.wait()

    def _wake(self) -> None:
        self._event.set()
        self._event = asyncio.Event()  # for the next change


class ReloadableServer:
    """A server for a transport. It belongs to one event loop; its creator calls `aclose`."""

    def __init__(self, server: Server) -> None:
        self.changes = ListChanges()
        self._current = _Generation(server)
        self._retiring: dict[asyncio.Task[None], _Generation] = {}

    @classmethod
    def wrap(cls, server: "Server | ReloadableServer") -> "ReloadableServer":
        """Return a ReloadableServer for a Server; a ReloadableServer is returned as it is."""
        return server if isinstance(server, ReloadableServer) else cls(server)

    @property
    def server(self) -> Server:
        """The server that takes the next message."""
        return self._current.server

    @property
    def description(self) -> ServerDescription:
        """The description of the current server."""
        return self.server.description

    def receive(self, message: Any, session: Session, headers: Mapping[str, str] | None = None) -> Step:
        """Call `Server.receive` of the current server."""
        return self.server.receive(message, session, headers)

    async def perform(
        self,
        step: Step,
        notify: Notify | None = None,
        caller: str = "",
        *,
        max_streamed_bytes: int | None = MAX_STREAMED_BYTES,
    ) -> Reply:
        """Call `Server.perform`; a Subscription stays open until the changes end. Raises only when it is cancelled."""
        if isinstance(step.action, Subscription):
            return await self._serve_subscription(step, step.action, notify)
        with self._current as server:
            return await server.perform(step, notify, caller, max_streamed_bytes=max_streamed_bytes)

    def replace(self, server: Server, *, lists_same_tools: bool | None = None) -> None:
        """Make `server` take the next messages; tell listeners if its list of tools is another one. Does not wait.

        Whoever has compared the lists says whether they are the same; those of 20,000 tools take tenths of a second.
        """
        retired, self._current = self._current, _Generation(server)
        task = asyncio.create_task(retired.close())
        self._retiring[task] = retired
        task.add_done_callback(self._retiring.pop)
        if lists_same_tools is None:
            lists_same_tools = server.catalog.lists_same_tools(retired.server.catalog)
        if not lists_same_tools:
            self.changes.announce()

    async def aclose(self) -> None:
        """End the changes and close every server, even one that has calls."""
        self.changes.end()
        for generation in [self._current, *self._retiring.values()]:
            generation.may_close.set()
        await asyncio.gather(self._current.close(), *self._retiring)

    async def _serve_subscription(self, step: Step, subscription: Subscription, notify: Notify | None) -> Reply:
        """Acknowledge, notify of each change, and reply at the end; reply at once if there is no way to notify."""
        if notify is not None:
            changes = self.changes.listen()  # before the acknowledgement, so that a change during it is not missed
            await notify(jsonrpc.encode(subscription.acknowledgement()))
            async for _ in changes:
                if subscription.tools_list_changed:
                    await notify(jsonrpc.encode(subscription.list_changed()))
        return Reply(jsonrpc.encode(subscription.reply()), step.session, step.status)


def _do_nothing() -> None:
    """Do nothing when a server that is closed is idle."""


class _Generation:
    """A server with the count of its calls; each call enters it as a context. `may_close` ends the wait for them."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.may_close = asyncio.Event()
        server.on_idle = self._check_idle
        self._calls = 0
        self._is_closing = False

    def __enter__(self) -> Server:
        self._calls += 1
        return self.server

    def __exit__(self, *_: object) -> None:
        self._calls -= 1
        self._check_idle()

    async def close(self) -> None:
        """Close the server once it has no calls."""
        self._is_closing = True
        self._check_idle()
        await self.may_close.wait()
        try:
            await self.server.aclose()
        except Exception:
            logger.exception("A server could not be closed.")
        finally:
            self.server.on_idle = _do_nothing  # without this circle the server's tools go at once (see `background`)

    def _check_idle(self) -> None:
        if self._is_closing and not self._calls and not self.server.is_busy:
            self.may_close.set()
