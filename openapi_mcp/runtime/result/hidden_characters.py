"""Characters that a person does not see and a model or a terminal obeys: removed, or written as escapes.

They are control characters, overrides of the direction of writing, characters of no width, tags (ASCII that is not
shown) and halves of surrogate pairs. Where a script or an emoji needs one of them, it stays: a joiner after a letter or
an emoji that has joined forms, one variation selector after a character, and the line end CR LF.

Specification: Unicode Standard §5.21 (default ignorable characters), UTS #51 (emoji), UAX #9 (direction).
"""

import re
from typing import Final

_CANDIDATE: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"  # no width
    "\u200b-\u200f\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\u2028-\u202e"  # line separators, embedding and override of direction
    "\ufe00-\ufe0f"  # variation selectors
    "\ud800-\udfff"  # halves of surrogate pairs, which UTF-8 cannot carry
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # formatting of shorthand and music
    "\U000e0000-\U000e0fff"  # tags, and more variation selectors
    "]"
)
_DECEPTIVE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|[\u200b-\u200d\u2060\ufeff]{2}"
)
_HAS_JOINED_FORMS: Final = re.compile(
    "[\u0600-\u1fff\ua800-\uabff\U00010a00-\U00011fff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
)
"""The scripts from Arabic to Mongolian, symbols and pictographs."""

_IDEOGRAPH: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_TAKES_SELECTOR: Final = re.compile("[^\\s\ufe00-\ufe0f]")


def escape(text: str) -> str:
    r"""Return the text with each hidden character as an escape: `\u202e`, `\U000e0041`."""
    return (
        text if _is_plain(text) else _CANDIDATE.sub(lambda match: match[0] if _belongs(match) else _code(match), text)
    )


def remove(text: str) -> str:
    """Return the text without hidden characters."""
    return text if _is_plain(text) else _CANDIDATE.sub(lambda match: match[0] if _belongs(match) else "", text)


def deceptive(text: str) -> str | None:
    """Return the first character that can hide words from a person, as an escape; None if there is none.

    A single character of no width is not counted: editors and web pages leave them in texts.
    """
    match = None if _is_plain(text) else _DECEPTIVE.search(text)
    return match and _code(match)


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _belongs(match: re.Match[str]) -> bool:
    """Return whether the script, the emoji or the line end around a character needs it."""
    character, text, start = match[0], match.string, match.start()
    before = text[start - 1 : start] if start else ""
    if character == "\r":
        return text.startswith("\n", start + 1)
    if character in "\u200c\u200d":
        return _HAS_JOINED_FORMS.match(before) is not None
    if "\ufe00" <= character <= "\ufe0f":
        return _TAKES_SELECTOR.match(before) is not None
    return "\U000e0100" <= character <= "\U000e01ef" and _IDEOGRAPH.match(before) is not None


def _code(match: re.Match[str]) -> str:
    code = ord(match[0][0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
