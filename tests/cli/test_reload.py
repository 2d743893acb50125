"""A document that changes while it is served: what becomes of the tools, and what SIGHUP does."""

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from openapi_mcp.cli.serve.reload import Reloader
from openapi_mcp.cli.serve.watcher import POLL_INTERVAL
from openapi_mcp.cli.settings import Settings
from openapi_mcp.modes import MAX_LISTED_TOOLS
from openapi_mcp.runtime.search.tools import NAMES
from tests.conftest import ROOT
from tests.hostile_documents import many_paths

pytestmark = pytest.mark.process

LIMIT = 20.0
"""Seconds after which a test has failed."""


def document(*names: str) -> str:
    paths = "".join(f"  /{name}: {{get: {{operationId: {name}, responses: {{default: {{}}}}}}}}\n" for name in names)
    return f"openapi: 3.1.0\ninfo: {{title: T, version: '1'}}\npaths:\n{paths or '  {}'}"


class Watched:
    """A watched document, the server that follows it, and the lines that the user sees."""

    def __init__(self, path: Path, **options: object) -> None:
        self.path = path
        self.path.write_text(document("a", "b"))
        self.lines: asyncio.Queue[str] = asyncio.Queue()
        start = Settings(str(path), {"watch": True, **options})
        self.reloader = Reloader(start, start.bridge(), self.lines.put_nowait, self.lines.put_nowait)

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.reloader.live.server.catalog.tools]

    async def next(self, change: Callable[[], object]) -> str:
        """Make a change, and return the next line."""
        await asyncio.to_thread(change)
        return await asyncio.wait_for(self.lines.get(), LIMIT)


