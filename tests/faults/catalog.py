"""All rows of `make faults`, and the stage on which each group of them runs."""

from typing import Final

from tests.faults import answers, arguments, clients, documents, messages, programs
from tests.faults.rows import Row
from tests.faults.stage import Stage

_MODULES: Final = (answers, arguments, programs, documents, clients, messages)

ROWS: Final[list[Row]] = [row for module in _MODULES for row in module.ROWS]
"""Every row, in the order in which they run."""

GROUPS: Final = tuple(dict.fromkeys(row.group for row in ROWS))
OPTIONS: Final = {"watched": ("--mode", "all", "--watch"), "programs": programs.OPTIONS}
"""Of the server of a group, instead of `--mode all`."""


def stage_of(group: str) -> Stage | documents.Commands:
    """Return the stage with the options that a group needs, to be entered as a context manager."""
    return documents.Commands() if group == "documents" else Stage(OPTIONS.get(group, ("--mode", "all")))
