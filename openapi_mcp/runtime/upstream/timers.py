"""`Timers`: functions that are called after a time that is the same for all. `TimeLimit`: a context that ends in time.

A call of a tool has several limits of time, none of which it reaches. A timer of the event loop for each, and
`asyncio.timeout`, would take 3 % of its processor time.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self


class Timers:
    """Functions that are called `seconds` after `start`, unless stopped, by one timer of one event loop.

    None for `seconds` is no limit: nothing is called.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._number = 0
        self._due: dict[int, tuple[float, Callable[[], object]]] = {}  # the earliest first
        self._handle: asyncio.TimerHandle | None = None

    def start(self, function: Callable[[], object], loop: asyncio.AbstractEventLoop | None = None) -> int:
        """Return the number with which to stop the call of a function.

        `loop` is the running event loop, if it is known: to find it takes a system call.
        """
        self._number += 1
        if self.seconds is not None:
            loop = loop or asyncio.get_running_loop()
            end = loop.time() + self.seconds
            self._due[self._number] = end, function
            if self._handle is None:
                self._handle = loop.call_at(end, self._call_due, loop)
        return self._number

    def stop(self, number: int) -> None:
        """Do not call a function; the timer of the loop stays for the next ones."""
        self._due.pop(number, None)

    def end(self, number: int) -> float | None:
        """Return the time of the event loop at which a function will be called; None if it will not."""
        return self._due[number][0] if number in self._due else None

    def close(self) -> None:
        """Call no function any more."""
        self._due.clear()
        if self._handle is not None:
            self._handle.cancel()

    def _call_due(self, loop: asyncio.AbstractEventLoop) -> None:
        self._handle = None
        while self._due:
            number = next(iter(self._due))
            end, function = self._due[number]
            if end > loop.time():
                self._handle = loop.call_at(end, self._call_due, loop)
                return
            del self._due[number]
            function()


NEVER: Final = Timers(None)
"""The timers of a limit that only `TimeLimit.stop` reaches."""


class TimeLimit:
    """A context in which the current task is cancelled when its timer ends or by `stop`; it raises TimeoutError then.

    `is_over` says that one of both happened. It does what `asyncio.timeout` does in a quarter of the time.
    """

    __slots__ = ("_cancelled_before", "_number", "_task", "_timers", "is_over")

    def __init__(self, timers: Timers = NEVER) -> None:
        self._timers = timers
        self.is_over = False

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None  # noqa: S101  # a coroutine of an event loop runs in a task
        self._task: asyncio.Task[object] | None = task
        self._cancelled_before = task.cancelling()
        self._number = self._timers.start(self.stop, loop)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._timers.stop(self._number)
        task, self._task = self._task, None
        # Cancelled by somebody else too, it stays cancelled.
        if self.is_over and task and task.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    @property
    def end(self) -> float | None:
        """The time of the event loop at which the work is cancelled; None for no limit."""
        return self._timers.end(self._number)

    def stop(self) -> None:
        """Cancel the work, once."""
        if self._task is not None and not self.is_over:
            self.is_over = True
            self._task.cancel()
