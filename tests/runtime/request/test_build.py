"""Requests: query, order, precedence, absent and unknown arguments, and the request line that a server receives."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import Argument, Location, SecurityScheme, Tool
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.echo import Echo, echoing
from tests.runtime.making import BODY, request, tool, with_body

PATH = Argument(name="a", location="path")
OTHER = Argument(name="b", location="path", wire_name="b!")
QUERY = Argument(name="q", location="query", style="form", explode=True)
HEADER = Argument(name="h", location="header", wire_name="X-Text")
COOKIE = Argument(name="c", location="cookie", style="form", explode=True)
KEY = SecurityScheme(name="key", type="apiKey", variable="KEY", location="query", parameter="api_key")


def target(sent_request: httpx.Request) -> str:
    return sent_request.url.raw_path.decode("ascii")


def at(base_url: str | None) -> RequestOptions:
    return RequestOptions(base_url=base_url)


def test_query_is_in_document_order_with_credentials_last() -> None:
    first = Argument(name="f", location="query", style="form", explode=True)
    query_tool = tool("/x?fixed=1", first, QUERY, security=((KEY,),))
    options = RequestOptions(base_url="http://h?base=0", credentials={"key": "K&1"})
    assert target(request(query_tool, options, q=2, f=[3, 4])) == "/x?base=0&fixed=1&f=3&f=4&q=2&api_key=K%261"


def test_credential_in_the_query_replaces_an_argument_of_its_name() -> None:
    key_tool = tool("/x", Argument(name="api_key", location="query", style="form"), security=((KEY,),))
    options = RequestOptions(credentials={"key": "K"})
    assert target(request(key_tool, options, api_key="mine")) == "/x?api_key=K"


@pytest.mark.parametrize(
    ("content_type", "value", "expected"),
    [
        ("application/x-www-form-urlencoded", {"foo": "a + b", "bar": True}, "foo=a+%2B+b&bar=true"),
        (
            "application/json",
            {"numbers": [1, 2], "flag": None},
            "%7B%22numbers%22%3A%5B1%2C2%5D%2C%22flag%22%3Anull%7D",
        ),
        ("application/jsonpath", "$.a.b[1:1]", "%24.a.b%5B1%3A1%5D"),
    ],
)
def test_querystring_argument_is_the_entire_query(content_type: str, value: Any, expected: str) -> None:
    entire_query = Argument(name="w", location="querystring", content_type=content_type)
    assert target(request(tool("/x", entire_query), w=value)) == f"/x?{expected}"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("path", "/x/%7B%22a%22%3A%22%C3%A9%20b%22%7D"),
        ("query", "/x/{w}?w=%7B%22a%22%3A%22%C3%A9%20b%22%7D"),
    ],
)
def test_content_parameter_is_encoded_by_its_media_type(location: Location, expected: str) -> None:
    argument = Argument(name="w", location=location, content_type="application/json")
    sent_request = request(tool("/x/{w}" if location == "path" else "/x/%7Bw%7D", argument), w={"a": "é b"})
    assert target(sent_request) == expected.replace("{w}", "%7Bw%7D")


def test_absent_arguments_are_not_sent() -> None:
    sent_request = request(tool("/x", QUERY, HEADER, COOKIE))
    assert target(sent_request) == "/x"
    assert sorted(sent_request.headers) == ["accept", "accept-encoding", "host", "user-agent"]


def test_repr_of_options_has_no_secrets() -> None:
    options = RequestOptions(headers=(("X-Key", "hidden"),), credentials={"bearer": "hidden"})
    assert "hidden" not in repr(options)


def test_unknown_argument_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no argument `other`"):
        request(tool("/x", QUERY), other=1)
    with pytest.raises(ArgumentError, match="no argument `other`"):
        request(with_body("application/json", arguments=(BODY,)), body=1, other=1)


def test_lone_surrogate_is_refused() -> None:
    with pytest.raises(ArgumentError, match="surrogate"):
        request(tool("/x", QUERY), q="\ud800")


def test_endless_nesting_is_refused() -> None:
    value: Any = []
    for _ in range(90_000):
        value = [value]
    with pytest.raises(ArgumentError, match="nested too deeply"):
        request(tool("/x", QUERY), q=value)


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


@pytest.mark.parametrize(
    ("operation", "arguments", "line"),
    [
        (tool("/files/{a}", PATH), {"a": "a/b"}, "GET /base/files/a%2Fb"),
        (tool("/files/{a}", PATH), {"a": "%2F"}, "GET /base/files/%252F"),
        (tool("/files/{a}", PATH), {"a": "x?y=1#z"}, "GET /base/files/x%3Fy%3D1%23z"),
        (tool("//evil.example/x"), {}, "GET /base//evil.example/x"),
        (tool("/@evil.example/..;/admin"), {}, "GET /base/@evil.example/..;/admin"),
        (tool("/x", QUERY, method="QUERY"), {"q": "a b"}, "QUERY /base/x?q=a%20b"),
        (tool("/x", method="notify"), {}, "notify /base/x"),
        (tool("/x", method="HEAD"), {}, "HEAD /base/x"),
    ],
)
def test_request_line_on_the_wire(echo: Echo, operation: Tool, arguments: dict[str, Any], line: str) -> None:
    async def send() -> None:
        upstream = Upstream()
        await upstream.send(build_request(operation, arguments, at(f"{echo.url}/base")))
        await upstream.aclose()

    asyncio.run(send())
    received = echo.last()
    assert f"{received.method} {received.target}" == line
    assert received.one("host") == echo.url.removeprefix("http://")
    assert received.body == b""


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY", "purge"])
@pytest.mark.parametrize("arguments", [{}, {"body": {"a": 1}}], ids=["empty", "body"])
@pytest.mark.parametrize("headers", [(), (("Host", "other.test"),)], ids=["", "host"])
def test_host_and_content_length_equal_those_of_httpx(
    method: str, arguments: dict[str, Any], headers: tuple[tuple[str, str], ...]
) -> None:
    built = build_request(
        replace(with_body("application/json"), method=method),
        arguments,
        RequestOptions(base_url="http://api.test:81", headers=headers),
    )
    expected_headers = [(name, value) for name, value in built.headers.raw if name not in {b"Host", b"Content-Length"}]
    expected_headers += [(name.encode(), value.encode()) for name, value in headers]
    content = built.content or None
    expected = httpx.Request(method, built.url, headers=expected_headers, content=content)
    assert sorted(built.headers.raw) == sorted(expected.headers.raw)
    assert (built.method, built.content) == (method, expected.content)
