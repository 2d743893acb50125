"""The bridge under test for as long as a block: the command in a process of its own, and the REST API behind it.

Whatever the bridge logs goes to a file; a bridge that does not start says there why.
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

from tests.conformance.backend import create_app
from tests.conftest import ROOT
from tests.servers import running

DOCUMENT: Final = ROOT / "specs" / "conformance.yaml"


@contextmanager
def served(*options: str, log: Path) -> Iterator[str]:
    """The MCP endpoint of a bridge on a copy of the document, which it watches; `options` are added to the command."""
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / DOCUMENT.name
        shutil.copyfile(DOCUMENT, document)
        with running(create_app(document)) as api, _process(document, api, options, log) as url:
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


def _endpoint(said: IO[str], log: IO[str]) -> str:
    """The address that the bridge says it listens on."""
    for line in said:
        log.write(line)
        for word in line.split():
            if word.startswith("http://127.0.0.1") and word.endswith("/mcp"):
                return word
    raise RuntimeError(f"the bridge did not start: {log.name} says why")
