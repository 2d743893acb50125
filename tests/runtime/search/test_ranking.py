"""Search over the tools of a small library: hits in plain words, producers of their ids, the same every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.errors import SearchUnavailable
from openapi_mcp.runtime.search import ranking
from openapi_mcp.runtime.search.ranking import Hit, Search
from openapi_mcp.runtime.tool import Tool
from tests.compiling import compiled
from tests.databases import without_fts5

ANSWER = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": {}}}}}}


def parameter(name: str, location: str = "path") -> dict[str, object]:
    return {"name": name, "in": location, "required": location == "path", "schema": {"type": "string"}}


def operation(name: str, summary: str, *parameters: object, **more: object) -> dict[str, object]:
    return {"operationId": name, "summary": summary, "parameters": [*parameters], "responses": ANSWER, **more}


BOOK, READER = parameter("book_id"), parameter("reader_id")
PERSON = {"type": "object", "properties": {"birthday": {"type": "string"}}}
PATHS = {
    "/books": {
        "get": operation("listBooks", "All books of the library", parameter("page", "query")),
        "post": operation("addBook", "Put a book on the shelf"),
    },
    "/books/search": {"get": operation("searchBooks", "Books by their title", parameter("query", "query"))},
    "/books/{book_id}": {
        "get": operation("getBook", "One book", BOOK),
        "delete": operation("removeBook", "Take a book off the shelf", BOOK),
    },
    "/books/{book_id}/cover": {"get": operation("getBookCover", "The front page as an image", BOOK)},
    "/books/{book_id}/loans": {"post": operation("lendBook", "Lend a book to a reader", BOOK)},
    "/readers": {"get": operation("listReaders", "The readers of the library")},
    "/readers/{reader_id}": {
        "get": {
            **operation("getReader", "One reader", READER),
            "responses": {"200": {"description": "", "content": {"application/json": {"schema": PERSON}}}},
        },
        "patch": operation("changeReader", "Change the address of a reader", READER),
    },
    "/opening-hours": {"get": operation("openingHours", "When the library is open")},
}
TOOLS = compiled(PATHS).tools


def names(request: str, limit: int = 3, tools: tuple[Tool, ...] = TOOLS) -> list[str]:
    return [hit.tool.name for hit in Search(tools).find(request, limit)]


@pytest.mark.parametrize(
    ("request_text", "first"),
    [
        ("when is the library open?", "openingHours"),
        ("remove a book", "removeBook"),
        ("delete the book Emma", "removeBook"),
        ("add a new book", "addBook"),
        ("show all readers", "listReaders"),
        ("lending books", "lendBook"),
        ("correct the address of Jane Bennet", "changeReader"),
        ("openingHours", "openingHours"),
        ("a photo of the book", "getBookCover"),
        ("birthday", "getReader"),
    ],
)
def test_matching_tool_is_ranked_first(request_text: str, first: str) -> None:
    assert names(request_text)[0] == first


def test_hit_brings_along_the_producer_of_its_id() -> None:
    hits = Search(TOOLS).find("the cover of the book 'Emma'", 2)
    assert [(hit.tool.name, hit.provides) for hit in hits] == [("getBookCover", None), ("searchBooks", "book_id")]


def test_producer_for_a_request_without_a_name_is_a_list() -> None:
    assert "listBooks" in names("lend a book to a reader", 2)


def test_request_for_two_tasks_finds_both_tools() -> None:
    hits = names("change the address of a reader and delete a book", 6)
    assert {"changeReader", "removeBook"} <= set(hits)


@pytest.mark.parametrize("request_text", ["", "   ", "the of and", "?!", "42"])
def test_request_without_words_has_no_hits(request_text: str) -> None:
    assert Search(TOOLS).find(request_text, 5) == []


@pytest.mark.parametrize("request_text", ["Xyzzy", "Netherfield Park", '"*" OR (Emma', "'; DROP TABLE entries; --"])
def test_unknown_words_find_the_tools_that_search_by_name(request_text: str) -> None:
    assert [hit.tool.name for hit in Search(TOOLS).find(request_text, 5)] == ["searchBooks"]


def test_index_without_tools_has_no_hits() -> None:
    assert Search(()).find("books", 5) == []


def test_hits_are_unique_and_limited() -> None:
    for limit in (1, 2, 5, 50):
        hits = names("books and readers of the library", limit)
        assert len(hits) <= limit
        assert len(set(hits)) == len(hits)


def test_search_is_deterministic() -> None:
    assert names("who lent the book to Jane's reader?", 9) == names("who lent the book to Jane's reader?", 9)


@given(st.text(max_size=60))
def test_any_text_can_be_searched(text: str) -> None:
    assert all(isinstance(hit, Hit) for hit in _INDEX.find(text, 3))


_INDEX = Search(TOOLS)


def test_words_of_other_scripts_are_matched_exactly() -> None:
    tools = compiled({"/x": {"get": operation("a", "Список книг")}, "/y": {"get": operation("b", "本を探す")}}).tools
    assert names("список", 1, tools) == ["a"]
    assert names("本を探す", 1, tools) == ["b"]


def test_search_without_fts5_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    without_fts5(monkeypatch)
    assert not ranking.is_available()
    with pytest.raises(SearchUnavailable, match="FTS5"):
        Search(TOOLS)
