"""HTTP servers for tests: ASGI applications under uvicorn, each in a thread, on 127.0.0.1."""

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn


class _Server(uvicorn.Server):
    """A uvicorn server that sets an event when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@contextmanager
def running(app: Any) -> Iterator[str]:
    """Serve `app` until the block ends; yield its base URL, without a slash at the end."""
    # asyncio sets TCP_NODELAY only on sockets whose protocol is IPPROTO_TCP, as it is on sockets of its own.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        server = _Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert server.listening.wait(20), "the server did not start"
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens to, below those that systems give to connections."""
    while True:
        port = random.randrange(15_000, 30_000)  # noqa: S311  # no secret
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port
