"""Texts of a document made fit for a model and a terminal: one rule for what is removed and one for what is cut.

Characters that cannot be seen are removed, for they can hide words from a person that a model reads. Nothing else of a
text is judged or rewritten.
"""

import re
from typing import Any, Final

DESCRIPTION_LIMIT: Final = 1024
"""Characters of a description. Some model APIs refuse a tool whose description is longer."""

TITLE_LIMIT: Final = 120
"""Characters of a title, which is one line in a menu."""

_UNSEEN: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\xad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff\ufff9-\ufffb"  # formatting that takes no room
    "\u2028-\u202e"  # line separators, embedding and override of direction
    "\ud800-\udfff"  # halves of surrogate pairs, which UTF-8 cannot carry
    "\U000e0000-\U000e0fff"  # tags: ASCII that is not shown
    "]+"
)
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|\n(?=\n)")


def clean(text: Any) -> str:
    """The text without what cannot be seen, and without white space around it; nothing for what is no text."""
    if not isinstance(text, str):
        return ""
    plain = text if text.isprintable() else _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return re.sub(r"\n{3,}", "\n\n", plain).strip() if "\n" in plain else plain.strip()


def joined(text: str, more: str) -> str:
    """What is said of a place, and after it what is said of what stands there, unless that was said already."""
    return text if more in text else f"{text} {more}"


def line(text: Any, limit: int = TITLE_LIMIT) -> str:
    """A clean text in one line of at most `limit` characters."""
    return trimmed(" ".join(clean(text).split()), limit)


def trimmed(text: str, limit: int = DESCRIPTION_LIMIT) -> str:
    """At most `limit` characters: whole sentences if that keeps half of them, else whole words; `…` says it was cut."""
    if len(text) <= limit:
        return text
    room = text[: limit - 2]
    ends = [match.end() for match in _SENTENCE_END.finditer(room + " ")]
    if ends and ends[-1] >= limit // 2:
        return room[: ends[-1]].rstrip() + " …"
    words = room.rpartition(" ")[0]
    return (words if len(words) >= limit // 2 else room).rstrip() + " …"


def sentence(text: Any, limit: int) -> str:
    """The first sentence of a text, in one line; nothing where it is longer than `limit` characters."""
    plain = " ".join(clean(text).split("\n\n")[0].split())
    end = _SENTENCE_END.search(plain)
    first = plain[: end.end()] if end else plain
    return first if len(first) <= limit else ""
