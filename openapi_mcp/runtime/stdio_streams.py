"""Blocking byte streams for an event loop, without MCP: `read_lines` and `background_writer`, a thread each.

The threads are daemons, so that the process can end while one of them waits for its peer. No thread is needed to read a
pipe or a socket that has something, and to write what surely fits into one: that saves 10 % of a call over stdio.

`terminal_hung_up` tells the two meanings of SIGHUP apart: the terminal was closed (then a server that was started in it
ends), or the settings are to be read again.
"""

import asyncio
import contextlib
import os
import select
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

WriteNow: TypeAlias = Callable[[bytes], bool]
"""A function that writes all bytes and returns True, or returns False if it would block. Raises OSError as `Write`."""

EnqueueWrite: TypeAlias = Callable[[bytes], "Future[None] | None"]
"""A function that accepts bytes without blocking; its Future is done when they are written, or has the OSError. None
stands for bytes that were written at once. Raises OSError."""

_CHUNK_BYTES: Final = 64 * 1024
"""Bytes read at a time: the capacity of a pipe on Linux."""

_MAX_LINES_AHEAD: Final = 16
"""Lines that are read before the first of them is processed; then the sender has to wait."""


_KEPT_BYTES: Final = 4 * 1024


class OversizedLine(NamedTuple):
    """The first and the last bytes of a line that is too long."""

    start: bytes
    end: bytes


def read_lines(read: Read, max_bytes: int, fileno: int | None = None) -> AsyncIterator[bytes | OversizedLine]:
    """Yield the lines of a blocking stream without blank ones; those of more than `max_bytes` as OversizedLine.

    `fileno` is that of a pipe or a socket which `read` reads, and which nobody else does.
    """
    return _lines_of_thread(read, max_bytes) if fileno is None else _lines_of_pipe(read, max_bytes, fileno)


async def _lines_of_thread(read: Read, max_bytes: int) -> AsyncIterator[bytes | OversizedLine]:
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


async def _lines_of_pipe(read: Read, max_bytes: int, fileno: int) -> AsyncIterator[bytes | OversizedLine]:
    """Yield the lines of a pipe, which is read when it has something and the lines before were taken."""
    splitter, is_blocking = _Splitter(max_bytes), os.get_blocking(fileno)
    try:
        while chunk := await _chunk(read, fileno):
            for line in splitter.feed(chunk):
                yield line
    finally:
        os.set_blocking(fileno, is_blocking)  # uvloop changes that, and other processes may have the file too
    for line in splitter.end():
        yield line


async def _chunk(read: Read, fileno: int) -> bytes:
    """Return some bytes of a pipe once it has some; none at its end."""
    while True:
        if select.select([fileno], [], [], 0)[0]:
            await asyncio.sleep(0)
        else:
            await _readable(fileno)
        try:
            return read(_CHUNK_BYTES)
        except BlockingIOError:
            continue
        except OSError:
            return b""


async def _readable(fileno: int) -> None:
    """Wait until a file can be read, or is at its end."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(fileno, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(fileno)


def split_lines(read: Read, max_bytes: int) -> Iterator[bytes | OversizedLine]:
    """Yield the lines of a blocking stream without blank ones; those of more than `max_bytes` as OversizedLine.

    Holds at most `max_bytes` of a line in memory. An OSError ends the stream: that is how a closed terminal reads.
    """
    splitter = _Splitter(max_bytes)
    with contextlib.suppress(OSError):
        while chunk := read(_CHUNK_BYTES):
            yield from splitter.feed(chunk)
    yield from splitter.end()


class _Splitter:
    """The lines of a stream that arrives in chunks."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | OversizedLine]:
        """Yield the lines that end in a chunk."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield from _line([*self._parts, end], self._size + len(end), self._max_bytes)
            self._parts, self._size = [], 0
        self._size += len(rest)
        parts = [*self._parts, rest]
        self._parts = parts if self._size <= self._max_bytes else _shortened(parts)

    def end(self) -> Iterator[bytes | OversizedLine]:
        """Yield the last line, which has no end."""
        yield from _line(self._parts, self._size, self._max_bytes)


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
def background_writer(write: Write, write_now: WriteNow | None = None) -> Iterator[EnqueueWrite]:
    """Provide a function that gives bytes to a thread, which writes them in their order.

    Where nothing waits to be written, `write_now` is tried first.

    Bytes whose Future is cancelled before they are written are dropped at once.
    """
    queue = _WriteQueue(write_now)
    threading.Thread(target=queue.write_all, args=[write], name="stdout", daemon=True).start()
    try:
        yield queue.add
    finally:
        queue.end()


class _WriteQueue:
    """The bytes to be written, in their order."""

    def __init__(self, write_now: WriteNow | None) -> None:
        self._write_now = write_now
        self._is_writing = False
        self._queue: dict[Future[None], bytes] = {}
        self._ended = False
        self._changed = threading.Condition()

    def add(self, data: bytes) -> "Future[None] | None":
        if self._write_now is not None and not (self._queue or self._is_writing) and self._write_now(data):
            return None  # only the thread that adds makes a queue that is not empty
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
            self._is_writing = False

    def _next(self) -> "tuple[Future[None], bytes] | None":
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._ended)
            future = next(iter(self._queue), None)
            self._is_writing = future is not None  # within the lock, before the queue is empty
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


def is_waitable(fileno: int) -> bool:
    """Return whether a file is a pipe or a socket on a system that tells when it can be read or written."""
    try:
        mode = os.fstat(fileno).st_mode
    except OSError:
        return False
    return hasattr(select, "poll") and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def pipe_writer(fileno: int, write: Write) -> WriteNow | None:
    """Return a function that writes what surely fits into a pipe or a socket at once; None for another file.

    A pipe that can be written takes PIPE_BUF bytes (POSIX, "write").
    """
    if not is_waitable(fileno):
        return None
    poll = select.poll()
    poll.register(fileno, select.POLLOUT)

    def write_now(data: bytes) -> bool:
        if len(data) > select.PIPE_BUF or not poll.poll(0):
            return False
        write(data)
        return True

    return write_now
