"""Headers that a model needs are shown with any body, in one line and in `_meta`."""

from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.result.build import to_result
from openapi_mcp.runtime.result.headers import HEADERS, MAX_HEADERS
from openapi_mcp.runtime.types import CallToolResult
from tests.compiling import compiled_operation, tool_of
from tests.runtime.making import tool


def answered(headers: dict[str, str], *, status: int = 200, body: str = '{"n":1}', **more: Any) -> CallToolResult:
    request = httpx.Request("GET", "https://api.test/v1/pets?limit=10&page=1")
    fields = {"content-type": "application/json", **headers}
    return to_result(
        tool(**more), httpx.Response(status, headers=fields, content=body, request=request), max_bytes=8000
    )


@pytest.mark.parametrize(
    ("headers", "line"),
    [
        (
            {"Link": '<https://api.test/v1/pets?limit=10&page=2>; rel="next", </v1/pets?limit=10&page=9>; rel=last'},
            "next: page=2; last: page=9",
        ),
        (
            {"link": '<https://other.test/pets?page=2>; title="a, b"; rel="next"'},
            "next: https://other.test/pets?page=2",
        ),
        (
            {"link": '<https://api.test/docs>; rel="help about"'},
            "help: https://api.test/docs; about: https://api.test/docs",
        ),
        ({"ETag": 'W/"7"', "X-Total-Count": "42"}, 'etag: W/"7"; x-total-count: 42'),
        ({"Location": "/v1/pets/7"}, "location: /v1/pets/7"),
        ({"Retry-After": "30"}, "retry-after: 30"),
        ({"RateLimit": "limit=100, remaining=7"}, "ratelimit: limit=100, remaining=7"),
        ({"X-RateLimit-Remaining": "7", "RateLimit-Reset": "9"}, "x-ratelimit-remaining: 7; ratelimit-reset: 9"),
        ({"X-Next-Page": "2", "Content-Range": "items 0-9/42"}, "x-next-page: 2; content-range: items 0-9/42"),
    ],
)
@pytest.mark.parametrize("status", [200, 404])
def test_needed_headers_are_shown_in_one_line_and_in_meta(headers: dict[str, str], line: str, status: int) -> None:
    result = answered(headers, status=status)
    assert result.content[-1]["text"] == f"Headers: {line}"
    shown = result.meta[HEADERS]
    assert {name.lower() for name in headers} == set(shown)
    assert result.structured_content == {"n": 1} or status == 404


@pytest.mark.parametrize(
    "name", ["Server", "Date", "Vary", "Set-Cookie", "Cache-Control", "X-Request-Id", "Content-Type"]
)
def test_other_headers_are_not_shown(name: str) -> None:
    result = answered({name: "application/json"})
    assert len(result.content) == 1
    assert result.meta == {}


def test_declared_headers_are_shown() -> None:
    headers = {"X-Expires-After": {"schema": {"type": "string"}}, "Content-Type": {}, "bad name": {}}
    shared = {"responses": {"Limited": {"description": "d", "headers": {"X-Plan": {}}}}}
    responses = {"200": {"description": "d", "headers": headers}, "429": {"$ref": "#/components/responses/Limited"}}
    declared = tool_of({"responses": responses}, components=shared).response_headers
    assert declared == ("x-expires-after", "content-type", "x-plan")
    result = answered({"X-Expires-After": "tomorrow"}, response_headers=declared)
    assert result.content[-1]["text"] == "Headers: x-expires-after: tomorrow"


def test_broken_headers_cost_nothing() -> None:
    responses = {"200": {"$ref": "#/gone"}, "201": {"headers": []}, "202": None, "204": {"headers": {"X-A": None}}}
    assert compiled_operation({"responses": responses}).tools[0].response_headers == ("x-a",)


@pytest.mark.parametrize("link", ["", "<", "<x>", "<http://[>; rel=next", "<//>; rel=", '<a>; rel="' + "b " * 5])
def test_malformed_link_is_accepted(link: str) -> None:
    assert answered({"link": link}).structured_content == {"n": 1}


def test_number_of_headers_and_links_is_limited() -> None:
    links = ", ".join(f"</p{number}>; rel=r{number}" for number in range(5000))
    totals = {f"X-Total-{number}": "1" for number in range(500)}
    shown = answered({"Link": links} | totals).meta[HEADERS]
    assert len(shown["link"]) == MAX_HEADERS
    assert len(shown) <= MAX_HEADERS


def test_first_link_of_a_relation_is_shown() -> None:
    shown = answered({"Link": "</a>; rel=next, </b>; rel=next"}).meta[HEADERS]
    assert shown["link"] == {"next": "https://api.test/a"}


def test_a_long_cursor_in_a_link_is_whole() -> None:
    cursor = "x" * 900
    result = answered({"Link": f'<https://api.test/v1/pets?limit=10&page=1&cursor={cursor}>; rel="next"'})
    assert result.content[-1]["text"] == f"Headers: next: cursor={cursor}"
    assert result.meta[HEADERS]["link"]["next"].endswith(cursor)
