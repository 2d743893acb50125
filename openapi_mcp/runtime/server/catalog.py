"""`Catalog`: the tools by name, and their list in pages. `BuiltinTool`: a tool that the server itself answers.

A cursor is opaque, the same in every process that serves the same tools in the same pages, and verified: any other text
is refused. A BuiltinTool is listed like any other. It sends no request of its own: it gets a function that calls tools,
so that limits, logs and checks apply to what it does. Specification: MCP server/utilities/pagination.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from .. import jsontext
from ..errors import CursorError
from ..protocol import STATELESS
from ..result.sanitizer import Sanitizer
from ..tool import Tool
from ..types import CallToolResult, ToolDescription
from ..upstream.events import CallEvents

if TYPE_CHECKING:
    from ..result.error_hints import RelatedTools

MAX_PAGE_BYTES: Final = 8 * 1024 * 1024
"""The largest page: the official npm clients read at most 10 MiB in one line, and drop the connection over that."""

_OVERHEAD_BYTES: Final = 512
"""Bytes around a tool's schemas and texts in the list, which differ between revisions."""

_NEWEST_REVISION: Final = list(STATELESS.values())[-1]
_LISTED_FIELDS: Final = tuple(field.name for field in fields(ToolDescription))


class CallByName(Protocol):
    """A function that calls a tool on behalf of the client whose call is answered; a failure is a result."""

    @property
    def events(self) -> CallEvents:
        """The receiver of what happens meanwhile, for the client."""
        ...

    def __call__(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        /,
        *,
        max_result_bytes: int | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Awaitable[CallToolResult]:
        """Return the result of a call; with `max_result_bytes` it holds so much of the response, and is not sent on.

        `on_sent` is called with the status of the response once the request has been sent, as far as that is known, and
        with 0 if no response came; not for a call that was refused.
        """

    @property
    def sanitizer(self) -> Sanitizer:
        """Remover of the secrets of these calls."""
        ...

    @property
    def asks(self) -> bool:
        """True if users are asked before calls that need their consent."""
        ...

    def using(self, events: CallEvents, api: str = "") -> "CallByName":
        """Return the same function with other events; with `api` for the tools of another API of this server."""
        ...


class CallMaker(Protocol):
    """The maker of an API's calls (`Calls`); `others` are those of other APIs that this server calls, by name.

    `asks`: users are asked before calls that need their consent.
    """

    asks: bool
    sanitizer: Sanitizer
    others: "Mapping[str, CallMaker]"

    @property
    def call(self) -> Callable[..., Awaitable[CallToolResult]]:
        """The function that makes a call."""


class ClientCalls(NamedTuple):
    """A CallByName. `max_streamed_bytes` limits a result that a notification was sent before."""

    calls: CallMaker
    caller: str
    trace: Mapping[str, str]
    events: CallEvents
    max_streamed_bytes: int | None

    @property
    def sanitizer(self) -> Sanitizer:
        """Remover of the secrets of these calls."""
        return self.calls.sanitizer

    @property
    def asks(self) -> bool:
        """True if users are asked before calls that need their consent."""
        return self.calls.asks

    def using(self, events: CallEvents, api: str = "") -> "ClientCalls":
        """Return the same with other events; with `api` for the tools of another API. Raises KeyError."""
        return self._replace(events=events, calls=self.calls.others[api] if api else self.calls)

    def __call__(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        /,
        *,
        max_result_bytes: int | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Awaitable[CallToolResult]:
        """Return the result of a call."""
        return self.calls.call(
            tool,
            arguments,
            caller=self.caller,
            trace=self.trace,
            events=self.events,
            max_streamed_bytes=self.max_streamed_bytes,
            max_result_bytes=max_result_bytes,
            on_sent=on_sent,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinTool(ToolDescription):
    """A tool that the server answers. `answer` gets arguments that fit the inputSchema; it may raise RuntimeFailure.

    `target` returns the name of the tool that a call with some arguments will call, where they name it. `operations`
    are tools that a call may call whatever its arguments are: a token needs the scopes of them all.
    """

    answer: Callable[[Mapping[str, Any], CallByName], Awaitable[CallToolResult]]
    target: Callable[[Mapping[str, Any]], object] = lambda _: None
    operations: tuple[Tool, ...] = ()


ListedTool: TypeAlias = Tool | BuiltinTool
"""A tool that can be listed and called: an operation of the API, or a built-in tool."""

Page: TypeAlias = tuple[tuple[ListedTool, ...], str | None]
"""Tools and the cursor of the next page, which is None at the end."""


class Catalog:
    """An immutable sequence of tools, to be listed in pages and called by name.

    `hidden` tools can be called by their names and are not listed; a listed tool of the same name has precedence.
    `page_size` is the maximal number of tools on a page; without it a page ends only where it would exceed
    `max_page_bytes`, since many clients never request a second one. `sizes` are the bytes of tools in the list by name,
    as far as they are known. Raises ValueError if two listed tools share a name or if `page_size` is below 1.
    """

    def __init__(
        self,
        tools: Iterable[ListedTool],
        *,
        hidden: Iterable[Tool] = (),
        page_size: int | None = None,
        max_page_bytes: int = MAX_PAGE_BYTES,
        sizes: Mapping[str, int] = {},
    ) -> None:
        self.tools = tuple(tools)
        self._settings = (tuple(hidden), page_size, max_page_bytes, sizes)
        listed: dict[str, ListedTool] = {tool.name: tool for tool in self.tools}
        self._by_name = MappingProxyType({tool.name: tool for tool in self._settings[0]} | listed)
        if len(listed) != len(self.tools):
            raise ValueError("Two tools have the same name.")
        if page_size is not None and page_size < 1:
            raise ValueError("A page must hold at least one tool.")
        starts = list(_page_starts(self.tools, page_size or len(self.tools), max_page_bytes, sizes))
        self._pages = MappingProxyType(dict(_pages(self.tools, starts)))

    def get(self, name: str) -> ListedTool | None:
        """Return the tool of that name, listed or hidden, if there is one."""
        return self._by_name.get(name)

    @property
    def number(self) -> int:
        """The number of tools, listed or hidden."""
        return len(self._by_name)

    def unknown(self, name: str) -> str:
        """Return a sentence about a name that no tool has, with the names that are nearest to it."""
        from ..arguments.spelling import did_you_mean

        suggestion = did_you_mean(name, self._by_name)
        if not suggestion and "search_tools" in self._by_name:
            return "There is no tool of that name. `search_tools` finds the names of tools."
        return f"There is no tool of that name{suggestion or '.'}"

    @property
    def operations(self) -> Sequence[Tool]:
        """The operations of the API that can be called, listed or hidden."""
        return [tool for tool in self._by_name.values() if isinstance(tool, Tool)]

    @cached_property
    def related(self) -> "RelatedTools":
        """The tools that help after an error of another tool of the catalog."""
        from .related_tools import RelatedByPath

        return RelatedByPath(lambda: self.operations)

    def beginning_with(self, tools: Iterable[BuiltinTool]) -> "Catalog":
        """Return a catalog that lists these tools first, and is the same otherwise."""
        hidden, page_size, max_page_bytes, sizes = self._settings
        every = (*tools, *self.tools)
        return Catalog(every, hidden=hidden, page_size=page_size, max_page_bytes=max_page_bytes, sizes=sizes)

    def page(self, cursor: str | None = None) -> Page:
        """Return the page that begins at a cursor; the first one without it. Raises CursorError."""
        try:
            return self._pages[cursor]
        except KeyError:
            raise CursorError("The cursor is not valid, or no longer. Ask for the list from its beginning.") from None

    def lists_same_tools(self, other: "Catalog") -> bool:
        """Return whether both give clients the same list in the same order; the tools' requests may differ."""
        return [_listing(tool) for tool in self.tools] == [_listing(tool) for tool in other.tools]


def size(tool: ToolDescription) -> int:
    """Return the bytes of the tool's entry in tools/list of the newest revision."""
    return jsontext.byte_length(_NEWEST_REVISION.tool(tool))


def _listing(tool: ListedTool) -> str:
    """Return the listed fields of a tool as JSON, in which `1` and `true` differ; and who may list it."""
    listed = [getattr(tool, name) for name in _LISTED_FIELDS]
    return json.dumps([*listed, getattr(tool, "scopes", ())], default=dict)


def _page_starts(
    tools: tuple[ListedTool, ...], page_size: int, max_page_bytes: int, sizes: Mapping[str, int]
) -> Iterator[int]:
    """Yield the index of the first tool of each page."""
    start = page_bytes = 0
    yield start
    for index, tool in enumerate(tools):
        tool_bytes = (sizes.get(tool.name) or size(tool)) + _OVERHEAD_BYTES
        if index > start and (index - start >= page_size or page_bytes + tool_bytes > max_page_bytes):
            start, page_bytes = index, 0
            yield start
        page_bytes += tool_bytes


def _pages(tools: tuple[ListedTool, ...], starts: list[int]) -> Iterator[tuple[str | None, Page]]:
    cursors = [None, *_cursors(tools, starts[1:]), None]
    for number, (start, end) in enumerate(pairwise([*starts, len(tools)])):
        yield cursors[number], (tools[start:end], cursors[number + 1])


def _cursors(tools: tuple[ListedTool, ...], starts: list[int]) -> Iterator[str]:
    """Yield digests of the list and a position in it: no cursor is valid for other names or another order."""
    names = "\n".join(tool.name for tool in tools)
    for start in starts:
        yield hashlib.sha256(f"{start}\n{names}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
