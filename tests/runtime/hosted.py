"""The pets as a program that listens, in one process or in several: `python -m tests.runtime.hosted '{…}'`.

It prints its port. SIGHUP takes the song off the list of tools in every process. Each answer says which process made
it (`X-Process`), so that tests can talk to one and to another.
"""

import asyncio
import json
import os
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

from openapi_mcp.runtime import connections, hosting
from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.live import Live
from openapi_mcp.runtime.peers import Peers, private_folder
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.sessions import Sessions
from openapi_mcp.runtime.streamable_http import create_app
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, TOOLS, WAIT

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Pets:
    """Makes the application of one process; it travels there pickled."""

    api: str
    secret: bytes
    folder: Path | None
    options: dict[str, Any]
    patience: float | None = None

    def __call__(self) -> ASGIApp:
        if self.patience is not None:
            connections.Patient.limits = {"head": self.patience, "rest": self.patience}
            connections.Patient.stall = self.patience
        live = Live(self.server(*TOOLS, WAIT))
        signal.signal(signal.SIGHUP, self._reloading(live))
        sessions = Sessions(self.secret)
        return signed(create_app(live, sessions=sessions, peers=Peers(self.folder), **self.options))

    def server(self, *tools: Any) -> Server:
        description = replace(DESCRIPTION, list_changed=True)
        return Server(Catalog(tools), description, Upstream(), options=RequestOptions(base_url=self.api))

    def _reloading(self, live: Live) -> Any:
        def reload(*_: object) -> None:
            fewer = self.server(GET_PET, LIST_PETS, WAIT)
            asyncio.get_running_loop().call_soon_threadsafe(live.replace, fewer)

        return reload


def signed(app: ASGIApp) -> ASGIApp:
    """The application, whose answers say in which process they were made."""

    async def signing(scope: Scope, receive: Receive, send: Send) -> None:
        async def sign(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-process", str(os.getpid()).encode())]
            await send(message)

        await app(scope, receive, sign)

    return signing


@dataclass(frozen=True, slots=True)
class Hosted:
    """The program as it runs."""

    process: "subprocess.Popen[str]"
    base: str
    told: list[signal.Signals]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Tell it to end, once: a second time would not let it finish."""
        if not self.told:
            self.told.append(number)
            self.process.send_signal(number)

    def listens(self) -> bool:
        """Whether it takes connections."""
        try:
            return httpx.get(f"{self.base}/health").status_code == 200
        except httpx.HTTPError:
            return False

    @contextmanager
    def clients(self, workers: int = 1) -> Iterator[list[httpx.Client]]:
        """Two clients, each with a connection of its own, to as many processes as there are."""
        found: dict[str, httpx.Client] = {}
        with ExitStack() as stack:
            while len(found) < 2:
                limits = httpx.Limits(keepalive_expiry=None)
                client = stack.enter_context(httpx.Client(base_url=self.base, limits=limits, timeout=20))
                process = client.get("/health").headers["x-process"]
                found.setdefault(process if workers > 1 else str(len(found)), client)
            yield list(found.values())


@contextmanager
def hosted(
    api: str, workers: int = 1, *, patience: float | None = None, without: str = "", **options: Any
) -> Iterator[Hosted]:
    """The program for as long as a block; it has to end with 0.

    `patience` is how many seconds clients have for everything, and `without` a package that cannot be imported.
    """
    job = json.dumps({"api": api, "workers": workers, "patience": patience, "without": without, "options": options})
    command = [sys.executable, "-m", "tests.runtime.hosted", job]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        program = Hosted(process, f"http://127.0.0.1:{int(process.stdout.readline())}", [])
        yield program
        program.stop()
    except BaseException:
        process.terminate()  # which its workers would not notice if it were killed
        raise
    finally:
        _, complaints = process.communicate(timeout=30)
    assert process.returncode == 0, complaints


def main(job: dict[str, Any]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    with (
        private_folder() as folder,
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener,
    ):
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        sys.modules[job["without"]] = None  # type: ignore[assignment]  # so Python says that it is not there
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        pets = Pets(job["api"], b"of the tests", folder, job["options"], job["patience"])
        if job["workers"] > 1:
            hosting.serve_workers(pets, listener, job["workers"])
        else:
            hosting.serve(pets(), listener)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
