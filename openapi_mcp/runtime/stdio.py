"""MCP over stdin and stdout: a line in, a line out, each request in a task of its own; nothing but MCP on stdout.

Specification: basic/transports, "stdio". Reading and writing block, and pipes, files and terminals each refuse another
of the ways to avoid that; so each has a thread, for which the process does not wait when it ends.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from .lines import HandOver, Read, Write, read_lines, writing
from .protocol import Cancellation, Session, Step, jsonrpc
from .server import Server

GRACE: Final = 5.0
"""Seconds that calls have to finish in once stdin has ended: clients that wait for the end lose patience about then."""


async def serve(server: Server, *, max_line_bytes: int = jsonrpc.MAX_MESSAGE_BYTES) -> None:
    """Serve the process's own stdin and stdout until stdin ends or SIGINT or SIGTERM comes; then close the server.

    Runs on the main thread, since signals need it. Returns in each case: the end of the work is not an error.
    """
    with _own_stdout() as write:
        conversation = Conversation(server, _read_stdin, write, max_line_bytes=max_line_bytes)
        with _on_signals(conversation.stop):
            try:
                await conversation.run()
            finally:
                await server.aclose()


class Conversation:
    """One client on one pair of streams."""

    def __init__(
        self,
        server: Server,
        read: Read,
        write: Write,
        *,
        max_line_bytes: int = jsonrpc.MAX_MESSAGE_BYTES,
        grace: float = GRACE,
    ) -> None:
        self._server = server
        self._read = read
        self._write = write
        self._max_line_bytes = max_line_bytes
        self._grace = grace
        self._session = Session()
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls: dict[jsonrpc.RequestId, asyncio.Task[None]] = {}
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """End the conversation now: what is in flight is cancelled."""
        self._stopped.set()

    async def run(self) -> None:
        """Answer until the input ends (what is in flight then has `grace` seconds), `stop`, or nobody reads answers."""
        with writing(self._write) as write:
            reading = asyncio.create_task(self._accept_all(write))
            stopping = asyncio.create_task(self._stopped.wait())
            try:
                await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    reading.result()
            finally:
                await _cancel({reading, stopping, *self._tasks})

    async def _accept_all(self, write: HandOver) -> None:
        async for line in read_lines(self._read, self._max_line_bytes):
            step = self._receive(line)
            self._session = step.session
            self._cancel_calls(step)
            self._start(step, write)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._grace)

    def _receive(self, line: bytes | None) -> Step:
        if line is None:
            refusal = jsonrpc.Refusal(jsonrpc.INVALID_REQUEST, f"A message has at most {self._max_line_bytes} bytes.")
            return Step(session=self._session, reply=refusal.reply())
        try:
            message = jsonrpc.decode(line)
        except jsonrpc.InvalidJson as problem:
            return Step(session=self._session, reply=jsonrpc.error(jsonrpc.PARSE_ERROR, str(problem)))
        return self._server.receive(message, self._session)

    def _cancel_calls(self, step: Step) -> None:
        for part in (step, *step.batch):
            if isinstance(part.action, Cancellation) and part.action.request_id in self._calls:
                self._calls[part.action.request_id].cancel()

    def _start(self, step: Step, write: HandOver) -> None:
        task = asyncio.create_task(self._answer(step, write))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if step.action is not None and not isinstance(step.action, Cancellation):
            self._follow(step.action.request_id, task)

    def _follow(self, request_id: jsonrpc.RequestId, task: asyncio.Task[None]) -> None:
        def forget(_done: asyncio.Task[None]) -> None:
            if self._calls.get(request_id) is task:  # a client may have used the id again meanwhile
                del self._calls[request_id]

        self._calls[request_id] = task
        task.add_done_callback(forget)

    async def _answer(self, step: Step, write: HandOver) -> None:
        async def say(message: bytes) -> None:
            try:
                await asyncio.wrap_future(write(message + b"\n"))
            except OSError:
                self.stop()  # nobody reads any more

        answer = await self._server.perform(step, say)
        if answer.body is not None:
            await say(answer.body)


async def _cancel(tasks: Iterable[asyncio.Task[object]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _read_stdin(size: int) -> bytes:
    return os.read(0, size)  # not sys.stdin, whose lock a thread that waits for input would keep for ever


@contextlib.contextmanager
def _own_stdout() -> Iterator[Write]:
    """A writer to stdout that nothing else has: what anything else prints meanwhile goes to stderr."""
    # Never closed: a thread that is still writing would go on in the next file of that number.
    output = os.dup(1)
    os.dup2(2, 1)

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(output, view) :]

    try:
        yield write
    finally:
        sys.stdout.flush()
        os.dup2(output, 1)


@contextlib.contextmanager
def _on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM call `stop` in the event loop, however deep the process waits."""
    loop = asyncio.get_running_loop()

    def on_signal(_number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(stop)

    previous = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
