"""`Mode`: what `serve` lists. Alone in its file, so that the command line knows it without loading anything else."""

from enum import StrEnum


class Mode(StrEnum):
    """Every tool; the tools of the search, with calls or with programs that call; or what suits their number."""

    ALL = "all"
    SEARCH = "search"
    CODE = "code"
    AUTO = "auto"
