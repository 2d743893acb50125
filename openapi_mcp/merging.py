"""Two texts that come from one, made into one: a three-way merge of lines, which never drops a line that a side added.

Each side is a list of replaced stretches of the base. Stretches of the two sides that overlap belong together; where
only one side changed, or both the same, that is the result, and everything else is a conflict that holds both sides.
Neighbours, which git calls a conflict too, are both applied where they cannot have to do with each other: a docstring
is generated anew, and the line below it is the first that its owner writes.

Theory: Khanna, Kunal, Pierce, "A Formal Investigation of Diff3" (FSTTCS 2007). Lines that occur once on both sides are
paired first (Bram Cohen's patience diff), so that functions match functions.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

MARKERS: Final = ("<<<<<<< yours", "=======", ">>>>>>> generated")
"""How git marks a conflict, so that editors know it: 7 characters, and whose side it is."""

BESIDE: Final = ".generated"
"""The end of the name under which a side stands beside the other, where a file cannot hold both."""

LARGEST: Final = 4_000_000
"""Pairs of lines of a gap without a common unique line that are compared, in about a second; beyond, it is replaced."""

ALIKE: Final = 0.6
"""The share of equal lines that makes a part another one renamed: a new name is in two lines of about ten."""

Lines = Sequence[str]

Cut = Callable[[Lines], Iterable[tuple[str, int]]]
"""The parts of a text, each compared only with that of its name: unique names, and behind which line each ends."""

Settle = Callable[[Lines, Lines, Lines], list[str] | None]
"""What becomes of a stretch of the base, as it is there, as yours and as generated; None to go by the lines."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The lines of the result, and in which of them (from 1) a conflict begins."""

    lines: tuple[str, ...]
    conflicts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One side's replacement for the lines `start:end` of the base."""

    start: int
    end: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text: its name, behind which line it starts, its lines."""

    key: str
    start: int
    lines: Lines


def _whole(lines: Lines) -> Iterable[tuple[str, int]]:
    return [("", len(lines))]


def merge(
    base: Lines, yours: Lines, generated: Lines, *, cut: Cut = _whole, settle: Settle = lambda *_: None
) -> Merged:
    """Merge lines (without their ends), for a format by what is known of it."""
    result: list[str] = []
    conflicts: list[int] = []
    position = 0
    for mine, theirs in _groups(changes(base, yours, cut), changes(base, generated, cut)):
        start = min(change.start for change in (*mine, *theirs))
        end = max(change.end for change in (*mine, *theirs))
        result += base[position:start]
        position = end
        left, right, original = _applied(mine, base, start, end), _applied(theirs, base, start, end), base[start:end]
        if left == right or not theirs:
            result += left
        elif settled := settle(original, left, right):
            result += settled
        elif not mine:
            result += right
        else:
            before, middle, after = _common(left, right)
            conflicts.append(len(result) + len(before) + 1)
            result += [*before, *middle, *after]
    return Merged((*result, *base[position:]), tuple(conflicts))


def changes(base: Lines, side: Lines, cut: Cut = _whole) -> list[Change]:
    """What was done to `base` to get `side`, in order; between two changes there is a line that stayed."""
    found: list[Change] = []
    before = after = 0
    equal = [match for match in _matches(base, side, cut) if match[2]]
    for start, place, length in [*equal, (len(base), len(side), 0)]:
        if start > before or place > after:
            found.append(Change(before, start, tuple(side[after:place])))
        before, after = start + length, place + length
    return found


def _groups(mine: list[Change], theirs: list[Change]) -> Iterator[tuple[list[Change], list[Change]]]:
    """Changes of both sides that overlap or clash, together."""
    group: tuple[list[Change], list[Change]] = ([], [])
    last = Change(-1, -1, ())
    marked = [(change, 0) for change in mine] + [(change, 1) for change in theirs]
    for change, side in sorted(marked, key=lambda entry: (entry[0].start, entry[0].end)):
        if any(group) and not (change.start < last.end or (change.start == last.end and _clash(last, change))):
            yield group
            group = ([], [])
        group[side].append(change)
        last = max(last, change, key=lambda change: change.end)
    if any(group):
        yield group


def _clash(above: Change, below: Change) -> bool:
    """Whether neighbours may have to do with each other: both insert here, one deletes, or both bring the same line."""
    over, under = list(filter(str.strip, above.lines)), list(filter(str.strip, below.lines))
    inserted = above.start == above.end and below.start == below.end
    return inserted or not over or not under or over[-1] in under or under[0] in over


def _applied(replaced: list[Change], base: Lines, start: int, end: int) -> list[str]:
    """The lines `start:end` of the base as one side has them."""
    lines: list[str] = []
    for change in replaced:
        lines += [*base[start : change.start], *change.lines]
        start = change.end
    return [*lines, *base[start:end]]


def _common(left: list[str], right: list[str]) -> tuple[list[str], list[str], list[str]]:
    """A conflict without the lines that both sides begin and end with: those before, the marked rest, those after."""
    first = _alike(left, right)
    last = _alike(left[first:][::-1], right[first:][::-1])
    ours, others = left[first : len(left) - last], right[first : len(right) - last]
    return left[:first], [MARKERS[0], *ours, MARKERS[1], *others, MARKERS[2]], left[len(left) - last :]


def _alike(left: Lines, right: Lines) -> int:
    """How many lines two texts have in common at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _matches(old: Lines, new: Lines, cut: Cut) -> Iterator[tuple[int, int, int]]:
    """Stretches that are equal, in order: where in the old, where in the new, how long."""
    ones, others = _parts(old, cut), _parts(new, cut)
    anchors = [
        (-1, -1),
        *_anchors([one.key for one in ones], [other.key for other in others]),
        (len(ones), len(others)),
    ]
    for (above, over), (below, under) in pairwise(anchors):
        if below - above == under - over == 2 and _renamed(ones[above + 1].lines, others[over + 1].lines):
            yield from _inside(ones[above + 1], others[over + 1])
        if below < len(ones):
            yield from _inside(ones[below], others[under])


