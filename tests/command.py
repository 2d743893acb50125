"""Run the command as a server over HTTP, in a process of its own, for the duration of a block."""

import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]


def command(document: Path, base_url: str, *options: str) -> list[str]:
    """Return the command that serves a document whose API is at `base_url`."""
    return [sys.executable, "-m", "openapi_mcp", "serve", str(document), "--base-url", base_url, *options]


@contextmanager
def serving_http(serve: Sequence[str], pids: list[int] | None = None, *, killed: bool = False) -> Iterator[str]:
    """Start a server on a free port and yield its URL, read from stderr. The server must end with exit code 0.

    Its process id is appended to `pids`. With `killed` the test may kill it.
    """
    options = ["--transport", "http", "--port", "0"]
    with subprocess.Popen(
        [*serve, *options], cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        if pids is not None:
            pids.append(process.pid)
        errors = _Errors(process.stderr)
        try:
            yield errors.url()
        finally:
            process.terminate()
            stdout = process.stdout.read()
            errors.join()
    assert (process.returncode, stdout) in {(0, ""), *({(-signal.SIGKILL, "")} if killed else ())}
    assert "Traceback" not in errors.text, errors.text[errors.text.index("Traceback") :]


class _Errors(threading.Thread):
    """A reader of a server's stderr: a server whose stderr nobody reads would block in the end."""

    def __init__(self, stream: IO[str] | None) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self._stream: Iterator[str] = stream or iter(())
        self._urls = queue.Queue[str]()
        self.start()

    def run(self) -> None:
        for line in self._stream:
            self.text += line
            for word in line.split():
                if word.startswith("http://127.0.0.1") and word.endswith("/mcp"):
                    self._urls.put(word)

    def url(self) -> str:
        """Wait for the URL that the server listens on, and return it."""
        return self._urls.get(timeout=30)
