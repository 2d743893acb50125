"""Run the official MCP conformance suite against the bridge: `python -m tests.conformance`.

Exit code 0 if each run passes by the verdict of the suite; else 1, and the checks that failed are printed.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.conformance import jobs, suite
from tests.conformance.bridge import served, served_jobs


def main() -> int:
    """Run each requested revision, and the extensions for tasks and skills, with each requested number of workers."""
    options = _parser().parse_args()
    command = suite.install()
    with tempfile.TemporaryDirectory() as folder:
        results = options.results or Path(folder)
        verdicts = [
            _run(command, revision, workers, results / f"{revision}-{workers}")
            for workers in options.workers
            for revision in options.revision
        ]
        verdicts += [_run_tasks(command, workers, results / f"tasks-{workers}") for workers in options.workers]
        verdicts += [_run_skills(command, workers, results / f"skills-{workers}") for workers in options.workers]
    return 0 if all(verdicts) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2], help="numbers of worker processes, one run each"
    )
    parser.add_argument(
        "--revision", choices=suite.REVISIONS, nargs="+", default=suite.REVISIONS, help="requirements to run"
    )
    parser.add_argument("--results", type=Path, help="new folder for the files of the suite and the log of the bridge")
    return parser


def _run(command: list[str], revision: str, workers: int, results: Path) -> bool:
    results.mkdir(parents=True)
    with served("--workers", str(workers), log=results / "bridge.log") as url:
        result = suite.run(command, url, revision, results)
    (results / "suite.log").write_text(result.output, "utf-8")
    counts = f"{len(result.successes)} checks passed, {len(result.expected)} need other features than tools"
    unscored = f"{len(result.unscored)} are not scored"
    verdict = "passed" if result.passed else "FAILED"
    _print(f"{revision}, {workers} worker{'s' if workers > 1 else ''}: {verdict} ({counts}, {unscored})")
    for check in result.unexpected:
        _print(f"  {check.status} {check.scenario}:{check.id}: {check.message}")
    if not result.passed:
        _print(result.output[result.output.rfind("Total: ") :])
    return result.passed


def _run_tasks(command: list[str], workers: int, results: Path) -> bool:
    """Run the scenarios of the extension for tasks; return whether all checks pass that a REST API can pass."""
    results.mkdir(parents=True)
    with served_jobs("--workers", str(workers), log=results / "bridge.log") as url:
        checks = _checks(command, url, jobs.SCENARIOS, results)
    failed = [check for check in checks if check.status in ("FAILURE", "WARNING")]
    unexpected = [check for check in failed if check.id not in jobs.EXPECTED_FAILURES]
    passed = bool(checks) and not unexpected
    counts = (
        f"{sum(check.status == 'SUCCESS' for check in checks)} checks passed, {len(failed)} need more than REST has"
    )
    _print(f"tasks, {workers} worker{'s' if workers > 1 else ''}: {'passed' if passed else 'FAILED'} ({counts})")
    for check in unexpected:
        _print(f"  {check.status} {check.scenario}:{check.id}: {check.message}")
    return passed


def _run_skills(command: list[str], workers: int, results: Path) -> bool:
    """Run the scenarios of the extension for skills; return whether all checks pass and none is skipped."""
    results.mkdir(parents=True)
    with served("--workers", str(workers), log=results / "bridge.log") as url:
        checks = _checks(command, url, suite.SKILL_SCENARIOS, results)
    others = [check for check in checks if check.status not in ("SUCCESS", "INFO")]
    passed = bool(checks) and not others
    counts = f"{sum(check.status == 'SUCCESS' for check in checks)} checks passed"
    _print(f"skills, {workers} worker{'s' if workers > 1 else ''}: {'passed' if passed else 'FAILED'} ({counts})")
    for check in others:
        _print(f"  {check.status} {check.scenario}:{check.id}: {check.message}")
    return passed


def _checks(command: list[str], url: str, scenarios: tuple[str, ...], results: Path) -> list[suite.Check]:
    return [check for each in scenarios for check in suite.run_scenario(command, url, each, results / each)]


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
