"""Tools that a request finds, and topics, for `search`: as a table at a terminal, with tabs in a pipe, or as JSON."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..errors import UnknownTool, UsageError
from ..runtime.errors import SearchUnavailable
from ..runtime.search.answers import summary
from ..runtime.search.explanations import reason
from ..runtime.search.index_store import IndexStore
from ..runtime.search.ranking import Hit
from ..runtime.search.tools import DEFAULT_LIMIT, ToolFinder
from ..runtime.tool import Tool
from . import console
from .report import plural, printable

Row = Mapping[str, Any]
"""A line of the table, or an object of the JSON: values by the names of columns."""

_SENTENCE_SECONDS: Final = 120.0
"""The time to read the tools with the sentence model, if it is installed: there is no later search that goes on."""


def found_tools(
    tools: Sequence[Tool],
    query: str,
    topic: str,
    limit: int | None,
    *,
    explain: bool,
    store: IndexStore | None = None,
) -> list[Row]:
    """Return the tools of a request, those of a topic, or without both the topics. The index is kept in `store`.

    Raises UnknownTool if there are none, and UsageError where SQLite has no full-text search.
    """
    finder, query, topic = ToolFinder(tools, store, _SENTENCE_SECONDS), query.strip(), topic.strip()
    if topic and not finder.topics.tools(topic):
        raise UnknownTool(
            finder.topics.unknown(topic), where=f"--topic {topic}", hint="without words, search lists topics"
        )
    if not query:
        return _browsed(finder, topic)[:limit]
    try:
        hits, unknown_words = finder.find(query, limit or DEFAULT_LIMIT, topic)
    except SearchUnavailable as error:
        raise UsageError(str(error), hint="use another build of Python") from error
    if unknown_words:
        console.err(f"note: not understood, so the tools may not fit: {printable(', '.join(unknown_words))}")
    if not hits:
        raise UnknownTool(
            "no tool matches these words", where=query, hint="use other words, or none to list the topics"
        )
    return [_row(number, hit, reason(query, hit.tool) if explain else "") for number, hit in enumerate(hits, 1)]


def _browsed(finder: ToolFinder, topic: str) -> list[Row]:
    if topic:
        return [_row(number, Hit(tool), "") for number, tool in enumerate(finder.topics.tools(topic), 1)]
    counted = finder.topics.counted()
    return [{"topic": name, "tools": len(tools), "examples": examples} for name, tools, examples in counted]


def _row(number: int, hit: Hit, why: str) -> Row:
    tool = hit.tool
    row = {"rank": number, "tool": tool.name, "method": tool.method, "path": tool.path, "about": summary(tool)}
    finders = [{"argument": argument, "tool": producer.name} for argument, producer in hit.producers]
    return {**row, "finders": finders, **({"why": why} if why else {})}


def print_rows(rows: Sequence[Row]) -> None:
    """Print rows as a table at a terminal, else a line each, with tabs."""
    if sys.stdout.isatty():
        _print_table(rows)
        return
    for row in rows:
        console.out("\t".join(_cells(row)))


def _cells(row: Row) -> Iterator[str]:
    """Yield the values of a row as text; tools that find arguments stand in the JSON and at a terminal only."""
    yield from (printable(_text(value)) for name, value in row.items() if name != "finders")


def _text(value: object) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _print_table(rows: Sequence[Row]) -> None:
    """Print a table as wide as the terminal. Below a tool stand those that find its arguments."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    names = [name for name in rows[0] if name != "finders"]
    for name in names:
        table.add_column(name.upper(), overflow="fold", justify="right" if name in ("rank", "tools") else "left")
    for row in rows:
        table.add_row(*map(Text, _cells(row)))
        for found in row.get("finders", ()):
            cells = dict.fromkeys(names, "") | {"tool": f"  {found['argument']}: found by {found['tool']}"}
            table.add_row(*(Text(printable(cells[name])) if name != "tool" else Text(cells[name]) for name in names))
    Console().print(table)
    console.err(plural(len(rows), "topic" if "topic" in names else "tool"))
