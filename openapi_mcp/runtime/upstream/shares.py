"""`Shares`: a number of places, divided among holders so that none can take all. `SharedSlots`: places to wait for.

A holder has one key for each level: for example a client, its address, and the host that it calls. A key gets another
place while the places that it has are fewer than `ratio` times the free ones, where each level has its ratio. So with
ratio 4 one client may take four fifths of the places; a second one gets most of the rest, and a newcomer finds a free
place however many the others wanted. Whoever has few places is never limited: nothing is divided in advance.

`CALLER` is the client whose request is being served, for modules below the transport that it came by.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final, NamedTuple, TypeAlias

Holder: TypeAlias = tuple[object, ...]
"""The keys of a holder, one for each level; a key of one level is unique in that level."""

CLIENT_RATIO: Final = 4
"""One client has at most four fifths of the places: 256 of 320, 100 of 125."""

ADDRESS_RATIO: Final = 8
"""All clients at one address have at most eight ninths of the places together."""

NO_LIMIT: Final = 2**31
"""A number of places that is never reached."""


class Caller(NamedTuple):
    """The address of a request and its client, the finest unit that can be told apart; both empty on stdio."""

    address: str = ""
    client: object = ""


CALLER: Final[ContextVar[Caller]] = ContextVar("caller", default=Caller())  # noqa: B039  # it is immutable
"""The client whose request is being served in this context."""


class Shares:
    """Places that holders take and give back; `free` are those that nobody has."""

    def __init__(self, limit: int, ratios: Sequence[int]) -> None:
        self.limit = self.free = limit
        self._levels: tuple[tuple[int, dict[object, int]], ...] = tuple((ratio, {}) for ratio in ratios)
        self._least_ratio = min(ratios)

    def may_take(self, holder: Holder) -> bool:
        """Return whether there is a place for a holder."""
        free = self.free
        if self.limit - free < self._least_ratio * free:
            return True  # all places that are taken are fewer than any share
        return free > 0 and all(
            held.get(key, 0) < ratio * free for key, (ratio, held) in zip(holder, self._levels, strict=True)
        )

    def take(self, holder: Holder) -> None:
        """Take a place for a holder that may take one."""
        self.free -= 1
        for key, (_, held) in zip(holder, self._levels, strict=True):
            held[key] = held.get(key, 0) + 1

    def give_back(self, holder: Holder) -> None:
        """Give back a place of a holder."""
        self.free += 1
        for key, (_, held) in zip(holder, self._levels, strict=True):
            if held[key] == 1:
                del held[key]
            else:
                held[key] -= 1

    def held(self, holder: Holder) -> tuple[int, ...]:
        """Return the number of places that each key of a holder has."""
        return tuple(held.get(key, 0) for key, (_, held) in zip(holder, self._levels, strict=True))


class SharedSlots:
    """Places in one event loop that holders wait for; a place that becomes free goes to the one that has fewest.

    The numbers of the first level count first. Holders that have equally many take turns; within a holder the longest
    wait ends first.
    """

    def __init__(self, limit: int, ratios: Sequence[int]) -> None:
        self._shares = Shares(limit, ratios)
        self._waiting: dict[Holder, deque[asyncio.Future[None]]] = {}

    async def acquire(self, holder: Holder, seconds: float | None) -> None:
        """Take a place; wait for one if there is none. Raises TimeoutError after `seconds`."""
        if holder not in self._waiting and self._shares.may_take(holder):
            self._shares.take(holder)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(holder, deque()).append(turn)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.release(holder)  # the place came too late
            else:
                self._leave(holder, turn)
            raise

    def release(self, holder: Holder) -> None:
        """Give back a place, and give the free ones to those who wait."""
        self._shares.give_back(holder)
        while self._waiting and (following := self._next()) is not None:
            turns = self._waiting.pop(following)
            turn = turns.popleft()
            if turns:
                self._waiting[following] = turns  # behind the others
            if not turn.done():  # it is, if the wait was cancelled in this turn of the event loop
                self._shares.take(following)
                turn.set_result(None)

    def _next(self) -> Holder | None:
        """Return the waiting holder that gets the next place; None if there is no place for any of them."""
        eligible = filter(self._shares.may_take, self._waiting)
        return min(eligible, key=self._shares.held, default=None)

    def _leave(self, holder: Holder, turn: "asyncio.Future[None]") -> None:
        turns = self._waiting.get(holder)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[holder]
