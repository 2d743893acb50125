"""The bridge under test, `openapi-mcp serve` in a process, and the REST API behind it.

The log of the bridge goes to a file, also if it does not start.
"""

import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from tests.conformance import jobs
from tests.conformance.backend import create_app
from tests.conftest import ROOT
from tests.servers import running

DOCUMENT: Final = ROOT / "specs" / "conformance.yaml"


@contextmanager
def served(*options: str, log: Path) -> Iterator[str]:
    """Serve a copy of the document, which the bridge watches, until the block ends; yield the MCP endpoint.

    `options` are added to the command.
    """
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / DOCUMENT.name
        shutil.copyfile(DOCUMENT, document)
        with running(create_app(document)) as api, _process(document, api, options, log) as url:
            yield url


@contextmanager
def served_jobs(*options: str, log: Path) -> Iterator[str]:
    """Serve the API of jobs until the block ends; yield the MCP endpoint. `options` are added to the command."""
    with tempfile.TemporaryDirectory() as folder, running(jobs.create_app()) as api:
        document = Path(folder) / "jobs.json"
        jobs.write_document(document, api)
        with _process(document, api, options, log) as url:
            yield url


@contextmanager
def _process(document: Path, api: str, options: tuple[str, ...], log: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "openapi_mcp", "serve", str(document), "--base-url", api, "--watch"]
    command += ["--transport", "http", "--port", "0", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        with log.open("w") as file:
            url = _endpoint(process.stderr, file)
            reader = threading.Thread(target=shutil.copyfileobj, args=(process.stderr, file))
            reader.start()
            try:
                yield url
            finally:
                process.terminate()
                reader.join()
    finally:
        process.terminate()
        process.wait(20)


def _endpoint(errors: IO[str], log: IO[str]) -> str:
    """Return the URL of the endpoint, which the bridge prints on stderr. Raises RuntimeError if it does not start."""
    for line in errors:
        log.write(line)
        for word in line.split():
            if word.startswith("http://127.0.0.1") and word.endswith("/mcp"):
                return word
    raise RuntimeError(f"the bridge did not start; see {log.name}")
