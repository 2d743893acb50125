"""Search mode: three tools that stand for all the others, which are found by what they do, looked at, and called.

A hidden tool is called as if it were listed: by its own name or through `call_tool`, with the same checks and answers.
What a model is told here is written for it, and counted: the three cost less than 1,100 tokens, whatever the API.
"""

import asyncio
import difflib
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .catalog import Catalog, Offered
from .errors import SearchUnavailable
from .models import Tool
from .own_tools import Call, OwnTool
from .protocol import STATELESS
from .search import Hit, Search, is_available
from .search_answers import compact, found, nothing, topics
from .types import CallToolResult, Schema, error_result, text_content

DEFAULT_LIMIT: Final = 10
"""Tools in an answer: of ten, more than four in five are those that a request needs (benchmarks/retrieval.py)."""

MAX_LIMIT: Final = 50

NAMES: Final = frozenset({"search_tools", "describe_tool", "call_tool"})
"""The three, which are always listed in search mode."""

_NEWEST: Final = list(STATELESS.values())[-1]


def search_catalog(tools: Sequence[Tool], *, pinned: Iterable[str] = (), page_size: int | None = None) -> Catalog:
    """A catalog that lists the three tools and the pinned ones, and hides all others.

    A pinned name that no tool has is passed over. Raises SearchUnavailable, and ValueError where a pinned tool has the
    name of one of the three.
    """
    if not is_available():
        raise SearchUnavailable("Tools cannot be searched: this Python's SQLite was built without FTS5.")
    wanted = frozenset(pinned)
    listed: list[Offered] = [*own_tools(tools), *(tool for tool in tools if tool.name in wanted)]
    return Catalog(listed, hidden=tools, page_size=page_size)


def own_tools(tools: Sequence[Tool]) -> tuple[OwnTool, ...]:
    """`search_tools`, `describe_tool` and `call_tool` over some tools. The index is made at the first search."""
    desk = _Desk(tools)
    return (
        OwnTool(
            name="search_tools",
            title="Search tools",
            description=_SEARCH.format(count=f"{len(tools):,}", topics=topics(tools)),
            input_schema=_SEARCH_INPUT,
            annotations=_LOOKS,
            answer=desk.search,
        ),
        OwnTool(
            name="describe_tool",
            title="Describe a tool",
            description=_DESCRIBE,
            input_schema=_DESCRIBE_INPUT,
            annotations=_LOOKS,
            answer=desk.describe,
        ),
        OwnTool(
            name="call_tool",
            title="Call a tool",
            description=_CALL,
            input_schema=_CALL_INPUT,
            annotations=_at_worst(tools),
            answer=desk.call,
        ),
    )


_SEARCH: Final = """\
Find the tools that a task needs. This API has {count} tools that are not listed; they are found here and called with
call_tool.

Say what is to be done in plain words, with the things it is about and their names, for example: cancel the order of
Ada Lovelace. Search for one task at a time, and again in other words where nothing fits.

The answer ranks tools, the best first. A tool that needs an id comes with one that finds it, marked with the argument
that it finds a value for: call that one first. The best few come with their input schema.{topics}"""
_DESCRIBE: Final = """\
Show one tool whole: what it does, its input schema and output schema. Only needed where search_tools did not show the
input schema, or where the form of the result matters."""
_CALL: Final = """\
Call a tool that search_tools found. Its arguments go into `arguments`, by the names and in the form of its input
schema. The result is the tool's own; where arguments do not fit, it says which and why."""
_NAME: Final[Schema] = {"type": "string", "description": "The tool's name, exactly as search_tools shows it."}
_SEARCH_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What is to be done, in plain words."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_LIMIT,
            "default": DEFAULT_LIMIT,
            "description": "At most so many tools.",
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}
_DESCRIBE_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {"name": _NAME},
    "required": ["name"],
    "additionalProperties": False,
}
_CALL_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "arguments": {"type": "object", "description": "The tool's arguments.", "default": {}},
    },
    "required": ["name"],
    "additionalProperties": False,
}
_LOOKS: Final = {"readOnlyHint": True, "openWorldHint": False}


def _at_worst(tools: Iterable[Tool]) -> Mapping[str, bool]:
    """ToolAnnotations that are true of every tool (`destructiveHint` counts as true where nothing is said)."""
    changing = [tool.annotations for tool in tools if not tool.annotations.get("readOnlyHint", False)]
    if not changing:
        return {"readOnlyHint": True, "openWorldHint": True}
    destructive = any(annotations.get("destructiveHint", True) for annotations in changing)
    return {"readOnlyHint": False, "destructiveHint": destructive, "openWorldHint": True}


class _Desk:
    """Answers the three tools."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._search: Search | None = None
        self._searching = threading.Lock()

    async def search(self, arguments: Mapping[str, Any], _: Call) -> CallToolResult:
        """`search_tools`. In a thread: to make the index of a large API takes a second or two, once."""
        hits = await asyncio.to_thread(self._find, arguments["query"], arguments.get("limit", DEFAULT_LIMIT))
        return _said(found(hits, len(self._tools)) if hits else nothing(self._tools.values()))

    async def describe(self, arguments: Mapping[str, Any], _: Call) -> CallToolResult:
        """`describe_tool`."""
        tool = self._tools.get(arguments["name"])
        return self._unknown(arguments["name"]) if tool is None else _said(compact(_NEWEST.tool(tool)))

    async def call(self, arguments: Mapping[str, Any], call: Call) -> CallToolResult:
        """`call_tool`: the call's own result."""
        tool = self._tools.get(arguments["name"])
        return self._unknown(arguments["name"]) if tool is None else await call(tool, arguments.get("arguments", {}))

    def _find(self, request: str, limit: int) -> list[Hit]:
        with self._searching:
            if self._search is None:
                self._search = Search(self._tools.values())
            exact = [Hit(self._tools[request])] if request in self._tools else []
            hits = self._search.find(request, limit)
        return [*exact, *(hit for hit in hits if hit.tool.name != request)][:limit]

    def _unknown(self, name: str) -> CallToolResult:
        near = difflib.get_close_matches(name, self._tools, n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "search_tools finds the names of tools."
        return error_result(f"There is no tool {name!r}. {hint}")


def _said(text: str) -> CallToolResult:
    return CallToolResult(content=(text_content(text),))
