"""Lines of a TOML text: the one in which a key is set.

tomllib gives no positions, so it is asked again: the line is the first one up to which the text has the key. A value
that spans lines is part of no text before it ends, so the line is that of its key. Bounded: texts are parsed
MAX_PARSES times at most.
"""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

MAX_PARSES: Final = 200
"""Texts that are parsed for one key: 17 halve a file of a hundred thousand lines, the others end values of lines."""


class TomlLines:
    """The lines of a valid TOML text."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def line_of(self, keys: Sequence[str]) -> int | None:
        """Return the line (from 1) of a key, as `("apis", "shop", "spec")`; None where it cannot be found."""
        parses = _Parses(self._lines)
        low, high = 1, len(self._lines)
        try:
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if _has(parses.until(middle), keys) else (middle + 1, high)
            return low if _has(parses.until(low), keys) else None
        except RuntimeError:
            return None


class _Parses:
    """Beginnings of a text as values. Raises RuntimeError at the limit of their number."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._left = MAX_PARSES

    def until(self, line: int) -> Mapping[str, Any]:
        """Return the values of the text up to a line, or to the end of the value that spans it."""
        for end in range(line, len(self._lines) + 1):
            self._left -= 1
            if self._left < 0:
                break
            try:
                return tomllib.loads("\n".join(self._lines[:end]))
            except tomllib.TOMLDecodeError:
                continue
        raise RuntimeError("the text has too many lines to find a key")


def _has(value: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return False
        value = value[key]
    return True
