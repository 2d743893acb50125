"""Search over the tools of a small library: hits in plain words, producers of their ids, the same every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.errors import SearchUnavailable
from openapi_mcp.runtime.search import full_text
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


def producers(request: str) -> list[tuple[str, str]]:
    """Return the producers of the best hit, each as the argument and the name of the tool."""
    [hit] = Search(TOOLS).find(request, 1)
    return [(argument, tool.name) for argument, tool in hit.producers]


def test_hit_brings_along_the_producer_of_its_id() -> None:
    assert producers("the cover of the book 'Emma'") == [("book_id", "searchBooks")]


def test_producer_for_a_request_without_a_name_is_a_list() -> None:
    assert producers("lend a book to a reader") == [("book_id", "listBooks")]


def test_producer_is_no_rank_of_its_own_and_shown_once() -> None:
    hits = Search(TOOLS).find("remove the cover of the book 'Emma'", 3)
    assert len({tool.name for hit in hits for _, tool in hit.producers}) == sum(len(hit.producers) for hit in hits)


@pytest.mark.parametrize(
    ("request_text", "first"),
    [
        ("borrow a novel", "lendBook"),
        ("customers of the library", "listReaders"),
        ("erase a novel", "removeBook"),
        ("business times", "openingHours"),
    ],
)
def test_other_words_for_the_same_thing_find_it(request_text: str, first: str) -> None:
    assert names(request_text)[0] == first


def test_words_that_look_like_stop_words_are_found() -> None:
    tools = compiled(
        {"/notes": {"post": operation("addNote", "Add a note")}, "/themes": {"get": operation("themes", "Themes")}}
    ).tools
    assert [names(text, 1, tools) for text in ("add a note", "themes")] == [["addNote"], ["themes"]]


@pytest.mark.parametrize("request_text", ["mysql databases", "MySQL databases"])
def test_compound_is_found_however_it_is_written(request_text: str) -> None:
    tools = compiled(
        {"/a": {"get": operation("a", "Databases of MySQL")}, "/b": {"get": operation("b", "Files")}}
    ).tools
    assert names(request_text, 1, tools) == ["a"]


def test_own_user_is_found_by_who_am_i() -> None:
    tools = compiled({"/users": {"get": operation("users", "All users")}, "/me": {"get": operation("me", "Me")}}).tools
    assert names("who am I?", 1, tools) == ["me"]


RESOURCES = ("flows", "deployments", "work_pools", "task_runs", "artifacts", "blocks", "variables", "automations")


def filtered_by_post() -> tuple[Tool, ...]:
    """Return the tools of an API as FastAPI names them, whose lists are POSTs."""
    paths: dict[str, dict[str, object]] = {}
    for name in RESOURCES:
        title = name.replace("_", " ").title()
        one = parameter("id")
        paths[f"/{name}/"] = {"post": operation(f"create_{name}__post", f"Create {title[:-1]}")}
        paths[f"/{name}/filter"] = {"post": operation(f"read_{name}_{name}_filter_post", f"Read {title}")}
        paths[f"/{name}/count"] = {"post": operation(f"count_{name}_{name}_count_post", f"Count {title}")}
        paths[f"/{name}/paginate"] = {"post": operation(f"paginate_{name}_{name}_paginate_post", f"Paginate {title}")}
        paths[f"/{name}/{{id}}"] = {
            "get": operation(f"read_{name}__id__get", f"Read {title[:-1]}", one),
            "patch": operation(f"update_{name}__id__patch", f"Update {title[:-1]}", one),
            "delete": operation(f"delete_{name}__id__delete", f"Delete {title[:-1]}", one),
        }
    return compiled(paths).tools


@pytest.mark.parametrize("name", RESOURCES)
@pytest.mark.parametrize("form", ["list all {}", "show me the {}", "which {} are there"])
def test_list_that_is_a_post_is_among_the_first_three(name: str, form: str) -> None:
    first = [hit.tool.path for hit in _FILTERED.find(form.format(name.replace("_", " ")), 3)]
    assert f"/{name}/filter" in first


def test_words_that_nothing_has_are_unknown() -> None:
    assert _INDEX.unknown_words("Wie viele Bücher gibt es in the library?")[0] == ["Wie", "viele", "Bücher", "gibt"]
    assert _INDEX.unknown_words("books of the library") == ([], 2)


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
_FILTERED = Search(filtered_by_post())


def test_words_of_other_scripts_are_matched_exactly() -> None:
    tools = compiled({"/x": {"get": operation("a", "Список книг")}, "/y": {"get": operation("b", "本を探す")}}).tools
    assert names("список", 1, tools) == ["a"]
    assert names("本を探す", 1, tools) == ["b"]


def test_search_without_fts5_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    without_fts5(monkeypatch)
    assert not full_text.is_available()
    with pytest.raises(SearchUnavailable, match="FTS5"):
        Search(TOOLS)
