"""Servers at any address of this machine, for the duration of a block."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.runtime.echo import answer


@contextmanager
def answering(address: str, body: bytes = b"{}", *headers: str, status: str = "200 OK", port: int = 0) -> Iterator[Any]:
    """A server at an address of this machine: its port, and the number of its connections."""
    with socket.create_server((address, port)) as listener:
        seen: list[bytes] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    seen.append(connection.recv(65536))
                    connection.sendall(answer(body, "Connection: close", *headers, status=status))

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield listener.getsockname()[1], seen
        finally:
            listener.shutdown(socket.SHUT_RDWR)


@contextmanager
def hanging() -> Iterator[str]:
    """A host that accepts connections and never answers; its base URL."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
