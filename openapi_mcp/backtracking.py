"""Whether a regular expression can take exponential time: where a loop can read one string in more than one way.

The test is exact for the automaton of the pattern's positions (Glushkov's): a backtracking engine is exponential if
and only if two different ways lead from a position back to itself over the same string. Theory: Weideman, van der
Merwe, Berglund, Watson, "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers by Using
Ambiguity of NFA" (CIAA 2016).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

MOST: Final = 64
"""Positions in a loop. The test takes their square; patterns with larger loops are lists of words."""

T = TypeVar("T")


class Automaton:
    """The positions of a pattern: the characters each stands for, and which may come next, once for each way."""

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
        """Whether a loop around these positions (already connected) can take exponential time, or is too large."""
        if len(positions) > MOST:
            return True
        loops = components(positions, lambda position: self._next(position, positions))
        if any(self._doubled(set(loop)) for loop in loops):
            return True
        pairs = components(((p, p) for p in positions), lambda pair: self._next_pairs(pair, positions))
        return any({p == q for p, q in component} == {True, False} for component in pairs)

    def _doubled(self, loop: set[int]) -> bool:
        """Whether one step inside a loop can be taken in two ways."""
        steps = [[after for after in self.following[position] if after in loop] for position in loop]
        return any(len(set(step)) < len(step) for step in steps)

    def _next(self, position: int, positions: range) -> set[int]:
        return {after for after in self.following[position] if after in positions}

    def _next_pairs(self, pair: tuple[int, int], positions: range) -> Iterator[tuple[int, int]]:
        """Where one step over the same character leads from two positions at once."""
        for first in self._next(pair[0], positions):
            for second in self._next(pair[1], positions):
                if self.characters[first] & self.characters[second]:
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
    taken: list[T] = []
    while not taken or taken[-1] != last:
        taken.append(stack.pop())
    return taken
