"""Search mode: the tools `search_tools`, `describe_tool` and `call_tool`, which stand for all tools of an API.

A hidden tool is called by its own name or through `call_tool`, with the same checks and results as a listed one. The
texts here are written for models: as short as a choice and a call allow. The definitions of the three tools together
cost less than 1,100 tokens, whatever the API.
"""

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ..errors import SearchUnavailable
from ..protocol import STATELESS, jsonrpc
from ..protocol.output_schemas import open_schema
from ..server.catalog import BuiltinTool, CallByName, Catalog, ListedTool
from ..tool import Tool
from ..types import CallToolResult, Schema, error_result, text_content
from .answers import BY_NAME, ToolPresentation, render_hits, render_tool
from .full_text import is_available
from .topics import TOOLS_PER_PAGE, TOPICS_PER_PAGE, Topics, topics

if TYPE_CHECKING:
    from .index_store import IndexStore
    from .ranking import Hit, Search

__all__ = ["ToolPresentation", "builtin_tools", "discovery_tools", "search_catalog", "topics"]

DEFAULT_LIMIT: Final = 10
"""Hits of a search: of ten, more than four in five are those that a request needs (benchmarks/retrieval.py)."""

MAX_LIMIT: Final = 50

NAMES: Final = frozenset({"search_tools", "describe_tool", "call_tool"})
"""The tools that search mode always lists."""

_NEWEST: Final = list(STATELESS.values())[-1]


def search_catalog(
    tools: Sequence[Tool],
    *,
    pinned: Iterable[str] = (),
    page_size: int | None = None,
    store: "IndexStore | None" = None,
) -> Catalog:
    """Return a catalog that lists the three tools and the pinned ones, and hides all others.

    The index of the search is kept in `store`. Pinned names that no tool has are ignored. Raises SearchUnavailable
    without FTS5, and ValueError if a pinned tool has the name of one of the three.
    """
    if not is_available():
        raise SearchUnavailable(
            "Search mode needs SQLite with FTS5, and the sqlite3 module of this Python was built without it."
        )
    names = frozenset(pinned)
    listed: list[ListedTool] = [*builtin_tools(tools, store), *(tool for tool in tools if tool.name in names)]
    return Catalog(listed, hidden=tools, page_size=page_size)


def builtin_tools(tools: Sequence[Tool], store: "IndexStore | None" = None) -> tuple[BuiltinTool, ...]:
    """Return `search_tools`, `describe_tool` and `call_tool` for some tools. The first search creates the index."""
    search_server = _SearchServer(tools, store=store)
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


def discovery_tools(
    tools: Sequence[Tool], call_hint: str, presentation: ToolPresentation, store: "IndexStore | None" = None
) -> tuple[BuiltinTool, ...]:
    """Return `search_tools` and `describe_tool` alone, for another way to call tools.

    `call_hint` tells a model that way, after "they are found here and ".
    """
    return _discovery_tools(_SearchServer(tools, presentation, store), call_hint)


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
Lovelace. Search for one task at a time; if nothing fits, search again in other words, or browse: without a query, the
topics are listed, and with a topic, its tools.

The result ranks tools, the best first, with their signatures. Below a tool that needs an id stands one that finds it:
call that one first.{topics}"""
_DESCRIBE: Final = """\
Show one tool: its description, and the signature of its arguments and its result. Only needed if search_tools
shortened them, or if the form of the result matters."""
_CALL: Final = """\
Call a tool that search_tools found, with the names and types of its signature: {"name": "getPet", "petId": 1}. An
argument that the tool itself names `name` or `arguments` goes into `arguments`, as all others may. The result is the
tool's own; for invalid arguments it says which and why."""
_NAME: Final[Schema] = {"type": "string", "description": "The tool's name, exactly as search_tools shows it."}
_SEARCH_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "The task, in plain words.", "default": ""},
        "topic": {"type": "string", "description": "Only tools with this tag, or whose path begins so."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_LIMIT,
            "description": f"Tools of a page; {DEFAULT_LIMIT} of a search by default.",
        },
        "page": {"type": "integer", "minimum": 1, "default": 1},
        "explain": {"type": "boolean", "default": False, "description": "Show why each tool was found."},
    },
    "additionalProperties": False,
}
_DESCRIBE_INPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "schema": {"type": "boolean", "default": False, "description": "Show the JSON Schemas, whole."},
    },
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
    "additionalProperties": {"description": "An argument of the tool."},
}
_READ_ONLY: Final = {"readOnlyHint": True, "openWorldHint": False}


def common_annotations(tools: Iterable[Tool]) -> Mapping[str, bool]:
    """Return ToolAnnotations that are true of every tool; a missing `destructiveHint` counts as true."""
    changing = [tool.annotations for tool in tools if not tool.annotations.get("readOnlyHint", False)]
    if not changing:
        return {"readOnlyHint": True, "openWorldHint": True}
    destructive = any(annotations.get("destructiveHint", True) for annotations in changing)
    return {"readOnlyHint": False, "destructiveHint": destructive, "openWorldHint": True}


