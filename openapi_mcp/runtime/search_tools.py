"""Search mode: three tools that stand for all the others, which are found by what they do, looked at, and called.

A hidden tool is called as if it were listed: by its own name or through `call_tool`, with the same checks and answers.
What a model is told here is written for it, and counted: the three cost less than 1,100 tokens, whatever the API.
"""

import asyncio
import difflib
import json
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from .catalog import Catalog, Offered
from .errors import SearchUnavailable
from .models import Tool
from .own_tools import Call, OwnTool
from .protocol import STATELESS
from .search import Hit, Search, is_available
from .types import CallToolResult, JsonObject, Schema, error_result, text_content

DEFAULT_LIMIT: Final = 10
"""Tools in an answer: of ten, more than four in five are those that a request needs (benchmarks/retrieval.py)."""

MAX_LIMIT: Final = 50

_MAX_BYTES: Final = 16_000
"""The size of an answer: some 4,000 tokens."""

_LINE: Final = 160
"""Characters that say what a tool does."""

_SCHEMAS: Final = 5
"""Tools that are shown with their inputSchema, where there is room: whoever needs another one asks for it."""

_TOPICS: Final = 600
"""Bytes of the topics in the description of `search_tools`."""

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


def topics(tools: Iterable[Tool]) -> str:
    """What the tools are about, as a sentence with how many there are of each: by their tags, else by their paths."""
    counts = Counter(topic for tool in tools for topic in _topics(tool))
    said = ""
    for topic, count in counts.most_common():
        more = f"{said}, {topic} ({count})" if said else f"\n\nTopics: {topic} ({count})"
        if len(more.encode()) > _TOPICS:
            return f"{said}, …"
        said = more
    return said


def _topics(tool: Tool) -> Sequence[str]:
    named = [tag for tag in (" ".join(tag.split()) for tag in tool.tags) if 0 < len(tag) <= _LONGEST_TOPIC]
    fixed = [part for part in tool.path.split("/") if part and "{" not in part and len(part) > len("v2")]
    return named or [part for part in fixed[:1] if len(part) <= _LONGEST_TOPIC]


_LONGEST_TOPIC: Final = 40


class _Desk:
    """Answers the three tools."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._search: Search | None = None
        self._searching = threading.Lock()

    async def search(self, arguments: Mapping[str, Any], _: Call) -> CallToolResult:
        """`search_tools`. In a thread: to make the index of a large API takes a second or two, once."""
        hits = await asyncio.to_thread(self._find, arguments["query"], arguments.get("limit", DEFAULT_LIMIT))
        return _said(_found(hits, len(self._tools)) if hits else _nothing(self._tools.values()))

    async def describe(self, arguments: Mapping[str, Any], _: Call) -> CallToolResult:
        """`describe_tool`."""
        tool = self._tools.get(arguments["name"])
        return self._unknown(arguments["name"]) if tool is None else _said(_json(_NEWEST.tool(tool)))

    async def call(self, arguments: Mapping[str, Any], call: Call) -> CallToolResult:
        """`call_tool`: the call's own result."""
        tool = self._tools.get(arguments["name"])
        return self._unknown(arguments["name"]) if tool is None else await call(tool, arguments.get("arguments", {}))

    def _find(self, request: str, limit: int) -> list[Hit]:
        with self._searching:
            if self._search is None:
                self._search = Search(self._tools.values())
            exact = [Hit(self._tools[request])] if request in self._tools else []
            found = self._search.find(request, limit)
        return [*exact, *(hit for hit in found if hit.tool.name != request)][:limit]

    def _unknown(self, name: str) -> CallToolResult:
        near = difflib.get_close_matches(name, self._tools, n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "search_tools finds the names of tools."
        return error_result(f"There is no tool {name!r}. {hint}")


def _found(hits: Sequence[Hit], count: int) -> str:
    """The answer to a search. Every hit has its line; schemas are shown as far as there is room."""
    lines = [_line(number, hit) for number, hit in enumerate(hits, 1)]
    head = f"{len(hits)} of {count:,} tools, the best first."
    room = _MAX_BYTES - sum(len(line.encode()) + 1 for line in (head, _FOOT, *lines))
    shown = dict(_schemas(hits[:_SCHEMAS], room))
    for place, line in enumerate(lines):
        if place in shown:
            lines[place] = f"{line}\n   input schema: {shown[place]}"
    return "\n".join((head, *lines, *(() if len(shown) == len(hits) else (_FOOT,))))


_FOOT: Final = "describe_tool shows the input schema of the tools that are without one here."


def _line(number: int, hit: Hit) -> str:
    tool = hit.tool
    gives = f" Finds `{hit.gives}` for a tool above." if hit.gives else ""
    required = tool.input_schema.get("required", ())
    needs = f" Needs {', '.join(required)}." if required else ""
    return f"{number}. {tool.name}: {_what(tool)} ({tool.method} {tool.path}){gives}{needs}"


def _what(tool: Tool) -> str:
    """What a tool does, in one line: its title, and how its description begins where that says more."""
    title = tool.title or ""
    description = tool.description.removeprefix(title).strip().split("\n\n")[0]
    said = " ".join(f"{title}. {description}".split()) if title and description else title or description
    return said if len(said) <= _LINE else said[: _LINE - 1].rstrip() + "…"


def _schemas(hits: Sequence[Hit], room: int) -> Iterator[tuple[int, str]]:
    for place, hit in enumerate(hits):
        schema = _json(hit.tool.input_schema)
        size = len(schema.encode(errors="replace")) + len("\n   input schema: ")
        if size <= room:
            room -= size
            yield place, schema


def _nothing(tools: Iterable[Tool]) -> str:
    return f"No tool answers to any of these words. Say it in other words.{topics(tools)}"


def _json(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _said(text: str) -> CallToolResult:
    return CallToolResult(content=(text_content(text),))
