"""Whether to ask the API again, and after how long: a pure policy; the waiting itself is a parameter.

Asked again is only what the API refused (429 and 503, which say that nothing was done) and what cannot have been acted
on twice: a connection that was never made, or one that broke before the answer to an idempotent method. Specification:
RFC 9110 §9.2.2 (idempotent methods), §10.2.3 (Retry-After) and §15.6.4 (503); RFC 6585 §4 (429).
"""

import asyncio
import random
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from .failures import causes

REFUSED: Final = frozenset({429, 503})
"""Statuses by which an API says that it did nothing, and that it may do it later."""

IDEMPOTENT: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"})
"""Methods that do the same done twice as done once."""

# A certificate stays wrong and a name unknown, however often one asks.
_LASTING: Final = (ssl.SSLError, socket.gaierror)


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how long; times are in seconds.

    `attempts` counts the first one: 1 is no retries. A wait without Retry-After begins at `first_wait` and doubles,
    less a random part of up to a half, so that clients refused together do not come back together. An API that wants
    more patience than `longest_wait` gets its answer passed on at once: a model can wait better than a connection.
    """

    attempts: int = 3
    first_wait: float = 0.5
    longest_wait: float = 30.0
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    clock: Callable[[], float] = time.time
    chance: Callable[[], float] = random.random

    def wait(self, method: str, outcome: httpx.Response | Exception, tried: int) -> float | None:
        """Seconds to wait after attempt number `tried` ended so, or None where that is the end."""
        if tried >= self.attempts:
            return None
        if isinstance(outcome, Exception):
            return self._backoff(tried) if may_repeat(method, outcome) else None
        if outcome.status_code not in REFUSED:
            return None
        wanted = retry_after(outcome.headers.get("retry-after"), self.clock())
        wait = self._backoff(tried) if wanted is None else wanted
        return wait if wait <= self.longest_wait else None

    def _backoff(self, tried: int) -> float:
        return min(self.first_wait * 2.0 ** (tried - 1), self.longest_wait) * (1 - self.chance() / 2)


def may_repeat(method: str, error: Exception) -> bool:
    """Whether a request that ended so, before any answer, can be sent again.

    A ConnectError comes before the first byte of a request is sent, so that even a POST cannot have been acted on.
    After that nobody knows. What timed out has been waited for long enough.
    """
    if any(isinstance(cause, _LASTING) for cause in causes(error)):
        return False
    if isinstance(error, httpx.ConnectError):
        return True
    return isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError) and method in IDEMPOTENT


def retry_after(value: str | None, now: float) -> float | None:
    """The seconds that a Retry-After asks for: a number of them, or a date compared with `now`; None for neither."""
    text = (value or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:18])  # more digits say nothing more, and float has an end
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