class ToolFinder:
    """A search among some tools, which creates its index once; for several threads."""

    def __init__(
        self, tools: Iterable[Tool], store: "IndexStore | None" = None, sentence_seconds: float | None = None
    ) -> None:
        """Take the tools; `sentence_seconds` is the time of a search for the sentence model to read them."""
        self.tools = {tool.name: tool for tool in tools}
        self._store = store
        self._sentence_seconds = sentence_seconds
        self._search: Search | None = None
        self._search_lock = threading.Lock()

    @cached_property
    def topics(self) -> Topics:
        """The topics of the tools."""
        return Topics(self.tools.values())

    def find(self, request: str, limit: int, topic: str = "") -> "tuple[list[Hit], list[str]]":
        """Return the hits of a request, of a topic if one is given, and its words if most of them are unknown."""
        from .ranking import Hit  # with a table of synonyms: where a start needs none of it

        with self._search_lock:
            self._search = self._search or self._made()
            exact = [Hit(self.tools[request])] if request in self.tools else []
            hits = self._search.find(request, len(self.tools) if topic else limit)
            unknown, count = self._search.unknown_words(request)
        if topic:
            names = {tool.name for tool in self.topics.tools(topic)}
            hits = [hit for hit in hits if hit.tool.name in names]
        shown = [*exact, *(hit for hit in hits if hit.tool.name != request)][:limit]
        return shown, [] if exact or 2 * len(unknown) <= count else unknown

    def _made(self) -> "Search":
        from .index_store import SENTENCE_SECONDS, sentences
        from .ranking import Search

        seconds = SENTENCE_SECONDS if self._sentence_seconds is None else self._sentence_seconds
        tools = tuple(self.tools.values())
        return Search(tools, self._store, sentences(tools, self._store, seconds))


class _SearchServer(ToolFinder):
    """The answers of the three tools."""

    def __init__(
        self, tools: Sequence[Tool], presentation: ToolPresentation = BY_NAME, store: "IndexStore | None" = None
    ) -> None:
        super().__init__(tools, store)
        self._presentation = presentation

    async def search(self, arguments: Mapping[str, Any], _: CallByName) -> CallToolResult:
        """Answer `search_tools`, in a thread: creating the index of a large API takes a second or two, once."""
        return _text_result(await asyncio.to_thread(self._answer, arguments))

    def _answer(self, arguments: Mapping[str, Any]) -> str:
        query, topic = arguments.get("query", "").strip(), arguments.get("topic", "").strip()
        limit, page = arguments.get("limit"), arguments.get("page", 1)
        if query and topic and not self.topics.tools(topic):
            return self.topics.unknown(topic)
        if query:
            return self._found(query, topic, limit or DEFAULT_LIMIT, page, explain=arguments.get("explain", False))
        if topic:
            names = {tool.name: self._presentation.name(tool) for tool in self.topics.tools(topic)}
            return self.topics.tools_page(topic, page, limit or TOOLS_PER_PAGE, names)
        return self.topics.page(page, limit or TOPICS_PER_PAGE)

    def _found(self, query: str, topic: str, limit: int, page: int, *, explain: bool) -> str:
        """Return the answer to a search, in a topic if one is given."""
        hits, unknown_words = self.find(query, limit * page, topic)
        hits = hits[limit * (page - 1) :]
        if not hits:
            return render_no_hits(self.tools.values()) if page == 1 else f"There is no page {page} of this search."
        note = f"{_NOT_UNDERSTOOD.format(words=', '.join(unknown_words[:_MAX_WORDS]))}\n" if unknown_words else ""
        reasons = list[str]()
        if explain:
            from .explanations import reason

            reasons = [reason(query, hit.tool) for hit in hits]
        first = 1 + limit * (page - 1)
        return note + render_hits(hits, len(self.tools), self._presentation, reasons=reasons, first=first)

    async def describe(self, arguments: Mapping[str, Any], _: CallByName) -> CallToolResult:
        """Answer `describe_tool` for a tool's own name or the name under which it is shown."""
        name, display_name = arguments["name"], self._presentation.name
        tool = self.tools.get(name) or next((tool for tool in self.tools.values() if display_name(tool) == name), None)
        if tool is None:
            return self._unknown(name)
        if not arguments.get("schema", False):
            return _text_result(render_tool(tool, display_name(tool), self._presentation))
        head = "" if display_name(tool) == tool.name else f"Called as {display_name(tool)}.\n"
        outputs = {} if tool.output_schema is None else {"outputSchema": open_schema(tool.output_schema)}
        return _text_result(head + jsonrpc.encode({**_NEWEST.tool(tool), **outputs}).decode())

    async def call(self, arguments: Mapping[str, Any], call: CallByName) -> CallToolResult:
        """Answer `call_tool` with the result of the tool."""
        name = arguments["name"]
        tool = self.tools.get(name)
        if tool is None:
            return self._unknown(name)
        inner = arguments.get("arguments", {})
        flat = {key: value for key, value in arguments.items() if key not in ("name", "arguments")}
        twice = [key for key, value in flat.items() if key in inner and inner[key] != value]
        if twice:
            return error_result(f"{_quoted(twice)}: given twice, in `arguments` and beside it, with other values.")
        return await call(tool, {**flat, **inner})

    def _unknown(self, name: str) -> CallToolResult:
        from ..arguments.spelling import did_you_mean

        hint = did_you_mean(name, self.tools, str) or ". search_tools finds the names of tools."
        return error_result(f"There is no tool {name[:_MAX_SHOWN_NAME]!r}{hint}")


_MAX_SHOWN_NAME: Final = 100
"""Characters of an unknown name that are repeated."""

_NOT_UNDERSTOOD: Final = "Not understood, so the tools below may not fit: {words}. Search in English, in other words."
_MAX_WORDS: Final = 8
"""Words that are named as not understood."""


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:_MAX_WORDS])


def _text_result(text: str) -> CallToolResult:
    return CallToolResult(content=(text_content(text),))


def render_no_hits(tools: Iterable[Tool]) -> str:
    """Return the answer to a search without hits."""
    return f"No tool matches any of these words. Search again in other words.{topics(tools)}"
