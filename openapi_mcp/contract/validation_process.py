"""Validate a document in a process of its own, within limits of time and memory, and stop it with this one.

The validator follows references anew at each place that refers to them, so that a small document can keep it busy for
years. It gets the document as JSON on stdin and writes each finding as a line of JSON; the process ends when its stdin
does, however this process ends.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from ..document.model import Document
from ..errors import Problem
from . import validation

LEAST_SECONDS: Final = 5.0
"""Time limit for a small document, which takes less than a second once the validator is loaded."""

SECONDS_PER_MEGABYTE: Final = 20.0
"""Real documents take 3 to 15, on a machine that does other things as well."""

MAX_SECONDS: Final = 120.0
"""Nobody waits longer; GitHub's document (13 MB) takes 30 to 70."""

MAX_MEMORY: Final = 2 << 30
"""Bytes of address space, where the operating system can limit it. GitHub's document takes 0.5 GB."""

_PROGRAM: Final = f"from {__name__} import main; main()"


def validate(document: Document, seconds: float | None = None) -> Iterator[Problem]:
    """Yield the validator's findings as they are found; the last is about the time limit where that ended it.

    `seconds` replaces the time limit that follows from the size of the document.
    """
    data = json.dumps(_fields(document)).encode()
    limit = seconds or min(LEAST_SECONDS + SECONDS_PER_MEGABYTE * len(data) / 1e6, MAX_SECONDS)
    with subprocess.Popen(  # noqa: S603  this program itself
        [sys.executable, "-P", "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},  # noqa: PTH109
    ) as process:
        timer = _Timer(limit, process)
        timer.start()
        try:
            yield from _findings(process, data)
            if process.wait() != 0:
                yield _unfinished(limit if timer.has_stopped else None, process.returncode)
        finally:
            timer.cancel()
            process.kill()


class _Timer(threading.Timer):
    """A timer that stops a process; `has_stopped` says so."""

    def __init__(self, seconds: float, process: subprocess.Popen[bytes]) -> None:
        super().__init__(seconds, self._stop)
        self.daemon = True
        self.has_stopped = False
        self._process = process

    def _stop(self) -> None:
        self.has_stopped = True
        self._process.kill()


def _fields(document: Document) -> Mapping[str, Any]:
    original = document.as_written()
    return {"root": original.root, "uri": original.uri, "version": original.version, "files": original.files}


def _findings(process: subprocess.Popen[bytes], data: bytes) -> Iterator[Problem]:
    """Send the document, then yield the findings that come back."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:  # they are pipes
        return
    with suppress(BrokenPipeError):  # it has ended already; its exit code says so
        stdin.write(b"%d\n" % len(data) + data)
        stdin.flush()
    for line in stdout:
        if line.endswith(b"\n"):
            yield Problem(**json.loads(line))


def _unfinished(seconds: float | None, code: int | None) -> Problem:
    ended = f"ended with exit code {code}" if seconds is None else f"was stopped after {seconds:.0f} seconds"
    return Problem(
        pointer="#",
        kind="validator",
        message=f"the validator {ended}, so the document is not validated as a whole",
        hint="the findings before this one are valid; the tools do not depend on the validator",
    )


def main() -> None:
    """Validate the document on stdin, and write the findings to stdout."""
    _limit_memory()
    size = int(sys.stdin.buffer.readline())
    fields = json.loads(sys.stdin.buffer.read(size))
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    for problem in validation.validate(Document(**(fields | {"files": tuple(fields["files"])}))):
        sys.stdout.write(json.dumps(asdict(problem)) + "\n")
        sys.stdout.flush()
    os._exit(0)  # the thread waits for stdin


def _end_with_stdin() -> None:
    """End this process when the other one has ended."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
