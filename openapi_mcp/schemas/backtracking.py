"""Detect regular expressions that can take exponential time: a loop of theirs can read one string in two ways.

The test is exact for the automaton of the pattern's positions (Glushkov's): a backtracking engine is exponential if
and only if two different paths lead from a position back to itself over the same string. Theory: Weideman, van der
Merwe, Berglund, Watson, "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers by Using
Ambiguity of NFA" (CIAA 2016).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

MAX_STATES: Final = 64
"""Positions in a loop. The test takes quadratic time; patterns with larger loops are lists of words."""

MAX_STEPS: Final = 20_000
"""Steps of the test of one pattern: a hundredth of a second. Those of real documents take up to 200."""

T = TypeVar("T")


class PatternTooComplex(Exception):
    """A pattern takes more than MAX_STEPS to be tested."""


class Automaton:
    """Positions of a pattern: the mask of characters of each, and its successors, once for each path to them.

    `steps` counts the work with them; its methods raise PatternTooComplex beyond MAX_STEPS.
    """

    def __init__(self) -> None:
        self.characters: list[int] = []
        self.successors: list[list[int]] = []
        self.steps = 0

    def position(self, characters: int) -> int:
        """Add a position for a mask of characters, and return it."""
        self.characters.append(characters)
        self.successors.append([])
        return len(self.characters) - 1

    def connect(self, before: Iterable[int], after: Iterable[int]) -> None:
        """Let each of `after` follow each of `before`."""
        successors = list(after)
        for position in before:
            self._spend(len(successors))
            self.successors[position] += successors

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise PatternTooComplex

    def is_exponential(self, positions: range) -> bool:
        """Return whether a loop around these positions, already connected, is exponential or above MAX_STATES."""
        if len(positions) > MAX_STATES:
            return True
        loops = components(positions, lambda position: self._next(position, positions))
        if any(self._has_double_step(set(loop)) for loop in loops):
            return True
        pairs = components(((p, p) for p in positions), lambda pair: self._next_pairs(pair, positions))
        return any({p == q for p, q in component} == {True, False} for component in pairs)

    def _has_double_step(self, loop: set[int]) -> bool:
        """Return whether a position of a loop has the same successor in it twice."""
        steps = [[after for after in self.successors[position] if after in loop] for position in loop]
        return any(len(set(step)) < len(step) for step in steps)

    def _next(self, position: int, positions: range) -> set[int]:
        self._spend(len(self.successors[position]))
        return {after for after in self.successors[position] if after in positions}

    def _next_pairs(self, pair: tuple[int, int], positions: range) -> Iterator[tuple[int, int]]:
        """Yield the pairs of positions that one character leads to from a pair of positions."""
        second_next = self._next(pair[1], positions)
        for first in self._next(pair[0], positions):
            self._spend(len(second_next))
            for second in second_next:
                if self.characters[first] & self.characters[second]:
                    yield first, second


def components(roots: Iterable[T], after: Callable[[T], Iterable[T]]) -> list[list[T]]:
    """Return the strongly connected components of a graph (Tarjan's algorithm without recursion)."""
    index: dict[T, int] = {}
    low: dict[T, int] = {}
    open_: list[T] = []
    result: list[list[T]] = []
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
                    component = _pop_down_to(open_, node)
                    closed.update(component)
                    result.append(component)
    return result


def _pop_down_to(stack: list[T], last: T) -> list[T]:
    """Remove and return the top of a stack down to `last`."""
    items: list[T] = []
    while not items or items[-1] != last:
        items.append(stack.pop())
    return items
