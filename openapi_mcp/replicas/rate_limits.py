"""Rate limits of callers and tools, in the memory of a process or shared by all replicas. `limits` does the work."""

import asyncio
import hashlib
import logging
import time
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..errors import UsageError

if TYPE_CHECKING:
    from limits import RateLimitItem

logger = logging.getLogger("openapi_mcp")

SHARED_TIMEOUT: Final = 1.0
"""Seconds to wait for the shared counter; after that the call is counted in this process."""

FAILURE_SECONDS: Final = 10.0
"""Seconds for which a shared counter that failed is not asked again."""


class RateLimit:
    """A moving window for each pair of caller and tool, in the memory of this process. Raises UsageError."""

    def __init__(self, text: str) -> None:
        from limits.storage import MemoryStorage
        from limits.strategies import MovingWindowRateLimiter

        self._limits = parse(text)
        self._window = MovingWindowRateLimiter(MemoryStorage())

    def __call__(self, caller: str, tool: str) -> float | None:
        """Count a call and return None; or return the seconds to wait where the call would exceed a limit."""
        exceeded = [limit for limit in self._limits if not self._window.test(limit, caller, tool)]
        if exceeded:
            resets = (self._window.get_window_stats(limit, caller, tool).reset_time for limit in exceeded)
            return max(0.0, max(resets) - time.time())
        for limit in self._limits:
            self._window.hit(limit, caller, tool)
        return None


class SharedRateLimit:
    """A moving window that all replicas count in, in Redis; while that fails, each process counts for itself.

    `name` tells the servers apart that use the same Redis. Raises UsageError.
    """

    def __init__(self, text: str, url: str, name: str) -> None:
        from limits.aio.strategies import MovingWindowRateLimiter
        from limits.errors import ConfigurationError
        from limits.storage import storage_from_string

        self._limits = parse(text)
        self._local = RateLimit(text)
        self._failed_until = 0.0
        options: dict[str, Any] = {"socket_timeout": SHARED_TIMEOUT, "socket_connect_timeout": SHARED_TIMEOUT}
        try:
            storage: Any = storage_from_string(
                f"async+{url}",
                wrap_exceptions=True,
                implementation="redispy",
                key_prefix=f"openapi-mcp:{name}",
                **options,
            )
        except (ConfigurationError, ValueError) as error:
            hint = "write redis://host:6379/0, and install mcp-openapi-bridge[redis]"
            raise UsageError("the Redis server cannot be used", where="--redis", hint=hint) from error
        self._window = MovingWindowRateLimiter(storage)

    async def __call__(self, caller: str, tool: str) -> float | None:
        """Count a call and return None; or return the seconds to wait where the call would exceed a limit.

        Redis gets a digest of the caller's name, which may be a session id or the name of a person.
        """
        from limits.errors import StorageError

        caller = hashlib.sha256(caller.encode("utf-8", "surrogatepass")).hexdigest()[:32]

        if time.monotonic() < self._failed_until:
            return self._local(caller, tool)
        try:
            async with asyncio.timeout(SHARED_TIMEOUT):
                return await self._count(caller, tool)
        except (StorageError, TimeoutError, OSError) as error:
            logger.warning("Calls are counted in this process, since Redis failed: %s", type(error).__name__)
            self._failed_until = time.monotonic() + FAILURE_SECONDS
            return self._local(caller, tool)

    async def _count(self, caller: str, tool: str) -> float | None:
        for limit in self._limits:
            if not await self._window.hit(limit, caller, tool):
                stats = await self._window.get_window_stats(limit, caller, tool)
                return max(0.0, stats.reset_time - time.time())
        return None


def parse(text: str, option: str = "--rate-limit") -> "list[RateLimitItem]":
    """Return the limits of a text, the shortest first. Raises UsageError, which names the option."""
    from limits import parse_many

    try:
        return sorted(parse_many(text))
    except ValueError:
        hint = "write 20/second, or several limits as 20/second;1000/hour"
        raise UsageError(f"not a rate limit: {text!r}", where=option, hint=hint) from None


@cache
def rate_limit(text: str, redis: str | None = None, name: str = "") -> RateLimit | SharedRateLimit:
    """Return the limiter of this process: a server that replaces another goes on counting. Raises UsageError."""
    return SharedRateLimit(text, redis, name) if redis else RateLimit(text)
