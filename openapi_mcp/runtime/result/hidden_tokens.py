"""`HiddenTokens`: the access tokens that calls were made with, found in texts in a time that grows with the text alone.

A server whose users have tokens of their own knows thousands of them. A regular expression of a hundred takes four
seconds to make, so a token is known by its last characters here: each form of it by those that it ends with.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

TAIL: Final = 16
"""Characters by which a form of a token is known: nobody meets 96 random bits by accident."""

MAX_TAILS: Final = 200_000
"""Tails that are known, those of ten thousand tokens; the oldest are forgotten. About 40 MB."""

_MAX_SEARCHED: Final = 100
"""Tails for which a text is searched one by one, which is faster than a walk through it: those of a few tokens."""

_MIN_TOKEN: Final = 20
_STEP: Final = _MIN_TOKEN - TAIL + 1
"""Characters from one look at a text to the next: a form of a token has so many tails, one of which is met."""

_TOKEN: Final = re.compile(rf"(?=.*[A-Za-z])[!-~]{{{_MIN_TOKEN},}}")
"""A token that is long enough to be random. Any other is a secret like those of the settings."""


def is_token(text: str) -> bool:
    """Return whether a secret can be known by its end."""
    return _TOKEN.fullmatch(text) is not None


class HiddenTokens:
    """Tokens that no text may have."""

    def __init__(self) -> None:
        self._tails: dict[str, tuple[int, int]] = {}

    def __contains__(self, token: str) -> bool:
        return token[-TAIL:] in self._tails

    def add(self, forms: Iterable[str]) -> None:
        """Add a token, given the forms in which it may be written."""
        for form in forms:
            for left in range(_STEP):
                end = len(form) - left
                self._tails[form[end - TAIL : end]] = end, left
        while len(self._tails) > MAX_TAILS:
            del self._tails[next(iter(self._tails))]

    def are_in(self, text: str) -> bool:
        """Return whether a text has a token."""
        return next(self._found(text), None) is not None

    def replaced(self, text: str, by: str) -> str:
        """Return a text with something else instead of its tokens."""
        parts, end = list[str](), 0
        for start, stop in self._found(text):
            if stop > end:
                parts += [text[end : max(start, end)], by] if start >= end or not parts else []
                end = stop
        return "".join([*parts, text[end:]]) if parts else text

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the beginning and the end of each token, in the order of their ends."""
        if len(self._tails) <= _MAX_SEARCHED and not any(tail in text for tail in self._tails):
            return
        for end in range(TAIL, len(text) + 1, _STEP):
            if (tail := self._tails.get(text[end - TAIL : end])) is not None:
                yield max(0, end - tail[0]), end + tail[1]
