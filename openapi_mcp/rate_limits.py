"""`RateLimit`: how many calls a caller may make of a tool, and beyond that how long to wait. `limits` does the work."""

import functools
import time
from typing import Final

from .errors import UsageError

_CURE: Final = "write 20/second, or several as 20/second;1000/hour"


class RateLimit:
    """A moving window for each pair of caller and tool, in the memory of this process. Raises UsageError."""

    def __init__(self, text: str) -> None:
        from limits import parse_many
        from limits.storage import MemoryStorage
        from limits.strategies import MovingWindowRateLimiter

        try:
            self._limits = parse_many(text)
        except ValueError:
            raise UsageError(f"{text!r} is no rate limit", where="--rate-limit", hint=_CURE) from None
        self._window = MovingWindowRateLimiter(MemoryStorage())

    def __call__(self, caller: str, tool: str) -> float | None:
        """Count a call and return None; or the seconds to wait where it would be one too many."""
        over = [limit for limit in self._limits if not self._window.test(limit, caller, tool)]
        if over:
            resets = (self._window.get_window_stats(limit, caller, tool).reset_time for limit in over)
            return max(0.0, max(resets) - time.time())
        for limit in self._limits:
            self._window.hit(limit, caller, tool)
        return None


@functools.cache
def rate_limit(text: str) -> RateLimit:
    """The limit of this process, so that a server which takes another's place goes on counting. Raises UsageError."""
    return RateLimit(text)
