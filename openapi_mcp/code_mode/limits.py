"""`CodeLimits`: the limits of a program in code mode; apart from the sandbox, so that reading them loads nothing."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLimits:
    """Limits of one program: seconds in all, seconds of computation, tool calls, bytes of memory, printed characters.

    The default `seconds` end a call before the first clients time out, which is after a minute; 100 calls are a few
    pages of a list and the details of each entry.
    """

    seconds: float = 50.0
    compute_seconds: float = 10.0
    calls: int = 100
    memory_bytes: int = 64 * 1024 * 1024
    output_characters: int = 16 * 1024


DEFAULT_LIMITS: Final = CodeLimits()
