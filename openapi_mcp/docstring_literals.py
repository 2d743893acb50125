"""Descriptions as docstrings: wrapped for a reader, and read back by the runtime as they were, or not written at all.

What is written is evaluated before it is given out, so no description says more than a string.
"""

import ast
import re
import textwrap
from typing import Final

from .literals import WIDTH, Source, width
from .runtime import docstrings

INDENT: Final = 4
_ROOM: Final = WIDTH - INDENT

_BREAK: Final = re.compile(r" (?=[^\W\d_])")
"""Where a line may be broken: the runtime takes a line that begins with a letter for the rest of the one before."""


def exact(description: str) -> Source | None:
    """A docstring that is read as this description, or None where there is none that reads well."""
    lines = [line for paragraph in _escaped(description).split("\n") for line in _wrapped(paragraph)]
    if not all(line.isprintable() and line == line.rstrip() and width(line) <= _ROOM for line in lines):
        return None
    if not description or description[0] in ' "' or description[-1] in '"\\':
        return None
    found = _written(lines)
    return found if docstrings.read(ast.literal_eval(found)) == description else None


def summary(text: str) -> Source:
    """A docstring of one line that says about this."""
    plain = " ".join(text.split())
    line = textwrap.shorten(plain, _ROOM - 6, placeholder=" …") if width(plain) > _ROOM - 6 else plain
    line = re.sub(r'[\\"\x00-\x1f\x7f-\x9f]', "'", line).strip(" '")
    return _written([line if line.isprintable() and line and width(line) <= _ROOM - 6 else "See `description`."])


def _wrapped(line: str) -> list[str]:
    """A line as several, broken only where reading joins them again."""
    found: list[str] = []
    current = ""
    for piece in _BREAK.split(line):
        longer = f"{current} {piece}" if current else piece
        if current and width(longer) + 6 * (not found) > _ROOM:
            found.append(current)
            longer = piece
        current = longer
    return [*found, current]


def _escaped(text: str) -> str:
    """As it stands between three quotes. What cannot be seen is not escaped, but refused."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _written(lines: list[str]) -> Source:
    """The literal of lines that are escaped."""
    if len(lines) == 1:
        return Source(f'"""{lines[0]}"""')
    indented = [" " * INDENT * bool(line) + line for line in lines[1:]]
    return Source("\n".join([f'"""{lines[0]}', *indented, " " * INDENT + '"""']))
