"""`python -m tests.conformance`: the official MCP conformance suite against the bridge, with one worker and with two.

Exit code 0 where each run passes by the suite's own verdict; else 1, with the checks that are to blame.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.conformance import suite
from tests.conformance.bridge import served


def main() -> int:
    """Run what the command line asks for."""
    asked = _parser().parse_args()
    command = suite.installed()
    with tempfile.TemporaryDirectory() as folder:
        results = asked.results or Path(folder)
        verdicts = [
            _run(command, revision, workers, results / f"{revision}-{workers}")
            for workers in asked.workers
            for revision in asked.revision
        ]
    return 0 if all(verdicts) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="how many processes serve, one run each")
    parser.add_argument("--revision", choices=suite.REVISIONS, nargs="+", default=suite.REVISIONS, help="whose set")
    parser.add_argument("--results", type=Path, help="a new folder to keep what the suite and the bridge wrote")
    return parser


def _run(command: list[str], revision: str, workers: int, results: Path) -> bool:
    results.mkdir(parents=True)
    with served("--workers", str(workers), log=results / "bridge.log") as url:
        found = suite.run(command, url, revision, results)
    (results / "suite.log").write_text(found.printed, "utf-8")
    counts = f"{len(found.successes)} checks passed, {len(found.expected)} need more than tools and did not"
    beyond = f"{len(found.unscored)} do not count"
    verdict = "passed" if found.passed else "FAILED"
    _say(f"{revision}, {workers} worker{'s' if workers > 1 else ''}: {verdict} ({counts}, {beyond})")
    for check in found.unexpected:
        _say(f"  {check.status} {check.scenario}:{check.id}: {check.message}")
    if not found.passed:
        _say(found.printed[found.printed.rfind("Total: ") :])
    return found.passed


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
