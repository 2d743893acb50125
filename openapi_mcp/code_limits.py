"""`Limits`: what a program of code mode may use. Alone in its file, so that to know them loads nothing else."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds in all and of them computing, calls of tools, bytes of memory, characters that are printed.

    The usual call has ended before the first clients give up, which is after a minute; 100 calls are a few pages of a
    list and what is behind each entry.
    """

    seconds: float = 50.0
    computing: float = 10.0
    calls: int = 100
    memory: int = 64 * 1024 * 1024
    printed: int = 16 * 1024


USUAL: Final = Limits()