def _parts(lines: Lines, cut: Cut) -> list[Part]:
    ends = [(key, end) for key, end in cut(lines) if end]
    starts = [0, *(end for _, end in ends)]
    return [Part(key, start, lines[start:end]) for (key, end), start in zip(ends, starts, strict=False)]


def _renamed(lines: Lines, others: Lines) -> bool:
    """Whether of two parts that stand in the same place one is the other under a new name: most lines are the same."""
    if len(lines) * len(others) > LARGEST:
        return False
    return SequenceMatcher(None, lines, others, autojunk=False).ratio() > ALIKE


def _inside(old: Part, new: Part) -> Iterator[tuple[int, int, int]]:
    """The equal stretches of two parts that belong together."""
    anchors = [(-1, -1), *_anchors(old.lines, new.lines), (len(old.lines), len(new.lines))]
    for (above, over), (below, under) in pairwise(anchors):
        gap, other = old.lines[above + 1 : below], new.lines[over + 1 : under]
        yield from _between(gap, other, old.start + above + 1, new.start + over + 1)
        if below < len(old.lines):
            yield old.start + below, new.start + under, 1


def _between(old: Lines, new: Lines, start: int, place: int) -> Iterator[tuple[int, int, int]]:
    """The equal stretches of a gap between two anchors."""
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    rest, other = old[first : len(old) - last], new[first : len(new) - last]
    yield start, place, first
    if len(rest) * len(other) <= LARGEST:
        for here, there, length in SequenceMatcher(None, rest, other, autojunk=False).get_matching_blocks():
            yield start + first + here, place + first + there, length
    yield start + len(old) - last, place + len(new) - last, last


def _anchors(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """The longest rising row of lines that occur once in both."""
    places = {line: place for place, line in enumerate(new)}
    once = _unique(old) & _unique(new)
    pairs = [(place, places[line]) for place, line in enumerate(old) if line in once]
    tops: list[int] = []  # the lowest end of a row of each length
    ends: list[int] = []
    previous: list[int] = []
    for index, (_, there) in enumerate(pairs):
        length = bisect_left(tops, there)
        tops[length : length + 1] = [there]
        ends[length : length + 1] = [index]
        previous.append(ends[length - 1] if length else -1)
    return list(_row(pairs, previous, ends[-1] if ends else -1))[::-1]


def _row(pairs: list[tuple[int, int]], previous: list[int], last: int) -> Iterator[tuple[int, int]]:
    while last >= 0:
        yield pairs[last]
        last = previous[last]


def _unique(lines: Iterable[str]) -> set[str]:
    return {line for line, times in Counter(lines).items() if times == 1}
