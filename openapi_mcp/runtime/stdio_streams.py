"""Blocking byte streams for an event loop, without MCP: `read_lines` and `background_writer`, a thread each.

The threads are daemons, so that the process can end while one of them waits for its peer.

`terminal_hung_up` tells the two meanings of SIGHUP apart: the terminal was closed (then a server that was started in it
ends), or the settings are to be read again.
"""

import asyncio
import contextlib
import os
import stat
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

Read: TypeAlias = Callable[[int], bytes]
"""A function that blocks until there are bytes and returns at most so many of them; none at the end."""

Write: TypeAlias = Callable[[bytes], object]
"""A function that blocks until all bytes are written. Raises OSError if the other end is closed."""

EnqueueWrite: TypeAlias = Callable[[bytes], "Future[None]"]
"""A function that accepts bytes without blocking; its Future is done when they are written, or has the OSError."""

_CHUNK_BYTES: Final = 64 * 1024
"""Bytes read at a time: the capacity of a pipe on Linux."""

_MAX_LINES_AHEAD: Final = 16
"""Lines that are read before the first of them is processed; then the sender has to wait."""


_KEPT_BYTES: Final = 4 * 1024


class OversizedLine(NamedTuple):
    """The first and the last bytes of a line that is too long."""

    start: bytes
    end: bytes


async def read_lines(read: Read, max_bytes: int) -> AsyncIterator[bytes | OversizedLine]:
    """Yield the lines of a blocking stream without blank ones; those of more than `max_bytes` as OversizedLine."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | OversizedLine | EOFError] = asyncio.Queue()
    slots = threading.Semaphore(_MAX_LINES_AHEAD)

    def deliver(line: bytes | OversizedLine | EOFError) -> None:
        slots.acquire()
        loop.call_soon_threadsafe(lines.put_nowait, line)

    def run() -> None:
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            for line in split_lines(read, max_bytes):
                deliver(line)
            deliver(EOFError())

    threading.Thread(target=run, name="stdin", daemon=True).start()
    while not isinstance(line := await lines.get(), EOFError):
        slots.release()
        yield line


def split_lines(read: Read, max_bytes: int) -> Iterator[bytes | OversizedLine]:
    """Yield the lines of a blocking stream without blank ones; those of more than `max_bytes` as OversizedLine.

    Holds at most `max_bytes` of a line in memory. An OSError ends the stream: that is how a closed terminal reads.
    """
    parts: list[bytes] = []
    size = 0
    with contextlib.suppress(OSError):
        while chunk := read(_CHUNK_BYTES):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield from _line([*parts, end], size + len(end), max_bytes)
                parts, size = [], 0
            size += len(rest)
            parts = [*parts, rest] if size <= max_bytes else _shortened([*parts, rest])
    yield from _line(parts, size, max_bytes)


def _shortened(parts: list[bytes]) -> list[bytes]:
    """Return the first and the last bytes of a line that is too long, of which these may be only those."""
    line = b"".join(parts)
    return [line[:_KEPT_BYTES], line[_KEPT_BYTES:][-_KEPT_BYTES:]]


def _line(parts: list[bytes], size: int, max_bytes: int) -> Iterator[bytes | OversizedLine]:
    if size > max_bytes:
        start, end = _shortened(parts)
        yield OversizedLine(start, end)
    elif line := b"".join(parts).strip(b" \t\r"):  # JSON's white space
        yield line


@contextlib.contextmanager
def background_writer(write: Write) -> Iterator[EnqueueWrite]:
    """Provide a function that gives bytes to a thread, which writes them in their order.

    Bytes whose Future is cancelled before they are written are dropped at once.
    """
    queue = _WriteQueue()
    threading.Thread(target=queue.write_all, args=[write], name="stdout", daemon=True).start()
    try:
        yield queue.add
    finally:
        queue.end()


class _WriteQueue:
    """The bytes to be written, in their order."""

    def __init__(self) -> None:
        self._queue: dict[Future[None], bytes] = {}
        self._ended = False
        self._changed = threading.Condition()

    def add(self, data: bytes) -> "Future[None]":
        future: Future[None] = Future()
        with self._changed:
            self._queue[future] = data
            self._changed.notify()
        future.add_done_callback(self._remove)
        return future

    def end(self) -> None:
        """Let `write_all` return once the queue is empty."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def write_all(self, write: Write) -> None:
        """Write what is in the queue and what is added, until `end`."""
        while item := self._next():
            future, data = item
            if future.set_running_or_notify_cancel():
                _write(write, data, future)

    def _next(self) -> "tuple[Future[None], bytes] | None":
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._ended)
            future = next(iter(self._queue), None)
            return None if future is None else (future, self._queue.pop(future))

    def _remove(self, future: "Future[None]") -> None:
        with self._changed:
            self._queue.pop(future, None)


def _write(write: Write, data: bytes, future: "Future[None]") -> None:
    try:
        write(data)
    except OSError as problem:
        future.set_exception(problem)
    else:
        future.set_result(None)


def terminal_hung_up() -> bool:
    """Return whether stderr is a terminal that hung up; False for a file, a pipe and `/dev/null`."""
    try:
        status = os.fstat(2)
        is_device = stat.S_ISCHR(status.st_mode) and status.st_rdev != Path(os.devnull).stat().st_rdev
    except OSError:
        return False
    return is_device and not os.isatty(2)
