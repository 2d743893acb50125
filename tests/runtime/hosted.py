"""The pets as a listening program, in one process or several: `python -m tests.runtime.hosted '{…}'`.

It prints its port. SIGHUP removes the song from the list of tools in every process. Each response names its process
(`X-Process`), so that tests can address one or the other.
"""

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from openapi_mcp.runtime.http import connections, hosting, supervisor
from openapi_mcp.runtime.http.app import create_app
from openapi_mcp.runtime.http.sessions import Sessions
from openapi_mcp.runtime.http.workers import WorkerChannel, private_folder
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.reloadable import ReloadableServer
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, TOOLS, WAIT

ROOT = Path(__file__).parents[2]
MAX_RESULT_BYTES = 1 << 20
"""Of a result: enough for a few results to exceed the send buffer of a socket (4 MiB on Linux)."""


@dataclass(frozen=True, slots=True)
class Pets:
    """A factory of the application of one process, to which it is sent pickled."""

    api: str
    secret: bytes
    folder: Path | None
    options: dict[str, Any]
    timeout: float | None = None

    def __call__(self) -> ASGIApp:
        if self.timeout is not None:
            connections.TimeoutProtocol.part_timeouts = {"head": self.timeout, "rest": self.timeout}
            connections.TimeoutProtocol.stall_timeout = self.timeout
        live = ReloadableServer(self.server(*TOOLS, WAIT))
        signal.signal(signal.SIGHUP, self._reloading(live))
        sessions = Sessions(self.secret)
        return add_process_header(
            create_app(live, sessions=sessions, channel=WorkerChannel(self.folder), **self.options)
        )

    def server(self, *tools: Any) -> Server:
        description = replace(DESCRIPTION, list_changed=True)
        options = RequestOptions(base_url=self.api)
        return Server(Catalog(tools), description, Upstream(), options=options, max_result_bytes=MAX_RESULT_BYTES)

    def _reloading(self, live: ReloadableServer) -> Any:
        def reload(*_: object) -> None:
            fewer = self.server(GET_PET, LIST_PETS, WAIT)
            asyncio.get_running_loop().call_soon_threadsafe(live.replace, fewer)

        return reload


def add_process_header(app: ASGIApp) -> ASGIApp:
    """Return the application with the process in the headers of its responses."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_process(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-process", str(os.getpid()).encode())]
            await send(message)

        await app(scope, receive, send_with_process)

    return wrapped


@dataclass(frozen=True, slots=True)
class Hosted:
    """A running program."""

    process: "subprocess.Popen[str]"
    base: str
    signals: list[signal.Signals]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Signal it to end, once: a second signal would not let it finish."""
        if not self.signals:
            self.signals.append(number)
            self.process.send_signal(number)

    def listens(self) -> bool:
        """Return whether it accepts connections."""
        try:
            return httpx.get(f"{self.base}/health").status_code == 200
        except httpx.HTTPError:
            return False

    @contextmanager
    def clients(self, workers: int = 1) -> Iterator[list[httpx.Client]]:
        """Connect two clients, to two processes if there are several."""
        clients: dict[str, httpx.Client] = {}
        with ExitStack() as stack:
            while len(clients) < 2:
                limits = httpx.Limits(keepalive_expiry=None)
                client = stack.enter_context(httpx.Client(base_url=self.base, limits=limits, timeout=20))
                process = client.get("/health").headers["x-process"]
                clients.setdefault(process if workers > 1 else str(len(clients)), client)
            yield list(clients.values())


@contextmanager
def hosted(
    api: str,
    workers: int = 1,
    *,
    timeout: float | None = None,
    without: str = "",
    files: int | None = None,
    **options: Any,
) -> Iterator[Hosted]:
    """Run the program for a block; it has to end with exit code 0, unless it was killed, and its workers too.

    `timeout` is the seconds that clients have for each part of a request; `without` is a package that cannot be
    imported; `files` is how many files the program may open.
    """
    facts = {"api": api, "workers": workers, "timeout": timeout, "without": without, "files": files}
    job = json.dumps(facts | {"options": options})
    command = [sys.executable, "-m", "tests.runtime.hosted", job]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        program = Hosted(process, f"http://127.0.0.1:{int(process.stdout.readline())}", [])
        yield program
        program.stop()
    except BaseException:
        process.terminate()  # its workers would not notice a kill
        raise
    finally:
        _, errors = process.communicate(timeout=30)
    assert process.returncode == (-signal.SIGKILL if signal.SIGKILL in program.signals else 0), errors


def main(job: dict[str, Any]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    if job["files"] is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (job["files"], job["files"]))
    with (
        private_folder() as folder,
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener,
    ):
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        sys.modules[job["without"]] = None  # type: ignore[assignment]  # makes its import fail
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        pets = Pets(job["api"], b"of the tests", folder, job["options"], job["timeout"])
        if job["workers"] > 1:
            supervisor.serve_workers(pets, listener, job["workers"])
        else:
            hosting.serve(pets(), listener)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
