"""`Mode`: what `serve` lists. Alone in its file, so that the command line knows it without loading anything else."""

from enum import StrEnum


class Mode(StrEnum):
    """Every tool; the tools of the search; or, where nobody says, whichever suits their number and size."""

    ALL = "all"
    SEARCH = "search"
    AUTO = "auto"
