"""The processes around one row: the hostile API, the server under test, an idle server beside it, and the prober."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from tests.faults.document import DOCUMENT
from tests.faults.rows import MAX_WAIT, Measured, Row, Target, UnexpectedResult

ROOT = Path(__file__).parents[2]
MAX_START_SECONDS = 60
MAX_ATTEMPTS = 3
"""Measurements of a row in which others waited too long: a busy machine causes that once, a fault each time."""

OPTIONS = (
    *("--total-timeout", "5", "--timeout", "3", "--connect-timeout", "2", "--retries", "1"),
    *("--circuit-breaker", "0"),
)
"""Of the server under test: limits below the defaults, so that rows which wait for them end sooner; and all rows are
sent to the one API, which does not answer many of them."""

PRIORITY: Final = -15
"""Of the programs of a row over other programs of the machine, which would be measured as well."""


class Program:
    """A process that prints its port, or the URL it listens on, in its first lines; it is ended by its own id."""

    def __init__(self, *words: str, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=ROOT,
            env=os.environ | (environment or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.log: list[str] = []
        self._drainer: threading.Thread | None = None
        with contextlib.suppress(OSError):  # only root may
            os.setpriority(os.PRIO_PROCESS, self.process.pid, PRIORITY)

    @property
    def pid(self) -> int:
        return self.process.pid

    def port(self, path: str = "") -> int:
        """Return the port in the first line that ends with a loopback URL of this path.

        A thread keeps reading afterwards, so that the program never waits for a reader.
        """
        assert self.process.stdout
        watchdog = threading.Timer(MAX_START_SECONDS, self.process.kill)
        watchdog.start()
        try:
            for line in self.process.stdout:
                self.log.append(line)
                if found := re.search(rf"http://127\.0\.0\.1:(\d+){path}$", line.strip()):
                    self._drainer = threading.Thread(target=self._drain, daemon=True)
                    self._drainer.start()
                    return int(found[1])
        finally:
            watchdog.cancel()
        raise UnexpectedResult("the program did not start: " + "".join(self.log)[-2000:])

    def _drain(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.log.append(line[:2000])
            del self.log[:-200]

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        if self._drainer:
            self._drainer.join(10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe and not pipe.closed:
                with contextlib.suppress(OSError):
                    pipe.close()


class Stage:
    """Runs rows against one server after the other; a server that a row has harmed is replaced by a new one.

    `options` are those of the server under test besides OPTIONS. Enter it as a context manager.
    """

    def __init__(self, options: Sequence[str]) -> None:
        self._options = (*OPTIONS, *options)
        self._server: Program | None = None
        self._prober: Program | None = None
        self._target: Target | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        self._document = folder / "hostile.json"
        self._write_document()
        try:
            api = self._started("tests.faults.api")
            self._api = f"http://127.0.0.1:{api.port()}"
            self._idle = self._serve(("--mode", "all"))
            self._idle_port = self._idle.port("/mcp")
        except BaseException:
            self._stack.close()
            raise
        return self

    def _write_document(self) -> None:
        """Write the document in one step, also over a pipe or a device that a row has put there."""
        new = self._document.with_suffix(".new")
        new.write_text(json.dumps(DOCUMENT))
        new.replace(self._document)

    def __exit__(self, *_: object) -> None:
        self._stop_server()
        self._stack.close()

    def _started(self, *words: str) -> Program:
        program = Program(*words, environment={"API_HOSTILE_KEY": SECRET})
        self._stack.callback(program.stop)
        return program

    def _serve(self, options: Sequence[str]) -> Program:
        words = ("openapi_mcp", "serve", str(self._document), "--base-url", self._api, "--transport", "http")
        return self._started(*words, "--port", "0", *options)

    def _ready(self) -> tuple[Target, Program]:
        if self._server is None or self._server.process.poll() is not None:
            self._server = self._serve(self._options)
            port = self._server.port("/mcp")
            self._target = Target(
                "127.0.0.1", port, self._server.pid, self._document, self._write_document, self._server.log
            )
            self._prober = self._started("tests.faults.prober", str(port), str(self._idle_port))
            self._waits()
        assert self._target
        assert self._prober
        return self._target, self._prober

    def _waits(self) -> tuple[float, float]:
        assert self._prober
        process = self._prober.process
        assert process.stdin
        assert process.stdout
        process.stdin.write("\n")
        process.stdin.flush()
        longest, idle = json.loads(process.stdout.readline())
        return longest, idle

    def _stop_server(self) -> None:
        for program in (self._prober, self._server):
            if program is not None:
                program.stop()
        self._server = self._prober = self._target = None

    def measure(self, row: Row) -> Measured:
        """Run a row, again if others waited too long in it, and return what was measured in the best attempt."""
        best: Measured | None = None
        for _ in range(MAX_ATTEMPTS):
            measured = self._measure_once(row)
            if measured.verdict != "ok":
                self._stop_server()
            if best is None or _excess(measured) < _excess(best):
                best = measured
            if measured.verdict != "others waited" or measured.seconds > MAX_REPEATED_SECONDS:
                break
        assert best
        return best

    def _measure_once(self, row: Row) -> Measured:
        try:
            target, _ = self._ready()
        except UnexpectedResult as error:
            return Measured(row, str(error)[-300:].replace("\n", " "), None, 0, 0, 0, failed=True)
        self._waits()
        reset_peak(target.process)
        with MemoryWatch(target.process) as watch:
            started = time.perf_counter()
            try:
                outcome, failed = asyncio.run(row.run(target)), False
            except (UnexpectedResult, AssertionError, OSError, TimeoutError, EOFError) as error:
                outcome, failed = f"{type(error).__name__}: {error}"[:300], True
            seconds = time.perf_counter() - started
            wait, idle = self._waits()
            memory = peak(target.process) + watch.peak_of_children
        if self._server is not None and self._server.process.poll() is not None:
            outcome, failed = f"the server ended with {self._server.process.returncode}; {outcome}", True
        return Measured(row, outcome, wait, idle, memory, seconds, failed)


MAX_HELD = 1 << 30
"""Bytes that a process may hold before it is killed, far above what a row allows."""

MAX_REPEATED_SECONDS = 20
"""Of a row that is worth measuring again: one that takes longer holds others for reasons of its own."""

SECRET = "canary-6f1d0c-of-the-faults"
"""The credential of the hostile API, which sends it back."""


def _excess(measured: Measured) -> float:
    return (measured.wait or 0) - measured.idle_wait - (0 if measured.failed else MAX_WAIT)


def reset_peak(process: int) -> None:
    """Let the kernel count the peak memory of a process anew (`clear_refs`, proc(5)); only Linux does."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{process}/clear_refs").write_text("5")


def peak(process: int) -> int:
    """Return the most memory in bytes that a process has held since `reset_peak`; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(kilobytes[0]) * 1024 if kilobytes else 0


class MemoryWatch(threading.Thread):
    """Watches a process and those that it starts: kills it above MAX_HELD, before the machine suffers.

    `peak_of_children` is the most memory that all of its children held at one time.
    """

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.peak_of_children = 0
        self._process = process
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        while not self._ended.wait(0.05):
            children = {child: resident(child) for child in descendants(self._process)}
            self.peak_of_children = max(self.peak_of_children, sum(children.values()))
            for process, held in (children | {self._process: resident(self._process)}).items():
                if held > MAX_HELD:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)


def descendants(process: int) -> Iterator[int]:
    """Yield the processes below a process."""
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, path.read_text().split()):
                yield child
                yield from descendants(child)


def resident(process: int) -> int:
    """Return the memory in bytes that a process holds and shares with no other (proc(5), smaps_rollup).

    The resident memory less the shared memory of `statm` has also what a child has from its parent before its `exec`.
    """
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))
    return 0
