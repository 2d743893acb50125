"""Merge two versions of a text that have one base, line by line; a line that a side added is never dropped.

Each side is a list of replaced ranges of the base. Overlapping ranges of the two sides are compared: if only one side
changed, or both made the same change, that is the result; everything else is a conflict with the lines of both sides.
Adjacent changes, which git reports as a conflict, are both applied where they are independent: often a docstring is
generated anew, and the line below it is changed by the owner.

`defects` are the reasons why a merged file is invalid in its format. A merge is refused if it adds one.

Theory: Khanna, Kunal, Pierce, "A Formal Investigation of Diff3" (FSTTCS 2007). Lines that occur once on both sides are
paired first (Bram Cohen's patience diff), so that functions match functions.
"""

import ast
import json
import tomllib
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

UNREADABLE: Final = "it cannot be parsed"

REFUSALS: Final = (ValueError, SyntaxError, RecursionError, MemoryError)
"""Exceptions of the parsers of the standard library; the last two for the nesting of hostile files."""


def defects(path: PurePosixPath, text: str) -> frozenset[str]:
    """Return the defects of a file, in words; none where its format is not known."""
    try:
        return frozenset(PARSERS.get(path.suffix, _anything)(text))
    except REFUSALS:
        return frozenset({UNREADABLE})


def can_hold_markers(path: PurePosixPath) -> bool:
    """Return whether conflicts are marked in the file itself. JSON has no place for markers."""
    return path.suffix != ".json"


def _anything(_: str) -> Iterable[str]:
    return ()


def _python(text: str) -> Iterable[str]:
    """Return duplicate definitions: two sides can add functions of one name without a conflict of lines."""
    names = (node.name for node in parse(text).body if isinstance(node, DEFINITIONS))
    return [f"{name} is defined {times} times" for name, times in Counter(names).items() if times > 1]


def _json(text: str) -> Iterable[str]:
    json.loads(text, object_pairs_hook=_once)
    return ()


