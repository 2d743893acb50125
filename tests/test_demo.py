"""`make demo` as the README shows it: the very lines."""

import subprocess
import sys

from tests.conftest import ROOT


def test_the_demo_prints_what_the_readme_shows() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = (ROOT / "README.md").read_text().split("$ make demo\n", 1)[1].split("```", 1)[0]
    assert done.stdout.strip() == shown.strip()
