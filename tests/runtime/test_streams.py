"""Streams: the same entries however the bytes are cut, each as soon as it is whole."""

import asyncio

import pytest

from openapi_mcp.runtime.streams import Entries, Events, Lines, Sequence, kind_of

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


def heard(content_type: str, *pieces: bytes) -> list[str]:
    entries: list[str] = []

    async def on_entry(entry: str) -> None:
        entries.append(entry)

    async def hear() -> None:
        taking = Entries(content_type, on_entry)
        for piece in pieces:
            await taking.take(piece)
        await taking.take(b"", final=True)

    asyncio.run(hear())
    return entries


@pytest.mark.parametrize(("content_type", "data", "entries"), CASES)
def test_entries_are_the_same_however_they_are_cut(content_type: str, data: bytes, entries: list[str]) -> None:
    assert heard(content_type, data) == entries
    assert heard(content_type, *(data[i : i + 1] for i in range(len(data)))) == entries
    for place in range(len(data)):
        assert heard(content_type, data[:place], data[place:]) == entries


def test_an_entry_is_told_as_soon_as_it_is_whole() -> None:
    events, lines, sequence = Events(), Lines(), Sequence()
    pieces = ("data: a\n", "\n", "data: b\n\ndata: c", "\n\n")
    assert [list(events.feed(text)) for text in pieces] == [[], ["a"], ["b"], ["c"]]
    assert [list(lines.feed(text)) for text in ("1", "2\n3", "\n")] == [[], ["12"], ["3"]]
    pieces = ("\x1e[1,", "2]\n", "\x1e3\n\x1e", "4")
    assert [list(sequence.feed(text)) for text in pieces] == [[], ["[1,2]"], ["3"], []]
    assert list(sequence.feed("", final=True)) == ["4"]


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "", "multipart/mixed", "image/png"])
def test_other_bodies_have_no_entries(content_type: str) -> None:
    assert kind_of(content_type) is None
    assert heard(content_type, b"data: a\n\n") == []
