"""Names that are probably others, misspelled: undeclared properties, values of an enum, tools, options, settings."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
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

MAX_NEAREST: Final = 3
"""Names that are suggested for one that is not there."""

_MAX_CELLS: Final = 100_000
"""Pairs of letters that are compared for one suggestion: some hundredths of a second."""

_MAX_CHOICES: Final = 5_000
"""Choices that are compared for one suggestion, which takes some hundredths of a second: of more, those with a word of
the name come first."""

_MIN_PART: Final = 3
"""Letters of a name that is found within another one."""

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


def nearest(name: str, choices: Iterable[str]) -> list[str]:
    """Return the choices that are nearest to a name, the best first; only the best where it differs in spelling alone.

    Near is what differs in case and separators, has all or most of its words, contains the name or is contained, or has
    at most a third of its letters changed.
    """
    folded, parts = _plain(name[:MAX_NAME_LENGTH]), frozenset(_parts(name[:MAX_NAME_LENGTH]))
    words = _words_of(parts) if len(parts) > 1 or len(name) >= _MIN_PART else {}
    alphabet, cells = set(folded), _MAX_CELLS
    scored: list[tuple[float, int, str]] = []
    for position, choice in enumerate(_few(choices, folded, parts)):
        other = _plain(choice) if len(choice) <= MAX_NAME_LENGTH else ""
        if not other or not folded:
            continue
        if other == folded:
            return [choice]
        score, longest = 1.0, max(len(folded), len(other))
        # Looking for the letters of words takes a tenth of the time of dividing a choice into words.
        letters = sum(len(part) for part, same in words.items() if any(word in other for word in same))
        if letters > (_NO_WORDS - _MAX_SCORE) * longest and (common := parts.intersection(_parts(choice))):
            score = _NO_WORDS - sum(map(len, common)) / longest
        elif min(len(folded), len(other)) >= _MIN_PART and (folded in other or other in folded):
            score = _NO_WORDS - min(len(folded), len(other)) / longest
        limit = longest // 3
        may_be_near = abs(len(folded) - len(other)) <= limit and len(alphabet.symmetric_difference(other)) <= 2 * limit
        if may_be_near and cells > 0 and score > 0.1:
            cells -= len(folded) * len(other)
            distance = _distance_of(folded, other)
            score = min(score, distance / longest if distance <= limit else 1.0)
        if score < _MAX_SCORE:
            scored.append((score, position, choice))
    best = sorted(scored)[:MAX_NEAREST]
    return [choice for score, _, choice in best if score <= best[0][0] + _MAX_WORSE]


def _few(choices: Iterable[str], folded: str, parts: Iterable[str]) -> Iterable[str]:
    """Return the choices; of very many first what differs in case and separators, and what has the longest word."""
    known = list(choices)
    if len(known) <= _MAX_CHOICES:
        return known
    word = max(parts, key=len, default="")
    same = (each for each in known if each[:1].casefold() == folded[:1] and _plain(each) == folded)
    first = dict.fromkeys(chain(same, (each for each in known if word in each.lower()), known))
    return islice(first, _MAX_CHOICES)


_MAX_SCORE: Final = 0.6
"""Scores from 0, the same, to 1; a choice of a higher one has little in common with the name."""

_NO_WORDS: Final = 0.9
"""The score of a choice that shares no letter of a word; each one that it shares lowers it."""

_MAX_WORSE: Final = 0.15
"""Largest difference between the scores of the best suggestion and of another one."""

_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")


def _parts(name: str) -> list[str]:
    """Return the words of a name: in lower case and in the singular, of verbs of one meaning the same."""
    plain = (part.casefold().removesuffix("s") or part for part in _PART.findall(name))
    return [_VERBS.get(part, part) for part in plain]


_VERBS: Final = {
    **dict.fromkeys(("add", "new", "insert", "make", "register"), "create"),
    **dict.fromkeys(("fetch", "read", "show", "retrieve", "describe", "view"), "get"),
    **dict.fromkeys(("edit", "modify", "change", "patch"), "update"),
    **dict.fromkeys(("remove", "destroy", "erase"), "delete"),
    **dict.fromkeys(("find", "query", "lookup"), "search"),
}
"""Verbs that names of tools have for the same thing."""


def _words_of(parts: Iterable[str]) -> dict[str, list[str]]:
    """Return the words that `_parts` takes for each of these."""
    return {part: [part, *(verb for verb, meaning in _VERBS.items() if meaning == part)] for part in parts}


def did_you_mean(name: str, choices: Iterable[str], quoted: Callable[[str], str] = "`{}`".format) -> str:
    """Return the end of a sentence about a name that is not there; empty where no choice is near."""
    hint = suggestion(name, choices, quoted)
    return f"; {hint}" if hint else ""


def suggestion(name: str, choices: Iterable[str], quoted: Callable[[str], str] = str) -> str:
    """Return a question with the choices that are nearest to a name that is not there; empty where none is near."""
    found = [quoted(each) for each in nearest(name, choices)] if len(name) <= MAX_NAME_LENGTH else []
    if not found:
        return ""
    return f"did you mean {', '.join(found[:-1])} or {found[-1]}?" if len(found) > 1 else f"did you mean {found[0]}?"


@lru_cache(_MAX_FOLDED)
def _fold(name: str) -> str:
    return _plain(name)


def _plain(name: str) -> str:
    """Return a name without separators and case."""
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
