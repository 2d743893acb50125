"""`WishedAnswer`: the answer to a call that has `select` or `pages`: a selection, several pages as one list, or both.

All pages are one call: they share its time, and stop where most of it is over; each is one more for the rate limit, and
a step of its progress. If something ends them early, the answer has the pages read until then, the reason, and how to
go on.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import httpx

from ..runtime import background
from ..runtime.errors import RuntimeFailure
from ..runtime.result.headers import needed_headers
from ..runtime.result.projection import Projection, ProjectionError, json_of, response_with, selected
from ..runtime.server.hooks import Sending, ShapedAnswer
from ..runtime.server.shapes import MAX_READ_BYTES, evaluated, own_projections, selected_part, unselected
from ..runtime.tool import Tool
from .arguments import PAGES, SELECT, Wishes, name_for
from .paging import MAX_LIMIT, PageReader, PagingError

PAGING: Final = "openapi-mcp/paging"
"""The name in `_meta` of what was read: `pages`, `items`, `end` in words, `next`: the arguments that are new then."""

MAX_BYTES: Final = 8 * 1024 * 1024
"""Bytes of all pages of a call: a hundred times what a result shows, and what a selection may need."""

_SHARE: Final = 0.8
"""The share of a call's time after which no further page is asked for."""


@dataclass(frozen=True, slots=True)
class WishedAnswer:
    """The answer that a call asks for (`hooks.AnswerShape`)."""

    wishes: Wishes
    projections: tuple[Projection, ...]

    @classmethod
    def of(cls, tool: Tool, wishes: Wishes) -> "WishedAnswer":
        """Return the answer for the wishes of a call. Raises ArgumentError for an expression that is none."""
        text = wishes.select
        select = () if text is None else (Projection.parse(text, name_for(tool, SELECT)),)
        return cls(wishes, (*own_projections(tool), *select))

    async def answer(self, tool: Tool, arguments: Mapping[str, Any], sending: Sending) -> ShapedAnswer:
        """Return what is selected of the answer, or of all pages as one."""
        if self.wishes.pages is None:
            response, _ = await sending.send(tool, arguments)
            return await selected_part(tool, self.projections, response, sending)
        pages = _Pages(PageReader(tool, arguments, MAX_LIMIT, largest_pages=False), sending, self.wishes.pages)
        response, whole = await pages.read()
        if whole is None:
            answer = await selected_part(tool, self.projections, response, sending)
            return answer._replace(notes=(*answer.notes, *pages.refusals))
        part, note = await self._part(pages.received, tool, whole, response)
        notes = (*pages.refusals, note, pages.summary(tool))
        return ShapedAnswer(part, tuple(filter(None, notes)), {PAGING: pages.meta()})

    async def _part(self, size: int, tool: Tool, whole: Any, response: httpx.Response) -> tuple[httpx.Response, str]:
        """Return what is selected of all pages, which have so many bytes; all of them where that fails."""
        try:
            return await evaluated(size, partial(selected, self.projections, whole, response))
        except ProjectionError as error:
            note = unselected(tool, response, error).notes[0]
        return await _aside(size, response_with, whole, response), note


async def _aside(size: int, function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns, which reads so many bytes: of many, beside the event loop."""
    return function(*args) if size <= MAX_READ_BYTES else await background.run("large", function, *args)


class _Pages:
    """The pages of one call, read one after the other."""

    def __init__(self, reader: PageReader, sending: Sending, count: int) -> None:
        self.received = 0
        self.refusals: tuple[str, ...] = ()
        self._reader = reader
        self._sending = sending
        self._count = count
        seconds = sending.upstream.total_timeout
        now = asyncio.get_running_loop().time()
        self._end = None if seconds is None else now + _SHARE * seconds
        self._max_bytes = min(MAX_BYTES, sending.upstream.max_bytes)

    async def read(self) -> tuple[httpx.Response, Any]:
        """Return the last response, and the value of all pages, None without a list. Raises RuntimeFailure."""
        reader, last = self._reader, await self._first()
        if not reader.pages:
            return last, None
        while reader.arguments is not None:
            if reason := await self._obstacle():
                reader.interrupt(reason)
                break
            last = await self._further() or last
        return last, reader.whole()

    async def _first(self) -> httpx.Response:
        reader = self._reader
        response, _ = await self._sending.send(reader.tool, reader.arguments or {})
        if response.is_success and response.content:
            await self._add(response)
        return response

    async def _further(self) -> httpx.Response | None:
        """Read the next page; None if it cannot be, which ends the list."""
        reader = self._reader
        try:
            async with asyncio.timeout_at(self._end):
                response, _ = await self._sending.send(reader.tool, reader.arguments or {})
            if not response.is_success:
                reader.interrupt(f"the next page was answered with {response.status_code}")
            elif await self._add(response):
                await self._sending.events.on_step(f"{reader.pages} pages, {len(reader.items)} items")
                return response
            else:
                reader.interrupt("the next page is not a list")
        except TimeoutError:
            reader.interrupt("most of the call's time is over")
        except RuntimeFailure as failure:
            reader.interrupt(f"the next page could not be read: {failure}")
        return None

    async def _add(self, response: httpx.Response) -> bool:
        """Add a page; return whether it has a list. If the first page has none, the call is answered without pages."""
        self.received += len(response.content)
        value, note = await _aside(len(response.content), json_of, response, self._sending.sanitizer)
        if note:
            self.refusals = (note,)
        try:
            self._reader.add(value, needed_headers(self._reader.tool, response), response.request.url)
        except PagingError as error:
            if not self._reader.pages:
                self.refusals = (f"`{PAGES}` had no effect: {error}.",)
            return False
        return True

    async def _obstacle(self) -> str:
        """Return why no further page is read; empty if one may be."""
        reader = self._reader
        if reader.pages >= self._count:
            return f"{PAGES}={self._count}"
        if self._end is not None and asyncio.get_running_loop().time() > self._end:
            return "most of the call's time is over"
        if self.received >= self._max_bytes:
            return f"{self.received:,} bytes are read"
        wait = await self._sending.wait()
        return "" if wait is None else f"too many calls; try again in {max(1, round(wait))} seconds"

    def summary(self, tool: Tool) -> str:
        """Return a sentence about what was read, and how to go on."""
        reader = self._reader
        pages = f"{reader.pages} page{'' if reader.pages == 1 else 's'}"
        return f"{tool.name}: {len(reader.items)} items of {pages}. Ended by: {reader.end.removesuffix('.')}."

    def meta(self) -> dict[str, Any]:
        """Return what was read, for programs."""
        reader = self._reader
        facts = {"pages": reader.pages, "items": len(reader.items), "end": reader.end}
        return {**facts, "next": reader.new} if reader.new else facts
