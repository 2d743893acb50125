"""Messages between the worker processes of one server, and changes of the tool list that all of them have.

`WorkerChannel` sends short datagrams to all other processes, without an answer, over Unix sockets in a private folder,
one for each process. Nothing depends on a message that is lost: a process that died, or has not started yet, receives
none. Platforms without such sockets have no channel.

`ListChangedBroadcast` notifies listeners once every process has a change: a client asks for the new list at once, any
process may answer, and one that is behind would answer with the old list. Each process tells its siblings when it has
the change. A slow one is not waited for; listeners are notified again when it has the change too.
"""

import asyncio
import contextlib
import os
import secrets
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from ..server.reloadable import ListChanges, ReloadableServer

OnMessage: TypeAlias = Callable[[bytes], None]
"""Handles one message. It does not wait, and ignores messages that it does not know."""

MAX_MESSAGE_BYTES: Final = 256
"""Messages are digests and single words."""

DIGEST_BYTES: Final = 16
"""The length of a session's digest."""

MAX_DIGESTS: Final = 10_000
"""Ended sessions that all processes know of: as many as each process remembers, in 160 kB."""

_COUNT_BYTES: Final = 8
_ENDED_FILE: Final = ".ended"
_SOCKET: Final = ".socket"
"""The end of the names of sockets: other files of the processes are in the same folder."""

_RETRY_INTERVAL: Final = 0.02
"""Seconds until a process whose queue is full gets a message again: it has a few hundred others to read first."""

MAX_WAITING_MESSAGES: Final = 1000
"""Messages that wait for slow processes; beyond that the oldest are lost."""


@contextlib.contextmanager
def private_folder() -> Iterator[Path | None]:
    """Create a folder for the sockets of the worker processes; None on platforms without Unix sockets."""
    if not hasattr(socket, "AF_UNIX"):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="mcp-", ignore_cleanup_errors=True) as folder:  # mode 0700
        yield Path(folder)


class EndedSessions:
    """The digests of ended sessions, in a file that all worker processes read and write.

    A message to a sibling is lost if the sibling has not started yet, and every process may be replaced while the
    others go on; the file stays. It is a ring: behind an 8-byte count of all digests ever added are MAX_DIGESTS slots,
    of which the oldest is overwritten. Without a path nothing is shared.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: int | None = None
        self._seen = 0

    @property
    def folder(self) -> Path | None:
        """The private folder of the worker processes; None where nothing is shared."""
        return None if self._path is None else self._path.parent

    def open(self) -> None:
        """Create the file if there is none."""
        if self._path is not None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)

    def close(self) -> None:
        """Stop sharing."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def add(self, digest: bytes) -> None:
        """Add a digest of DIGEST_BYTES for all processes. A full disk is ignored: the siblings get messages too."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._append(self._file, digest)

    def new(self) -> Sequence[bytes]:
        """Return the digests that were added since the last call. If there are none, it takes a microsecond."""
        if self._file is None:
            return ()
        count = _count(self._file)
        if count == self._seen:
            return ()
        first, self._seen = max(self._seen, count - MAX_DIGESTS), count
        return [os.pread(self._file, DIGEST_BYTES, _slot(number)) for number in range(first, count)]

    def _append(self, file: int, digest: bytes) -> None:
        import fcntl  # which is on every platform that has Unix sockets

        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            count = _count(file)
            os.pwrite(file, digest, _slot(count))
            os.pwrite(file, (count + 1).to_bytes(_COUNT_BYTES), 0)
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


def _count(file: int) -> int:
    return int.from_bytes(os.pread(file, _COUNT_BYTES, 0))


def _slot(number: int) -> int:
    """Return the offset of the slot of digest number `number`."""
    return _COUNT_BYTES + number % MAX_DIGESTS * DIGEST_BYTES


class WorkerChannel:
    """The channel of this process to its siblings. Without a folder there are none."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder if hasattr(socket, "AF_UNIX") else None
        self._socket: socket.socket | None = None
        self._path: Path | None = None
        self._waiting: deque[tuple[Path, bytes]] = deque(maxlen=MAX_WAITING_MESSAGES)
        self._retrying = False
        self.ended = EndedSessions(None if self._folder is None else self._folder / _ENDED_FILE)

    @property
    def name(self) -> bytes:
        """The name of this process for its siblings; empty without an open channel."""
        return b"" if self._path is None else self._path.name.encode()

    def siblings(self) -> set[bytes]:
        """Return the names of the other processes, some of which may have died."""
        if self._folder is None:
            return set()
        return {path.name.encode() for path in self._other_sockets(self._folder)}

    def open(self, on_message: OnMessage) -> None:
        """Call `on_message`, in the running event loop, for every message of a sibling from now on."""
        if self._folder is None:
            return
        self.ended.open()
        self._path = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}{_SOCKET}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(str(self._path))
        # Not a datagram endpoint: not every event loop has them for this kind of socket.
        asyncio.get_running_loop().add_reader(self._socket, self._read, self._socket, on_message)

    @contextlib.contextmanager
    def connect(self, server: ReloadableServer, on_message: OnMessage) -> Iterator[None]:
        """Receive the messages of the other processes within the block.

        `on_message` gets each of them. Listeners of `server` are notified of a change once all processes have it.
        """
        server.changes = changes = ListChangedBroadcast(self)

        def dispatch(message: bytes) -> None:
            on_message(message)
            changes.receive(message)

        self.open(dispatch)
        try:
            yield
        finally:
            self.close()

    def broadcast(self, message: bytes) -> None:
        """Send a message to all other processes; it does not wait, and never fails."""
        if self._folder is None or self._socket is None:
            return
        for path in self._other_sockets(self._folder):
            self._send(path, message)

    def close(self) -> None:
        """Stop receiving and sending."""
        if self._socket is None or self._path is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        self._socket = None
        self._path.unlink(missing_ok=True)
        self.ended.close()

    def _other_sockets(self, folder: Path) -> Iterator[Path]:
        return (path for path in folder.iterdir() if path.name.endswith(_SOCKET) and path != self._path)

    def _read(self, receiver: socket.socket, on_message: OnMessage) -> None:
        with contextlib.suppress(OSError):
            while True:
                on_message(receiver.recv(MAX_MESSAGE_BYTES))

    def _send(self, path: Path, message: bytes) -> None:
        if self._socket is None:
            return
        try:
            self._socket.sendto(message, str(path))
        except BlockingIOError:
            self._waiting.append((path, message))
            self._retry_soon()
        except ConnectionRefusedError:  # its process died
            path.unlink(missing_ok=True)
        except OSError:  # its socket is gone
            return

    def _retry_soon(self) -> None:
        if not self._retrying:
            self._retrying = True
            asyncio.get_running_loop().call_later(_RETRY_INTERVAL, self._retry)

    def _retry(self) -> None:
        self._retrying = False
        for _ in range(len(self._waiting)):
            self._send(*self._waiting.popleft())


