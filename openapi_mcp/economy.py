"""How much tools may say, so that a list of many stays one that a model can afford: the more tools, the less each.

What is cut explains, and never decides: names, types, enums and what is required in an input schema stay whole. Of
descriptions whole sentences are kept, of an answer's schema whole levels. As many tools always have the same room, in
steps, so that one operation more seldom changes the others.
"""

from dataclasses import dataclass
from typing import Final

from .prose import DESCRIPTION_LIMIT

BUDGET: Final = 64 * 1024
"""Tokens for the answers' schemas of all tools together, and as many for their descriptions: half of what the models of
today can read at once. Up to 64 tools it cuts nothing."""

BYTES_PER_TOKEN: Final = 4
"""Tokenisers differ; for the JSON of schemas with English descriptions they lie between 3.5 and 4.5 bytes a token."""

_MOST_OUTPUT: Final = 4096
"""Bytes of an answer's schema. A model reads it with every tool; what is more than this tells it little more."""

_LEAST_OUTPUT: Final = 512
"""Bytes of an answer's schema: some ten fields with their types."""

_LEAST_DESCRIPTION: Final = 256
"""Characters of a tool's description: two sentences."""

_LEAST_OF_ARGUMENT: Final = 100
"""Characters of a description in an input schema: one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What one tool may say: bytes of its answer's schema (0: none), characters of descriptions."""

    output: int = _MOST_OUTPUT
    description: int = DESCRIPTION_LIMIT
    argument: int = DESCRIPTION_LIMIT

    @property
    def is_whole(self) -> bool:
        """Whether this is all that a tool ever has."""
        return self == WHOLE


WHOLE: Final = Room()
COMPACT: Final = Room(output=0, description=120, argument=60)
"""What a tool needs to be found and called by who knows the API: a sentence for it, half of one for each argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Economy:
    """What a user asked for.

    `budget` is in tokens, as BUDGET is; None cuts nothing. `compact` is the least of everything. Of more than
    `max_tools` the first stay, and what is deprecated gives way before what is not. Where more than `most_listed` are
    not listed but searched, each says everything.
    """

    budget: int | None = BUDGET
    compact: bool = False
    max_tools: int | None = None
    most_listed: int | None = None

    def room(self, tools: int) -> Room:
        """What each of so many tools may say."""
        if self.compact:
            return COMPACT
        if self.budget is None or (self.most_listed is not None and tools > self.most_listed):
            return WHOLE
        share = self.budget * BYTES_PER_TOKEN // max(tools, 1)
        step = 1 << share.bit_length() - 1 if share else 0
        return Room(
            output=min(_MOST_OUTPUT, max(_LEAST_OUTPUT, step)),
            description=min(DESCRIPTION_LIMIT, max(_LEAST_DESCRIPTION, step)),
            argument=min(DESCRIPTION_LIMIT, max(_LEAST_OF_ARGUMENT, step // 4)),
        )
