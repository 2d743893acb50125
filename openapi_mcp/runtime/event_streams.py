"""Parsers of bodies that are streams of entries: server-sent events, JSON lines, JSON text sequences.

Each entry's text is returned as soon as it is complete, in whatever pieces the body arrives. Entries are not
interpreted.

Specification: WHATWG HTML "Server-sent events", RFC 7464, ndjson.org.
"""

import codecs
import io
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from typing import ClassVar, Final, TypeAlias

from . import media_types

EVENT_STREAM: Final = "text/event-stream"

OnEntry: TypeAlias = Callable[[str], Awaitable[None]]
"""A function that is called with each entry of a stream; nothing more is read before it is done."""


class LineParser:
    """The parser of JSON lines: an entry is a line that is not blank. Takes text or, with a decoder, bytes."""

    _separator: ClassVar = "\n"

    def __init__(self, decoder: codecs.IncrementalDecoder | None = None) -> None:
        self._decoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        self._incomplete: list[str] = []

    def feed(self, data: str | bytes, *, final: bool = False) -> Iterator[str]:
        """Yield the entries that this piece completes; with the `final` piece also the incomplete one."""
        *ends, rest = self._decoder.decode(data, final).split(self._separator)
        for end in ends:
            yield from self._entries("".join([*self._incomplete, end]))
            self._incomplete = []
        self._incomplete.append(rest)
        if final or self._is_complete(rest):
            yield from self._entries("".join(self._incomplete))
            self._incomplete = []

    def _entries(self, text: str) -> Iterator[str]:
        """Yield the entries that the text between two separators completes: none or one."""
        if text := text.strip():
            yield text

    def _is_complete(self, _rest: str) -> bool:
        return False


class SequenceParser(LineParser):
    """The parser of JSON text sequences (RFC 7464): each text follows a record separator.

    A text that ends with a line feed is complete (§2.2): the next record separator is not waited for.
    """

    _separator = "\x1e"

    def _is_complete(self, rest: str) -> bool:
        return rest.endswith("\n")


class EventParser(LineParser):
    """The parser of server-sent events: an entry is an event's data, except `[DONE]`, which ends many APIs' streams."""

    def __init__(self, decoder: codecs.IncrementalDecoder | None = None) -> None:
        super().__init__(decoder)
        self._data: list[str] = []

    def feed(self, data: str | bytes, *, final: bool = False) -> Iterator[str]:
        """Yield the data of the events that this piece completes: an event ends with a blank line."""
        yield from super().feed(data, final=final)
        if final:
            yield from self._entries("")

    def _entries(self, text: str) -> Iterator[str]:
        if text.startswith("data:"):
            self._data.append(text[5:].removeprefix(" "))
        elif not text:
            data, self._data = "\n".join(self._data), []
            if data.strip() not in {"", "[DONE]"}:
                yield data


@lru_cache(128)  # every call asks about the same few types
def parser_for(content_type: str) -> type[LineParser] | None:
    """Return the parser of bodies of this type; None if it is not a stream of entries."""
    if media_types.essence(content_type) == EVENT_STREAM:
        return EventParser
    if media_types.is_json_sequence(content_type):
        return SequenceParser
    return LineParser if media_types.is_json_lines(content_type) else None


class EntryReader:
    """A reader that reports the entries of one body while it arrives; these media types are UTF-8 by definition."""

    def __init__(self, content_type: str, on_entry: OnEntry) -> None:
        parser = parser_for(content_type)
        self._parser = None if parser is None else parser(codecs.getincrementaldecoder("utf-8-sig")("replace"))
        self._on_entry = on_entry

    async def feed(self, data: bytes, *, final: bool = False) -> None:
        """Report each entry that this piece completes; do nothing for a type without entries."""
        if self._parser is not None:
            for entry in self._parser.feed(data, final=final):
                await self._on_entry(entry)
