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

_MAX_SHORT: Final = 16
"""Characters of a text that any pattern is matched with by `re`: at most 2^16 ways to divide it."""

_MAX_WAYS: Final = 1_000_000
"""Ways to match a text that `re` may try, estimated: at most some hundredths of a second."""

_MAX_COUNTED: Final = 20_000
"""Characters of a text that is matched with a pattern which counts (`{2,500}`): such a pattern has many states."""

_MAX_BACKTRACKS: Final = 100_000
"""Steps of the engine for look-around: about a hundredth of a second."""

_REPETITION: Final = re.compile(r"[*+]|\{\d*,\d*\}")
_REPEATED_GROUP: Final = re.compile(r"\)(?:[*+]|\{\d)")
_OPTION: Final = re.compile(r"(?<![*+}(])\?")
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
    expression, ways, power = _compiled(pattern)
    length = len(text)
    if length <= _MAX_SHORT or ways * (length + 1) ** power <= _MAX_WAYS:
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
def _compiled(pattern: str) -> tuple[re.Pattern[str], int, float]:
    """Return a compiled pattern, and a factor and a power of a text's length that bound its time.

    Each repetition is tried from each place; a repeated group can divide a text in exponentially many ways.
    """
    plain = _ESCAPE_OR_SET.sub("x", pattern)
    power = len(_REPETITION.findall(plain)) + (not plain.startswith("^"))
    choices = len(_OPTION.findall(plain)) + (plain.count(")") if "|" in plain else 0)
    return re.compile(pattern), 2 ** min(choices, 64), float("inf") if _REPEATED_GROUP.search(plain) else power


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
