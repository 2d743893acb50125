r"""Regular expressions of schemas, matched in bounded time.

A pattern is matched by Python's `re`, whose time may grow exponentially with the text. Where a text is long for its
pattern, jsonschema-rs matches it: its engine takes time in proportion to the text. Patterns that this engine cannot
have (look-around, references to groups) go to another one, which gives up after some thousand steps. A text for which
that does not decide matches, and is counted (`undecided_patterns`), so that the caller can say so.

Specification: JSON Schema 2020-12 Validation §6.3.3.
"""

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

_MAX_CACHED: Final = 4096
"""Patterns. A large document has some hundred."""

_MAX_WAYS: Final = 1_000_000
"""Ways to match a text that `re` may try, at most: some hundredths of a second."""

_MAX_COUNTED: Final = 20_000
"""Characters of a text that is matched with a pattern which counts (`{2,500}`): such a pattern has many states."""

_MAX_BACKTRACKS: Final = 100_000
"""Steps of the engine for look-around: about a hundredth of a second."""

_BITS: Final = 64
"""Of numbers of ways; a greater number is as good as this one."""

_REPETITION: Final = re.compile(r"[*+]|\{\d*,\d*\}")
_REPEATED_GROUP: Final = re.compile(r"\)(?:[*+]|\{)")
_CHOICE: Final = re.compile(r"(?<![*+}(])\?|\|")
_ESCAPE_OR_SET: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_CLASS: Final = re.compile(r"\\[wdsb]", re.IGNORECASE)
"""Classes of characters that are Unicode's in Python and ASCII in JavaScript, whose rules jsonschema-rs follows."""

_Match: TypeAlias = Callable[[str], bool]


class _Undecided(threading.local):
    """A thread's number of texts for which it was not decided whether they match."""

    count = 0


_UNDECIDED: Final = _Undecided()


def undecided_patterns() -> int:
    """Return how many texts this thread has taken to match since it was not decided in bounded time."""
    return _UNDECIDED.count


def search(pattern: str, text: str) -> bool:
    """Return whether a pattern matches somewhere in a text, or whether it does is not decided in bounded time.

    Raises re.error for a pattern that is none.
    """
    expression, ways = _compiled(pattern)
    if ways(len(text)) <= _MAX_WAYS:
        return expression.search(text) is not None
    decided = _search_bounded(pattern, text)
    _UNDECIDED.count += decided is None
    return decided is not False


def _search_bounded(pattern: str, text: str) -> bool | None:
    """Return whether a pattern matches somewhere in a long text; None if that is not decided."""
    match, is_exact = _bounded_match(pattern)
    if match is None or (len(text) > _MAX_COUNTED and "{" in pattern):
        return None
    if match(text):
        return True
    return False if is_exact and (text.isascii() or _CLASS.search(pattern) is None) else None


@lru_cache(_MAX_CACHED)
def _compiled(pattern: str) -> tuple[re.Pattern[str], Callable[[int], int]]:
    """Return a compiled pattern, and a function that bounds the ways to match it for the length of a text.

    An option and each further alternative double the ways, and a repetition ends at any place. A repeated group chooses
    all of that anew at each character.
    """
    plain = _ESCAPE_OR_SET.sub("x", pattern)
    repetitions, choices = len(_REPETITION.findall(plain)), len(_CHOICE.findall(plain))
    starts = int(not plain.startswith("^"))
    if _REPEATED_GROUP.search(plain):
        return re.compile(pattern), lambda length: 2 ** min(_BITS, (repetitions + choices + starts) * (length + 1))
    power, ways = repetitions + starts, 2 ** min(_BITS, choices)
    return re.compile(pattern), lambda length: ways * (length + 1) ** power if power < _BITS else 2**_BITS


@lru_cache(_MAX_CACHED)
def _bounded_match(pattern: str) -> tuple[_Match | None, bool]:
    """Return a function that matches a pattern in bounded time, if there is one, and whether its False is certain."""
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions, RegexOptions

    for options in (RegexOptions(), FancyRegexOptions(backtrack_limit=_MAX_BACKTRACKS)):
        try:
            match = Draft202012Validator({"pattern": pattern}, pattern_options=options).is_valid
        except ValueError:
            continue
        return match, isinstance(options, RegexOptions)
    return None, False
