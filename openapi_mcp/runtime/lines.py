"""Blocking byte streams for an event loop: lines come in, whole writes go out, a thread each; no MCP in here.

The threads are daemons, so a process ends although one of them still waits for a peer.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from typing import Final, TypeAlias

Read: TypeAlias = Callable[[int], bytes]
"""Blocks until there are bytes and returns at most so many of them; none at the end."""

Write: TypeAlias = Callable[[bytes], object]
"""Blocks until all bytes are written. Raises OSError when nobody reads them any more."""

HandOver: TypeAlias = Callable[[bytes], "Future[None]"]
"""Takes bytes to write and does not block; the Future is done when they are written, or holds the OSError."""

_CHUNK: Final = 64 * 1024
"""How many bytes are read at once: as many as a pipe of Linux holds."""

_AHEAD: Final = 16
"""How many lines are read before the first of them is looked at; then the sender has to wait."""


async def read_lines(read: Read, max_bytes: int) -> AsyncIterator[bytes | None]:
    """The lines of a blocking stream, without blank ones; None stands for a line of more than `max_bytes`."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes | EOFError | None] = asyncio.Queue()
    room = threading.Semaphore(_AHEAD)

    def deliver(line: bytes | EOFError | None) -> None:
        room.acquire()
        loop.call_soon_threadsafe(arrived.put_nowait, line)

    def run() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants more lines
            for line in split_lines(read, max_bytes):
                deliver(line)
            deliver(EOFError())

    threading.Thread(target=run, name="stdin", daemon=True).start()
    while not isinstance(line := await arrived.get(), EOFError):
        room.release()
        yield line


def split_lines(read: Read, max_bytes: int) -> Iterator[bytes | None]:
    """The lines of a blocking stream, without blank ones; None stands for a line of more than `max_bytes`.

    No more than one such line is ever kept. An OSError is an end like any other: a terminal that hangs up reads so.
    """
    parts: list[bytes] = []
    size = 0
    with contextlib.suppress(OSError):
        while chunk := read(_CHUNK):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield from _line([*parts, end], size + len(end), max_bytes)
                parts, size = [], 0
            size += len(rest)
            parts = [*parts, rest] if size <= max_bytes else []
    yield from _line(parts, size, max_bytes)


def _line(parts: list[bytes], size: int, max_bytes: int) -> Iterator[bytes | None]:
    if size > max_bytes:
        yield None
    elif line := b"".join(parts).strip(b" \t\r"):  # what JSON takes for white space
        yield line


@contextlib.contextmanager
def writing(write: Write) -> Iterator[HandOver]:
    """A function that hands bytes to a thread, which writes them one after the other.

    Bytes whose Future is cancelled before their turn are never written, and not kept either.
    """
    turns = _Turns()
    threading.Thread(target=turns.write_all, args=[write], name="stdout", daemon=True).start()
    try:
        yield turns.add
    finally:
        turns.end()


class _Turns:
    """Bytes that wait to be written, in their order."""

    def __init__(self) -> None:
        self._waiting: dict[Future[None], bytes] = {}
        self._ended = False
        self._changed = threading.Condition()

    def add(self, data: bytes) -> "Future[None]":
        written: Future[None] = Future()
        with self._changed:
            self._waiting[written] = data
            self._changed.notify()
        written.add_done_callback(self._forget)
        return written

    def end(self) -> None:
        """Nothing more is added."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def write_all(self, write: Write) -> None:
        """Write until the end, and what still waits then."""
        while item := self._next():
            written, data = item
            if written.set_running_or_notify_cancel():
                _write_one(write, data, written)

    def _next(self) -> "tuple[Future[None], bytes] | None":
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended)
            written = next(iter(self._waiting), None)
            return None if written is None else (written, self._waiting.pop(written))

    def _forget(self, written: "Future[None]") -> None:
        with self._changed:
            self._waiting.pop(written, None)


def _write_one(write: Write, data: bytes, written: "Future[None]") -> None:
    try:
        write(data)
    except OSError as problem:
        written.set_exception(problem)
    else:
        written.set_result(None)
