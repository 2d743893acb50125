"""Fixtures: the server of this package, and a mock of the API that answers every request and records it."""

import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from swagger_petstore_mcp.runtime import RequestOptions, Server
from swagger_petstore_mcp.server import create_server


@dataclass
class MockApi:
    """An HTTP server on this machine. `requests` are those it received: method, target, body."""

    base_url: str = ""
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)


@pytest.fixture
def anyio_backend() -> str:
    """The event loop for asynchronous tests."""
    return "asyncio"


@pytest.fixture
def mock_api() -> Iterator[MockApi]:
    """Run a mock of the API for one test."""
    mock = MockApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            mock.requests.append((self.command, self.requestline.split()[1], body))  # .path has lost a leading //
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as api:
        api.daemon_threads = True
        threading.Thread(target=api.serve_forever, args=(0.01,), daemon=True).start()
        mock.base_url = f"http://127.0.0.1:{api.server_address[1]}"
        yield mock
        api.shutdown()


@pytest.fixture
async def server(mock_api: MockApi) -> AsyncIterator[Server]:
    """The server, which sends its requests to the mock."""
    server = create_server(options=RequestOptions(base_url=mock_api.base_url))
    yield server
    await server.aclose()
