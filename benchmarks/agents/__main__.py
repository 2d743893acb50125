"""Carry out scripted tasks in each mode of `serve`, and count the tokens that a model would read and write.

python -m benchmarks.agents                        this project
python -m benchmarks.agents --fastmcp PYTHON       FastMCP besides, in an environment of its own
python -m benchmarks.agents --tasks export upload  only some tasks
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from .judge import OURS, Judge, Report
from .report import table
from .task import tasks

MAX_CODE_SHARE: Final = 1 / 5
"""The largest share that code mode's tokens may have of those of the whole list, each task in a session of its own."""


def main() -> int:
    """Run the command line; return 1 if a mode of this project failed in a task, or if code mode costs too much."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agents", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fastmcp", metavar="PYTHON", help="the Python of an environment with fastmcp[code-mode]")
    parser.add_argument("--tasks", nargs="+", metavar="NAME", help="only the tasks of these names")
    options = parser.parse_args()
    chosen = [task for task in tasks() if options.tasks is None or task.name in options.tasks]
    with tempfile.TemporaryDirectory() as folder:
        report = Judge(Path(folder), options.fastmcp).judge(chosen)
    print(table(report))
    for failure in report.failures:
        print(f"{failure.mode}, {failure.task}: {failure.reason}", file=sys.stderr)
    return int(not is_good(report, whole=options.tasks is None))


def is_good(report: Report, *, whole: bool = True) -> bool:
    """Return whether each mode of this project carried out all tasks, and code mode costs what it may.

    Costs are judged for the `whole` set of tasks only.
    """
    if any(failure.mode in OURS for failure in report.failures):
        return False
    return not whole or code_share(report) <= MAX_CODE_SHARE


def code_share(report: Report) -> float:
    """Return the tokens of code mode by those of the whole list."""
    return report.sum("code", report.tasks) / report.sum("all", report.tasks)


if __name__ == "__main__":
    sys.exit(main())
