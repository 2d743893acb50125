"""All rows of `make faults`, and the stage on which each group of them runs."""

from typing import Final

from tests.faults import answers, arguments, clients, documents, programs
from tests.faults.rows import Row
from tests.faults.stage import Stage

ROWS: Final[list[Row]] = [*answers.ROWS, *arguments.ROWS, *documents.ROWS, *clients.ROWS, *programs.ROWS]
"""Every row, in the order in which they run."""


GROUPS: Final = tuple(dict.fromkeys(row.group for row in ROWS))


def stage_of(group: str) -> Stage | documents.Commands:
    """Return the stage with the options that a group needs, to be entered as a context manager."""
    if group == "documents":
        return documents.Commands()
    return Stage({"watched": ("--watch",), "programs": programs.OPTIONS}.get(group, ()))
