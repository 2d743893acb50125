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
from .search_answers import AS_LISTED, Look, compact, found, nothing, topics
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
    call_tool = OwnTool(
        name="call_tool",
        title="Call a tool",
        description=_CALL,
        input_schema=_CALL_INPUT,
        annotations=at_worst(tools),
        answer=desk.call,
    )
    return (*_finders(desk, "called with\ncall_tool"), call_tool)


def finders(tools: Sequence[Tool], called: str, look: Look) -> tuple[OwnTool, ...]:
    """`search_tools` and `describe_tool` alone, for tools that are `called` in another way and look otherwise."""
    return _finders(_Desk(tools, look), called)


def _finders(desk: "_Desk", called: str) -> tuple[OwnTool, ...]:
    tools = desk.tools.values()
    search_tools = OwnTool(
        name="search_tools",
        title="Search tools",
        description=_SEARCH.format(count=f"{len(tools):,}", called=called, topics=topics(tools)),
        input_schema=_SEARCH_INPUT,
        annotations=_LOOKS,
        answer=desk.search,
    )
    describe_tool = OwnTool(
        name="describe_tool",
        title="Describe a tool",
        description=_DESCRIBE,
        input_schema=_DESCRIBE_INPUT,
        annotations=_LOOKS,
        answer=desk.describe,
    )
    return search_tools, describe_tool


_SEARCH: Final = """\
Find the tools that a task needs. This API has {count} tools that are not listed; they are found here and {called}.

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


def at_worst(tools: Iterable[Tool]) -> Mapping[str, bool]:
    """ToolAnnotations that are true of every tool (`destructiveHint` counts as true where nothing is said)."""
    changing = [tool.annotations for tool in tools if not tool.annotations.get("readOnlyHint", False)]
    if not changing:
        return {"readOnlyHint": True, "openWorldHint": True}
    destructive = any(annotations.get("destructiveHint", True) for annotations in changing)
    return {"readOnlyHint": False, "destructiveHint": destructive, "openWorldHint": True}


class _Desk:
    """Answers the three tools."""

    def __init__(self, tools: Sequence[Tool], look: Look = AS_LISTED) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._look = look
        self._search: Search | None = None
        self._searching = threading.Lock()

    async def search(self, arguments: Mapping[str, Any], _: Call) -> CallToolResult:
        """`search_tools`. In a thread: to make the index of a large API takes a second or two, once."""
        hits = await asyncio.to_thread(self._find, arguments["query"], arguments.get("limit", DEFAULT_LIMIT))
        return _said(found(hits, len(self.tools), self._look) if hits else nothing(self.tools.values()))

    async def describe(self, arguments: Mapping[str, Any], _: Call) -> CallToolResult:
        """`describe_tool`, by its name or by what it is shown as."""
        name, shown = arguments["name"], self._look.name
        tool = self.tools.get(name) or next((tool for tool in self.tools.values() if shown(tool) == name), None)
        if tool is None:
            return self._unknown(name)
        head = "" if shown(tool) == tool.name else f"Called as {shown(tool)}.\n"
        return _said(head + compact(_NEWEST.tool(tool)))

    async def call(self, arguments: Mapping[str, Any], call: Call) -> CallToolResult:
        """`call_tool`: the call's own result."""
        tool = self.tools.get(arguments["name"])
        return self._unknown(arguments["name"]) if tool is None else await call(tool, arguments.get("arguments", {}))

    def _find(self, request: str, limit: int) -> list[Hit]:
        with self._searching:
            if self._search is None:
                self._search = Search(self.tools.values())
            exact = [Hit(self.tools[request])] if request in self.tools else []
            hits = self._search.find(request, limit)
        return [*exact, *(hit for hit in hits if hit.tool.name != request)][:limit]

    def _unknown(self, name: str) -> CallToolResult:
        near = difflib.get_close_matches(name, self.tools, n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "search_tools finds the names of tools."
        return error_result(f"There is no tool {name!r}. {hint}")


def _said(text: str) -> CallToolResult:
    return CallToolResult(content=(text_content(text),))
