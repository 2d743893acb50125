"""Whether a regular expression can take exponential time: only where some string can be read in a loop in more than one way.

The test is exact for the automaton of the pattern's positions (Glushkov's): a backtracking engine is exponential if and only
if two different ways lead from a position back to itself over the same string. Theory: Weideman, van der Merwe, Berglund,
Watson, "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers by Using Ambiguity of NFA" (CIAA 2016).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

MOST: Final = 64
"""Positions in a loop. The test takes their square; patterns with larger loops are lists of words."""

T = TypeVar("T")


class Automaton:
    """The positions of a pattern: the characters each stands for, and the ones that may come next, once for each way."""

    def __init__(self) -> None:
        self.characters: list[int] = []
        self.following: list[list[int]] = []

    def position(self, characters: int) -> int:
        """A new position, for a mask of characters."""
        self.characters.append(characters)
        self.following.append([])
        return len(self.characters) - 1

    def connect(self, before: Iterable[int], after: Iterable[int]) -> None:
        """Let each of `after` follow each of `before`."""
        behind = list(after)
        for position in before:
            self.following[position] += behind

    def explodes(self, positions: range) -> bool:
        """Whether a loop around these positions (already connected) can take exponential time, or is too large to tell."""
        if len(positions) > MOST:
            return True
        loops = components(((p,) for p in positions), lambda pair: self._after((pair[0],), positions))
        if any(self._doubled(loop) for loop in loops):
            return True
        pairs = components(((p, p) for p in positions), lambda pair: self._after(pair, positions))
        return any({p == q for p, q in component} == {True, False} for component in pairs)

    def _doubled(self, loop: list[tuple[int, ...]]) -> bool:
        """Whether one step inside a loop can be taken in two ways."""
        inside = {position for (position,) in loop}
        steps = [[after for after in self.following[position] if after in inside] for position in inside]
        return any(len(set(step)) < len(step) for step in steps)

    def _after(self, pair: tuple[int, ...], positions: range) -> Iterator[tuple[int, ...]]:
        """Where one step over the same character leads from each of a pair (or from one position alone)."""
        for first in set(self.following[pair[0]]):
            if first not in positions:
                continue
            if len(pair) == 1:
                yield (first,)
                continue
            for second in set(self.following[pair[1]]):
                if second in positions and self.characters[first] & self.characters[second]:
                    yield first, second


def components(roots: Iterable[T], after: Callable[[T], Iterable[T]]) -> list[list[T]]:
    """The strongly connected components of a graph (Tarjan's algorithm without recursion)."""
    index: dict[T, int] = {}
    low: dict[T, int] = {}
    open_: list[T] = []
    found: list[list[T]] = []
    closed: set[T] = set()
    for root in roots:
        if root in index:
            continue
        work = [(root, iter(after(root)))]
        index[root] = low[root] = len(index)
        open_.append(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    open_.append(other)
                    work.append((other, iter(after(other))))
                    break
                if other not in closed:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = _popped(open_, node)
                    closed.update(component)
                    found.append(component)
    return found


def _popped(stack: list[T], last: T) -> list[T]:
    """What is on the stack from `last` up, taken off."""
    taken = []
    while not taken or taken[-1] != last:
        taken.append(stack.pop())
    return taken
