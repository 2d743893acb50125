"""The output of `make demo`: the README shows exactly these lines."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.process


def test_demo_output_is_the_one_in_the_readme() -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "examples.demo"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert completed.returncode == 0, completed.stderr
    documented = (ROOT / "README.md").read_text().split("$ make demo\n", 1)[1].split("```", 1)[0]
    assert completed.stdout.strip() == documented.strip()
