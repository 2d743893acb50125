"""Drive the page of a server with headless Chromium: `browse.mjs` has the scenarios and prints what each saw."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.installation import npm_packages

FOLDER: Final = Path(__file__).parent

MAX_BROWSE_SECONDS: Final = 240
"""Time for all scenarios together; they take 15 seconds on a machine that does nothing else."""


def chromium() -> str:
    """Return the program of Chromium; skip the test where it is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed (Debian: apt install chromium)")
    return program


def browse(page: str, scenarios: Sequence[str], *, token: str = "", shots: Path | None = None) -> dict[str, Any]:
    """Return what some scenarios saw on the page at an address, of a server that has a token or none."""
    job = {"chromium": chromium(), "page": page, "token": token, "scenarios": scenarios, "shots": str(shots or "")}
    completed = subprocess.run(
        [str(npm_packages(FOLDER, "npm-ui")), str(FOLDER / "browse.mjs"), json.dumps(job)],
        capture_output=True,
        text=True,
        check=False,
        timeout=MAX_BROWSE_SECONDS,
    )
    assert completed.stdout, completed.stderr[-3000:]
    seen: dict[str, Any] = json.loads(completed.stdout)
    return seen
