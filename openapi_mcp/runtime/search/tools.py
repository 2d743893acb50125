"""Search mode: the tools `search_tools`, `describe_tool` and `call_tool`, which stand for all tools of an API.

A hidden tool is called by its own name or through `call_tool`, with the same checks and results as a listed one. The
texts here are written for models: as short as a choice and a call allow. The definitions of the three tools together
cost less than 1,100 tokens, whatever the API.
"""

import asyncio
import difflib
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from ..errors import SearchUnavailable
from ..protocol import STATELESS, jsonrpc
from ..server.catalog import BuiltinTool, CallByName, Catalog, ListedTool
from ..tool import Tool
from ..types import CallToolResult, Schema, error_result, text_content
from .ranking import Hit, Search, is_available

DEFAULT_LIMIT: Final = 10
"""Hits of a search: of ten, more than four in five are those that a request needs (benchmarks/retrieval.py)."""

MAX_LIMIT: Final = 50

NAMES: Final = frozenset({"search_tools", "describe_tool", "call_tool"})
"""The tools that search mode always lists."""

_NEWEST: Final = list(STATELESS.values())[-1]


@dataclass(frozen=True, slots=True)
class ToolPresentation:
    """The form in which a hit is shown: the name that it is called by, and whether its output schema is included."""

    name: Callable[[Tool], str] = lambda tool: tool.name
    results: bool = False


_BY_NAME: Final = ToolPresentation()


def search_catalog(tools: Sequence[Tool], *, pinned: Iterable[str] = (), page_size: int | None = None) -> Catalog:
    """Return a catalog that lists the three tools and the pinned ones, and hides all others.

    Pinned names that no tool has are ignored. Raises SearchUnavailable without FTS5, and ValueError if a pinned tool
    has the name of one of the three.
    """
    if not is_available():
        raise SearchUnavailable(
            "Search mode needs SQLite with FTS5, and the sqlite3 module of this Python was built without it."
        )
    names = frozenset(pinned)
    listed: list[ListedTool] = [*builtin_tools(tools), *(tool for tool in tools if tool.name in names)]
    return Catalog(listed, hidden=tools, page_size=page_size)


def builtin_tools(tools: Sequence[Tool]) -> tuple[BuiltinTool, ...]:
    """Return `search_tools`, `describe_tool` and `call_tool` for some tools. The first search creates the index."""
    search_server = _SearchServer(tools)
    call_tool = BuiltinTool(
        name="call_tool",
        title="Call a tool",
        description=_CALL,
        input_schema=_CALL_INPUT,
        annotations=common_annotations(tools),
        answer=search_server.call,
        target=lambda arguments: arguments.get("name"),
    )
    return (*_discovery_tools(search_server, "called with\ncall_tool"), call_tool)


def discovery_tools(tools: Sequence[Tool], call_hint: str, presentation: ToolPresentation) -> tuple[BuiltinTool, ...]:
    """Return `search_tools` and `describe_tool` alone, for another way to call tools.

    `call_hint` tells a model that way, after "they are found here and ".
    """
    return _discovery_tools(_SearchServer(tools, presentation), call_hint)


def _discovery_tools(search_server: "_SearchServer", call_hint: str) -> tuple[BuiltinTool, ...]:
    tools = search_server.tools.values()
    search_tools = BuiltinTool(
        name="search_tools",
        title="Search tools",
        description=_SEARCH.format(count=f"{len(tools):,}", call_hint=call_hint, topics=topics(tools)),
        input_schema=_SEARCH_INPUT,
        annotations=_READ_ONLY,
        answer=search_server.search,
    )
    describe_tool = BuiltinTool(
        name="describe_tool",
        title="Describe a tool",
        description=_DESCRIBE,
        input_schema=_DESCRIBE_INPUT,
        annotations=_READ_ONLY,
        answer=search_server.describe,
    )
    return search_tools, describe_tool


_SEARCH: Final = """\
Find the tools that a task needs. This API has {count} tools that are not listed; they are found here and {call_hint}.

Describe the task in plain words, with the things it is about and their names, for example: cancel the order of Ada
Lovelace. Search for one task at a time; if nothing fits, search again in other words.

The result ranks tools, the best first. Below a tool that needs an id stands one that finds it: call that one first. The
best few come with their input schema.{topics}"""
_DESCRIBE: Final = """\
Show one tool in full: description, input schema and output schema. Only needed if search_tools did not show the input
schema, or if the form of the result matters."""
_CALL: Final = """\
Call a tool that search_tools found. `arguments` holds its arguments, with the names and types of its input schema. The
result is the tool's own; for invalid arguments it says which and why."""
_NAME: Final[Schema] = {"type": "string", "description": "The tool's name, exactly as search_tools shows it."}
_SEARCH_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "The task, in plain words."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_LIMIT,
            "default": DEFAULT_LIMIT,
            "description": "The largest number of tools to return.",
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
_READ_ONLY: Final = {"readOnlyHint": True, "openWorldHint": False}