def test_changed_document_replaces_the_old_one(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.yaml")

    async def run() -> None:
        async with watched.reloader.running():
            heard = watched.reloader.live.changes.listen()
            line = await watched.next(lambda: watched.path.write_text(document("b", "c", "d")))
            await asyncio.wait_for(anext(heard), LIMIT)
        await watched.reloader.live.aclose()
        assert line == "reloaded: 3 tools, 2 new, 0 changed, 1 removed"

    asyncio.run(run())
    assert watched.names == ["b", "c", "d"]


def test_server_of_the_start_is_garbage_after_a_reload(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.yaml")
    gc.freeze()  # as the command does when it has read the document
    replaced = weakref.ref(watched.reloader.live.server)

    async def run() -> None:
        async with watched.reloader.running():
            await watched.next(lambda: watched.path.write_text(document("b", "c")))
        await watched.reloader.live.aclose()

    asyncio.run(run())
    assert gc.isenabled()
    gc.collect()
    assert replaced() is None


@pytest.mark.parametrize("broken", ["openapi: 3.1", "{", "", document()])
def test_broken_document_is_reported_and_changes_nothing(tmp_path: Path, broken: str) -> None:
    watched = Watched(tmp_path / "a.yaml")

    async def run() -> None:
        async with watched.reloader.running():
            line = await watched.next(lambda: watched.path.write_text(broken))
            assert line.startswith("reload failed, the old tools stay: ")
            assert "a.yaml" in line
            assert watched.names == ["a", "b"]
            line = await watched.next(lambda: watched.path.write_text(document("a")))
            assert line.startswith("reloaded: ")
        await watched.reloader.live.aclose()

    asyncio.run(run())
    assert watched.names == ["a"]


def test_rule_that_no_longer_matches_is_reported_and_changes_nothing(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.yaml", exclude=["id:b"], pin=["a"])

    async def run() -> None:
        async with watched.reloader.running():
            line = await watched.next(lambda: watched.path.write_text(document("a", "c")))
            assert line.startswith(
                "reload failed, the old tools stay: the rule id:b matches no operation (--exclude id:b)"
            )
            line = await watched.next(lambda: watched.path.write_text(document("b", "c")))
            assert line.startswith("reload failed, the old tools stay: no such tool: a (--pin a)")
            assert watched.names == ["a"]
            line = await watched.next(lambda: watched.path.write_text(document("a", "b", "c")))
            assert line.startswith("reloaded: ")
        await watched.reloader.live.aclose()

    asyncio.run(run())
    assert watched.names == ["a", "c"]


def test_mode_is_decided_again_when_the_document_crosses_the_threshold(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "a.yaml")
    few, many = (
        document(*(f"tool{number}" for number in range(count))) for count in (MAX_LISTED_TOOLS, MAX_LISTED_TOOLS + 1)
    )

    async def run() -> None:
        async with watched.reloader.running():
            heard = watched.reloader.live.changes.listen()
            line = await watched.next(lambda: watched.path.write_text(many))
            await asyncio.wait_for(anext(heard), LIMIT)
            assert "129 tools are more than the 128 that many clients accept; --mode all lists every tool" in line
            assert set(watched.names) == NAMES
            line = await watched.next(lambda: watched.path.write_text(few))
            await asyncio.wait_for(anext(heard), LIMIT)
            assert line.endswith("; now 128 tools listed, about " + line.rpartition("about ")[2])
            assert len(watched.names) == MAX_LISTED_TOOLS
            line = await watched.next(lambda: watched.path.write_text(document("a")))
            assert line.endswith("removed"), "all are listed as before"
        await watched.reloader.live.aclose()

    asyncio.run(run())


def test_settings_file_is_read_again(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("watch = true")
    path = tmp_path / "a.yaml"
    path.write_text(document("a", "b"))
    lines: asyncio.Queue[str] = asyncio.Queue()
    start = Settings(str(path), {}, settings)
    reloader = Reloader(start, start.bridge(), lines.put_nowait, lines.put_nowait)

    async def run() -> None:
        async with reloader.running():
            await asyncio.to_thread(settings.write_text, "watch = true\nexclude = ['id:a']")
            await asyncio.wait_for(lines.get(), LIMIT)
        await reloader.live.aclose()

    asyncio.run(run())
    assert [tool.name for tool in reloader.live.server.catalog.tools] == ["b"]


def command(path: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "openapi_mcp", "serve", str(path), "--port", "0", *more]


@contextmanager
def started(path: Path, *more: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """Start the command; kill it at the end of the block if it still runs."""
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
def test_sighup_reloads_the_document(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(document("a"))
    with started(path, "--workers", str(workers)) as process:
        assert process.stderr is not None
        lines = iter(process.stderr)
        address = next(word for line in lines for word in line.split() if word.endswith("/mcp"))
        # Answered once there is a worker, and it listens to signals.
        httpx.get(address.replace("/mcp", "/health"), timeout=LIMIT)
        path.write_text(document("a", "b"))
        process.send_signal(signal.SIGHUP)
        assert "reloaded: 2 tools" in next(line for line in lines if "loaded" in line)
        process.terminate()
        assert process.wait(LIMIT) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_server_ends_with_its_terminal(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(document("a"))
    terminal, stderr = os.openpty()
    with started(path, "--workers", str(workers), stderr=stderr) as process:
        os.close(stderr)
        seen = b""
        while b"/mcp\r\n" not in seen:
            seen += os.read(terminal, 1024)
        address = next(word for word in seen.decode().split() if word.endswith("/mcp"))
        httpx.get(address.replace("/mcp", "/health"), timeout=LIMIT)
        os.close(terminal)
        process.send_signal(signal.SIGHUP)
        assert process.wait(LIMIT) == 0


@contextmanager
def serving_stdio(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server on stdio that watches a document, and wait until it serves."""
    command = [sys.executable, "-m", "openapi_mcp", "serve", str(path), "--watch", "--no-cache"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:  # type: ignore[call-overload]  # pipes of one kind
        try:
            wait_for_line(process, b"stdio")
            yield process
        finally:
            process.kill()


def wait_for_line(process: subprocess.Popen[bytes], word: bytes) -> None:
    """Read stderr up to a line with a word; the limit of the test ends it otherwise."""
    assert process.stderr is not None
    while word not in (line := process.stderr.readline()):
        assert line


def ends_within(process: subprocess.Popen[bytes], seconds: float) -> None:
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT) == 0
    assert time.monotonic() - began < seconds


@pytest.mark.parametrize("replacement", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_document_that_became_a_pipe_or_device_is_reported_and_the_server_can_be_stopped(
    tmp_path: Path, replacement: Callable[[Path], object]
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(document("a"))
    with serving_stdio(path) as process:
        path.unlink()
        replacement(path)
        wait_for_line(process, b"reload failed, the old tools stay: the document is a ")
        path.unlink()
        path.write_text(document("a", "b"))
        wait_for_line(process, b"reloaded: 2 tools")
        ends_within(process, 2)


def test_a_server_that_reloads_a_large_document_can_be_stopped(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(document("a"))
    with serving_stdio(path) as process:
        large = path.with_name("large")
        large.write_text(json.dumps(many_paths(40_000)))
        large.replace(path)
        time.sleep(2 * POLL_INTERVAL)  # until it is noticed; making its tools takes longer
        ends_within(process, 2)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a document whose tools take many seconds to make."""
    path = tmp_path_factory.mktemp("large") / "a.json"
    path.write_text(json.dumps(many_paths(40_000)))
    return path


READING_SECONDS = 1.0
"""CPU time after which a command reads the document: it has imported what it needs after half of it."""


def wait_until_it_reads(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has used READING_SECONDS, however busy the machine is; twice that where it does not tell."""
    status = Path(f"/proc/{process.pid}/stat")
    if not status.exists():
        time.sleep(2 * READING_SECONDS)
        return
    end = time.monotonic() + LIMIT
    ticks = READING_SECONDS * os.sysconf("SC_CLK_TCK")
    while sum(map(int, status.read_text().rpartition(")")[2].split()[11:13])) < ticks:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", [["inspect", "--no-validate"], ["serve"], ["call", "get_p1"], ["generate", "out"]])
def test_a_command_that_reads_a_large_document_can_be_stopped(
    large: Path, words: list[str], number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "openapi_mcp", words[0], str(large), "--no-cache", *words[1:]]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until_it_reads(process)
        began = time.monotonic()
        process.send_signal(number)
        process.communicate()
        assert time.monotonic() - began < 2
        assert process.returncode != 0
