"""The functions that tools are in a program: a name for each that Python can call, by one rule that can be told.

A tool's own name where that is an identifier; else every other character is `_`, with `_` before a digit in front and
after a word that Python has a meaning for. Of tools that would share a name, the first in their order has it alone and
the others have `_2`, `_3`, … after it; whose own name is an identifier comes before all others.
"""

import builtins
import keyword
import re
from collections.abc import Iterable
from typing import Final

from .runtime.models import Tool

CALL_TOOL: Final = "call_tool"
"""The function that calls any tool, by its name."""

_TAKEN: Final = frozenset({CALL_TOOL, *keyword.kwlist, *dir(builtins)})


def functions(tools: Iterable[Tool]) -> dict[str, Tool]:
    """The tools by the names of their functions."""
    found: dict[str, Tool] = {}
    for tool in sorted(tools, key=lambda tool: (_identifier(tool.name) != tool.name, tool.name)):
        plain = name = _identifier(tool.name)
        number = 1
        while name in found:
            number += 1
            name = f"{plain}_{number}"
        found[name] = tool
    return found


def _identifier(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if plain[:1].isdigit():
        plain = f"_{plain}"
    return f"{plain}_" if plain in _TAKEN else plain
