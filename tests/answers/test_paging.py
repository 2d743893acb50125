"""`paginate`: every way in which APIs tell the next page, and where a list ends."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.answers.paging import MAX_LIMIT, PageReader, PagingError
from openapi_mcp.code_mode.limits import CodeLimits
from openapi_mcp.runtime.tool import Argument, Tool
from tests.code_mode.api import Api
from tests.runtime.making import tool

PETS = [{"id": number, "name": f"pet {number}"} for number in range(1, 8)]
"""Seven pets, which are three pages of three."""


def listing(*names: str, path: str = "/pets", **properties: Any) -> Tool:
    """Return a tool with arguments in the query, all of them numbers unless `properties` has their schema."""
    arguments = [Argument(name=name, wire_name=name, location="query", style="form") for name in names]
    schemas = {name: properties.get(name, {"type": "integer"}) for name in names}
    made = tool(path, *arguments, name="pets")
    return replace(made, input_schema={**made.input_schema, "properties": schemas})


TEXT = {"type": "string"}
Answer = Callable[[dict[str, Any]], tuple[Any, dict[str, Any]]]
"""The body and the headers of an answer to some arguments."""


def read(reader: PageReader, answer: Answer, calls: int = 20) -> list[dict[str, Any]]:
    """Read all pages; return the arguments of the calls."""
    sent = []
    while reader.arguments is not None:
        sent.append(dict(reader.arguments))
        assert len(sent) <= calls, "it goes on without end"
        reader.add(*answer(reader.arguments))
    return sent


def page(number: int, size: int = 3) -> list[dict[str, Any]]:
    return PETS[(number - 1) * size : number * size]


def by_link_header(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("page", 1))
    links = {"next": f"http://api.test/pets?page={number + 1}&size=3"} if number < 3 else {"prev": "/pets?page=2"}
    return page(number), {"link": links}


def by_body_link(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("page", 1))
    following = f"/pets?page={number + 1}" if number < 3 else None
    return {"data": page(number), "links": {"self": "/pets", "next": following}}, {}


def by_hal(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("page", 1))
    links = {"self": {"href": "/pets"}} | ({"next": {"href": f"/pets?page={number + 1}"}} if number < 3 else {})
    return {"_embedded": {"pets": page(number)}, "_links": links}, {}


def by_cursor(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("cursor", "c1")[1:])
    return {"pets": page(number), "others": [], "next_cursor": f"c{number + 1}" if number < 3 else ""}, {}


def by_nested_cursor(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("cursor", "c1")[1:])
    meta = {"next_cursor": f"c{number + 1}"} if number < 3 else {}
    return {"ok": True, "members": page(number), "response_metadata": meta}, {}


def by_token(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("pageToken", "t1")[1:])
    return {"items": page(number)} | ({"nextPageToken": f"t{number + 1}"} if number < 3 else {}), {}


def by_last_id(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    after = int(arguments.get("starting_after", 0))
    return {"data": PETS[after : after + 3], "has_more": after + 3 < len(PETS)}, {}


def by_end_cursor(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("after", "c1")[1:])
    return {"nodes": page(number), "pageInfo": {"endCursor": f"c{number + 1}", "hasNextPage": number < 3}}, {}


def by_page(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    return page(int(arguments.get("page", 1))), {}


def by_page_from_zero(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("page", 0))
    return {"content": page(number + 1), "number": number, "last": number == 2, "totalPages": 3}, {}


def by_page_of_total(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    return page(int(arguments.get("page", 1))), {"x-total-count": "7"}


def by_pages_of_total(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("page", 1))
    return {"results": page(number), "page": number, "total_pages": 3}, {}


def by_offset(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    start = int(arguments.get("offset", 0))
    return {"items": PETS[start : start + 3], "total": 7, "offset": start}, {}


def by_index(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    start = int(arguments.get("startIndex", 1))
    return {"Resources": PETS[start - 1 : start + 2], "totalResults": 7, "startIndex": start}, {}


def by_next_header(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("page", 1))
    return page(number), {"x-page": str(number), "x-next-page": str(number + 1)} if number < 3 else {"x-total": "7"}


def by_bare_cursor(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("cursor", "c1")[1:])
    return {"data": {"pets": page(number), "next": f"c{number + 1}" if number < 3 else None}}, {}


def by_filter(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    start, size = int(arguments.get("offset", 0)), int(arguments["limit"])
    return PETS[start : start + size], {}


def by_next_number(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    number = int(arguments.get("page", 1))
    return {"results": page(number), "info": {"next": number + 1 if number < 3 else None, "count": 7}}, {}


WAYS: dict[str, tuple[Answer, Tool, list[dict[str, Any]]]] = {
    "the header Link": (
        by_link_header,
        listing("page", "size"),
        [{}, {"page": "2", "size": "3"}, {"page": "3", "size": "3"}],
    ),
    "a link in the body": (by_body_link, listing("page"), [{}, {"page": "2"}, {"page": "3"}]),
    "a link of HAL": (by_hal, listing("page"), [{}, {"page": "2"}, {"page": "3"}]),
    "a cursor": (by_cursor, listing("cursor", cursor=TEXT), [{}, {"cursor": "c2"}, {"cursor": "c3"}]),
    "a cursor in a frame": (
        by_nested_cursor,
        listing("cursor", path="/members", cursor=TEXT),
        [{}, {"cursor": "c2"}, {"cursor": "c3"}],
    ),
    "a token": (by_token, listing("pageToken", pageToken=TEXT), [{}, {"pageToken": "t2"}, {"pageToken": "t3"}]),
    "the id of the last item": (
        by_last_id,
        listing("starting_after", starting_after=TEXT),
        [{}, {"starting_after": 3}, {"starting_after": 6}],
    ),
    "an end cursor": (by_end_cursor, listing("after", after=TEXT), [{}, {"after": "c2"}, {"after": "c3"}]),
    "the number of the page": (by_page, listing("page"), [{}, {"page": 2}, {"page": 3}, {"page": 4}]),
    "a page from zero": (by_page_from_zero, listing("page"), [{}, {"page": 1}, {"page": 2}]),
    "a page and a total in a header": (by_page_of_total, listing("page"), [{}, {"page": 2}, {"page": 3}]),
    "a page and the number of pages": (by_pages_of_total, listing("page"), [{}, {"page": 2}, {"page": 3}]),
    "an offset": (by_offset, listing("offset"), [{}, {"offset": 3}, {"offset": 6}]),
    "an index from one": (
        by_index,
        listing("startIndex", startIndex={"type": "integer", "minimum": 1}),
        [{}, {"startIndex": 4}, {"startIndex": 7}],
    ),
    "a cursor beside the list": (
        by_bare_cursor,
        listing("cursor", cursor=TEXT),
        [{}, {"cursor": "c2"}, {"cursor": "c3"}],
    ),
    "the next number in a header": (by_next_header, listing("page"), [{}, {"page": "2"}, {"page": "3"}]),
    "the next number in the body": (by_next_number, listing("page"), [{}, {"page": 2}, {"page": 3}]),
}


@pytest.mark.parametrize("way", WAYS)
def test_all_pages_are_read(way: str) -> None:
    answer, made, calls = WAYS[way]
    reader = PageReader(made, {})
    assert read(reader, answer) == calls
    assert reader.items == PETS
    assert reader.end == "that was the last page"
    assert reader.summary("pets") == f"paginate(pets): 7 items of {len(calls)} pages; that was the last page."


@pytest.mark.parametrize("way", sorted(WAYS.keys() - {"a page from zero"}))
def test_the_limit_ends_the_list_and_names_the_next_page(way: str) -> None:
    answer, made, calls = WAYS[way]
    reader = PageReader(made, {}, 3)
    read(reader, answer)
    assert reader.items == PETS[:3]
    [(name, value)] = [pair for pair in calls[1].items() if pair[0] != "size"]
    assert "limit=3 is reached, and there may be more; the next page has " in reader.end
    assert f"{name}={value}" in reader.end


def test_arguments_of_a_body_are_paged_too() -> None:
    arguments = [Argument(name=name, wire_name=name, location="body") for name in ("offset", "limit")]
    made = tool("/pets/filter", *arguments, name="filter_pets", method="POST")
    schemas = {name: {"anyOf": [{"type": "integer"}, {"type": "null"}]} for name in ("offset", "limit")}
    reader = PageReader(replace(made, input_schema={**made.input_schema, "properties": schemas}), {"limit": 3})
    calls = read(reader, by_filter)
    assert [sent.get("offset") for sent in calls] == [None, 3, 6, 7]
    assert reader.items == PETS


def test_a_limit_within_a_page_says_that_there_is_more() -> None:
    reader = PageReader(listing("page"), {}, 4)
    read(reader, by_page)
    assert reader.items == PETS[:4]
    assert reader.end == "limit=4 is reached, and there is more"


def test_arguments_of_the_program_are_kept_on_every_page() -> None:
    reader = PageReader(listing("page", "status", status=TEXT), {"status": "sold", "page": 2})
    assert read(reader, by_page) == [{"status": "sold", "page": number} for number in (2, 3, 4)]
    assert reader.items == PETS[3:]


@pytest.mark.parametrize(("limit", "size"), [(1000, 100), (20, 20)])
def test_pages_are_as_large_as_the_document_allows(limit: int, size: int) -> None:
    made = listing("page", "per_page", per_page={"type": "integer", "maximum": 100, "default": 30})
    assert PageReader(made, {}, limit).arguments == {"per_page": size}
    assert PageReader(made, {"per_page": 5}, limit).arguments == {"per_page": 5}


def test_a_list_without_pages_is_one_page() -> None:
    reader = PageReader(listing("status", status=TEXT), {})
    read(reader, by_page)
    assert (len(reader.items), reader.pages, reader.end) == (3, 1, "that was the last page")


def test_an_api_that_ignores_the_page_is_read_once() -> None:
    reader = PageReader(listing("page"), {})
    read(reader, lambda _: (PETS, {}))
    assert reader.items == PETS
    assert reader.end == "the API returned the same page again"


def test_a_cursor_that_comes_again_ends_the_list() -> None:
    reader = PageReader(listing("cursor", cursor=TEXT), {})
    numbers = iter(range(100))
    read(reader, lambda sent: ({"items": [next(numbers)], "next_cursor": "ab"[sent.get("cursor") == "a"]}, {}))
    assert reader.items == [0, 1, 2]
    assert reader.end == "the API named a page again that was read before"


def test_a_link_that_no_argument_takes_is_reported() -> None:
    reader = PageReader(listing("other"), {"other": 1})
    read(reader, lambda _: ({"items": PETS, "next": "https://evil.test/pets?state=abc&other=1"}, {}))
    assert reader.end == "the link to the next page has no argument of this tool that is new (state, other)"


def test_a_link_that_is_too_long_is_not_followed() -> None:
    reader = PageReader(listing("cursor", cursor=TEXT), {})
    read(reader, lambda _: (PETS, {"link": {"next": f"http://api.test/pets?cursor={'x' * 5000}"[:2000]}}))
    assert reader.end == "the link to the next page has more than 2000 characters"


def test_more_without_a_way_to_it_is_reported() -> None:
    reader = PageReader(listing("status", status=TEXT), {})
    read(reader, lambda _: ({"items": PETS, "has_more": True}, {}))
    assert reader.end == "the API says that there is more, but not how to ask for it"


def test_a_link_sets_an_argument_that_is_an_object() -> None:
    argument = Argument(name="page", wire_name="page", location="query", style="deepObject", explode=True)
    made = tool("/pets", argument, name="pets")
    made = replace(made, input_schema={**made.input_schema, "properties": {"page": {"type": "object"}}})
    reader = PageReader(made, {"page": {"size": "3"}})
    pages = {"1": page(1), "2": page(2), "3": page(3)}

    def answer(sent: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        number = int(sent["page"].get("number", 1))
        links = {"next": f"/pets?page[size]=3&page%5Bnumber%5D={number + 1}"} if number < 3 else {}
        return {"data": pages[str(number)], "links": links}, {}

    assert [sent["page"].get("number") for sent in read(reader, answer)] == [None, "2", "3"]
    assert reader.items == PETS


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "the answer is empty or no JSON, not a list"),
        ("text", "the answer is text, not a list"),
        ({"a": 1, "b": {}}, "it has a, b"),
        ({"cats": [], "dogs": []}, "no list, or several: it has cats, dogs"),
    ],
)
def test_an_answer_without_a_list_is_refused(value: Any, message: str) -> None:
    with pytest.raises(PagingError, match=message):
        PageReader(listing("page"), {}).add(value, {})


class Pages(Api):
    """An API whose list has a page of three pets for each number, without end."""

    def __init__(self, **options: Any) -> None:
        super().__init__(listing("page", "limit", limit={"type": "integer", "maximum": 3}), **options)

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        number = int(request.url.params.get("page", 1))
        if number == 13:
            return httpx.Response(500, json={"detail": "page 13 is broken"})
        return httpx.Response(200, json=[{"id": 3 * number + place} for place in range(3)])


@pytest.mark.process
@pytest.mark.parametrize(
    "call", ["paginate(pets, limit=5)", "await paginate('pets', limit=5)", "paginate(pets, {}, limit=5)"]
)
def test_a_program_reads_pages_and_the_result_says_where_they_ended(call: str) -> None:
    api = Pages()
    value, notes = api.texts(f"[pet.id for pet in {call}]")
    assert json.loads(value) == [3, 4, 5, 6, 7]
    assert notes == (
        "paginate(pets): 5 items of 2 pages; limit=5 is reached, and there is more.\n2 calls made: pets 200 x2."
    )
    assert [dict(request.url.params) for request in api.requests] == [{"limit": "3"}, {"limit": "3", "page": "2"}]


@pytest.mark.process
def test_pages_are_read_at_once_with_others() -> None:
    code = "import asyncio\na, b = await asyncio.gather(paginate(pets, limit=3), pets(page=7))\n[len(a), b[0].id]"
    assert json.loads(Pages().run(code)[0]) == [3, 21]


@pytest.mark.process
def test_the_calls_of_a_program_end_the_list() -> None:
    value, note = Pages(limits=CodeLimits(calls=4)).run("len(paginate(pets))")
    assert value == "12"
    assert "12 items of 4 pages; the 4 calls of the program are made; the next page has page=5." in note


@pytest.mark.process
def test_an_error_on_a_page_says_what_was_read_before() -> None:
    error = Pages().error("paginate(pets)")
    assert "RuntimeError: pets(limit=3, page=13): 500" in error
    assert "paginate(pets) had read 36 items of 12 pages before." in error
    assert "13 calls made before the error: pets 200 x12, 500." in error


@pytest.mark.process
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("paginate(pets, limit=0)", f"limit is the number of items to return, 1 to {MAX_LIMIT}"),
        ("paginate(pets, limit='many')", "limit is the number of items"),
        ("paginate('petz')", "There is no tool petz; did you mean pets"),
        ("paginate()", "There is no tool None"),
        ("paginate(pets, 5)", "pets() takes keyword arguments"),
        ("paginate(pets, colour=1)", "colour"),
    ],
)
def test_wrong_arguments_of_paginate_are_explained(call: str, message: str) -> None:
    assert message in Pages().error(call)


@pytest.mark.parametrize(
    "lie", [{"total": -5}, {"total": 1}, {"total": 10**30}, {"total_pages": -1}, {"total_pages": 0}]
)
def test_a_total_that_cannot_be_true_does_not_end_a_list(lie: dict[str, int]) -> None:
    def answer(arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return {"items": page(arguments.get("page", 1)), **lie}, {}

    reader = PageReader(listing("page"), {})
    read(reader, answer)
    assert reader.items == PETS


def test_a_cursor_that_stays_the_same_is_reported() -> None:
    numbers = iter(range(1, 9))
    reader = PageReader(listing("cursor", cursor=TEXT), {})
    calls = read(reader, lambda _: ({"items": page(next(numbers)), "next_cursor": "A"}, {}))
    assert calls == [{}, {"cursor": "A"}]
    assert reader.end == "the API named a page again that was read before"
