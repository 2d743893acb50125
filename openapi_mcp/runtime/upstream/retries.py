"""The policy of retries: whether a request is sent again, and after how many seconds. Pure; sleeping is a parameter.

Only two kinds of failure are retried: a refusal that says that nothing was done (429, and 503 with Retry-After), and
what cannot take effect twice: a connection that was never made, or, for an idempotent method only, a 503 that says
nothing and a connection that broke before the response.
Specification: RFC 9110 §9.2.2 (idempotent methods), §10.2.3 (Retry-After) and §15.6.4 (503); RFC 6585 §4 (429).
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

from .errors import causes
from .http11 import MalformedResponse

IDEMPOTENT_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"})
"""Methods for which sending a request twice has the effect of sending it once."""

MAX_WAIT: Final = 10.0
"""Seconds that all waits of one request take together; official clients give a call up after 60 seconds."""

# A retry does not make a certificate valid, a host name known, or another program a server of HTTP.
_PERMANENT_ERRORS: Final = (ssl.SSLError, socket.gaierror, MalformedResponse)

# More doublings overflow a float when there are a thousand attempts, and the wait is refused long before.
_MAX_DOUBLINGS: Final = 60


@dataclass(frozen=True, slots=True)
class Retries:
    """The number of attempts and the waits between them, in seconds.

    `attempts` counts the first one: 1 means no retries. Without Retry-After the first wait is `first_wait`, each
    further one twice the wait before, and each is shortened by a random part of up to a half, so that clients which
    were refused together do not come back together. A wait that would make all waits of a request together longer than
    `max_wait` is not started, and the API's response is returned at once: a model can wait better than a connection.
    `jitter` returns a number from 0 to 1.
    """

    attempts: int = 3
    first_wait: float = 0.5
    max_wait: float = MAX_WAIT
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    clock: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random

    def wait(self, method: str, outcome: httpx.Response | Exception, attempt: int, waited: float = 0.0) -> float | None:
        """Return the seconds to wait after attempt number `attempt` ended with `outcome`; None for no further one.

        `waited` are the seconds that were waited before this attempt, those before a redirect included.
        """
        if attempt >= self.attempts or not is_retryable(method, outcome):
            return None
        wait = requested_wait(outcome, self.clock()) if isinstance(outcome, httpx.Response) else None
        if wait is None:
            wait = self._backoff(attempt)
        return wait if waited + wait <= self.max_wait else None

    def _backoff(self, attempt: int) -> float:
        return self.first_wait * 2.0 ** min(attempt - 1, _MAX_DOUBLINGS) * (1 - self.jitter() / 2)


def is_retryable(method: str, outcome: httpx.Response | Exception) -> bool:
    """Return whether a request can be sent again that ended with `outcome`, without any effect happening twice.

    A 429 says that the request was not carried out, and so does a 503 that names the time of a next attempt. A 503
    without it may come from a gateway whose backend has carried the request out. A ConnectError comes before the first
    byte of a request is sent, so that even a POST had no effect. After any other error the effect is unknown. A request
    that timed out is not repeated: the caller has waited long enough.
    """
    is_idempotent = method in IDEMPOTENT_METHODS
    if isinstance(outcome, httpx.Response):
        if outcome.status_code != 503:
            return outcome.status_code == 429
        return is_idempotent or requested_wait(outcome, 0.0) is not None
    if any(isinstance(cause, _PERMANENT_ERRORS) for cause in causes(outcome)):
        return False
    if isinstance(outcome, httpx.ConnectError):
        return True
    return isinstance(outcome, httpx.NetworkError | httpx.RemoteProtocolError) and is_idempotent


def requested_wait(response: httpx.Response, now: float) -> float | None:
    """Return the seconds that a response asks to wait before the next attempt; None if it does not say."""
    return retry_after(response.headers.get("retry-after"), now)


def retry_after(value: str | None, now: float) -> float | None:
    """Return the seconds that a Retry-After asks for: a number, or a date compared with `now`; None for neither."""
    text = (value or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:18])  # more digits would overflow a float, and the wait is refused long before
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
