"""`select` and `pages` of calls: what is sent, what comes back, and what ends a list."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from openapi_mcp import Bridge
from openapi_mcp.answers import shape
from openapi_mcp.answers.shape import PAGING
from openapi_mcp.runtime.result.build import CUT
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream.events import CallEvents
from tests.answers.api import ITEMS, ListApi

IDS = [item["id"] for item in ITEMS]


@pytest.fixture
def api() -> ListApi:
    return ListApi()


@pytest.fixture(scope="module")
def bridge(tmp_path_factory: pytest.TempPathFactory) -> Bridge:
    return ListApi().bridge(tmp_path_factory.mktemp("lists"), mode="all")


def texts(result: CallToolResult) -> list[str]:
    return [block["text"] for block in result.content]


def test_select_takes_a_part_of_the_answer(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_items", select="[:2].{id: id, by: owner.login}")
    assert result.structured_content == [{"id": 0, "by": "ada"}, {"id": 1, "by": "ada"}]
    assert json.loads(texts(result)[0]) == result.structured_content
    assert texts(result)[1] == "Headers: next: page=2"
    assert api.sent == ["/items"]


def test_a_wrong_expression_is_refused_before_the_call(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_items", select="[].{id")
    assert result.is_error
    assert "`select` is not a JMESPath expression: it ends too early" in texts(result)[0]
    assert not api.requests


def test_an_expression_that_finds_nothing_shows_the_names(api: ListApi, bridge: Bridge) -> None:
    note = texts(api.call(bridge, "list_items", select="[].nmae"))[1]
    assert "No object of the answer has `nmae`; did you mean `name`?" in note
    assert "The answer is a list of 10, of objects with id, name, owner, text." in note


def test_an_answer_that_does_not_fit_is_explained(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "get_item", id=1, select="length(id)")
    assert result.is_error
    assert (
        "length() takes string or array or object, and got number. The answer is an object with id" in texts(result)[0]
    )


def test_the_answer_of_a_call_that_changes_something_is_shown_whole(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "add_item", select="length(id)")
    assert not result.is_error
    assert result.structured_content["secret"] == "kept"
    assert "This is the whole answer." in texts(result)[1]


def test_errors_of_the_api_are_shown_as_they_are(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_broken", page=3, select="[].id", pages=2)
    assert result.is_error
    assert "broken" in texts(result)[0]


WAYS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "list_items": ({}, ["/items", "/items?page=2", "/items?page=3"]),
    "list_cursors": ({}, ["/cursors", "/cursors?cursor=10", "/cursors?cursor=20"]),
    "list_marks": ({}, ["/marks", "/marks?mark=10&tag=a&tag=b", "/marks?mark=20&tag=a&tag=b"]),
    "list_chain": ({}, ["/chain", "/chain/10", "/chain/20"]),
}


@pytest.mark.parametrize("name", WAYS)
def test_pages_are_read_as_one_list(api: ListApi, bridge: Bridge, name: str) -> None:
    expression = "[].id" if name == "list_items" else "data[].id"
    result = api.call(bridge, name, pages=9, select=expression)
    assert result.structured_content == IDS
    assert api.sent == WAYS[name][1]
    assert texts(result)[-1] == f"{name}: 25 items of 3 pages. Ended by: that was the last page."
    assert result.meta[PAGING] == {"pages": 3, "items": 25, "end": "that was the last page"}


def test_the_number_of_pages_ends_a_list_and_the_result_says_how_to_go_on(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_cursors", pages=2)
    assert result.structured_content == {"data": ITEMS[:20], "next_cursor": 20}
    assert "20 items of 2 pages. Ended by: pages=2; the next page has cursor=20." in texts(result)[1]
    assert result.meta[PAGING]["next"] == {"cursor": 20}
    following = api.call(bridge, "list_cursors", pages=2, select="data[].id", **result.meta[PAGING]["next"])
    assert following.structured_content == IDS[20:]


def test_a_page_known_only_by_a_link_is_reached_with_more_pages(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_chain", pages=2, select="data[].id")
    assert result.structured_content == IDS[:20]
    assert "pages=2; only one call with more `pages` reaches the next one" in texts(result)[-1]


def test_a_link_to_another_host_is_not_followed_and_gets_no_credential(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_elsewhere", _pages=5, _select="data[].id")
    assert result.structured_content == [0]
    assert "leads to another host (evil.test)" in texts(result)[-1]
    assert [request.url.host for request in api.requests] == ["api.test"]


def test_arguments_of_the_same_names_are_the_tools_own(api: ListApi, bridge: Bridge) -> None:
    api.call(bridge, "list_elsewhere", select=1, pages=2)
    assert api.sent == ["/elsewhere?select=1&pages=2"]
    listed = bridge.catalog.get("list_elsewhere")
    assert listed is not None
    assert set(listed.input_schema["properties"]) == {"select", "pages"}


def test_pages_that_were_read_are_kept_when_a_further_one_fails(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_broken", pages=5)
    assert result.structured_content == [{"id": 1}, {"id": 2}]
    assert "the next page was answered with 500; the next page has page=3" in texts(result)[1]


def test_calls_that_change_something_are_made_once(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "add_item", pages=2)
    assert "`pages` cannot be used with add_item, since its calls may change something" in texts(result)[0]
    assert not api.requests


@pytest.mark.parametrize("pages", [0, 51, "many", 2.5, True])
def test_numbers_of_pages_are_limited(api: ListApi, bridge: Bridge, pages: Any) -> None:
    result = api.call(bridge, "list_items", pages=pages)
    assert result.is_error
    assert "from 1 to 50" in texts(result)[0]


def test_what_models_send_for_nothing_is_nothing(api: ListApi, bridge: Bridge) -> None:
    assert api.call(bridge, "list_items", select=None, pages=None).structured_content == ITEMS[:10]
    assert api.call(bridge, "list_items", select="", pages="1").structured_content == ITEMS[:10]


def test_an_answer_without_a_list_is_shown_as_it_is(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "get_item", id=1, pages=3, select="name")
    assert result.structured_content == "n0"
    assert "`pages` had no effect: the answer has no list, or several: it has id, name" in texts(result)[-1]


def test_each_page_counts_for_the_rate_limit(api: ListApi, bridge: Bridge) -> None:
    waits = iter([None, None, 7.0])
    result = api.call(bridge, "list_items", _limiter=lambda *_: next(waits), pages=9, select="[].id")
    assert result.structured_content == IDS[:20]
    assert "too many calls; try again in 7 seconds; the next page has page=3" in texts(result)[-2]


class Steps(CallEvents):
    def __init__(self) -> None:
        self.steps: list[str] = []

    async def on_step(self, text: str) -> None:
        self.steps.append(text)


def test_each_page_is_a_step_of_the_progress(api: ListApi, bridge: Bridge) -> None:
    events = Steps()
    api.call(bridge, "list_items", _events=events, pages=9)
    assert events.steps == ["2 pages, 20 items", "3 pages, 25 items"]


def test_all_pages_have_the_time_of_one_call(api: ListApi, bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "_SHARE", 0.0)
    result = api.call(bridge, "list_items", _upstream={"total_timeout": 30.0}, pages=9, select="[].id")
    assert result.structured_content == IDS[:10]
    assert "most of the call's time is over; the next page has page=2" in "".join(texts(result))


def test_all_pages_have_the_size_of_one_answer(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_items", _upstream={"max_bytes": 2_000}, pages=9, select="[].id")
    assert len(result.structured_content) == 20
    assert "bytes are read; the next page has page=3" in "".join(texts(result))


def test_a_page_that_does_not_come_in_time_ends_the_list(api: ListApi, bridge: Bridge) -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("page") == "2":
            raise httpx.ReadTimeout("slow", request=request)
        return ListApi.items(request, dict(request.url.params))

    api.answer = slow  # type: ignore[method-assign]
    result = api.call(bridge, "list_items", pages=3, select="[].id")
    assert result.structured_content == IDS[:10]
    assert "the next page could not be read" in "".join(texts(result))


def test_a_result_that_was_cut_names_the_argument(api: ListApi, bridge: Bridge) -> None:
    result = api.call(bridge, "list_items", _max_result_bytes=1_000)
    assert CUT in result.meta
    assert (
        "Or repeat the call with `select`, a JMESPath expression for the parts that are needed, as `[].{id: id, "
        in (texts(result)[0])
    )
    assert "select" not in texts(api.call(bridge, "add_item", _max_result_bytes=60))[0]


def test_secrets_are_removed_before_an_expression_is_applied(api: ListApi, bridge: Bridge) -> None:
    api.answer = lambda request: httpx.Response(200, json={"url": str(request.url)})  # type: ignore[method-assign]
    assert "terc3s" not in str(api.call(bridge, "list_marks", select="reverse(url)"))


@pytest.mark.parametrize("content", [b"hello", b"{nope", b"null", b"5"])
def test_a_page_without_a_list_ends_one_that_was_read(content: bytes) -> None:
    """The pages read until then are the result, and nothing says that `pages` had no effect."""
    answers = iter([b'[{"id": 1}]', b'[{"id": 2}]', content])

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Type": "application/json"}, content=next(answers))

    page = {"name": "page", "in": "query", "schema": {"type": "integer"}}
    operation = {"operationId": "list_them", "parameters": [page], "responses": {"200": {"description": "All."}}}
    root = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "servers": [{"url": "http://api.test"}],
            "paths": {"/them": {"get": operation}}}  # fmt: skip
    opened = Bridge.open(root, transport=httpx.MockTransport(answer))
    result = asyncio.run(opened.call("list_them", {"pages": 5}))
    assert result.structured_content == [{"id": 1}, {"id": 2}]
    note = "list_them: 2 items of 2 pages. Ended by: the next page is not a list; the next page has page=3."
    assert texts(result)[1:] == [note]
