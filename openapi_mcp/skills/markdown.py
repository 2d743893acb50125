"""Texts of a document in Markdown that a program writes: on one line or quoted, without markup of their own.

Whatever a document says, it cannot end the section that it stands in, hide words or show the secrets of its URLs.
"""

import re
from collections.abc import Iterable
from typing import Final

from .. import plain_text
from ..runtime.request.redaction import redact

_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def inline(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters on one line, in which nothing is markup."""
    return _MARKUP.sub(r"\\\1", redact(plain_text.line(text, limit)))


def quoted(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters as a quotation; its own Markdown stays, HTML does not."""
    lines = redact(plain_text.trim(plain_text.clean(text), limit)).replace("<", "&lt;").split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def section(heading: str, lines: Iterable[str]) -> str:
    """Return a section; an empty text for one without lines."""
    text = "\n".join(lines).strip()
    return f"## {heading}\n\n{text}\n" if text else ""


def size(text: str) -> int:
    """Return the bytes of a text."""
    return len(text.encode())
