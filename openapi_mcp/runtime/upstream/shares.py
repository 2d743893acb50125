"""`Shares`: a number of places, divided among holders so that none can take all. `SharedSlots`: places to wait for.

A holder counts in several ways, each by a key: for example as a client, as an address, and as one that calls a certain
host. A key gets another place while the places that it has are fewer than `ratio` times the free ones, where each way
has its ratio. So with ratio 4 one client may take four fifths of the places; a second one gets most of the rest, and a
newcomer finds a free place however many the others wanted. Whoever has few places is never limited: nothing is divided
in advance.

`CALLER` is the client whose request is being served, for modules below the transport that it came by.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

CLIENT_RATIO: Final = 4
"""One client has at most four fifths of the places: 256 of 320, 100 of 125."""

ADDRESS_RATIO: Final = 8
"""All clients at one address have at most eight ninths of the places together."""

NO_LIMIT: Final = 2**31
"""A number of places that is never reached."""


class Caller(NamedTuple):
    """The address of a request and its client, the finest unit that can be told apart; both empty on stdio."""

    address: str = ""
    client: str = ""


CALLER: Final[ContextVar[Caller]] = ContextVar("caller", default=Caller())  # noqa: B039  # it is immutable
"""The client whose request is being served in this context."""

_Holder = TypeVar("_Holder")
_Numbers: TypeAlias = Sequence[Counter[object]]
"""For each way to count, the number of places by key."""


class Shares(Generic[_Holder]):
    """Places that holders take and give back; `free` are those that nobody has.

    `keys` returns the keys of a holder, and `ratios` are the ratios of these. The keys are only asked for where places
    are scarce: else taking a place is one entry of a dictionary.
    """

    def __init__(self, limit: int, ratios: Sequence[int], keys: Callable[[_Holder], Sequence[object]]) -> None:
        self.limit = self.free = limit
        self._ratios = ratios
        self._keys = keys
        self._plenty = min(ratios) + 1
        self._held: dict[_Holder, int] = {}

    def take(self, holder: _Holder, count: int = 1) -> bool:
        """Take places and return True; return False if there are not so many, or if the rest is for others."""
        # With so many free, all places that are taken are fewer than any share.
        if self.free * self._plenty <= self.limit and not self.is_due(holder, self.numbers()):
            return False
        if count > self.free:
            return False
        self.free -= count
        self._held[holder] = self._held.get(holder, 0) + count
        return True

    def give_back(self, holder: _Holder, count: int = 1) -> None:
        """Give back places of a holder."""
        self.free += count
        if self._held[holder] == count:
            del self._held[holder]
        else:
            self._held[holder] -= count

    def numbers(self) -> _Numbers:
        """Return the numbers of places that are taken."""
        numbers: _Numbers = [Counter() for _ in self._ratios]
        for holder, count in self._held.items():
            for number, key in zip(numbers, self._keys(holder), strict=True):
                number[key] += count
        return numbers

    def is_due(self, holder: _Holder, numbers: _Numbers) -> bool:
        """Return whether there is a place for a holder."""
        counts = zip(self.counts(holder, numbers), self._ratios, strict=True)
        return self.free > 0 and all(count < ratio * self.free for count, ratio in counts)

    def counts(self, holder: _Holder, numbers: _Numbers) -> list[int]:
        """Return the number of places that each key of a holder has."""
        return [number[key] for number, key in zip(numbers, self._keys(holder), strict=True)]


class SharedSlots(Generic[_Holder]):
    """Places in one event loop that holders wait for; a place that becomes free goes to the one that has fewest.

    The numbers of the first key count first. Holders that have equally many take turns; within a holder the longest
    wait ends first. The parameters are those of `Shares`.
    """

    def __init__(self, limit: int, ratios: Sequence[int], keys: Callable[[_Holder], Sequence[object]]) -> None:
        self.shares = Shares(limit, ratios, keys)
        self._waiting: dict[_Holder, deque[_Turn]] = {}

    def take(self, holder: _Holder, count: int = 1) -> bool:
        """Take places and return True; return False if that has to be waited for."""
        return holder not in self._waiting and self.shares.take(holder, count)

    async def acquire(self, holder: _Holder, seconds: float | None, count: int = 1) -> None:
        """Take places; wait for them if there are not so many. Raises TimeoutError after `seconds`."""
        if self.take(holder, count):
            return
        turn = _Turn(count, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(holder, deque()).append(turn)
        try:
            async with asyncio.timeout(seconds):
                await turn.come
        except BaseException:
            if turn.come.done() and not turn.come.cancelled():
                self.release(holder, count)  # the places came too late
            else:
                self._leave(holder, turn)
            raise

    def release(self, holder: _Holder, count: int = 1) -> None:
        """Give back places, and give the free ones to those who wait."""
        self.shares.give_back(holder, count)
        while self._waiting and (following := self._next()) is not None:
            turns = self._waiting.pop(following)
            turn = turns.popleft()
            if turns:
                self._waiting[following] = turns  # behind the others
            # It is done if the wait was cancelled just now.
            if not turn.come.done() and self.shares.take(following, turn.places):
                turn.come.set_result(None)

    def _next(self) -> _Holder | None:
        """Return the waiting holder that gets the next places; None if there are none for any of them."""
        numbers = self.shares.numbers()
        due = [
            holder
            for holder, turns in self._waiting.items()
            if turns[0].places <= self.shares.free and self.shares.is_due(holder, numbers)
        ]
        return min(due, key=lambda holder: self.shares.counts(holder, numbers), default=None)

    def _leave(self, holder: _Holder, turn: "_Turn") -> None:
        turns = self._waiting.get(holder)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[holder]


class _Turn(NamedTuple):
    """A wait for places; `come` gets its result when they are taken."""

    places: int
    come: "asyncio.Future[None]"
