"""Strings that a regular expression matches, made from its parse; whoever asks checks them, for this promises nothing.

Of a choice the first is taken, of a class its plainest character, of a repetition as few as there may be, or as many as
make the string long enough. What looks ahead or back is passed over. The same pattern always gives the same strings.
"""

import importlib
import re
import warnings
from collections.abc import Iterator
from typing import Any, Final

_PLAIN: Final = "a0A1b-_ ./:@" + "".join(map(chr, range(32, 127)))
"""Characters to take of a class, the plainest first."""

_MOST: Final = 1000
"""Repetitions: no string that is asked for is longer."""


def matching(pattern: str, least: int = 0) -> Iterator[str]:
    """Candidates: the shortest way through the pattern, then ways of at least so many characters."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = importlib.import_module("re._parser").parse(pattern)
        for extra in (0, 1, least, max(least - 1, 0), max(least - 2, 0)):
            yield _string(parsed, extra, {})
    except (re.error, OverflowError, RecursionError, KeyError):
        return


def _string(parsed: Any, extra: int, groups: dict[int, str]) -> str:
    return "".join(_piece(str(code), value, extra, groups) for code, value in parsed)


def _piece(code: str, value: Any, extra: int, groups: dict[int, str]) -> str:
    """The text for one node of the parse; `extra` repetitions more than needed, where there may be more."""
    match code:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return _character(code, value)
        case "BRANCH":
            return _string(value[1][0], extra, groups)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            low, high, inner = value
            return "".join(_string(inner, 0, groups) for _ in range(min(max(low, min(extra, high)), _MOST)))
        case "SUBPATTERN":
            groups[value[0]] = _string(value[-1], extra, groups)
            return groups[value[0]]
        case "GROUPREF":
            return groups[value]
        case _:
            return ""  # an anchor, or what looks around


def _character(code: str, value: Any) -> str:
    if code == "LITERAL":
        return chr(value)
    if code == "NOT_LITERAL":
        return next(character for character in _PLAIN if ord(character) != value)
    return "a" if code == "ANY" else _member(value)


def _member(items: Any) -> str:
    """The plainest character of a class; any of its own where it has no plain one."""
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    for character in _PLAIN:
        if any(_holds(str(code), value, character) for code, value in items) is not negated:
            return character
    code, value = items[-1]
    return chr(value if str(code) == "LITERAL" else value[0]) if str(code) in {"LITERAL", "RANGE"} else ""


_CATEGORIES: Final = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


def _holds(code: str, value: Any, character: str) -> bool:
    if code == "CATEGORY":
        _, _, name = str(value).partition("CATEGORY_")
        inside = re.match(_CATEGORIES.get(name.removeprefix("NOT_"), "$^"), character) is not None
        return inside is not name.startswith("NOT_")
    if code == "RANGE":
        return bool(value[0] <= ord(character) <= value[1])
    return bool(code == "LITERAL" and value == ord(character))
