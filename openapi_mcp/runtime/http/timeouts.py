"""Time limits of answers: work whose client, time or server is gone is cancelled, and its cancellation is waited for.

Specification: basic/utilities/cancellation; basic/transports, "Streamable HTTP", of 2026-07-28 for clients that close
the connection of a call.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Final

from starlette.types import Receive, Scope

from ..protocol import Cancellation, Step, ToolCall, jsonrpc
from ..server.server import Reply
from ..types import JsonObject, error_result
from ..upstream.timers import NEVER, TimeLimit, Timers
from .direct import DirectRequest
from .sessions import RegisterStop, Stop

MAX_STREAM_SECONDS: Final = 30 * 86_400.0
"""Seconds that a stream of an access token lasts, also where the token is valid for years: timers have limits."""

SHUTDOWN_EVENT: Final = "shutdown"
"""The key in `scope["state"]` of an asyncio.Event that is set when the server begins to stop (see `connections`)."""


class AnswerTimeouts:
    """The time limit of answers in seconds (None is no limit), and their cancellation."""

    def __init__(self, request_timeout: float | None) -> None:
        self._timers = Timers(request_timeout)

    async def call(
        self,
        work: Awaitable[Reply],
        step: Step,
        tracker: RegisterStop | None,
        client: "Receive | DirectRequest | None",
    ) -> Reply | None:
        """Return the answer to a message, or an error if it took too long; None if the work was stopped.

        `client` is given for one that cancels by closing its connection.
        """
        try:
            return await _run_until_stopped(work, self._timers, tracker, client)
        except TimeoutError:
            return _timeout_reply(step, f"The call took longer than {self._timers.seconds:g} seconds and was stopped.")

    async def stream(
        self,
        work: Awaitable[Reply],
        scope: Scope,
        receive: Receive,
        end: Callable[[], None],
        tracker: RegisterStop | None,
        *,
        expires: float = math.inf,
    ) -> Reply | None:
        """Return the answer to a request that lasts until its client leaves; a server that stops calls `end`.

        It does not outlive the access token that it was opened with, which `expires` (in seconds since 1970).
        """
        tracker = tracker if expires == math.inf else partial(_until, expires, tracker)
        shutdown: asyncio.Event | None = scope.get("state", {}).get(SHUTDOWN_EVENT)
        ending = None if shutdown is None else asyncio.create_task(_call_after(shutdown, end))
        try:
            return await _run_until_stopped(work, NEVER, tracker, receive)
        finally:
            if ending is not None:
                ending.cancel()


@contextmanager
def _until(expires: float, tracker: RegisterStop | None, stop: Stop) -> Iterator[None]:
    """Stop the work of the block at a time, besides what a tracker does."""
    delay = min(max(expires - time.time(), 0.0), MAX_STREAM_SECONDS)
    timer = asyncio.get_running_loop().call_later(delay, stop)
    try:
        with _UNTRACKED if tracker is None else tracker(stop):
            yield
    finally:
        timer.cancel()


async def _run_until_stopped(
    work: Awaitable[Reply], timers: Timers, tracker: RegisterStop | None, client: "Receive | DirectRequest | None"
) -> Reply | None:
    """Return the result of the work; None if it was stopped before. Raises TimeoutError.

    The work runs in the task of its request, which is cheaper than a task of its own.
    """
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = not limit.is_over or stopped
        limit.stop()

    leaving: asyncio.Task[None] | None = None
    try:
        with (limit := TimeLimit(timers)), _UNTRACKED if tracker is None else tracker(stop):
            if isinstance(client, DirectRequest):
                client.on_disconnect(stop)
            elif client is not None:
                leaving = asyncio.create_task(_stop_on_disconnect(client, stop))
            return await work
    except TimeoutError:
        if stopped:
            return None
        raise
    finally:
        if isinstance(client, DirectRequest):
            client.on_disconnect(None)
        elif leaving is not None:
            leaving.cancel()


_UNTRACKED: Final = nullcontext()


async def _stop_on_disconnect(receive: Receive, stop: Stop) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stop()


async def _call_after(event: asyncio.Event, function: Callable[[], None]) -> None:
    await event.wait()
    function()


def _timeout_reply(step: Step, message: str) -> Reply:
    """Return the answer to a message that took too long; to each message of a batch."""
    replies = [_timeout_message(part, message) for part in step.batch or (step,)]
    bodies = [jsonrpc.encode(reply) for reply in replies if reply is not None]
    return Reply(b"[" + b",".join(bodies) + b"]" if step.batch else bodies[0], step.session, 200)


def _timeout_message(step: Step, message: str) -> JsonObject | None:
    """Return a result with `isError` for a tool call, so that the model sees it; an error for other requests."""
    if isinstance(step.action, ToolCall):
        return step.action.reply(error_result(message))
    if step.action is None or isinstance(step.action, Cancellation):
        return step.reply
    return jsonrpc.error(jsonrpc.INTERNAL_ERROR, message, request_id=step.action.request_id)
