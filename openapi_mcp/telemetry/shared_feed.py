"""`SharedFeed`: a feed whose listeners get the calls of all worker processes of a server.

Each process that listens has a Unix socket in the private folder of the workers, to which the others send their calls
as datagrams. A byte that all of them have in their memory says whether anybody listens: until then a call pays for one
look at it. Nothing waits for a listener, and what a slow one cannot take is lost.
"""

import asyncio
import fcntl
import json
import logging
import mmap
import os
import secrets
import socket
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from ..runtime import background
from .feed import CallFeed
from .records import CallRecord, Sink

logger = logging.getLogger("openapi_mcp")

MAX_RECORD_BYTES: Final = 96 * 1024
"""Bytes of a call that is sent, half of what Linux takes as a datagram. Arguments that need more are left out."""

MAX_PARTS: Final = 5_000
"""Values of arguments that are sent: writing them takes some milliseconds."""

MAX_WAITING: Final = 500
"""Calls that wait for slow listeners; the oldest are left out."""

RETRY_SECONDS: Final = 0.02
"""Seconds until a listener whose queue is full gets a call again."""

_SOCKET: Final = ".calls"
_NOBODY, _SOMEBODY = 0, 1
_LEFT_OUT: Final = {"…": "left out: too large to be sent from one worker process to another"}


class SharedFeed(CallFeed):
    """The feed of one of several processes, which find each other in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}{_SOCKET}"
        self._file = os.open(folder / ".listening", os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(self._file, 1)
        self._shared = mmap.mmap(self._file, 1)
        self._receiver: socket.socket | None = None
        self._waiting: deque[tuple[Path, bytes]] = deque(maxlen=MAX_WAITING)

    @property
    def is_idle(self) -> bool:
        """True if nobody listens at any process."""
        return self._shared[0] == _NOBODY

    @contextmanager
    def listen(self, sink: Sink) -> Iterator[None]:
        """Give each call that ends within the block, at any process, to a sink."""
        with super().listen(sink):
            self._open()
            try:
                yield
            finally:
                if len(self._sinks) == 1:  # the last one, which goes
                    self._close()

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """The listeners of this process, and what sends calls to the others."""
        return (*self._sinks, self._send_to_others)

    def _open(self) -> None:
        """Receive the calls of other processes from now on."""
        if self._receiver is not None:
            return
        self._receiver = receiver = _datagram_socket()
        with self._locked():
            receiver.bind(str(self._folder / self._name))
            self._shared[0] = _SOMEBODY
        asyncio.get_running_loop().add_reader(receiver, self._receive, receiver)

    def _close(self) -> None:
        if self._receiver is None:
            return
        asyncio.get_running_loop().remove_reader(self._receiver)
        self._receiver.close()
        self._receiver = None
        with self._locked():
            (self._folder / self._name).unlink(missing_ok=True)
            self._look()

    def _receive(self, receiver: socket.socket) -> None:
        with suppress(OSError):
            while True:
                self._take(receiver.recv(2 * MAX_RECORD_BYTES))

    def _take(self, data: bytes) -> None:
        try:
            record = CallRecord(**json.loads(data))
        except (ValueError, TypeError):  # of a process of another version
            logger.debug("A call of another process cannot be read.")
            return
        for sink in self._sinks:
            sink(record)

    def _send_to_others(self, record: CallRecord) -> None:
        """Send a call to the processes that listen besides this one."""
        paths = [path for path in self._listeners() if path.name != self._name]
        if paths:
            data = _encoded(record)
            for path in paths:
                self._send(path, data)
        elif self._receiver is None:  # who listened has died
            with self._locked():
                self._look()

    def _send(self, path: Path, data: bytes) -> None:
        try:
            with _datagram_socket() as sender:
                sender.sendto(data, str(path))
        except BlockingIOError:
            if not self._waiting:
                asyncio.get_running_loop().call_later(RETRY_SECONDS, self._retry)
            self._waiting.append((path, data))
        except ConnectionRefusedError:  # its process died
            path.unlink(missing_ok=True)
        except OSError:  # it listens no more
            return

    def _retry(self) -> None:
        waiting = list(self._waiting)
        self._waiting.clear()
        for path, data in waiting:
            self._send(path, data)

    def _listeners(self) -> list[Path]:
        return [path for path in self._folder.iterdir() if path.name.endswith(_SOCKET)]

    def _look(self) -> None:
        """Note for all processes whether anybody listens."""
        self._shared[0] = _SOMEBODY if self._listeners() else _NOBODY

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let no other process begin or end to listen within the block."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)


def _datagram_socket() -> socket.socket:
    """Return a socket for calls of MAX_RECORD_BYTES: macOS takes two kilobytes without being told."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.setblocking(False)
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        made.setsockopt(socket.SOL_SOCKET, option, 4 * MAX_RECORD_BYTES)
    return made


def _encoded(record: CallRecord) -> bytes:
    """Return a call as JSON; arguments that are too large are left out, and it says so."""
    values: dict[str, Any] = {each.name: getattr(record, each.name) for each in fields(record)}
    if not background.exceeds(record.arguments, MAX_PARTS):
        data = json.dumps(values, default=str).encode()
        if len(data) <= MAX_RECORD_BYTES:
            return data
    return json.dumps({**values, "arguments": _LEFT_OUT}).encode()
