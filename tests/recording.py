"""A TCP proxy that records all bytes of both directions, and the search for secrets in them, in every encoding."""

import base64
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import Final
from urllib.parse import quote

from tests.servers import free_port

MIN_CANARY: Final = 12
"""Characters of a canary: no other text holds it by chance."""


class Recorder:
    """All bytes that passed a proxy at `url`; its targets take connections in turns."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.targets: Sequence[int] = ()
        self._sent: list[bytearray] = []
        self._received: list[bytearray] = []
        self._ports: list[int] = []

    @property
    def sent(self) -> bytes:
        """Bytes of the clients, one connection after the other."""
        return b"\n".join(map(bytes, self._sent))

    @property
    def received(self) -> bytes:
        """Bytes of the targets, one connection after the other."""
        return b"\n".join(map(bytes, self._received))

    def ports_of(self, text: bytes) -> set[int]:
        """Return the targets that got a text."""
        return {port for port, sent in zip(self._ports, self._sent, strict=True) if text in sent}

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the listener is closed."""
        turns = cycle(range(1 << 30))
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            port = self.targets[next(turns) % len(self.targets)]
            threading.Thread(target=self._connect, args=(client, port), daemon=True).start()

    def _connect(self, client: socket.socket, port: int) -> None:
        with client:
            try:
                server = socket.create_connection(("127.0.0.1", port), timeout=60)
            except OSError:
                return
            sent, received = bytearray(), bytearray()
            self._ports.append(port)
            self._sent.append(sent)
            self._received.append(received)
            with server:
                back = threading.Thread(target=_pump, args=(server, client, received), daemon=True)
                back.start()
                _pump(client, server, sent)
                back.join()


def _pump(source: socket.socket, target: socket.socket, record: bytearray) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            record += data
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def recording(*targets: int) -> Iterator[Recorder]:
    """Run a recording proxy on a free port in front of some ports, which may be set later."""
    recorder = Recorder(free_port())
    recorder.targets = targets
    with socket.create_server(("127.0.0.1", recorder.port)) as listener:
        thread = threading.Thread(target=recorder.serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield recorder
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def forms(secret: str) -> set[bytes]:
    """Return the texts by which a secret is recognised: as it is, percent-encoded, in hexadecimal, and in base64."""
    data = secret.encode()
    texts = {data, quote(secret, safe="").encode(), data.hex().encode()}
    for offset in range(3):
        whole = base64.b64encode(b"\0" * offset + data)
        inner = whole[(0, 2, 3)[offset] : len(whole) - 4].rstrip(b"=")
        texts |= {inner, inner.replace(b"+", b"-").replace(b"/", b"_")}
    return texts


def places_of(secret: str, places: Mapping[str, bytes]) -> set[str]:
    """Return the names of the places whose bytes hold a secret in some form."""
    assert len(secret) >= MIN_CANARY, secret
    looked_for = forms(secret)
    return {name for name, data in places.items() if any(text in data for text in looked_for)}
