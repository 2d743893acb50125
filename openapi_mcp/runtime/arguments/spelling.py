"""Undeclared properties that are probably declared ones, misspelled."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from .. import jsontext
from ..json_schema import undeclared_names
from ..types import Schema

MAX_NAME_LENGTH: Final = 200
"""Characters of a name that is compared with others; longer ones are data."""

_MAX_FOLDED: Final = 4096
"""Folded names that are kept: those that documents declare, for many calls."""

_MAX_COMPARISONS: Final = 10_000
"""Pairs of names that are compared in one call; an object with many undeclared properties is a map."""

_MIN_NEAR: Final = 3
_MIN_TWO_EDITS: Final = 6
"""Letters of names that one edit, and two edits, leave recognisable."""

_SEPARATORS: Final = re.compile(r"[_\-. ]+")
_DIGITS: Final = re.compile(r"[0-9]+")


def misspellings(schema: Schema, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each undeclared property that is probably a declared and missing one, misspelled."""
    comparisons = 0
    for path, names, absent in undeclared_names(schema, arguments):
        for name in names:
            if len(name) > MAX_NAME_LENGTH:
                continue
            comparisons += len(absent)
            if comparisons > _MAX_COMPARISONS:
                return
            if near := near_name(name, absent):
                own, other = (jsontext.format_path([*path, each]) for each in (name, near))
                yield f"There is no `{own}`; did you mean `{other}`? Give both if the API knows `{own}` too."


def near_name(name: str, declared: Iterable[str]) -> str | None:
    """Return the declared name that `name` is a misspelling of, if any.

    It differs in case and separators only, or by one edit (two for names of 6 letters and more). Names that differ in
    their digits are others: `line2` is not `line1`.
    """
    folded = _fold(name)
    letters = set(folded)
    distances = {}
    for candidate in declared:
        other = _fold(candidate)
        limit = 0 if len(other) < _MIN_NEAR else 1 if len(other) < _MIN_TWO_EDITS else 2
        if (
            (folded == other or _DIGITS.sub("", folded) != _DIGITS.sub("", other))
            and abs(len(folded) - len(other)) <= limit
            and len(letters.symmetric_difference(other)) <= 2 * limit
        ):
            distance = _distance_of(folded, other)
            if distance <= limit:
                distances[candidate] = distance
    return min(distances, key=lambda candidate: distances[candidate], default=None)


@lru_cache(_MAX_FOLDED)
def _fold(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _distance_of(first: str, second: str) -> int:
    """Return the edit distance: insertions, deletions, replacements, and exchanges of two neighbours."""
    before, last = list[int](), list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, last = last, current
    return last[-1]
