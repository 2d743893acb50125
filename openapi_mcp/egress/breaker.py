"""`CircuitBreaker`: hosts that do not answer at all are left alone for a while, and their calls fail at once.

Each call to a host that hangs would take the time of a whole call, and a place that calls of other hosts need. After
`threshold` failures in a row, none of them older than WINDOW_SECONDS, the circuit is open: requests are refused. After
a pause one request is tried; if it succeeds the circuit is closed, else the pause is doubled. Any answer is a success,
whatever its status: a host that refuses is there.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..runtime.errors import UpstreamError

logger = logging.getLogger("openapi_mcp")

WINDOW_SECONDS: Final = 60.0
"""Seconds in which the failures have to come: a call takes 55 at most, so that calls that hang together count."""

FIRST_PAUSE: Final = 5.0
"""Seconds until a host is tried again: as long as a service takes to restart."""

MAX_PAUSE: Final = 60.0
"""Seconds that a pause grows to."""


@dataclass(slots=True)
class _Circuit:
    """The state of a host that fails; `open_until` is 0 while the circuit is closed."""

    since: float
    failures: int = 0
    pause: float = FIRST_PAUSE
    open_until: float = 0.0
    is_probed: bool = False
    reason: str = ""


class CircuitBreaker:
    """The circuits of all hosts; only hosts that fail have one, so that the others cost nothing."""

    def __init__(self, threshold: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._threshold = threshold
        self._clock = clock
        self._circuits: dict[str, _Circuit] = {}

    def admit(self, host: str) -> bool:
        """Return whether a request is the one that tries an open circuit. Raises UpstreamError for all others then."""
        circuit = self._circuits.get(host)
        if circuit is None or not circuit.open_until:
            return False
        wait = circuit.open_until - self._clock()
        if wait > 0 or circuit.is_probed:
            again = f"in {max(1, round(wait))} seconds" if wait > 0 else "just now"
            raise UpstreamError(
                f"No request was sent: the last {circuit.failures} requests to {host} had no answer. {circuit.reason} "
                f"It is tried again {again} (see `--circuit-breaker`)."
            )
        circuit.is_probed = True
        return True

    def succeed(self, host: str) -> None:
        """Note an answer of a host."""
        if self._circuits and (circuit := self._circuits.pop(host, None)) is not None and circuit.open_until:
            logger.warning("%s answers again.", host)

    def fail(self, host: str, reason: str, *, is_probe: bool) -> None:
        """Note a request that had no answer; `reason` is a sentence."""
        now = self._clock()
        circuit = self._circuits.get(host)
        if circuit is None or (not circuit.open_until and now - circuit.since > WINDOW_SECONDS):
            circuit = self._circuits[host] = _Circuit(now)
        circuit.failures += 1
        circuit.reason = reason
        if is_probe:
            circuit.is_probed = False
            circuit.pause = min(2 * circuit.pause, MAX_PAUSE)
            circuit.open_until = now + circuit.pause
        elif not circuit.open_until and circuit.failures >= self._threshold:
            circuit.open_until = now + circuit.pause
            logger.warning(
                "%s is not called for %g seconds: %d requests in a row failed. %s",
                host,
                circuit.pause,
                circuit.failures,
                reason,
            )

    def release(self, host: str) -> None:
        """Note that the request that tried a host ended without a verdict; the next one tries it."""
        if (circuit := self._circuits.get(host)) is not None:
            circuit.is_probed = False
