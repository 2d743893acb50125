"""Text and identifiers into terms: words split, lower-cased and brought to their stem, so that requests and tools meet.

One function for both sides: whatever happens to a word here happens to it in the index and in the request alike, so a
stem need not be a word, only the same for words that belong together.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
"""Where camelCase and HTTPServer begin their next word; `IDs` is one word, and so are `s3` and `v2`."""

_APOSTROPHE: Final = re.compile(r"['\u2019](?:s|re|ve|ll|d|m|t)?\b", re.IGNORECASE)
"""`today's`, `I'm`, `don't`: what follows the apostrophe is no word of its own."""

_KEPT: Final = 65536
"""Distinct words of which the stem is remembered: more than the largest documents have."""


def terms(text: str) -> list[str]:
    """The terms of a text in its order: `getUserIDs`, `get_user_ids` and `Get user IDs` have the same."""
    return list(_name_terms(text)) if len(text) <= _NAME_LENGTH else _terms(text)


_NAME_LENGTH: Final = 48
"""Names are short, and the same ones stand in many tools; longer texts are not remembered."""


@lru_cache(maxsize=_KEPT)
def _name_terms(text: str) -> tuple[str, ...]:
    return tuple(_terms(text))


def _terms(text: str) -> list[str]:
    if "'" in text or "\u2019" in text:
        text = _APOSTROPHE.sub(" ", text)
    return [stem(word) for word in _WORD.findall(_HUMP.sub(" ", text))]


@lru_cache(maxsize=_KEPT)
def stem(word: str) -> str:
    """A word without case, accents and common endings of English: plural, past, -ing, -ly, -ion, -ment, -tor.

    Short words and words with digits stay as they are. Nothing is looked up: `news` is the stem of `newses` and `new`.
    """
    plain = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(each for each in plain if not unicodedata.combining(each))
    if not (plain.isascii() and plain.isalpha()):
        return plain
    for shortest, *endings in _ENDINGS:
        plain = _without_ending(plain, shortest, *endings)
    return plain


_ENDINGS: Final = (
    (2, ("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")),
    (2, ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", "")),
    (3, ("ingly", ""), ("edly", ""), ("ing", ""), ("ied", "y"), ("eed", "eed"), ("ed", "")),
    (4, ("ly", "")),
    (5, ("ication", "y"), ("ation", ""), ("ator", ""), ("ate", ""), ("at", "")),
    (3, ("ion", ""), ("ment", ""), ("tor", "t")),
    (3, ("e", ""), ("y", "i")),
)
"""Rounds, in each of which the first ending that a word has is replaced if so many letters stand before it."""


def _without_ending(word: str, shortest: int, *endings: tuple[str, str]) -> str:
    for ending, replacement in endings:
        if word.endswith(ending):
            rest = word[: len(word) - len(ending)]
            if len(rest) < shortest or not _VOWEL.search(rest):
                return word
            return _undoubled(rest) if ending in _DOUBLING else rest + replacement
    return word


_VOWEL: Final = re.compile("[aeiouy]")
_DOUBLING: Final = frozenset({"ing", "ed"})


def _undoubled(word: str) -> str:
    """`stopp` (of `stopping`) as `stop`; `ll`, `ss` and `zz` may belong to the word itself (`calling`)."""
    return word[:-1] if word[-1] == word[-2] and word[-1] not in "aeiouylsz" else word
