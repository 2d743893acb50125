"""`Conversation`: one client on a pair of streams; a line in, a line out, each request in a task of its own.

What is in work is bounded, whoever floods the input or stops to read the output. Specification: basic/transports,
"stdio"; server/tools ("List Changed Notification"); subscriptions (2026-07-28).
"""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Final

from .lines import HandOver, Read, Write, read_lines, writing
from .live import Live
from .progress import Notify
from .protocol import Cancellation, Session, Step, Subscription, ToolCall, jsonrpc, list_changed
from .room import Room
from .server import Server

GRACE: Final = 5.0
"""Seconds that calls have to finish in once the input has ended: clients that wait for the end lose patience then."""

FAREWELL: Final = 1.0
"""Seconds in which subscriptions are told that they end: who does not read any more is not waited for longer."""

MAX_CALLS: Final = 100
"""Calls that are made at once: as many as httpx has connections, and more than an API wants of one client."""

MAX_ANSWERS: Final = 16
"""Other answers that are made before the first of them is written: the list of tools may be 8 MiB (see `catalog`)."""

MAX_SUBSCRIPTIONS: Final = 64
"""Subscriptions at once: a client needs one or two, and each is kept until it ends."""


class Conversation:
    """One client and what it asked for.

    At most `max_calls` calls are made at once. Others wait, and nothing is read while too much waits (see `room`): not
    even a cancellation, which then comes in its turn. What it serves is told to end its changes when it ends.
    """

    def __init__(
        self,
        server: Server | Live,
        read: Read,
        write: Write,
        *,
        max_line_bytes: int = jsonrpc.MAX_MESSAGE_BYTES,
        max_calls: int = MAX_CALLS,
        grace: float = GRACE,
    ) -> None:
        self._live = Live.of(server)
        self._read = read
        self._write = write
        self._max_line_bytes = max_line_bytes
        self._grace = grace
        self._session = Session()
        self._greeted = asyncio.Event()
        self._room = Room()
        self._calling = asyncio.Semaphore(max_calls)
        self._answering = asyncio.Semaphore(MAX_ANSWERS)
        self._tasks: set[asyncio.Task[None]] = set()
        self._subscriptions: set[asyncio.Task[None]] = set()
        self._by_id: dict[jsonrpc.RequestId, asyncio.Task[None]] = {}
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """End the conversation now: what is in flight is cancelled."""
        self._stopped.set()

    async def run(self) -> None:
        """Answer until the input ends (what is in flight then has `grace` seconds), `stop`, or nobody reads answers."""
        with writing(self._write) as write:
            say = partial(self._say, write)
            reading = asyncio.create_task(self._accept_all(say))
            stopping = asyncio.create_task(self._stopped.wait())
            announcing = asyncio.create_task(self._announce_changes(say))
            try:
                await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    reading.result()
            finally:
                await _cancel({reading, stopping, announcing, *self._tasks})
                await self._end_subscriptions()

    async def _accept_all(self, say: Notify) -> None:
        async for line in read_lines(self._read, self._max_line_bytes):
            step = self._receive(line)
            self._session = step.session
            self._cancel_requests(step)
            self._start(step, say, len(line or b""))
            await self._room.wait()
        self._live.changes.end()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._grace)

    async def _announce_changes(self, say: Notify) -> None:
        """Tell of changes as the handshake era does, without being asked: to who has shaken hands and was promised."""
        async for _ in self._live.changes.listen():
            if self._session.revision is not None and self._live.description.list_changed:
                await self._greeted.wait()
                await say(jsonrpc.encode(list_changed()))

    async def _end_subscriptions(self) -> None:
        self._live.changes.end()
        if self._subscriptions:
            await asyncio.wait(self._subscriptions, timeout=FAREWELL)
        await _cancel(self._subscriptions)

    def _receive(self, line: bytes | None) -> Step:
        if line is None:
            refusal = jsonrpc.Refusal(jsonrpc.INVALID_REQUEST, f"A message has at most {self._max_line_bytes} bytes.")
            return Step(session=self._session, reply=refusal.reply())
        try:
            message = jsonrpc.decode(line)
        except jsonrpc.InvalidJson as problem:
            return Step(session=self._session, reply=jsonrpc.error(jsonrpc.PARSE_ERROR, str(problem)))
        step = self._live.receive(message, self._session)
        return self._admitted(step, step.action) if isinstance(step.action, Subscription) else step

    def _admitted(self, step: Step, subscription: Subscription) -> Step:
        """The same step, unless there are as many subscriptions as there may be."""
        if sum(not task.cancelling() for task in self._subscriptions) < MAX_SUBSCRIPTIONS:
            return step
        refusal = jsonrpc.Refusal(jsonrpc.INTERNAL_ERROR, "There are too many subscriptions; end one of them first.")
        return Step(session=step.session, reply=refusal.reply(subscription.request_id))

    def _cancel_requests(self, step: Step) -> None:
        for part in (step, *step.batch):
            if isinstance(part.action, Cancellation) and part.action.request_id in self._by_id:
                self._by_id[part.action.request_id].cancel()

    def _start(self, step: Step, say: Notify, size: int) -> None:
        if isinstance(step.action, Subscription):
            task = asyncio.create_task(self._hold(step, step.action, say))
            _keep(task, self._subscriptions)
        elif step.reply or step.batch or not isinstance(step.action, Cancellation | None):
            task = asyncio.create_task(self._answer(step, say))
            _keep(task, self._tasks)
            self._room.occupy(size, task)
        else:
            return
        if step.action is not None:
            self._follow(step.action.request_id, task)

    def _follow(self, request_id: jsonrpc.RequestId, task: asyncio.Task[None]) -> None:
        def forget(_done: asyncio.Task[None]) -> None:
            if self._by_id.get(request_id) is task:  # a client may have used the id again meanwhile
                del self._by_id[request_id]

        self._by_id[request_id] = task
        task.add_done_callback(forget)

    async def _answer(self, step: Step, say: Notify) -> None:
        """Answer a message when its turn comes; what a call waits for is the API, and anything else only the client."""
        async with self._calling if _has_call(step) else self._answering:
            answer = await self._live.perform(step, say, max_streamed_bytes=None)
            if answer.body is not None:
                await say(answer.body)
        if step.opens:
            self._greeted.set()

    async def _hold(self, step: Step, subscription: Subscription, say: Notify) -> None:
        """Hold a subscription open. Where the server ends it, the cancellation that is demanded follows the reply.

        Clients take a cancellation for a loss if it comes first, and the reply for what it is: a graceful end.
        """
        answer = await self._live.perform(step, say)
        await say(answer.body or b"")
        await say(jsonrpc.encode(subscription.cancelled()))

    async def _say(self, write: HandOver, message: bytes) -> None:
        try:
            await asyncio.wrap_future(write(message + b"\n"))
        except OSError:
            self.stop()  # nobody reads any more


def _has_call(step: Step) -> bool:
    return any(isinstance(part.action, ToolCall) for part in (step, *step.batch))


def _keep(task: asyncio.Task[None], tasks: set[asyncio.Task[None]]) -> None:
    """Keep a task while it runs."""
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _cancel(tasks: Iterable[asyncio.Task[object]]) -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
