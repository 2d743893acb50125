"""What a document became: its tools, its problems, and what is known of it once it is no longer there.

Values only, and nothing of the compile side: who reads them from a cache needs no more than this.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .economy import WHOLE, Room
from .errors import Problem
from .runtime.models import Tool
from .runtime.types import Implementation


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What a document became. `operations` counts all there are, `excluded` those that somebody asked to leave out.

    `room` is what each tool could say, and `sizes` what it takes: the bytes of its entry in the newest list.
    """

    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...] = ()
    operations: int = 0
    excluded: int = 0
    room: Room = WHOLE
    sizes: tuple[int, ...] = ()

    @property
    def lost(self) -> int:
        """How many operations are neither tools nor excluded: each has its Problem."""
        return sum(problem.operation is not None for problem in self.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where tools come from: what is left of a document.

    `uri`, `version`, `problems`, `digests` and `validators` are those of the Document (its version as it was written);
    `unread` names the files that it refers to and that could not be read. `implementation` and `instructions` are what
    the server says of itself.
    """

    uri: str
    version: str
    implementation: Implementation
    instructions: str | None = None
    problems: tuple[Problem, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    validators: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
