"""`Catalog`: the tools by name, and their list in pages; it knows what is listed and nothing of how that is written.

Specification: server/utilities/pagination. A cursor is opaque, the same in every process that serves the same tools in
the same pages, and verified: any other text is refused.
"""

import hashlib
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import TypeAlias

from .errors import CursorError
from .models import Tool

Page: TypeAlias = tuple[tuple[Tool, ...], str | None]
"""Tools and the cursor of the page after them, which is None at the end."""


class Catalog:
    """Some tools, in their order. It never changes: other tools are another Catalog.

    `page_size` is how many tools a page of the list has; without it there is one page, since many clients never ask for
    a second. Raises ValueError when two tools share a name or a page would be empty.
    """

    def __init__(self, tools: Iterable[Tool], *, page_size: int | None = None) -> None:
        self.tools = tuple(tools)
        self._by_name = MappingProxyType({tool.name: tool for tool in self.tools})
        if len(self._by_name) != len(self.tools):
            raise ValueError("Two tools have the same name.")
        if page_size is not None and page_size < 1:
            raise ValueError("A page must hold at least one tool.")
        self._pages = MappingProxyType(dict(_pages(self.tools, page_size)))

    def get(self, name: str) -> Tool | None:
        """The tool of that name, if there is one."""
        return self._by_name.get(name)

    def page(self, cursor: str | None = None) -> Page:
        """The page that begins at a cursor; the first one without it. Raises CursorError."""
        try:
            return self._pages[cursor]
        except KeyError:
            raise CursorError("The cursor is not valid, or no longer. Ask for the list from its beginning.") from None


def _pages(tools: tuple[Tool, ...], page_size: int | None) -> Iterator[tuple[str | None, Page]]:
    size = page_size or max(len(tools), 1)
    cursors: list[str | None] = [None, *_cursors(tools, size), None]
    for number, cursor in enumerate(cursors[:-1]):
        yield cursor, (tools[number * size : (number + 1) * size], cursors[number + 1])


def _cursors(tools: tuple[Tool, ...], size: int) -> Iterator[str]:
    """A digest of the list and of the place in it: with other names, or in another order, no old cursor holds."""
    names = "\n".join(tool.name for tool in tools)
    for start in range(size, len(tools), size):
        yield hashlib.sha256(f"{start}\n{names}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
