"""MCP over stdio: `serve` owns the process's stdin and stdout, `StdioSession` serves one client on a pair of streams.

Each line is a message, and each request has a task of its own. `InFlightLimit` bounds the messages in progress: a
client that floods the input or stops reading the output has to wait. SIGINT and SIGTERM end the session orderly.

Specification: basic/transports, "stdio"; server/tools ("List Changed Notification"); subscriptions (2026-07-28).
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from . import background
from .protocol import Cancellation, ClientAnswer, Session, Step, Subscription, ToolCall, jsonrpc, list_changed
from .server.hooks import Notify
from .server.reloadable import ReloadableServer
from .server.server import Server
from .session_state import SESSION_STATE, SessionState
from .stdio_streams import (
    EnqueueWrite,
    OversizedLine,
    Read,
    Write,
    WriteNow,
    background_writer,
    is_waitable,
    pipe_writer,
    read_lines,
)

MAX_UNITS: Final = 1024
"""Units of messages in progress: 1,024 small ones, or 64 MiB of large ones. A client sends a few requests at a time."""

_UNIT_BYTES: Final = 64 * 1024
"""Bytes of a message that count as one unit, in addition to the one that each message is."""

MAX_CALLS: Final = 100
"""Concurrent calls: as many as httpx has connections, and more than an API wants of one client."""

MAX_ANSWERS: Final = 16
"""Other replies that are made before the first of them is written: the list of tools may be 8 MiB (see `catalog`)."""

MAX_SUBSCRIPTIONS: Final = 64
"""Concurrent subscriptions: a client needs one or two, and each takes memory until it ends."""

GRACE_SECONDS: Final = 0.5
"""Seconds that messages may take after the input has ended: enough for what a shell pipes in, and less than a client
waits for the process to end before it kills it."""

SUBSCRIPTION_END_SECONDS: Final = 1.0
"""Seconds that the last messages of subscriptions may take: a client that has stopped reading is not waited for."""


async def serve(
    server: Server | ReloadableServer, *, max_line_bytes: int = jsonrpc.MAX_MESSAGE_BYTES, max_calls: int = MAX_CALLS
) -> None:
    """Serve stdin and stdout until stdin ends or SIGINT or SIGTERM arrives; then close the server.

    Must run in the main thread, since signals need it. Returns normally in each case.
    """
    background.collect_rarely()
    reloadable = ReloadableServer.wrap(server)
    with _exclusive_stdout() as (write, write_now):
        fileno = 0 if is_waitable(0) else None
        session = StdioSession(
            reloadable,
            _read_stdin,
            write,
            max_line_bytes=max_line_bytes,
            max_calls=max_calls,
            fileno=fileno,
            write_now=write_now,
        )
        with _on_signals(session.stop):
            try:
                await session.run()
            finally:
                await reloadable.aclose()


class InFlightLimit:
    """A limit on the messages in progress in one event loop; a message of more bytes counts as more units."""

    def __init__(self, units: int = MAX_UNITS) -> None:
        self._free_units = units
        self._is_free = asyncio.Event()
        self._is_free.set()

    async def wait(self) -> None:
        """Wait until any unit is free. The next message may need more: else a very large one could never be read."""
        await self._is_free.wait()

    def occupy(self, size: int) -> int:
        """Occupy the units of a message of `size` bytes, and return their number, for `free`."""
        units = 1 + size // _UNIT_BYTES
        self._free_units -= units
        if self._free_units <= 0:
            self._is_free.clear()
        return units

    def free(self, units: int) -> None:
        """Free the units of a message."""
        self._free_units += units
        if self._free_units > 0:
            self._is_free.set()


class StdioSession:
    """The session of one client.

    At most `max_calls` calls run at once. Others wait, and while the InFlightLimit is reached nothing is read, not even
    a cancellation. When the session ends, the server's changes end too.
    """

    def __init__(
        self,
        server: Server | ReloadableServer,
        read: Read,
        write: Write,
        *,
        max_line_bytes: int = jsonrpc.MAX_MESSAGE_BYTES,
        max_calls: int = MAX_CALLS,
        grace: float = GRACE_SECONDS,
        fileno: int | None = None,
        write_now: WriteNow | None = None,
    ) -> None:
        self._server = ReloadableServer.wrap(server)
        self._read = read
        self._write = write
        self._fileno = fileno
        self._write_now = write_now
        self._max_line_bytes = max_line_bytes
        self._grace = grace
        self._session = Session()
        self._state = SessionState()
        self._initialized = asyncio.Event()
        self._in_flight = InFlightLimit()
        self._call_slots = asyncio.Semaphore(max_calls)
        self._answer_slots = asyncio.Semaphore(MAX_ANSWERS)
        self._tasks: dict[asyncio.Task[None], int] = {}  # with the units of their messages
        self._subscriptions: set[asyncio.Task[None]] = set()
        self._by_id: dict[jsonrpc.RequestId, asyncio.Task[None]] = {}
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """End the session now and cancel what is in progress."""
        self._stopped.set()

    async def run(self) -> None:
        """Serve until `stop`, a closed output, or the end of the input and `grace` seconds for what is in progress."""
        SESSION_STATE.set(lambda: self._state)
        with background_writer(self._write, self._write_now, self.stop) as write:
            send = partial(self._send, write)
            reading = asyncio.create_task(self._read_messages(send))
            stopping = asyncio.create_task(self._stopped.wait())
            announcing = asyncio.create_task(self._announce_changes(send))
            try:
                await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    reading.result()
            finally:
                await _cancel({reading, stopping, announcing, *self._tasks})
                await self._end_subscriptions()

    async def _read_messages(self, send: Notify) -> None:
        async for line in read_lines(self._read, self._max_line_bytes, self._fileno):
            step = self._receive(line)
            self._session = step.session
            self._cancel_requests(step)
            if isinstance(step.action, ClientAnswer):
                self._state.answer(step.action.request_id, step.action.result)
            self._start(step, send, len(line) if isinstance(line, bytes) else 0)
            await self._in_flight.wait()
        self._server.changes.end()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._grace)

    async def _announce_changes(self, send: Notify) -> None:
        """Notify a client of the handshake era of changes, once it is initialized and if the server declared that."""
        async for _ in self._server.changes.listen():
            if self._session.revision is not None and self._server.description.list_changed:
                await self._initialized.wait()
                await send(jsonrpc.encode(list_changed()))

    async def _end_subscriptions(self) -> None:
        self._server.changes.end()
        if self._subscriptions:
            await asyncio.wait(self._subscriptions, timeout=SUBSCRIPTION_END_SECONDS)
        await _cancel(self._subscriptions)

    def _receive(self, line: bytes | OversizedLine) -> Step:
        if isinstance(line, OversizedLine):
            refusal = jsonrpc.Refusal(jsonrpc.INVALID_REQUEST, f"A message has at most {self._max_line_bytes} bytes.")
            request_id = jsonrpc.find_id(line.start)
            request_id = jsonrpc.find_last_id(line.start + line.end) if request_id is None else request_id
            return Step(session=self._session, reply=refusal.reply(request_id))
        try:
            message = jsonrpc.decode(line)
        except jsonrpc.InvalidJson as problem:
            refusal = jsonrpc.Refusal(jsonrpc.PARSE_ERROR, str(problem))
            return Step(session=self._session, reply=refusal.reply(problem.request_id))
        step = self._server.receive(message, self._session)
        return self._limit_subscriptions(step, step.action) if isinstance(step.action, Subscription) else step

    def _limit_subscriptions(self, step: Step, subscription: Subscription) -> Step:
        """Return the step, or a refusal if there are `MAX_SUBSCRIPTIONS` already."""
        if sum(not task.cancelling() for task in self._subscriptions) < MAX_SUBSCRIPTIONS:
            return step
        refusal = jsonrpc.Refusal(jsonrpc.INTERNAL_ERROR, "There are too many subscriptions; end one of them first.")
        return Step(session=step.session, reply=refusal.reply(subscription.request_id))

    def _cancel_requests(self, step: Step) -> None:
        for part in (step, *step.batch):
            if isinstance(part.action, Cancellation) and part.action.request_id in self._by_id:
                self._by_id[part.action.request_id].cancel()

    def _start(self, step: Step, send: Notify, size: int) -> None:
        if isinstance(step.action, Subscription):
            task = asyncio.create_task(self._serve_subscription(step, step.action, send))
            self._subscriptions.add(task)
        elif step.reply or step.batch or not isinstance(step.action, Cancellation | ClientAnswer | None):
            task = asyncio.create_task(self._answer(step, send))
            self._tasks[task] = self._in_flight.occupy(size)
        else:
            return
        request_id = None if step.action is None else step.action.request_id
        if request_id is not None:
            self._by_id[request_id] = task
        task.add_done_callback(partial(self._forget, request_id))

    def _forget(self, request_id: jsonrpc.RequestId | None, task: asyncio.Task[None]) -> None:
        """Forget a task that is done: one callback of a task, which is a callback of the event loop each time."""
        self._in_flight.free(self._tasks.pop(task, 0))
        self._subscriptions.discard(task)
        if request_id is not None and self._by_id.get(request_id) is task:  # unless the client has used the id again
            del self._by_id[request_id]

    async def _answer(self, step: Step, send: Notify) -> None:
        """Answer a message when it has a slot. Calls have slots of their own: they wait for the API, others do not."""
        async with self._call_slots if _has_call(step) else self._answer_slots:
            reply = await self._server.perform(step, send, max_streamed_bytes=None)
            if reply.body is not None:
                await send(reply.body)
        if step.opens_session:
            self._initialized.set()

    async def _serve_subscription(self, step: Step, subscription: Subscription, send: Notify) -> None:
        """Serve a subscription until it ends; then send its reply and the required cancellation, in this order.

        Clients take a cancellation that comes first for a lost connection, and the reply for an orderly end.
        """
        reply = await self._server.perform(step, send)
        await send(reply.body or b"")
        await send(jsonrpc.encode(subscription.cancellation()))

    async def _send(self, write: EnqueueWrite, message: bytes) -> None:
        try:
            written = write(message + b"\n")
            if written is not None:
                await asyncio.wrap_future(written)
        except OSError:
            self.stop()  # the client has closed its end


def _has_call(step: Step) -> bool:
    return any(isinstance(part.action, ToolCall) for part in (step, *step.batch))


async def _cancel(tasks: Iterable[asyncio.Task[object]]) -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _read_stdin(size: int) -> bytes:
    return os.read(0, size)  # not sys.stdin: a thread that waits for input would hold its lock for ever


@contextlib.contextmanager
def _exclusive_stdout() -> Iterator[tuple[Write, WriteNow | None]]:
    """Provide the only writers to stdout: what other code prints meanwhile goes to stderr."""
    # Never closed: a thread that is still writing would go on in the next file with that descriptor.
    output = os.dup(1)
    os.dup2(2, 1)

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(output, view) :]

    try:
        yield write, pipe_writer(output)
    finally:
        sys.stdout.flush()
        os.dup2(output, 1)


@contextlib.contextmanager
def _on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` in the event loop on SIGINT and SIGTERM, even while the loop waits."""
    loop = asyncio.get_running_loop()

    def on_signal(_number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(stop)

    previous = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
