"""A person at a real browser, headless Chromium, who signs in and consents wherever a page asks for it."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.oidc import CLIENTS

MAX_SECONDS: Final = 90
"""Time for all pages of a sign-in: the machine may be busy."""


@dataclass(frozen=True)
class Chromium:
    """A browser of a person called `name`, whose cookies are in `profile`."""

    node: Path
    program: str
    profile: Path
    name: str

    def open(self, url: str) -> dict[str, Any]:
        """Open an address, sign in and consent; return the last page (`url`, `title`, `text`) and all `visited`."""
        job = {"chromium": self.program, "profile": str(self.profile), "name": self.name, "url": url}
        done = subprocess.run(
            [str(self.node), "browser.mjs", json.dumps(job)],
            cwd=CLIENTS,
            check=False,
            capture_output=True,
            text=True,
            timeout=MAX_SECONDS,
        )
        assert done.stdout, done.stderr[-2000:]
        shown: dict[str, Any] = json.loads(done.stdout)
        return shown


def chromium(node: Path, profile: Path, name: str) -> Chromium:
    """Return the browser of a person; skip the test where Chromium is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed (Debian: apt install chromium)")
    return Chromium(node, program, profile, name)
