"""`CallProgress`: how far a call of the API has come, so that the error of a call whose time ends says what took it.

`Deadlines` ends calls after a time that is the same for all, so that one timer suffices: a timer for each call would
take a twentieth of its CPU time.
"""

import asyncio
from typing import Final, Literal, TypeAlias

EXTENSION: Final = "openapi_mcp.progress"
"""The request extension that holds the CallProgress."""

Stage: TypeAlias = Literal["connection", "sending", "response", "body", "wait"]

_STAGES: Final[dict[Stage, str]] = {
    "connection": "it was waiting for a connection",
    "sending": "the request was still being sent",
    "response": "the head of the response had not arrived",
    "body": "the body of the response ({status}) was still arriving, {received} so far",
    "wait": "it was waiting before the next attempt",
}


class CallProgress:
    """The stage of a call, and what came before it.

    `attempts` counts requests that failed and were or will be repeated, `waited` are the seconds of the waits between
    them, `status` is that of the response whose body is read, else 0, and `received` counts the bytes of this body.
    """

    __slots__ = (
        "_cancelled_before",
        "_is_late",
        "_task",
        "attempts",
        "received",
        "redirects",
        "stage",
        "status",
        "waited",
    )

    def __init__(self) -> None:
        self.stage: Stage = "response"
        self.attempts = self.redirects = self.received = self.status = 0
        self.waited = 0.0
        self._task: asyncio.Task[object] | None = None
        self._cancelled_before = 0
        self._is_late = False

    def start(self) -> None:
        """Note the task that makes the call."""
        self._task = asyncio.current_task()
        self._cancelled_before = self._task.cancelling() if self._task else 0

    def stop(self) -> None:
        """Cancel the task because the time of the call is over."""
        if self._task is not None:
            self._is_late = True
            self._task.cancel()

    def end(self) -> None:
        """Undo the cancellation of `stop`: the task goes on with the error of the call."""
        if self._is_late and self._task is not None:
            self._task.uncancel()
        self._task = None

    @property
    def is_late(self) -> bool:
        """True if the task was cancelled by `stop` and by nobody else."""
        return self._is_late and self._task is not None and self._task.cancelling() - 1 <= self._cancelled_before

    @property
    def is_unsent(self) -> bool:
        """True if no byte of a request can have left."""
        return self.stage == "connection" and not self.attempts and not self.redirects

    def status_note(self) -> str:
        """Return a sentence about a response whose body could not be read; empty without one."""
        return f" The status of its response is {self.status}." if self.status else ""

    def describe(self) -> str:
        """Return what took the time, as clauses of a sentence."""
        clauses = [_STAGES[self.stage].format(status=self.status, received=_count(self.received, "byte"))]
        if self.attempts:
            attempts = _count(self.attempts, "attempt")
            clauses.append(f"{attempts} had failed before, with {self.waited:.3g} seconds of waiting")
        if self.redirects:
            clauses.append(f"{_count(self.redirects, 'redirect')} had been followed")
        return "; ".join(clauses)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class Deadlines:
    """The ends of the calls in progress, each `seconds` after its start; None for no end. It belongs to a loop."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._ends: dict[CallProgress, float] = {}  # the earliest first
        self._timer: asyncio.TimerHandle | None = None

    def start(self, call: CallProgress) -> float | None:
        """Return the time of the event loop at which this task's call ends, unless `end` comes before."""
        if self._seconds is None:
            return None
        call.start()
        loop = asyncio.get_running_loop()
        self._ends[call] = end = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_at(end, self._stop_late)
        return end

    def end(self, call: CallProgress) -> None:
        """Note that a call has ended; the timer stays for the next ones."""
        if self._ends.pop(call, None) is None:
            call.end()

    def close(self) -> None:
        """Remove the timer; calls in progress no longer end."""
        if self._timer is not None:
            self._timer.cancel()

    def _stop_late(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        while self._ends:
            call = next(iter(self._ends))
            if self._ends[call] > loop.time():
                self._timer = loop.call_at(self._ends[call], self._stop_late)
                return
            del self._ends[call]
            call.stop()
