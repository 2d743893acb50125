"""The rows of `make faults`: what a neighbour does, and what was measured for the others while it did so."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

MAX_WAIT: Final = 0.1
"""Seconds that another client's ping may wait longer than a ping to an idle server beside it."""

MAX_MEMORY: Final = 300 << 20
"""Bytes of memory that the server, or the command, may hold at any moment."""


class UnexpectedResult(Exception):
    """The server answered, and the answer is not what the row demands."""


@dataclass(frozen=True, slots=True)
class Target:
    """The server under test: where clients reach it, its process, its document, and the last lines of its log.

    `restore` writes the document anew, for rows that replace it. A row may clear `log`.
    """

    host: str
    port: int
    process: int
    document: Path
    restore: Callable[[], None]
    log: list[str]


Run = Callable[[Target], Coroutine[Any, Any, str]]


@dataclass(frozen=True, slots=True)
class Row:
    """Something hostile. `run` does it and returns the outcome as a sentence, or raises UnexpectedResult.

    A row that is not `short` is left out of `make test`, because it takes many seconds.
    """

    group: str
    name: str
    run: Run = field(repr=False)
    short: bool = True

    @property
    def key(self) -> str:
        """The name by which the command line and the tests select this row."""
        return f"{self.group}: {self.name}"


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of one row: its outcome, seconds that others waited, bytes that the server held, seconds it took.

    `idle_wait` is the longest wait of a client of an idle server at the same time, which the machine is to blame for.
    `wait` is None where there are no others: a command that reads a document serves nobody.
    """

    row: Row
    outcome: str
    wait: float | None
    idle_wait: float
    memory: int
    seconds: float
    failed: bool = False

    @property
    def verdict(self) -> str:
        """`ok`, or what was exceeded."""
        exceeded = [
            word
            for word, is_so in (
                ("failed", self.failed),
                ("others waited", self.wait is not None and self.wait - self.idle_wait > MAX_WAIT),
                ("memory", self.memory > MAX_MEMORY),
            )
            if is_so
        ]
        return ", ".join(exceeded) or "ok"


HEAD: Final = (
    "| row | outcome | others waited (ms) | idle server (ms) | memory (MiB) | seconds | |\n"
    "|---|---|--:|--:|--:|--:|---|"
)


def line(measured: Measured) -> str:
    """Return a row of the Markdown table that begins with HEAD."""
    wait = "-" if measured.wait is None else f"{measured.wait * 1000:.0f}"
    cells = [
        measured.row.name,
        measured.outcome,
        wait,
        f"{measured.idle_wait * 1000:.0f}",
        f"{measured.memory / 2**20:.0f}",
        f"{measured.seconds:.1f}",
        measured.verdict,
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
