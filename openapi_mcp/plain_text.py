"""Plain text from a document, for models and terminals: invisible characters are removed, long texts are cut.

Invisible characters are removed because they can hide from a person words that a model reads. Nothing else of a text is
judged or rewritten.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from .runtime.result import hidden_characters

MAX_DESCRIPTION_LENGTH: Final = 1024
"""Characters of a description. Some model APIs refuse a tool whose description is longer."""

MAX_TEXT_LENGTH: Final = 1_000_000
"""Characters of a text that are read at all. Nobody is shown more, and 30 million words once took half a gigabyte."""

MAX_TITLE_LENGTH: Final = 120
"""Characters of a title, which is one line in a menu."""

_SENTENCE_END: Final = re.compile(r"[.!?]{1,3}[\"'`)\]*]{0,4}(?=\s)|\n(?=\n)")
"""The end of a sentence, or an abbreviation with a space after it, which versions, decimals and URLs do not have."""

_ABBREVIATION: Final = re.compile(
    r"(?<![a-z0-9])(?:[a-z]|e\.g|i\.e|eg|ie|cf|vs|viz|ca|approx|incl|excl|esp|resp|mr|mrs|dr)\.$", re.IGNORECASE
)
"""Words with a period after which a sentence goes on, single letters (initials, `p.`) among them."""

_NUMBERED: Final = re.compile(r"(?<![a-z0-9])(?:nos?|nr|figs?|sec|chap|ch|vol|pp|art|ver|ed)\.$", re.IGNORECASE)
"""Words with a period after which a sentence goes on with a number: "No. 5"."""

_LOOK_BACK: Final = 12
"""Characters before the end of a sentence that are searched for an abbreviation: more than the longest one has."""

_LOOSE_END: Final = re.compile(
    r"[\s,;:]*[(\[]?\s*(?:(?<![a-z0-9.])(?:e\.g|i\.e|eg|ie|cf|vs|approx)\.?,?)?$", re.IGNORECASE
)
"""The end of a cut text that promises what is cut off: `(e.g.`, an open bracket, a comma."""


def clean(text: Any) -> str:
    """Return the text without invisible characters and surrounding white space; an empty text for any other value.

    Of a text of more than MAX_TEXT_LENGTH characters the beginning is returned.
    """
    if not isinstance(text, str):
        return ""
    plain = hidden_characters.remove(text[:MAX_TEXT_LENGTH].replace("\r\n", "\n").replace("\r", "\n"))
    return re.sub(r"\n{3,}", "\n\n", plain).strip() if "\n" in plain else plain.strip()


def append(text: str, more: str) -> str:
    """Return the text followed by `more`, unless it contains that already."""
    return text if more in text else f"{text} {more}"


def line(text: Any, limit: int = MAX_TITLE_LENGTH) -> str:
    """Return a clean text in one line of at most `limit` characters."""
    return trim(" ".join(clean(text).split()), limit)


def trim(text: str, limit: int = MAX_DESCRIPTION_LENGTH) -> str:
    """Cut to `limit` characters: after a sentence if half of them remain, else after a word; `…` marks the cut."""
    if len(text) <= limit:
        return text
    head = text[: limit - 2]
    end = max((end for end in _sentence_ends(text[:limit]) if end <= len(head)), default=0)
    if end >= limit // 2:
        return head[:end].rstrip() + " …"
    words = head.rpartition(" ")[0]
    kept = words if len(words) >= limit // 2 else head
    start = max(0, len(kept) - _LOOK_BACK)
    return (kept[:start] + _LOOSE_END.sub("", kept[start:])).rstrip() + " …"


def sentence(text: Any, limit: int) -> str:
    """Return the first sentence of a text in one line; an empty text if it is longer than `limit` characters."""
    plain = " ".join(clean(text).split("\n\n")[0].split())
    first = plain[: next(_sentence_ends(plain), len(plain))]
    return first if len(first) <= limit else ""


def begins_with(text: str, beginning: str) -> bool:
    """Return whether a text begins with the words of another, in any case and punctuation."""
    words = _words(text)
    return all(word == next(words, None) for word in _words(beginning))


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in re.finditer(r"\w+", text.casefold()))


def _sentence_ends(text: str) -> Iterator[int]:
    """Yield the positions after the sentences of a text that are followed by more."""
    for match in _SENTENCE_END.finditer(text):
        if match[0][0] != "." or not _goes_on(text, match.start(), match.end()):
            yield match.end()


def _goes_on(text: str, period: int, end: int) -> bool:
    """Return whether a sentence goes on after a period: in lower case, or since the period is an abbreviation's."""
    following = text[end : end + _LOOK_BACK].lstrip()[:1]
    before = text[max(0, period - _LOOK_BACK) : period + 1]
    return (
        following.islower()
        or _ABBREVIATION.search(before) is not None
        or (following.isdigit() and _NUMBERED.search(before) is not None)
    )
