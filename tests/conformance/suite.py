"""The official MCP conformance suite: install it, run the requirements of a revision, read its checks.

The exit code of the suite is the verdict; the checks are read for the report.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.installation import npm_packages

FOLDER: Final = Path(__file__).parent
REVISIONS: Final = ("2026-07-28", "2025-11-25")
PACKAGE: Final = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance"

SKILL_SCENARIOS: Final = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory")
"""The scenarios of the extension for skills, which no revision requires."""

_RESULT: Final = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d{2}-\d{2}T[\dZ-]+")
"""Name of the folder with the results of one scenario."""

MAX_SUITE_SECONDS: Final = 600
"""Time limit of all scenarios together, which take one minute. The suite itself gives each scenario 30 seconds."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the suite; `status` is SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    scenario: str
    id: str
    status: str
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one run: the verdict of the suite, its output, and its checks.

    The checks that did not pass are in three groups: `expected` are in the baseline, `unscored` belong to scenarios
    that the revision does not require (extensions and later features), `unexpected` are the reason why a run fails.
    """

    passed: bool
    output: str
    successes: tuple[Check, ...]
    expected: tuple[Check, ...]
    unscored: tuple[Check, ...]
    unexpected: tuple[Check, ...]


def install() -> list[str]:
    """Return the command of the suite; install it the first time."""
    return [str(npm_packages(FOLDER, "npm-conformance")), str(PACKAGE / "dist" / "index.js")]


def baseline(revision: str) -> Path:
    """Return the file of checks that a server with only tools cannot pass. An entry that passes fails the run."""
    return FOLDER / f"{revision}.yml"


def expected_failures(revision: str) -> list[str]:
    """Return the entries of a baseline: scenarios, and single checks as `scenario:check`."""
    entries: list[str] = yaml.safe_load(baseline(revision).read_text("utf-8"))["server"]
    return entries


def run(command: list[str], url: str, revision: str, results: Path) -> Run:
    """Run the requirements of a revision against a server; `results` is an empty folder for the files of the suite."""
    options = ["--url", url, "--requirements", revision, "--expected-failures", str(baseline(revision))]
    arguments = [*command, "server", *options, "--output-dir", str(results)]
    completed = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=MAX_SUITE_SECONDS)
    groups = _group(_checks(results), revision)
    output = completed.stdout + completed.stderr
    return Run(completed.returncode == 0, output, *(tuple(groups[name]) for name in _GROUPS))


def run_scenario(command: list[str], url: str, scenario: str, results: Path) -> list[Check]:
    """Run a scenario that no revision requires, such as one of an extension; return its checks."""
    options = ["--url", url, "--scenario", scenario, "--spec-version", REVISIONS[0], "--force"]
    arguments = [*command, "server", *options, "--output-dir", str(results)]
    subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=MAX_SUITE_SECONDS)
    return list(_checks(results))


_GROUPS: Final = ("successes", "expected", "unscored", "unexpected")


def _group(checks: Iterable[Check], revision: str) -> Mapping[str, list[Check]]:
    """Return the checks by group of `Run`; SKIPPED and INFO belong to none."""
    excused = set(expected_failures(revision))
    required = yaml.safe_load((PACKAGE / "requirements" / f"{revision}.yaml").read_text("utf-8"))["server"]
    groups: dict[str, list[Check]] = {name: [] for name in _GROUPS}
    for check in checks:
        if check.status == "SUCCESS":
            groups["successes"].append(check)
        elif check.status in {"FAILURE", "WARNING"}:
            is_excused = excused & {check.scenario, f"{check.scenario}:{check.id}"}
            name = "unscored" if check.scenario not in required else "expected" if is_excused else "unexpected"
            groups[name].append(check)
    return groups


def _checks(results: Path) -> Iterator[Check]:
    for file in sorted(results.glob("*/checks.json")):
        folder = _RESULT.fullmatch(file.parent.name)
        for check in json.loads(file.read_text("utf-8")):
            yield _check(folder["scenario"] if folder else file.parent.name, check)


def _check(scenario: str, check: dict[str, Any]) -> Check:
    message = check.get("errorMessage") or check.get("description") or ""
    return Check(scenario, check["id"], check["status"], " ".join(message.split()))
