"""Stored indexes: a search with one answers as a search without, and whatever else is stored is ignored."""

import json
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import synthetic
from openapi_mcp.document.model import Document
from openapi_mcp.runtime.search import index_store
from openapi_mcp.runtime.search.index import IndexedTool
from openapi_mcp.runtime.search.index_store import MIN_STORED_TOOLS, InvalidIndex
from openapi_mcp.runtime.search.ranking import Search
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.tools.compiler import build

REQUESTS = ("delete the archived channel of my team", "who owns the device", "list pending reviews", "xyzzy")


@cache
def tools() -> tuple[Tool, ...]:
    return build(Document(synthetic.document(MIN_STORED_TOOLS), "file:///a.json", "3.0", values=100_000)).tools


@cache
def made() -> bytes:
    return index_store.dump(*index_store.index(tools()))


class Store:
    """A store in memory. `loads` and `saves` count its uses."""

    def __init__(self, data: bytes | None = None) -> None:
        self.data = data
        self.loads = self.saves = 0

    def load(self, _: Sequence[Tool], model: str = "") -> bytes | None:
        assert not model
        self.loads += 1
        return self.data

    def save(self, _: Sequence[Tool], data: bytes, model: str = "") -> None:
        assert not model
        self.saves += 1
        self.data = data


def fields(entries: Sequence[IndexedTool]) -> list[object]:
    return [(each.fields, each.end, each.head, each.core, each.rest) for each in entries]


def test_stored_index_gives_the_same_answers() -> None:
    store, plain = Store(), Search(tools())
    first, second = Search(tools(), store), Search(tools(), store)
    assert (store.loads, store.saves) == (2, 1)
    for request in REQUESTS:
        assert plain.find(request, 20) == first.find(request, 20) == second.find(request, 20)
        assert plain.unknown_words(request) == second.unknown_words(request)


def test_index_is_read_as_it_was_written_and_always_the_same() -> None:
    entries, vectors = index_store.index(tools())
    read, others = index_store.load(index_store.dump(entries, vectors), len(tools()))
    assert fields(read) == fields(entries)
    assert dict(others.counts) == dict(vectors.counts)
    assert np.array_equal(others.matrix, vectors.matrix)
    assert index_store.dump(*index_store.index(tools())) == made()


def test_few_tools_are_indexed_anew() -> None:
    store = Store()
    Search(tools()[:20], store)
    assert (store.loads, store.saves) == (0, 0)


def test_damaged_index_is_made_anew() -> None:
    data = made()
    store = Store(data[: len(data) // 2])
    assert Search(tools(), store).find(REQUESTS[0], 5) == Search(tools()).find(REQUESTS[0], 5)
    assert store.data == data


def with_content(content: object, floats: bytes) -> bytes:
    data = json.dumps(content).encode() + b"\n" + floats
    return index_store._header(data) + data


GOOD = json.loads(made().split(b"\n", 2)[1])
FLOATS = made().split(b"\n", 2)[2]
WRONG = {
    "other tools": GOOD | {"entries": GOOD["entries"][1:]},
    "negative number": GOOD | {"entries": [[-1] * 9, *GOOD["entries"][1:]]},
    "number of no text": GOOD | {"entries": [[10**6] * 9, *GOOD["entries"][1:]]},
    "true": GOOD | {"entries": [[True] * 9, *GOOD["entries"][1:]]},
    "too few fields": GOOD | {"entries": [[0], *GOOD["entries"][1:]]},
    "text that is none": GOOD | {"texts": [1, *GOOD["texts"][1:]]},
    "row of no word": GOOD | {"counts": [[10**9], [1]]},
    "too high count": GOOD | {"counts": [[0], [10**9]]},
    "no counts": {"texts": GOOD["texts"], "entries": GOOD["entries"]},
    "list": [],
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG)
def test_content_of_another_form_is_refused(content: object) -> None:
    with pytest.raises(InvalidIndex):
        index_store.load(with_content(content, FLOATS), len(tools()))


NOT_NUMBERS = np.full(len(FLOATS) // 4, np.nan, "<f4").tobytes()


@pytest.mark.parametrize("floats", [b"", FLOATS[:-1], FLOATS + b"1234", NOT_NUMBERS], ids=range(4))
def test_vectors_of_another_form_are_refused(floats: bytes) -> None:
    with pytest.raises(InvalidIndex):
        index_store.load(with_content(GOOD, floats), len(tools()))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(made()) - 1), st.binary(min_size=1, max_size=3))
def test_changed_bytes_are_refused(position: int, replacement: bytes) -> None:
    changed = made()[:position] + replacement + made()[position + len(replacement) :]
    if changed != made():
        with pytest.raises(InvalidIndex):
            index_store.load(changed, len(tools()))
