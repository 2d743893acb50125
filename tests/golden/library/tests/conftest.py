"""A server of this package's tools in front of a mock of the API, which answers everything and remembers it."""

import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from town_library_mcp.runtime import RequestOptions, Server
from town_library_mcp.server import create_server


@dataclass
class MockApi:
    """An HTTP server on this machine. `requests` are those it got: method, target, body."""

    base_url: str = ""
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)


@pytest.fixture
def anyio_backend() -> str:
    """Where asynchronous tests run."""
    return "asyncio"


@pytest.fixture
def mock_api() -> Iterator[MockApi]:
    """The mock, for one test."""
    mock = MockApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            mock.requests.append((self.command, self.requestline.split()[1], body))  # .path has no // before it
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        mock.base_url = f"http://127.0.0.1:{listening.server_address[1]}"
        yield mock
        listening.shutdown()


@pytest.fixture
async def server(mock_api: MockApi) -> AsyncIterator[Server]:
    """The server; nothing it does leaves this machine."""
    server = create_server(options=RequestOptions(base_url=mock_api.base_url))
    yield server
    await server.aclose()
