"""`Waiting`: for the work behind one HTTP response, until it is done, or its client, its time or its server is gone.

Work that nobody waits for any more is cancelled, and that is waited for too: nothing is left behind.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Final

from starlette.types import Receive, Scope

from .ledger import Follow, Stop
from .protocol import Cancellation, Step, ToolCall, jsonrpc
from .server import Answer
from .types import JsonObject, error_result

REQUEST_TIMEOUT: Final = 600.0
"""Seconds for a whole message: far more than clients wait, and the end of what nobody waits for any more."""

STOPPING: Final = "stopping"
"""Where a server that tells when it begins to stop has an asyncio.Event in `scope["state"]` (see `connections`)."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long an answer may take, in seconds."""

    request_timeout: float | None

    async def call(
        self, work: Awaitable[Answer], step: Step, follow: Follow | None, leaver: Receive | None
    ) -> Answer | None:
        """The answer to a message, or that it took too long; None where it was stopped.

        `leaver` is what a client is heard by that cancels by closing its connection.
        """
        try:
            return await _unless_stopped(work, self.request_timeout, follow, leaver)
        except TimeoutError:
            return _overdue(step, f"This took longer than {self.request_timeout:g} seconds and was stopped.")

    async def stream(
        self, work: Awaitable[Answer], scope: Scope, leaver: Receive, end: Callable[[], None], follow: Follow | None
    ) -> Answer | None:
        """The answer to what lasts until its client leaves; `end` brings it about when the server begins to stop."""
        stopping: asyncio.Event | None = scope.get("state", {}).get(STOPPING)
        ending = None if stopping is None else asyncio.create_task(_after(stopping, end))
        try:
            return await _unless_stopped(work, None, follow, leaver)
        finally:
            if ending is not None:
                ending.cancel()


async def _unless_stopped(
    work: Awaitable[Answer], seconds: float | None, follow: Follow | None, leaver: Receive | None
) -> Answer | None:
    """What the work comes to; None where it was stopped before. Raises TimeoutError.

    It is done in the task of its request, which is cheaper than one of its own: stopping it is its timeout coming now.
    """
    stopped = False

    def stop() -> None:
        nonlocal stopped
        if not (stopped or limit.expired()):
            stopped = True
            limit.reschedule(asyncio.get_running_loop().time())

    limit = asyncio.timeout(seconds)
    leaving: asyncio.Task[None] | None = None
    try:
        async with limit:
            with _FREE if follow is None else follow(stop):
                leaving = None if leaver is None else asyncio.create_task(_left(leaver, stop))
                return await work
    except TimeoutError:
        if stopped:
            return None
        raise
    finally:
        if leaving is not None:
            leaving.cancel()


_FREE: Final = nullcontext()  # nobody can have the work stopped


async def _left(receive: Receive, stop: Stop) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stop()


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
