"""`Waiting`: for the work behind one HTTP response, until it is done, or its client, its time or its server is gone.

Work that nobody waits for any more is cancelled, and that is waited for too: nothing is left behind.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from starlette.requests import Request

from .protocol import Cancellation, Step, ToolCall, jsonrpc
from .replies import Reply
from .server import Answer
from .types import JsonObject, error_result

KEEP_ALIVE: Final = 15.0
"""Seconds between two signs of life on a stream: what lies between client and server often gives up after 30 or 60."""

REQUEST_TIMEOUT: Final = 600.0
"""Seconds for a whole message: far more than clients wait, and the end of what nobody waits for any more."""

STOPPING: Final = "stopping"
"""Where a server that tells when it begins to stop has an asyncio.Event in `scope["state"]` (see `connections`)."""

Work: TypeAlias = asyncio.Task[Answer]


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long an answer may take, and a stream be silent meanwhile; both in seconds."""

    request_timeout: float | None
    keep_alive: float

    async def call(self, work: Work, step: Step, reply: Reply, leaver: Request | None) -> Answer | None:
        """The answer to a message, or that it took too long; None where it was cancelled.

        `leaver` is the request of a client that cancels by closing its connection.
        """
        try:
            async with asyncio.timeout(self.request_timeout):
                return await self._done(work, reply, leaver)
        except TimeoutError:
            return _overdue(step, f"This took longer than {self.request_timeout:g} seconds and was stopped.")

    async def stream(self, work: Work, reply: Reply, request: Request, stop: Callable[[], None]) -> Answer | None:
        """The answer to what lasts until its client leaves; `stop` brings it about when the server begins to stop."""
        stopping: asyncio.Event | None = request.scope.get("state", {}).get(STOPPING)
        ending = None if stopping is None else asyncio.create_task(_after(stopping, stop))
        try:
            return await self._done(work, reply, request)
        finally:
            if ending is not None:
                ending.cancel()

    async def _done(self, work: Work, reply: Reply, leaver: Request | None) -> Answer | None:
        leaving = None if leaver is None else asyncio.create_task(_disconnected(leaver))
        tasks: set[asyncio.Task[Answer] | asyncio.Task[None]] = {task for task in (work, leaving) if task is not None}
        try:
            while not work.done():
                done, _ = await asyncio.wait(tasks, timeout=self.keep_alive, return_when=asyncio.FIRST_COMPLETED)
                if leaving in done and work not in done:
                    return None
                if not done:
                    await reply.keep_alive()
            return None if work.cancelled() else work.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _after(event: asyncio.Event, do: Callable[[], None]) -> None:
    await event.wait()
    do()


def _overdue(step: Step, message: str) -> Answer:
    """The answer to what took too long, for each message of a batch."""
    late = [_late(part, message) for part in step.batch or (step,)]
    bodies = [jsonrpc.encode(reply) for reply in late if reply is not None]
    return Answer(b"[" + b",".join(bodies) + b"]" if step.batch else bodies[0], step.session, 200)


def _late(step: Step, message: str) -> JsonObject | None:
    """A model hears it as the result of its call; everybody else as an error."""
    if isinstance(step.action, ToolCall):
        return step.action.reply(error_result(message))
    if step.action is None or isinstance(step.action, Cancellation):
        return step.reply
    return jsonrpc.error(jsonrpc.INTERNAL_ERROR, message, request_id=step.action.request_id)
