"""`Peers`: what the processes of one server tell each other: short messages to all others, without an answer.

Nothing depends on a message that is lost: a process that dies, or has not begun yet, hears nothing. There are Unix
datagram sockets in one private folder, one for each process; where the platform has none, there are no peers.
"""

import asyncio
import contextlib
import os
import secrets
import socket
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

Hear: TypeAlias = Callable[[bytes], None]
"""Is told of each message. It does not wait, and ignores what it does not understand."""

MAX_MESSAGE_BYTES: Final = 256
"""Digests and single words are all that is said."""

_PATIENCE: Final = 0.02
"""Seconds until a peer whose queue is full is told again: it has a few hundred messages to read first."""

_WAITING: Final = 1000
"""Messages that wait for slow peers; of more than that, the oldest are lost."""


@contextlib.contextmanager
def private_folder() -> Iterator[Path | None]:
    """A folder for the sockets of the processes to come; None where there are no such sockets."""
    if not hasattr(socket, "AF_UNIX"):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="mcp-", ignore_cleanup_errors=True) as folder:  # mode 0700
        yield Path(folder)


class Peers:
    """The other processes of this server. Without a folder there are none."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder if hasattr(socket, "AF_UNIX") else None
        self._socket: socket.socket | None = None
        self._path: Path | None = None
        self._waiting: deque[tuple[Path, bytes]] = deque(maxlen=_WAITING)
        self._retrying = False

    @property
    def name(self) -> bytes:
        """What the others know this process by; empty where nobody does."""
        return b"" if self._path is None else self._path.name.encode()

    def others(self) -> set[bytes]:
        """The names of the others, as far as they are known to be there."""
        if self._folder is None:
            return set()
        return {path.name.encode() for path in self._folder.iterdir()} - {self.name}

    def open(self, hear: Hear) -> None:
        """From now on `hear` is told, in the running event loop, of what the others say."""
        if self._folder is None:
            return
        self._path = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(str(self._path))
        # Not a datagram endpoint: not every event loop has them for this kind of socket.
        asyncio.get_running_loop().add_reader(self._socket, self._read, self._socket, hear)

    def tell(self, message: bytes) -> None:
        """Say something to all the others; it does not wait, and never fails."""
        if self._folder is None or self._socket is None:
            return
        for path in self._folder.iterdir():
            if path != self._path:
                self._send(path, message)

    def close(self) -> None:
        """Hear and say nothing more."""
        if self._socket is None or self._path is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        self._socket = None
        self._path.unlink(missing_ok=True)

    def _read(self, receiver: socket.socket, hear: Hear) -> None:
        with contextlib.suppress(OSError):
            while True:
                hear(receiver.recv(MAX_MESSAGE_BYTES))

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
        except OSError:  # it is gone
            return

    def _retry_soon(self) -> None:
        if not self._retrying:
            self._retrying = True
            asyncio.get_running_loop().call_later(_PATIENCE, self._retry)

    def _retry(self) -> None:
        self._retrying = False
        for _ in range(len(self._waiting)):
            self._send(*self._waiting.popleft())
