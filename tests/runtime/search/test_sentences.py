"""Searches with the sentence model of the extra `search`: other languages find tools, and its vectors are kept."""

import logging
import math
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import numpy as np
import pytest

from openapi_mcp.runtime.search import index_store, vectors
from openapi_mcp.runtime.search.index_store import InvalidIndex, Sentences, sentences
from openapi_mcp.runtime.search.ranking import Search
from openapi_mcp.runtime.search.tools import ToolFinder
from openapi_mcp.runtime.search.vectors import SentenceModel, SentenceVectors, sentence_model
from openapi_mcp.runtime.tool import Tool
from tests.compiling import compiled

PATHS: dict[str, Any] = {
    "/customers": {
        "get": {"operationId": "listCustomers", "summary": "List customers"},
        "post": {"operationId": "createCustomer", "summary": "Create a customer"},
    },
    "/customers/{id}": {"delete": {"operationId": "deleteCustomer", "summary": "Delete a customer"}},
    "/invoices": {"get": {"operationId": "listInvoices", "summary": "List invoices"}},
    "/photos": {"post": {"operationId": "uploadPhoto", "summary": "Upload a photo"}},
    "/calendar/events": {"get": {"operationId": "listEvents", "summary": "List the events of the calendar"}},
}
TOOLS = compiled(PATHS).tools
REQUESTS = {
    "zeige alle Rechnungen": "listInvoices",
    "supprimer un client": "deleteCustomer",
    "crear un nuevo cliente": "createCustomer",
    "写真をアップロードする": "uploadPhoto",
    "列出日历中的活动": "listEvents",
}


class Store:
    """A store in memory, by model."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def load(self, _: Sequence[Tool], model: str = "") -> bytes | None:
        return self.data.get(model)

    def save(self, _: Sequence[Tool], data: bytes, model: str = "") -> None:
        self.data[model] = data


class Encoder:
    """A model that knows letters, and counts what it reads."""

    def __init__(self) -> None:
        self.read = 0

    def encode(self, texts: Sequence[str]) -> Any:
        self.read += len(texts)
        rows = np.zeros((len(texts), vectors.SENTENCE_DIMENSIONS), np.float32)
        for index, text in enumerate(texts):
            for letter in text.casefold():
                rows[index, ord(letter) % vectors.SENTENCE_DIMENSIONS] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sentence_model()
    assert model is not None, "the dependency group `test` has the model"
    monkeypatch.setattr(index_store, "sentence_model", lambda: model)


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> Encoder:
    encoder = Encoder()
    monkeypatch.setattr(index_store, "sentence_model", lambda: SentenceModel(encoder, "1"))
    return encoder


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_requests_in_other_languages_find_their_tools() -> None:
    finder = ToolFinder(TOOLS, sentence_seconds=math.inf)
    for request, name in REQUESTS.items():
        hits, unknown = finder.find(request, 3)
        assert (name, unknown) == (hits[0].tool.name, []), request
    assert finder.find("qwrtz plof zkrr", 3)[1] == ["qwrtz", "plof", "zkrr"]
    assert finder.find("list invoices", 1)[0][0].tool.name == "listInvoices"


def test_search_without_the_model_is_as_before() -> None:
    assert sentences(TOOLS) is None
    hits, unknown = ToolFinder(TOOLS).find("zeige alle Rechnungen", 3)
    assert "rechnungen" in [word.casefold() for word in unknown]
    assert hits == Search(TOOLS).find("zeige alle Rechnungen", 3)


def test_vectors_are_made_once_and_kept_by_the_version_of_the_model(letters: Encoder) -> None:
    store = Store()
    first = Search(TOOLS, sentences=sentences(TOOLS, store))
    found = first.find("delete a customer", 5)
    assert list(store.data) == ["sentences 1"]
    letters.read = 0
    second = Search(TOOLS, sentences=sentences(TOOLS, store))
    assert second.find("delete a customer", 5) == found
    assert letters.read == 1, "only the request"
    Sentences(TOOLS, SentenceModel(letters, "2"), store).similarities("a")
    assert list(store.data) == ["sentences 1", "sentences 2"]


def test_time_of_a_search_is_bounded_and_the_next_one_goes_on(
    letters: Encoder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(vectors, "_TEXTS_AT_ONCE", 1)
    now = iter(range(10_000))
    monkeypatch.setattr(vectors, "monotonic", lambda: next(now))
    limited = Sentences(TOOLS, SentenceModel(letters, "1"), None, seconds=4)
    with caplog.at_level(logging.WARNING):
        answers = [limited.similarities("customers") for _ in range(6)]
    assert [bool(each) for each in answers][:2] == [False, False], "the core search answers meanwhile"
    assert answers[-1]
    assert [record.getMessage() for record in caplog.records] == [
        "search: reading the tools with the sentence model goes on in the next searches"
    ]


@pytest.mark.usefixtures("letters")
def test_too_many_tools_are_searched_without_the_model(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(index_store, "MAX_SENTENCE_TOOLS", len(TOOLS) - 1)
    assert sentences(TOOLS) is None
    assert "6 tools are more than the 5 that the sentence model reads" in caplog.text


def test_vectors_of_other_texts_and_damaged_ones_are_made_anew(letters: Encoder) -> None:
    made = SentenceVectors(TOOLS, SentenceModel(letters, "1"))
    assert made.make(math.inf)
    data = index_store.dump_sentences(made)
    assert np.array_equal(index_store.load_sentences(data, made.texts), made.matrix)
    not_numbers = np.full(made.matrix.shape, np.nan, "<f2").tobytes()
    for wrong in (b"", data[:-1], data + b"12", data[:-1] + b"\1", b"\n" + data):
        with pytest.raises(InvalidIndex):
            index_store.load_sentences(wrong, made.texts)
    for content in (b"", not_numbers, not_numbers[:-2]):
        with pytest.raises(InvalidIndex):
            index_store.load_sentences(index_store._sentences_header(content, made.texts) + content, made.texts)
    with pytest.raises(InvalidIndex):
        index_store.load_sentences(data, made.texts[1:])
    store = Store()
    store.data["sentences 1"] = data[:-1]
    assert Search(TOOLS, sentences=sentences(TOOLS, store)).find("delete a customer", 1)
    assert store.data["sentences 1"] == data


def test_model_that_fails_is_not_used(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> None:
        raise ValueError("no such weights")

    monkeypatch.setattr(SentenceModel, "vectors", broken)
    monkeypatch.setattr(metadata, "version", lambda _: "9.9")
    assert sentence_model.__wrapped__() is None
    assert "9.9 cannot be used (no such weights)" in caplog.text


@pytest.mark.usefixtures("letters")
def test_no_tools_and_no_words_have_no_vector() -> None:
    assert Search((), sentences=sentences(())).find("customers", 3) == []
    assert Search(TOOLS, sentences=sentences(TOOLS)).find("", 3) == []
