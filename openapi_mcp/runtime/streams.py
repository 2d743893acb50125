"""Streams of entries: events, JSON lines, JSON sequences; each entry's text as soon as it is whole, however it was cut.

What an entry means is never asked here. Specification: WHATWG HTML "Server-sent events", RFC 7464, ndjson.org.
"""

import codecs
import io
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from typing import ClassVar, Final, TypeAlias

from . import media_types

EVENT_STREAM: Final = "text/event-stream"

OnEntry: TypeAlias = Callable[[str], Awaitable[None]]
"""Is told of each entry of a stream; nothing more is read before it is done."""


class Lines:
    """JSON lines: every line that is not blank. Takes text or, with a decoder, bytes."""

    _separator: ClassVar = "\n"

    def __init__(self, decoder: codecs.IncrementalDecoder | None = None) -> None:
        self._decoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        self._begun: list[str] = []

    def feed(self, data: str | bytes, *, final: bool = False) -> Iterator[str]:
        """The entries that are whole with this piece; with the `final` one, also what was only begun."""
        *ends, rest = self._decoder.decode(data, final).split(self._separator)
        for end in ends:
            yield from self._piece("".join([*self._begun, end]))
            self._begun = []
        self._begun.append(rest)
        if final or self._is_whole(rest):
            yield from self._piece("".join(self._begun))
            self._begun = []

    def _piece(self, text: str) -> Iterator[str]:
        if text := text.strip():
            yield text

    def _is_whole(self, _rest: str) -> bool:
        return False


class Sequence(Lines):
    """JSON texts, each after a record separator.

    What a piece ends with is whole where it ends with a line feed, as texts do (§2.2): nobody waits for the next one.
    """

    _separator = "\x1e"

    def _is_whole(self, rest: str) -> bool:
        return rest.endswith("\n")


class Events(Lines):
    """The data of each server-sent event; `[DONE]`, with which many APIs end their streams, is not one."""

    def __init__(self, decoder: codecs.IncrementalDecoder | None = None) -> None:
        super().__init__(decoder)
        self._data: list[str] = []

    def feed(self, data: str | bytes, *, final: bool = False) -> Iterator[str]:
        """As of Lines: an event is whole with the blank line after it."""
        yield from super().feed(data, final=final)
        if final:
            yield from self._piece("")

    def _piece(self, text: str) -> Iterator[str]:
        if text.startswith("data:"):
            self._data.append(text[5:].removeprefix(" "))
        elif not text:
            data, self._data = "\n".join(self._data), []
            if data.strip() not in {"", "[DONE]"}:
                yield data


@lru_cache(128)  # the same few types are asked about in every call
def kind_of(content_type: str) -> type[Lines] | None:
    """How the entries of a body of this type are told apart; None where it has none."""
    if media_types.essence(content_type) == EVENT_STREAM:
        return Events
    if media_types.is_json_sequence(content_type):
        return Sequence
    return Lines if media_types.is_json_lines(content_type) else None


class Entries:
    """The entries of one body, told while it comes; these media types are UTF-8 by definition."""

    def __init__(self, content_type: str, on_entry: OnEntry) -> None:
        kind = kind_of(content_type)
        self._entries = None if kind is None else kind(codecs.getincrementaldecoder("utf-8-sig")("replace"))
        self._on_entry = on_entry

    async def take(self, data: bytes, *, final: bool = False) -> None:
        """Tell of each entry that is whole with this piece."""
        if self._entries is not None:
            for entry in self._entries.feed(data, final=final):
                await self._on_entry(entry)