def common_annotations(tools: Iterable[Tool]) -> Mapping[str, bool]:
    """Return ToolAnnotations that are true of every tool; a missing `destructiveHint` counts as true."""
    changing = [tool.annotations for tool in tools if not tool.annotations.get("readOnlyHint", False)]
    if not changing:
        return {"readOnlyHint": True, "openWorldHint": True}
    destructive = any(annotations.get("destructiveHint", True) for annotations in changing)
    return {"readOnlyHint": False, "destructiveHint": destructive, "openWorldHint": True}


class _SearchServer:
    """The answers of the three tools."""

    def __init__(self, tools: Sequence[Tool], presentation: ToolPresentation = _BY_NAME) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._presentation = presentation
        self._search: Search | None = None
        self._search_lock = threading.Lock()

    async def search(self, arguments: Mapping[str, Any], _: CallByName) -> CallToolResult:
        """Answer `search_tools`, in a thread: creating the index of a large API takes a second or two, once."""
        request, limit = arguments["query"], arguments.get("limit", DEFAULT_LIMIT)
        hits, unknown_words = await asyncio.to_thread(self._find, request, limit)
        if not hits:
            return _text_result(render_no_hits(self.tools.values()))
        note = f"{_NOT_UNDERSTOOD.format(words=', '.join(unknown_words[:_MAX_WORDS]))}\n" if unknown_words else ""
        return _text_result(note + render_hits(hits, len(self.tools), self._presentation))

    async def describe(self, arguments: Mapping[str, Any], _: CallByName) -> CallToolResult:
        """Answer `describe_tool` for a tool's own name or the name under which it is shown."""
        name, display_name = arguments["name"], self._presentation.name
        tool = self.tools.get(name) or next((tool for tool in self.tools.values() if display_name(tool) == name), None)
        if tool is None:
            return self._unknown(name)
        head = "" if display_name(tool) == tool.name else f"Called as {display_name(tool)}.\n"
        return _text_result(head + _compact(_NEWEST.tool(tool)))

    async def call(self, arguments: Mapping[str, Any], call: CallByName) -> CallToolResult:
        """Answer `call_tool` with the result of the tool."""
        tool = self.tools.get(arguments["name"])
        return self._unknown(arguments["name"]) if tool is None else await call(tool, arguments.get("arguments", {}))

    def _find(self, request: str, limit: int) -> tuple[list[Hit], list[str]]:
        """Return the hits of a request, and its words if most of them are unknown."""
        with self._search_lock:
            if self._search is None:
                self._search = Search(self.tools.values())
            exact = [Hit(self.tools[request])] if request in self.tools else []
            hits = self._search.find(request, limit)
            unknown, count = self._search.unknown_words(request)
        shown = [*exact, *(hit for hit in hits if hit.tool.name != request)][:limit]
        return shown, [] if exact or 2 * len(unknown) <= count else unknown

    def _unknown(self, name: str) -> CallToolResult:
        similar = difflib.get_close_matches(name, self.tools, n=3)
        hint = f"Did you mean {' or '.join(similar)}?" if similar else "search_tools finds the names of tools."
        return error_result(f"There is no tool {name!r}. {hint}")


def _text_result(text: str) -> CallToolResult:
    return CallToolResult(content=(text_content(text),))


_MAX_BYTES: Final = 16_000
"""The size of an answer: some 4,000 tokens."""

_MAX_SUMMARY: Final = 160
"""Characters of a tool's summary."""

_MAX_SCHEMAS: Final = 5
"""Hits that are shown with their input schema, as far as they fit; describe_tool shows the others."""

_NOT_UNDERSTOOD: Final = "Not understood, so the tools below may not fit: {words}. Search in English, in other words."
_MAX_WORDS: Final = 8
"""Words that are named as not understood."""

_MISSING_SCHEMAS: Final = "describe_tool shows the input schema of the tools that are listed without one."


