"""The command itself as a server over HTTP, in a process of its own, for as long as a block."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


def command(document: Path, base_url: str, *options: str) -> list[str]:
    """What serves a document whose API is at `base_url`."""
    return [sys.executable, "-m", "openapi_mcp", "serve", str(document), "--base-url", base_url, *options]


@contextmanager
def serving_http(serve: Sequence[str]) -> Iterator[str]:
    """The endpoint's URL: a port of the server's own choice, which it says on stderr. It has to end well."""
    options = ["--transport", "http", "--port", "0"]
    process = subprocess.Popen([*serve, *options], cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        words = (word for line in process.stderr for word in line.split())
        yield next(word for word in words if word.startswith("http://127.0.0.1") and word.endswith("/mcp"))
    finally:
        process.terminate()
        printed, errors = process.communicate(timeout=20)
    assert (process.returncode, printed) == (0, "")
    assert "Traceback" not in errors, errors[:3000]
