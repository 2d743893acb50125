"""`Catalog`: the tools by name, and their list in pages; it knows what is listed and nothing of how that is written.

Specification: server/utilities/pagination. A cursor is opaque, the same in every process that serves the same tools in
the same pages, and verified: any other text is refused.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from types import MappingProxyType
from typing import Final, TypeAlias

from .errors import CursorError
from .models import Tool
from .own_tools import OwnTool
from .protocol import STATELESS
from .types import ToolDescription

Offered: TypeAlias = Tool | OwnTool
"""What can be listed and called: an operation of the API, or a tool of the server's own."""

Page: TypeAlias = tuple[tuple[Offered, ...], str | None]
"""Tools and the cursor of the page after them, which is None at the end."""


MAX_PAGE_BYTES: Final = 8 * 1024 * 1024
"""The largest page: the official npm clients read at most 10 MiB in one line, and drop the connection over that."""


class Catalog:
    """Some tools, in their order. It never changes: other tools are another Catalog.

    `hidden` tools can be called by their names and are not listed; where a listed one has the same name, it is meant.
    `page_size` is how many tools a page of the list has at most; without it a page ends only where it would pass
    `max_page_bytes`, since many clients never ask for a second. `sizes` are the bytes of tools in the list, by name,
    which need not be measured then. Raises ValueError when two listed tools share a name or a page would be empty.
    """

    def __init__(
        self,
        tools: Iterable[Offered],
        *,
        hidden: Iterable[Tool] = (),
        page_size: int | None = None,
        max_page_bytes: int = MAX_PAGE_BYTES,
        sizes: Mapping[str, int] = {},
    ) -> None:
        self.tools = tuple(tools)
        listed: dict[str, Offered] = {tool.name: tool for tool in self.tools}
        self._by_name = MappingProxyType({tool.name: tool for tool in hidden} | listed)
        if len(listed) != len(self.tools):
            raise ValueError("Two tools have the same name.")
        if page_size is not None and page_size < 1:
            raise ValueError("A page must hold at least one tool.")
        starts = list(_starts(self.tools, page_size or len(self.tools), max_page_bytes, sizes))
        self._pages = MappingProxyType(dict(_pages(self.tools, starts)))

    def get(self, name: str) -> Offered | None:
        """The tool of that name, listed or hidden, if there is one."""
        return self._by_name.get(name)

    def page(self, cursor: str | None = None) -> Page:
        """The page that begins at a cursor; the first one without it. Raises CursorError."""
        try:
            return self._pages[cursor]
        except KeyError:
            raise CursorError("The cursor is not valid, or no longer. Ask for the list from its beginning.") from None

    def lists_the_same(self, other: "Catalog") -> bool:
        """Whether a client would be told the same of both, in the same order; how tools are called is not told."""
        return [_listed(tool) for tool in self.tools] == [_listed(tool) for tool in other.tools]


_LISTED: Final = tuple(field.name for field in fields(ToolDescription))


def _listed(tool: Offered) -> str:
    """What is listed of a tool as JSON, in which `1` and `true` differ."""
    return json.dumps([getattr(tool, name) for name in _LISTED], default=dict)


def _starts(tools: tuple[Offered, ...], page_size: int, max_page_bytes: int, sizes: Mapping[str, int]) -> Iterator[int]:
    """Where each page begins."""
    start = held = 0
    yield start
    for index, tool in enumerate(tools):
        taken = (sizes.get(tool.name) or size(tool)) + _AROUND
        if index > start and (index - start >= page_size or held + taken > max_page_bytes):
            start, held = index, 0
            yield start
        held += taken


_AROUND: Final = 512
"""Bytes for what stands around a tool's schemas and texts, which differs between revisions."""


_NEWEST: Final = list(STATELESS.values())[-1]


def size(tool: ToolDescription) -> int:
    """Bytes of the tool's entry in the newest tools/list."""
    return json_size(_NEWEST.tool(tool))


def json_size(value: object) -> int:
    """Bytes of a value as JSON in a list."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def _pages(tools: tuple[Offered, ...], starts: list[int]) -> Iterator[tuple[str | None, Page]]:
    cursors = [None, *_cursors(tools, starts[1:]), None]
    for number, (start, end) in enumerate(pairwise([*starts, len(tools)])):
        yield cursors[number], (tools[start:end], cursors[number + 1])


def _cursors(tools: tuple[Offered, ...], starts: list[int]) -> Iterator[str]:
    """A digest of the list and of the place in it: with other names, or in another order, no old cursor holds."""
    names = "\n".join(tool.name for tool in tools)
    for start in starts:
        yield hashlib.sha256(f"{start}\n{names}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
