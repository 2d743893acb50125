"""`event_streams`: entries do not depend on the pieces of the body, and come as soon as they are complete."""

import asyncio

import pytest

from openapi_mcp.runtime.event_streams import EntryReader, EventParser, LineParser, SequenceParser, parser_for

CASES: list[tuple[str, bytes, list[str]]] = [
    ("text/event-stream", b"data: a\n\ndata: b\n\n", ["a", "b"]),
    ("text/event-stream; charset=utf-8", b"\xef\xbb\xbfdata: a\r\n\r\ndata:b\r\rdata: c\n\n", ["a", "b", "c"]),
    ("text/event-stream", b": hello\n\nevent: x\nid: 1\ndata: a\ndata:  b\n\n\n\ndata: [DONE]\n\n", ["a\n b"]),
    ("text/event-stream", "data: é€\u2028😀\n\n".encode(), ["é€\u2028😀"]),
    ("text/event-stream", b"data: a\n\ndata: not ended", ["a", "not ended"]),
    ("application/x-ndjson", b'{"a":1}\n\n{"b":2}\r\n 3', ['{"a":1}', '{"b":2}', "3"]),
    ("application/jsonl", '"\u2028"\n"\x85"\n'.encode(), ['"\u2028"', '"\x85"']),
    ("application/jsonl", b'"\xff"\n', ['"\ufffd"']),
    ("application/jsonl", b"", []),
]


def entries_of(content_type: str, *pieces: bytes) -> list[str]:
    entries: list[str] = []

    async def on_entry(entry: str) -> None:
        entries.append(entry)

    async def feed_all() -> None:
        reader = EntryReader(content_type, on_entry)
        for piece in pieces:
            await reader.feed(piece)
        await reader.feed(b"", final=True)

    asyncio.run(feed_all())
    return entries


@pytest.mark.parametrize(("content_type", "data", "entries"), CASES)
def test_entries_do_not_depend_on_pieces(content_type: str, data: bytes, entries: list[str]) -> None:
    assert entries_of(content_type, data) == entries
    assert entries_of(content_type, *(data[i : i + 1] for i in range(len(data)))) == entries
    for cut in range(len(data)):
        assert entries_of(content_type, data[:cut], data[cut:]) == entries


def test_entry_is_returned_as_soon_as_it_is_complete() -> None:
    events, lines, sequence = EventParser(), LineParser(), SequenceParser()
    pieces = ("data: a\n", "\n", "data: b\n\ndata: c", "\n\n")
    assert [list(events.feed(text)) for text in pieces] == [[], ["a"], ["b"], ["c"]]
    assert [list(lines.feed(text)) for text in ("1", "2\n3", "\n")] == [[], ["12"], ["3"]]
    pieces = ("\x1e[1,", "2]\n", "\x1e3\n\x1e", "4")
    assert [list(sequence.feed(text)) for text in pieces] == [[], ["[1,2]"], ["3"], []]
    assert list(sequence.feed("", final=True)) == ["4"]


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "", "multipart/mixed", "image/png"])
def test_other_media_types_have_no_entries(content_type: str) -> None:
    assert parser_for(content_type) is None
    assert entries_of(content_type, b"data: a\n\n") == []
