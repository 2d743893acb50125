"""A document that changes while it is served: what becomes of the tools, and what SIGHUP does."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from openapi_mcp.offering import MOST_TOOLS
from openapi_mcp.opening import Opening
from openapi_mcp.reloading import Reloader
from openapi_mcp.runtime.search_tools import NAMES
from tests.conftest import ROOT

LIMIT = 20.0
"""Seconds after which a test has failed."""


def document(*names: str) -> str:
    paths = "".join(f"  /{name}: {{get: {{operationId: {name}, responses: {{default: {{}}}}}}}}\n" for name in names)
    return f"openapi: 3.1.0\ninfo: {{title: T, version: '1'}}\npaths:\n{paths or '  {}'}"


class Watched:
    """A document that is watched, the server that follows it, and what whoever runs it is told."""

    def __init__(self, path: Path, **options: object) -> None:
        self.path = path
        self.path.write_text(document("a", "b"))
        self.said: asyncio.Queue[str] = asyncio.Queue()
        opening = Opening(str(path), {"watch": True, **options})
        self.reloader = Reloader(opening, opening.bridge(), self.said.put_nowait)

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.reloader.live.server.catalog.tools]

    async def next(self, change: Callable[[], object]) -> str:
        """What is said after a change."""
        await asyncio.to_thread(change)
        return await asyncio.wait_for(self.said.get(), LIMIT)


def test_a_changed_document_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.yaml")

    async def run() -> None:
        async with watched.reloader.running():
            heard = watched.reloader.live.changes.listen()
            said = await watched.next(lambda: watched.path.write_text(document("b", "c", "d")))
            await asyncio.wait_for(anext(heard), LIMIT)
        await watched.reloader.live.aclose()
        assert said == "loaded again: 3 tools, 2 new, 0 changed, 1 gone"

    asyncio.run(run())
    assert watched.names == ["b", "c", "d"]


@pytest.mark.parametrize("broken", ["openapi: 3.1", "{", "", document()])
def test_a_broken_document_changes_nothing_and_is_told(tmp_path: Path, broken: str) -> None:
    watched = Watched(tmp_path / "a.yaml")

    async def run() -> None:
        async with watched.reloader.running():
            said = await watched.next(lambda: watched.path.write_text(broken))
            assert said.startswith("the old tools stay")
            assert "a.yaml" in said
            assert watched.names == ["a", "b"]
            said = await watched.next(lambda: watched.path.write_text(document("a")))
            assert said.startswith("loaded again")
        await watched.reloader.live.aclose()

    asyncio.run(run())
    assert watched.names == ["a"]


def test_how_tools_are_offered_is_decided_anew_when_the_document_crosses_the_threshold(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.yaml")
    few, many = (document(*(f"tool{number}" for number in range(count))) for count in (MOST_TOOLS, MOST_TOOLS + 1))

    async def run() -> None:
        async with watched.reloader.running():
            heard = watched.reloader.live.changes.listen()
            said = await watched.next(lambda: watched.path.write_text(many))
            await asyncio.wait_for(anext(heard), LIMIT)
            assert "129 tools are more than the 128 that many clients take; --mode all lists every tool" in said
            assert set(watched.names) == NAMES
            said = await watched.next(lambda: watched.path.write_text(few))
            await asyncio.wait_for(anext(heard), LIMIT)
            assert said.endswith("; now 128 tools listed, about " + said.rpartition("about ")[2])
            assert len(watched.names) == MOST_TOOLS
            said = await watched.next(lambda: watched.path.write_text(document("a")))
            assert said.endswith("gone"), "all are listed as before"
        await watched.reloader.live.aclose()

    asyncio.run(run())


def test_settings_are_read_again_too(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("watch = true")
    path = tmp_path / "a.yaml"
    path.write_text(document("a", "b"))
    said: asyncio.Queue[str] = asyncio.Queue()
    opening = Opening(str(path), {}, settings)
    reloader = Reloader(opening, opening.bridge(), said.put_nowait)

    async def run() -> None:
        async with reloader.running():
            await asyncio.to_thread(settings.write_text, "watch = true\nexclude = ['id:a']")
            await asyncio.wait_for(said.get(), LIMIT)
        await reloader.live.aclose()

    asyncio.run(run())
    assert [tool.name for tool in reloader.live.server.catalog.tools] == ["b"]


def command(path: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "openapi_mcp", "serve", str(path), "--port", "0", *more]


@contextmanager
def started(path: Path, *more: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """The command, which is killed in the end if it has not ended by then."""
    process = subprocess.Popen(command(path, *more), cwd=ROOT, stderr=stderr, text=True)
    watchdog = threading.Timer(LIMIT, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize("workers", [1, 2])
def test_sighup_loads_the_document_again(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(document("a"))
    with started(path, "--workers", str(workers)) as process:
        assert process.stderr is not None
        lines = iter(process.stderr)
        address = next(word for line in lines for word in line.split() if word.endswith("/mcp"))
        httpx.get(address.replace("/mcp", "/health"))  # answered once there is a worker, and it listens to signals
        path.write_text(document("a", "b"))
        process.send_signal(signal.SIGHUP)
        assert "loaded again: 2 tools" in next(line for line in lines if "loaded" in line)
        process.terminate()
        assert process.wait(LIMIT) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_ends_with_its_terminal(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(document("a"))
    terminal, stderr = os.openpty()
    with started(path, "--workers", str(workers), stderr=stderr) as process:
        os.close(stderr)
        seen = b""
        while b"/mcp\r\n" not in seen:
            seen += os.read(terminal, 1024)
        address = next(word for word in seen.decode().split() if word.endswith("/mcp"))
        httpx.get(address.replace("/mcp", "/health"))
        os.close(terminal)
        process.send_signal(signal.SIGHUP)
        assert process.wait(LIMIT) == 0
