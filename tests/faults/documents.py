"""Rows of hostile documents: read by `inspect`, and written over the document that a running server watches."""

import asyncio
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.faults import calling
from tests.faults.rows import Measured, Row, Run, Target, UnexpectedResult
from tests.hostile_documents import DOCUMENTS, Maker, measure

MAX_RELOAD_SECONDS: Final = 60.0
"""Within which a server has read a document of 20,000 paths beside other programs; alone it takes 6 seconds."""

LOOK_SECONDS: Final = 0.1
"""Between two looks into the log of the server."""

SHORT: Final = frozenset(
    {
        "a billion laughs in an extension",
        "references to pipes and devices",
    }
)
"""Documents that `make test` reads here too; `tests/test_hostile_documents.py` reads them all."""

WATCHED: Final = (
    "allOf of nine references each, 20 levels",
    "a billion laughs in an extension",
    "100,000 brackets, JSON",
    "20,000 paths",
    "3,000 patterns, some of them catastrophic",
    "60 MB of one string",
    "a pipe",
    "a device",
    "a sparse file of a terabyte",
)
"""Documents that replace the one of a running server."""


async def _nothing(_: Target) -> str:
    return ""


class Commands:
    """Runs `openapi-mcp inspect` on the document that a row names; nobody else waits for it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass

    def measure(self, row: Row) -> Measured:
        """Run the command and return its exit code, the time that it took, and its peak memory."""
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            path = DOCUMENTS[row.name](Path(folder))
            done = measure(["inspect", str(path), "--no-cache"])
        lines = [*(line for line in done.stderr.splitlines() if line.strip()), *done.stdout.splitlines(), "no output"]
        outcome = " ".join(lines[0].replace(folder, "…").split())[:110]
        stopped = done.returncode is None
        code = "stopped" if stopped else f"exit code {done.returncode}"
        failed = stopped or "Traceback" in done.stderr or (done.returncode or 0) < 0
        return Measured(row, f"{code}: {outcome}", None, 0, int(done.mebibytes * 2**20), done.seconds, failed)


def replacing(make: Maker) -> Run:
    """Return the row that puts a document instead of the served one, and the served one back afterwards."""

    async def run(target: Target) -> str:
        with tempfile.TemporaryDirectory(prefix="faults-", dir=target.document.parent) as folder:
            made = make(Path(folder))
            target.log.clear()
            made.replace(target.document)
            try:
                reload = await _reload(target)
                outcome = calling.sentence(await calling.call(target, "getFault", {"name": "fine"}))
            finally:
                target.log.clear()
                target.restore()
        if "failed" in reload and outcome != FINE:
            raise UnexpectedResult(f"the old tools serve on, and a call gives: {outcome}")
        await _reload(target)
        after = calling.sentence(await calling.call(target, "getFault", {"name": "fine"}))
        if after != FINE:
            raise UnexpectedResult(f"the old document is back, and a call gives: {after}")
        return "the old tools serve on" if outcome == FINE else f"the new tools serve: {outcome}"

    return run


async def _reload(target: Target) -> str:
    """Return the line that the server writes when it has read its document anew, or could not."""
    async with asyncio.timeout(MAX_RELOAD_SECONDS):
        while True:
            if lines := [line for line in [*target.log] if "reload" in line]:
                return lines[-1]
            await asyncio.sleep(LOOK_SECONDS)


FINE: Final = 'result: {"fine":true}'
ROWS: Final = [
    *(Row("documents", name, _nothing, short=name in SHORT) for name in DOCUMENTS),
    *(Row("watched", name, replacing(DOCUMENTS[name]), short=name == "a device") for name in WATCHED),
]
