"""`Live`: the server that answers now, which may be replaced while it serves; it tells who listens, and loses no call.

A call ends against the server it began with, which is closed after the last of them. Listeners hear that the list of
tools changed, never how often. Specification: server/tools ("List Changed Notification"), subscriptions (2026-07-28).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from .progress import Notify
from .protocol import ServerDescription, Session, Step, Subscription, jsonrpc
from .server import MAX_STREAMED_BYTES, Answer, Server

logger = logging.getLogger("openapi_mcp")


class Changes:
    """Changes of the list of tools, for any number of listeners in one event loop."""

    def __init__(self) -> None:
        self._announced = 0
        self._ended = False
        self._news = asyncio.Event()

    def announce(self) -> None:
        """Tell all listeners that the list is another one."""
        self._announced += 1
        self._wake()

    def end(self) -> None:
        """There will be no more changes: whoever listens comes to the end, also who begins to."""
        self._ended = True
        self._wake()

    def listen(self) -> AsyncIterator[None]:
        """An item when the list has changed, from this moment on, until the end.

        Changes that come while an item is being dealt with are one item together: a slow listener makes nothing grow.
        """
        return self._after(self._announced)

    async def _after(self, heard: int) -> AsyncIterator[None]:
        while True:
            if heard != self._announced:
                heard = self._announced
                yield
            elif self._ended:
                return
            else:
                await self._news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()  # the next news


class Live:
    """What a transport serves. It belongs to one event loop; whoever makes it calls `aclose` in the end."""

    def __init__(self, server: Server) -> None:
        self.changes = Changes()
        self._tenure = _Tenure(server)
        self._retiring: dict[asyncio.Task[None], _Tenure] = {}

    @classmethod
    def of(cls, served: "Server | Live") -> "Live":
        """A server as a Live, which one may be already."""
        return served if isinstance(served, Live) else cls(served)

    @property
    def server(self) -> Server:
        """The server that takes the next message."""
        return self._tenure.server

    @property
    def description(self) -> ServerDescription:
        """What that server tells about itself."""
        return self.server.description

    def receive(self, message: Any, session: Session, headers: Mapping[str, str] | None = None) -> Step:
        """As of Server."""
        return self.server.receive(message, session, headers)

    async def perform(
        self,
        step: Step,
        notify: Notify | None = None,
        caller: str = "",
        *,
        max_streamed_bytes: int | None = MAX_STREAMED_BYTES,
    ) -> Answer:
        """As of Server; and a Subscription is held open until the changes end. Never raises, unless it is cancelled."""
        if isinstance(step.action, Subscription):
            return await self._hold(step, step.action, notify)
        with self._tenure as server:
            return await server.perform(step, notify, caller, max_streamed_bytes=max_streamed_bytes)

    def replace(self, server: Server) -> None:
        """From now on `server` takes the messages; listeners are told where it lists other tools. Never waits."""
        retired, self._tenure = self._tenure, _Tenure(server)
        task = asyncio.create_task(retired.end())
        self._retiring[task] = retired
        task.add_done_callback(self._retiring.pop)
        if not server.catalog.lists_the_same(retired.server.catalog):
            self.changes.announce()

    async def aclose(self) -> None:
        """End the changes and close every server, also one that still has calls."""
        self.changes.end()
        tenures = [self._tenure, *self._retiring.values()]
        for tenure in tenures:
            tenure.free.set()
        await asyncio.gather(self._tenure.end(), *self._retiring)

    async def _hold(self, step: Step, subscription: Subscription, notify: Notify | None) -> Answer:
        """Acknowledge, tell each change, and in the end reply; where nothing can be told, the end is now."""
        if notify is not None:
            changes = self.changes.listen()  # before the acknowledgement: what changes meanwhile is told after it
            await notify(jsonrpc.encode(subscription.acknowledged()))
            async for _ in changes:
                if subscription.tools_list_changed:
                    await notify(jsonrpc.encode(subscription.changed()))
        return Answer(jsonrpc.encode(subscription.reply()), step.session, step.status)


class _Tenure:
    """A server and how many calls it has; as a context it is one of them. `free` says that it is waited for no more."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.free = asyncio.Event()
        self._calls = 0
        self._ending = False

    def __enter__(self) -> Server:
        self._calls += 1
        return self.server

    def __exit__(self, *_: object) -> None:
        self._calls -= 1
        self._look()

    async def end(self) -> None:
        """Close the server once it has no calls."""
        self._ending = True
        self._look()
        await self.free.wait()
        try:
            await self.server.aclose()
        except Exception:
            logger.exception("A server could not be closed.")

    def _look(self) -> None:
        if self._ending and not self._calls:
            self.free.set()
