"""The list of tools that `inspect` prints: for eyes by tag, with bars and whole names; for programs with tabs.

`change` says what an option would make of the list.
"""

import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ... import plain_text
from ...runtime.tool import Argument, Tool
from ...token_budget import tokens_of_bytes
from ..report import plural, printable

if TYPE_CHECKING:  # most servers are of one API
    from ...gateway.gateway import Served

Sort: TypeAlias = Literal["cost", "name", "path"]
"""Orders of the list: the most tokens first, or by name or path."""

_COLUMNS: Final = ("tool", "method", "path", "title", "arguments", "tokens")
"""Columns in a pipe, in an order that stays: a new one comes last."""

_BAR: Final = 8
"""Columns of the bar that shows a tool's part of the largest one's tokens."""
_MIN_PATH: Final = 16
_MIN_TITLE: Final = 20
"""Columns of a path and a title below which they show nothing of use."""


def sorted_tools(served: "Served", sort: Sort | None) -> Sequence[Tool]:
    """Return the tools in an order."""
    if sort is None:
        return served.tools
    sizes = served.sizes
    keys: Mapping[Sort, Callable[[Tool], Any]] = {
        "cost": lambda tool: (-sizes[tool.name], tool.name),
        "name": lambda tool: (tool.name.casefold(), tool.name),
        "path": lambda tool: (tool.path, tool.method),
    }
    return sorted(served.tools, key=keys[sort])


def for_eyes(served: "Served", sort: Sort | None) -> Iterator[str]:
    """Yield the list as wide as the terminal: by tag, or in the order that was asked for."""
    columns, tools = shutil.get_terminal_size().columns, sorted_tools(served, sort)
    return _grouped(served, tools, columns) if sort is None else _listed(served, tools, columns)


def _grouped(served: "Served", tools: Sequence[Tool], columns: int) -> Iterator[str]:
    """Yield the tools for eyes, under a heading for the first tag of each; without a tag, for a word of its path."""
    from ...runtime.search.topics import topics_of

    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        groups.setdefault(next(iter(tool.tags or topics_of(tool)), ""), []).append(tool)
    lines = dict(zip((tool.name for tool in tools), _listed(served, tools, columns - 2), strict=True))
    sizes = served.sizes
    for name, members in groups.items():
        cost = sum(tokens_of_bytes(sizes[tool.name]) for tool in members)
        yield f"{printable(name) or 'others'}: {plural(len(members), 'tool')}, about {cost:,} tokens"
        yield from (f"  {lines[tool.name]}" for tool in members)


def _listed(served: "Served", tools: Sequence[Tool], columns: int) -> Iterator[str]:
    """Yield a line for each tool, as wide as the terminal: cost, whole name, method, path, and title if it has room."""
    costs = {name: tokens_of_bytes(size) for name, size in served.sizes.items()}
    largest = max(costs.values(), default=0) or 1
    digits = len(f"{largest:,}")
    name_width = max((len(tool.name) for tool in tools), default=0)
    path_width = max((_width(printable(tool.path)) for tool in tools), default=0)
    room = columns - _BAR - digits - name_width - 7 - 2 - 4 * 2
    path_width = min(path_width, max(room, _MIN_PATH))
    title_width = room - path_width - 2
    for tool in tools:
        bar = "█" * max(round(_BAR * costs[tool.name] / largest), 1)
        path = shortened(printable(tool.path), path_width)
        title = plain_text.trim(printable(tool.title or ""), title_width) if title_width >= _MIN_TITLE else ""
        cells = (f"{costs[tool.name]:{digits},}", bar.ljust(_BAR), tool.name.ljust(name_width), f"{tool.method:7}")
        yield "  ".join([*cells, path + " " * (path_width - _width(path)), title]).rstrip()


def shortened(text: str, width: int) -> str:
    """Return a text of at most so many columns, of which the middle is left out: both ends of a path tell the most."""
    if _width(text) <= width:
        return text
    head = tail = ""
    for number in range(len(text)):
        begin, end = (number // 2 + 1, number - number // 2)
        if _width(text[:begin]) + _width(text[len(text) - end :] if end else "") + 1 > width:
            break
        head, tail = text[:begin], text[len(text) - end :] if end else ""
    return f"{head}…{tail}"


def separated(served: "Served", tools: Sequence[Tool], api_of: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the list for programs: a line of names, then one for each tool, with tabs between the cells.

    Of several APIs the last cell is the name of the tool's own.
    """
    yield "\t".join([*_COLUMNS, *(["api"] if api_of else [])])
    sizes = served.sizes
    for tool in tools:
        arguments = ",".join(map(argument_text, tool.arguments))
        cells = (tool.name, tool.method, tool.path, tool.title or "", arguments)
        last = [printable(api_of[tool.name])] if api_of else []
        yield "\t".join([*map(printable, cells), str(tokens_of_bytes(sizes[tool.name])), *last])


def _width(text: str) -> int:
    """Return the columns of a text at a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def argument_text(argument: Argument) -> str:
    """Return the name of an argument, with a question mark if it may be left out."""
    return argument.name + ("" if argument.required else "?")


_MANY_TIMES: Final = 2
"""From here on a multiple says more than a percentage."""


def change(before: int, after: int) -> str:
    """Return the change of a number in words: `-25%`, `-99.8%`, `33 times as many`; 100 per cent is all of it."""
    if before == after or not before:
        return "no change" if before == after else "from none"
    if after >= _MANY_TIMES * before:
        times = after / before
        return f"{times:,.0f} times as many" if times >= 10 else f"{times:.1f} times as many"
    percent = 100 * (after - before) / before
    if percent == -100 or 1 <= abs(percent) <= 99:
        return f"{percent:+.0f}%"
    tenths = math.trunc(percent * 10) / 10  # towards zero: what is not all of it is not 100
    return f"{tenths:+.1f}%" if tenths else "less than 0.1%"