def _once(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("duplicate name in an object")


def _toml(text: str) -> Iterable[str]:
    tomllib.loads(text)
    return ()


PARSERS: Final[Mapping[str, Callable[[str], Iterable[str]]]] = {".py": _python, ".toml": _toml, ".json": _json}
"""By suffix: the defects of a file; raises one of REFUSALS if it cannot be parsed."""

DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def parse(text: str) -> ast.Module:
    """Parse a Python module. Raises one of REFUSALS."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about invalid escapes in the owner's code
        return ast.parse(text)


MARKERS: Final = ("<<<<<<< yours", "=======", ">>>>>>> generated")
"""The markers of git, which editors recognise: 7 characters and the name of the side."""

GENERATED_SUFFIX: Final = ".generated"
"""The suffix of a generated file beside the owner's, where one file cannot hold both."""

MAX_MERGE_CELLS: Final = 4_000_000
"""Pairs of lines that are compared in a gap without unique lines, about a second; a larger gap is replaced."""

MIN_RENAMED_SIMILARITY: Final = 0.6
"""The share of equal lines in a renamed section: a new name is in two of about ten lines."""

Lines = Sequence[str]

Split = Callable[[Lines], Iterable[tuple[str, int]]]
"""Returns the sections of a text by unique names, each with the line after which it ends. Equal names are compared."""

Resolve = Callable[[Lines, Lines, Lines], list[str] | None]
"""Merges a range, given as base, yours and generated; None leaves it to the comparison of lines."""


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The merged lines, and the numbers of the lines (from 1) in which conflicts begin."""

    lines: tuple[str, ...]
    conflicts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """The replacement of the lines `start:end` of the base by one side."""

    start: int
    end: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section of a text: its name, the line after which it starts, its lines."""

    key: str
    start: int
    lines: Lines


def _one_section(lines: Lines) -> Iterable[tuple[str, int]]:
    return [("", len(lines))]


def merge(
    base: Lines, yours: Lines, generated: Lines, *, split: Split = _one_section, resolve: Resolve = lambda *_: None
) -> MergeResult:
    """Merge lines without line ends; `split` and `resolve` add the knowledge of a format."""
    result: list[str] = []
    conflicts: list[int] = []
    position = 0
    for mine, theirs in _groups(changes(base, yours, split), changes(base, generated, split)):
        start = min(change.start for change in (*mine, *theirs))
        end = max(change.end for change in (*mine, *theirs))
        result += base[position:start]
        position = end
        left, right, original = _apply(mine, base, start, end), _apply(theirs, base, start, end), base[start:end]
        if left == right or not theirs:
            result += left
        elif resolved := resolve(original, left, right):
            result += resolved
        elif not mine:
            result += right
        else:
            before, middle, after = _conflict(left, right)
            conflicts.append(len(result) + len(before) + 1)
            result += [*before, *middle, *after]
    return MergeResult((*result, *base[position:]), tuple(conflicts))


def changes(base: Lines, side: Lines, split: Split = _one_section) -> list[Change]:
    """Return the changes from `base` to `side`, in order; between two of them is an unchanged line."""
    result: list[Change] = []
    before = after = 0
    equal = [match for match in _matches(base, side, split) if match[2]]
    for start, position, length in [*equal, (len(base), len(side), 0)]:
        if start > before or position > after:
            result.append(Change(before, start, tuple(side[after:position])))
        before, after = start + length, position + length
    return result


def _groups(mine: list[Change], theirs: list[Change]) -> Iterator[tuple[list[Change], list[Change]]]:
    """Yield groups of changes of both sides that overlap or depend on each other."""
    group: tuple[list[Change], list[Change]] = ([], [])
    last = Change(-1, -1, ())
    marked = [(change, 0) for change in mine] + [(change, 1) for change in theirs]
    for change, side in sorted(marked, key=lambda entry: (entry[0].start, entry[0].end)):
        if any(group) and not (change.start < last.end or (change.start == last.end and _may_depend(last, change))):
            yield group
            group = ([], [])
        group[side].append(change)
        last = max(last, change, key=lambda change: change.end)
    if any(group):
        yield group


def _may_depend(above: Change, below: Change) -> bool:
    """Return whether adjacent changes may depend on each other: two insertions, a deletion, or an equal line."""
    over, under = list(filter(str.strip, above.lines)), list(filter(str.strip, below.lines))
    inserted = above.start == above.end and below.start == below.end
    return inserted or not over or not under or over[-1] in under or under[0] in over


def _apply(replaced: list[Change], base: Lines, start: int, end: int) -> list[str]:
    """Return the lines `start:end` of the base with the changes of one side."""
    lines: list[str] = []
    for change in replaced:
        lines += [*base[start : change.start], *change.lines]
        start = change.end
    return [*lines, *base[start:end]]


def _conflict(left: list[str], right: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return a conflict in three parts: common lines before, the marked rest, common lines after."""
    first = _common_prefix_length(left, right)
    last = _common_prefix_length(left[first:][::-1], right[first:][::-1])
    ours, others = left[first : len(left) - last], right[first : len(right) - last]
    return left[:first], [MARKERS[0], *ours, MARKERS[1], *others, MARKERS[2]], left[len(left) - last :]


def _common_prefix_length(left: Lines, right: Lines) -> int:
    """Return the number of equal lines at the beginning of two texts."""
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _matches(old: Lines, new: Lines, split: Split) -> Iterator[tuple[int, int, int]]:
    """Yield equal ranges in order: start in `old`, start in `new`, length."""
    ones, others = _sections(old, split), _sections(new, split)
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


def _sections(lines: Lines, split: Split) -> list[TextSection]:
    ends = [(key, end) for key, end in split(lines) if end]
    starts = [0, *(end for _, end in ends)]
    return [TextSection(key, start, lines[start:end]) for (key, end), start in zip(ends, starts, strict=False)]


def _renamed(lines: Lines, others: Lines) -> bool:
    """Return whether two sections in the same position are one that was renamed: most lines are equal."""
    if len(lines) * len(others) > MAX_MERGE_CELLS:
        return False
    return SequenceMatcher(None, lines, others, autojunk=False).ratio() > MIN_RENAMED_SIMILARITY


def _inside(old: TextSection, new: TextSection) -> Iterator[tuple[int, int, int]]:
    """Yield the equal ranges of two sections."""
    anchors = [(-1, -1), *_anchors(old.lines, new.lines), (len(old.lines), len(new.lines))]
    for (above, over), (below, under) in pairwise(anchors):
        gap, other = old.lines[above + 1 : below], new.lines[over + 1 : under]
        yield from _between(gap, other, old.start + above + 1, new.start + over + 1)
        if below < len(old.lines):
            yield old.start + below, new.start + under, 1


def _between(old: Lines, new: Lines, start: int, new_start: int) -> Iterator[tuple[int, int, int]]:
    """Yield the equal ranges of a gap between two anchors."""
    first = _common_prefix_length(old, new)
    last = _common_prefix_length(old[first:][::-1], new[first:][::-1])
    rest, other = old[first : len(old) - last], new[first : len(new) - last]
    yield start, new_start, first
    if len(rest) * len(other) <= MAX_MERGE_CELLS:
        for in_old, in_new, length in SequenceMatcher(None, rest, other, autojunk=False).get_matching_blocks():
            yield start + first + in_old, new_start + first + in_new, length
    yield start + len(old) - last, new_start + len(new) - last, last


def _anchors(old: Lines, new: Lines) -> list[tuple[int, int]]:
    """Return the longest ascending sequence of lines that occur once in both, as pairs of line numbers."""
    numbers = {line: number for number, line in enumerate(new)}
    once = _unique(old) & _unique(new)
    pairs = [(number, numbers[line]) for number, line in enumerate(old) if line in once]
    tops: list[int] = []  # the lowest end of a sequence of each length
    ends: list[int] = []
    previous: list[int] = []
    for index, (_, number) in enumerate(pairs):
        length = bisect_left(tops, number)
        tops[length : length + 1] = [number]
        ends[length : length + 1] = [index]
        previous.append(ends[length - 1] if length else -1)
    return list(_sequence(pairs, previous, ends[-1] if ends else -1))[::-1]


def _sequence(pairs: list[tuple[int, int]], previous: list[int], last: int) -> Iterator[tuple[int, int]]:
    while last >= 0:
        yield pairs[last]
        last = previous[last]


def _unique(lines: Iterable[str]) -> set[str]:
    return {line for line, times in Counter(lines).items() if times == 1}
