"""Serve calls for an hour and watch the memory and the open files of the server; then make 10,000 connections.

    python -m benchmarks.soak                                   an hour at half of the top rate
    python -m benchmarks.soak --minutes 2 --connections 2000    sooner
    python -m benchmarks.soak --era stateless --workers 2

The load is open (`paced.py`). The first tenth of the time warms the server up; the memory of the second tenth is
compared with that of the last (medians), the open files of the idle server before and after. Each connection of the
churn makes one call. Exit code: 1 if the memory grows by more than 5 MB, by the load or by the churn, if files stay
open, or if a call fails.
"""

import argparse
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from .latency import BACKEND, carried_out, plan_of, server_of
from .throughput import ROOT, running

MAX_GROWTH: Final = 5_000_000
"""Bytes that the memory may grow from the second tenth of the time to the last, and by the churn."""

MAX_FILES: Final = 3
"""Files that may be open in addition while the server is idle: those that the first calls of a kind open."""

SAMPLES: Final = 200
"""Samples of the whole time, at most one each second."""

CHURN_AT_ONCE: Final = 32
SETTLING_SECONDS: Final = 6.0
"""Seconds after which idle connections to the API are closed: 4, and some more on a busy machine."""


@dataclass(frozen=True)
class Sample:
    """The resident memory of a server's processes in bytes, and the number of their open files."""

    memory: int
    files: int

    @classmethod
    def of(cls, pid: int) -> "Sample":
        """Take a sample of a process and its children (Linux)."""
        family = list(_family(pid))
        pages = sum(int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in family)
        files = sum(len(list(Path(f"/proc/{each}/fd").iterdir())) for each in family)
        return cls(pages * os.sysconf("SC_PAGE_SIZE"), files)


def _family(pid: int) -> Iterator[int]:
    yield pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from _family(int(child))


def sampled(work: Callable[[], object], pid: int, interval: float) -> list[int]:
    """Return the samples of memory in the time in which work is done."""
    samples: list[int] = []
    done = threading.Event()

    def sample() -> None:
        while not done.wait(interval):
            samples.append(Sample.of(pid).memory)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        work()
    finally:
        done.set()
        thread.join()
    return samples


def settled(pid: int) -> Sample:
    """Return a sample after connections without calls have been closed."""
    time.sleep(SETTLING_SECONDS)
    return Sample.of(pid)


@dataclass(frozen=True)
class Stage:
    """A part of the test: the server before and after it."""

    name: str
    calls: int
    before: Sample
    after: Sample

    def __str__(self) -> str:
        """Return a row of the table."""
        memory = f"{self.before.memory / 1e6:.1f} MB | {self.after.memory / 1e6:.1f} MB"
        return f"| {self.name} | {self.calls:,} | {memory} | {self.before.files} | {self.after.files} |"

    def misses(self) -> Iterator[str]:
        """Return what grows."""
        if (growth := self.after.memory - self.before.memory) > MAX_GROWTH:
            yield f"{self.name}: the memory grew by {growth / 1e6:.1f} MB"
        if self.after.files > self.before.files + MAX_FILES:
            yield f"{self.name}: {self.after.files - self.before.files} more files are open"


def stages(pid: int, url: str, options: argparse.Namespace) -> Iterator[Stage]:
    """Carry out the load, then the churn."""
    plan = plan_of(url, options.era, seconds=3.0, concurrency=16)
    top = carried_out(plan)["rate"]
    seconds = options.minutes * 60
    long = replace(plan, concurrency=0, rate=top * options.share, seconds=seconds)
    results, idle = [], settled(pid)
    memory = sampled(lambda: results.append(carried_out(long)), pid, max(seconds / SAMPLES, min(1.0, seconds / 50)))
    tenth = max(len(memory) // 10, 1)
    first, last = statistics.median(memory[tenth : 2 * tenth]), statistics.median(memory[-tenth:])
    after = replace(settled(pid), memory=int(last))
    yield Stage(f"{long.rate:,.0f} calls/s", results[0]["calls"], replace(idle, memory=int(first)), after)
    churn = replace(plan, concurrency=CHURN_AT_ONCE, churns=options.connections, warming=0.0)
    carried_out(replace(churn, churns=min(CHURN_AT_ONCE * 10, options.connections)))
    before = settled(pid)
    yield Stage("churn of connections", carried_out(churn)["calls"], before, settled(pid))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", default=str(ROOT / "specs" / "petstore.yaml"))
    parser.add_argument("--era", choices=("handshake", "stateless"), default="handshake")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--share", type=float, default=0.5, help="of the top rate")
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    workers = () if options.workers == 1 else ("--workers", str(options.workers))
    missed: list[str] = []
    print("| stage | calls | memory before | after | files before | after |\n|---|--:|--:|--:|--:|--:|")
    backend = (sys.executable, *BACKEND)
    with running(backend) as (_, api), running(server_of(options.document, api, *workers)) as (pid, url):
        for stage in stages(pid, f"{url}/mcp", options):
            print(stage, flush=True)
            missed += stage.misses()
    print("\n".join(missed) or "flat", file=sys.stderr if missed else sys.stdout)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