SIBLING_TIMEOUT: Final = 1.0
"""Seconds to wait for siblings: they reload at the same time, and clients are to be notified within two."""

_EARLY_LIFETIME: Final = 10.0
"""Seconds for which a faster sibling's message counts for the next change here; an older one was for another change."""

CHANGED: Final = b"h"
"""The first byte of a message that a process has a change of the tool list."""


class ListChangedBroadcast(ListChanges):
    """Changes of the tool list, announced when the siblings have them; `receive` takes the siblings' messages."""

    def __init__(self, channel: WorkerChannel, timeout: float = SIBLING_TIMEOUT) -> None:
        super().__init__()
        self._channel = channel
        self._timeout = timeout
        self._early: dict[bytes, float] = {}
        self._awaited: set[bytes] = set()
        self._late: set[bytes] = set()
        self._timer: asyncio.TimerHandle | None = None

    def announce(self) -> None:
        """Tell the siblings of a change, and the listeners once the siblings have it too or the timeout is over."""
        self._channel.broadcast(CHANGED + self._channel.name)
        oldest = time.monotonic() - _EARLY_LIFETIME
        early = {name for name, received in self._early.items() if received > oldest}
        self._awaited = self._channel.siblings() - early
        self._early.clear()
        self._late.clear()
        self._stop_timer()
        if self._awaited:
            self._timer = asyncio.get_running_loop().call_later(self._timeout, self._give_up)
        else:
            super().announce()

    def receive(self, message: bytes) -> None:
        """Handle a sibling's message that it has a change; other messages are ignored."""
        name = message[1:]
        if message[:1] != CHANGED:
            return
        if name in self._awaited:
            self._awaited.discard(name)
            if not self._awaited:
                self._stop_timer()
                super().announce()
        elif name in self._late:
            self._late.discard(name)
            super().announce()
        else:
            self._early[name] = time.monotonic()

    def end(self) -> None:
        """End all listeners, and wait for no sibling any more."""
        self._stop_timer()
        super().end()

    def _give_up(self) -> None:
        self._late, self._awaited = self._awaited, set()
        super().announce()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