def render_hits(hits: Sequence[Hit], count: int, presentation: ToolPresentation = _BY_NAME) -> str:
    """Return the answer to a search among `count` tools: a line for each hit, and the schemas of the first ones.

    Lines that do not fit are counted, schemas that do not fit are left out.
    """
    head = f"{len(hits)} of {count:,} tools, the best first."
    numbered = ["\n".join(_lines(number, hit, presentation)) for number, hit in enumerate(hits, 1)]
    lines = list(_fitting(numbered, _MAX_BYTES - _size(head + _MISSING_SCHEMAS)))
    first = [hit.tool for hit in hits[: min(_MAX_SCHEMAS, len(lines))]]
    free = _MAX_BYTES - _size("".join((head, _MISSING_SCHEMAS, *lines)))
    inputs = list(_fitting((f"\n   input schema: {_compact(tool.input_schema)}" for tool in first), free))
    results = [f"\n   result: {_compact(tool.output_schema)}" if tool.output_schema else "" for tool in first]
    outputs = list(_fitting(results if presentation.results else (), free - sum(map(_size, inputs))))
    body = ["".join(parts) for parts in zip_longest(lines, inputs, outputs, fillvalue="")]
    omitted = len(hits) - len(lines)
    foot = [f"{omitted} more did not fit; use a smaller limit or a narrower query."] if omitted else []
    return "\n".join([head, *body, *foot, *([] if len(inputs) == len(lines) else [_MISSING_SCHEMAS])])


def _fitting(texts: Iterable[str], free: int) -> Iterator[str]:
    """Yield the texts as long as they fit into `free` bytes, each with a line break."""
    for text in texts:
        free -= _size(text) + 1
        if free < 0:
            return
        yield text


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _lines(number: int, hit: Hit, presentation: ToolPresentation) -> Iterator[str]:
    """Yield the line of a hit, and one for each tool that finds a value for it."""
    yield _line(number, hit, presentation.name(hit.tool))
    for argument, tool in hit.producers:
        yield _producer_line(argument, tool, presentation.name(tool))


def _line(number: int, hit: Hit, name: str) -> str:
    required = hit.tool.input_schema.get("required", ())
    needs = f" Needs {', '.join(required)}." if required else ""
    return f"{number}. {name}: {_summary(hit.tool)} ({hit.tool.method} {hit.tool.path}){needs}"


def _producer_line(argument: str, tool: Tool, name: str) -> str:
    return f"   {argument}: found by {name} ({tool.method} {tool.path})"


def _summary(tool: Tool) -> str:
    """Return one line about a tool: its title, and the beginning of its description if that differs."""
    paragraphs = [" ".join(text.split()) for text in (tool.title or "", *tool.description.split("\n\n")[:2])]
    title, *described = [text.rstrip(".") for text in paragraphs if text] or [""]
    more = next((text for text in described if text != title), "")
    summary = more if more.startswith(title) else f"{title}. {more}" if more else title
    return summary if len(summary) <= _MAX_SUMMARY else summary[: _MAX_SUMMARY - 1].rstrip() + "…"


def render_no_hits(tools: Iterable[Tool]) -> str:
    """Return the answer to a search without hits."""
    return f"No tool matches any of these words. Search again in other words.{topics(tools)}"


_MAX_TOPICS: Final = 600
"""Bytes of the topics in the description of `search_tools`."""

_MAX_TOPIC: Final = 40
"""Characters of a topic; a longer tag or path segment is not one."""

_PREFIX_SEGMENT: Final = re.compile(r"api|rest|v?\d+(\.\d+)*", re.IGNORECASE)
"""A segment with which all paths of an API may begin."""


def topics(tools: Iterable[Tool]) -> str:
    """Return the topics of the tools as a sentence with the number of tools of each, the most frequent first.

    The topics of a tool are its tags; a tool without tags has the beginning of its path.
    """
    counts = Counter(topic for tool in tools for topic in _topics(tool))
    sentence = ""
    for topic, count in counts.most_common():
        longer = f"{sentence}, {topic} ({count})" if sentence else f"\n\nTopics: {topic} ({count})"
        if _size(longer) > _MAX_TOPICS:
            return f"{sentence}, …"
        sentence = longer
    return sentence


def _topics(tool: Tool) -> Sequence[str]:
    tags = [tag for tag in (" ".join(tag.split()) for tag in tool.tags) if 0 < len(tag) <= _MAX_TOPIC]
    fixed = [part for part in tool.path.split("/") if part and "{" not in part and not _PREFIX_SEGMENT.fullmatch(part)]
    return tags or [part for part in fixed[:1] if len(part) <= _MAX_TOPIC]


def _compact(value: Mapping[str, Any]) -> str:
    """Return JSON as `tools/list` would contain it."""
    return jsonrpc.encode(value).decode()
