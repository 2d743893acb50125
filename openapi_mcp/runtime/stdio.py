"""MCP over the process's own stdin and stdout, of which nothing else has the use; signals end it well.

Specification: basic/transports, "stdio". The messages themselves are a `Conversation`.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator

from .conversation import MAX_CALLS, Conversation
from .lines import Write
from .live import Live
from .protocol import jsonrpc
from .server import Server


async def serve(
    server: Server | Live, *, max_line_bytes: int = jsonrpc.MAX_MESSAGE_BYTES, max_calls: int = MAX_CALLS
) -> None:
    """Serve stdin and stdout until stdin ends or SIGINT or SIGTERM comes; then close the server.

    Runs on the main thread, since signals need it. Returns in each case: the end of the work is not an error.
    """
    live = Live.of(server)
    with _own_stdout() as write:
        conversation = Conversation(live, _read_stdin, write, max_line_bytes=max_line_bytes, max_calls=max_calls)
        with _on_signals(conversation.stop):
            try:
                await conversation.run()
            finally:
                await live.aclose()


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
