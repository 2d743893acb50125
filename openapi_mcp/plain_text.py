"""Plain text from a document, for models and terminals: invisible characters are removed, long texts are cut.

Invisible characters are removed because they can hide from a person words that a model reads. Nothing else of a text is
judged or rewritten.
"""

import re
from typing import Any, Final

from .runtime.result import hidden_characters

MAX_DESCRIPTION_LENGTH: Final = 1024
"""Characters of a description. Some model APIs refuse a tool whose description is longer."""

MAX_TITLE_LENGTH: Final = 120
"""Characters of a title, which is one line in a menu."""

_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|\n(?=\n)")


def clean(text: Any) -> str:
    """Return the text without invisible characters and surrounding white space; an empty text for any other value."""
    if not isinstance(text, str):
        return ""
    plain = hidden_characters.remove(text.replace("\r\n", "\n").replace("\r", "\n"))
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
    ends = [match.end() for match in _SENTENCE_END.finditer(head + " ")]
    if ends and ends[-1] >= limit // 2:
        return head[: ends[-1]].rstrip() + " …"
    words = head.rpartition(" ")[0]
    return (words if len(words) >= limit // 2 else head).rstrip() + " …"


def sentence(text: Any, limit: int) -> str:
    """Return the first sentence of a text in one line; an empty text if it is longer than `limit` characters."""
    plain = " ".join(clean(text).split("\n\n")[0].split())
    end = _SENTENCE_END.search(plain)
    first = plain[: end.end()] if end else plain
    return first if len(first) <= limit else ""
