"""HTML as text: its title, headings and visible text. Scripts, styles, comments and markup are left out.

A page is mostly markup, and an answer is cut, so that a model would see little else. Every character is read a bounded
number of times: Python's own parser needs minutes for a page of unfinished tags.

Specification: WHATWG HTML §4 (elements), §13.2.5 (tokens).
"""

import html
import re
from collections.abc import Iterator
from typing import Final

TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
"""Media types of pages."""

MAX_HTML: Final = 1_000_000
"""Characters of a page that are read: the text of a longer one would be cut anyway."""

_START: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*){0,3}<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_MAX_START: Final = 2000
_TAG: Final = re.compile(r"</?([A-Za-z][A-Za-z0-9:-]*)(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_MAX_TAG: Final = 2000
"""Characters of a tag whose quotes are respected; a longer one ends at the next `>`."""

_BEYOND: Final = re.compile("&#[0-9]{1000,}+;?")
"""A reference with more digits than characters have; from 4,300 on, Python makes no number of them (§13.2.5.80)."""

_UNSEEN: Final = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe"})
_BLOCK_NAMES: Final = (
    "address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form header hr li "
    "main nav ol option p pre section summary table td th title tr ul h1 h2 h3 h4 h5 h6"
)
_BLOCKS: Final = frozenset(_BLOCK_NAMES.split())
_HEADINGS: Final = {"title": "# ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}


def is_html(kind: str, text: str) -> bool:
    """Return whether a text is an HTML page: by its media type, or by its start, whatever its type (but plain text)."""
    return kind in TYPES or (kind != "text/plain" and _START.match(text[:_MAX_START]) is not None)


def to_text(page: str) -> str:
    """Return the title, headings and visible text of a page, one line for each block."""
    lines = (" ".join(line.split()) for line in "".join(_parts(page[:MAX_HTML])).split("\n"))
    text = "\n".join(line for line in lines if line.strip("# "))
    return text or "(an HTML page without visible text)"


def _parts(page: str) -> Iterator[str]:
    """Yield the visible text of a page, and a line end before and after each block."""
    lower = page.lower() if len(page.lower()) == len(page) else page  # a few letters have longer lower-case forms
    position = 0
    unclosed: set[str] = set()
    while (start := page.find("<", position)) >= 0:
        yield _plain(page[position:start])
        match = _TAG.match(page, start, start + _MAX_TAG)
        name = match[1].lower() if match else ""
        if name in _UNSEEN - unclosed and page[start + 1] != "/":
            end = lower.find(f"</{name}", start)
            unclosed |= {name} if end < 0 else set()
            position = _tag_end(page, start if end < 0 else end)
        elif match is None and page[start + 1 : start + 2].strip(" \n=0123456789") == "":
            yield "<"  # not markup: `a < b`
            position = start + 1
        else:
            position = match.end() if match else _tag_end(page, start)
            if name in _BLOCKS:
                yield "\n" + ("" if page[start + 1] == "/" else _HEADINGS.get(name, ""))
    yield _plain(page[position:])


def _tag_end(page: str, start: int) -> int:
    """Return the position after a comment or a tag; the end of the page if it is unfinished."""
    end = "-->" if page.startswith("<!--", start) else ">"
    position = page.find(end, start)
    return len(page) if position < 0 else position + len(end)


def _plain(text: str) -> str:
    """Return a text of the source as it is seen: white space is one space, references are characters."""
    return html.unescape(_BEYOND.sub("\N{REPLACEMENT CHARACTER}", text.replace("\n", " ")))
