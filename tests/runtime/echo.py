"""A real HTTP/1.1 server that records the exact bytes of each request and sends the bytes that a test sets."""

import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it was received."""

    method: str
    target: str
    headers: tuple[tuple[str, bytes], ...]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def all(self, name: str) -> list[bytes]:
        return [value for key, value in self.headers if key == name.lower()]

    def one(self, name: str) -> str | None:
        values = self.all(name)
        assert len(values) <= 1, f"{name} was sent {len(values)} times"
        return values[0].decode("utf-8") if values else None


Respond = Callable[[Recorded], bytes | Iterator[bytes]]


def answer(body: bytes = b"", *headers: str, status: str = "200 OK") -> bytes:
    """Return the bytes of a complete response."""
    lines = "".join(f"{line}\r\n" for line in (*headers, f"Content-Length: {len(body)}"))
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


@dataclass
class Echo:
    """The server's URL, its responder, and the requests that it received."""

    url: str
    respond: Respond = field(default=lambda _: NO_CONTENT)
    requests: list[Recorded] = field(default_factory=list)

    def last(self) -> Recorded:
        return self.requests[-1]


class _Connection(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self) -> None:
        while (request := self._request()) is not None:
            echo: Echo = self.server.echo  # type: ignore[attr-defined]  # set below
            echo.requests.append(request)
            reply = echo.respond(request)
            for chunk in [reply] if isinstance(reply, bytes) else reply:
                self.wfile.write(chunk)
                self.wfile.flush()
            if not isinstance(reply, bytes) or not reply:
                return

    def _request(self) -> Recorded | None:
        first = self.rfile.readline()
        if not first:
            return None
        headers: list[tuple[str, bytes]] = []
        while (line := self.rfile.readline()) not in {b"\r\n", b""}:
            name, _, value = line.rstrip(b"\r\n").partition(b":")
            headers.append((name.decode("latin-1").lower(), value.strip(b" ")))
        length = int(dict(headers).get("content-length", b"0"))
        method, target, _ = first.decode("latin-1").split(" ")
        return Recorded(method, target, tuple(headers), self.rfile.read(length))


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect while they are answered: some tests do so."""


@contextmanager
def echoing(tls: ssl.SSLContext | None = None) -> Iterator[Echo]:
    """Run a server on 127.0.0.1 for the duration of the block."""
    with _Server(("127.0.0.1", 0), _Connection) as server:
        echo = Echo(f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}")
        if tls:  # the handshake is done in the connection's thread
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.echo = echo  # type: ignore[attr-defined]  # handlers reach it through their server
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield echo
        finally:
            server.shutdown()
            thread.join(10)
