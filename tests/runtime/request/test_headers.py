"""Header fields: those that may be set and those that may not; no value ends its line or its cookie."""

from typing import Any

import pytest

from openapi_mcp.runtime.errors import ArgumentError, RequestError
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.tool import Argument, SecurityScheme
from tests.runtime.making import request, tool, with_body

HEADER = Argument(name="h", location="header", wire_name="X-Text")
COOKIE = Argument(name="c", location="cookie", style="form", explode=True)
BEARER = SecurityScheme(name="bearer", type="http", variable="TOKEN", scheme="bearer")
SESSION = SecurityScheme(name="session", type="apiKey", variable="SESSION", location="cookie", parameter="session")


def test_content_parameters_in_headers_and_cookies_are_text() -> None:
    in_header = Argument(name="h", location="header", wire_name="X-Filter", content_type="application/json")
    in_cookie = Argument(name="c", location="cookie", content_type="application/json", style="form")
    sent_request = request(tool("/x", in_header, in_cookie), h={"a": [1, "b c"]}, c={"a": 1})
    assert sent_request.headers["x-filter"] == '{"a":[1,"b c"]}'
    assert sent_request.headers["cookie"] == "c=%7B%22a%22%3A1%7D"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x00b", "\x1b[0m", "x\x7f", ["ok", "a\r\nb"]])
def test_header_value_with_a_line_break_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"`h` contains a line break"):
        request(tool("/x", HEADER), h=value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a b/c", b"a b/c"),
        ("é✓", "é✓".encode()),
        ("  x\t", b"x"),
        ("a\tb", b"a\tb"),
        ("", b""),
        (True, b"true"),
        (5.0, b"5"),
    ],
)
def test_header_value_is_sent_unescaped_in_utf8(value: Any, expected: bytes) -> None:
    sent_request = request(tool("/x", HEADER), h=value)
    assert (b"X-Text", expected) in sent_request.headers.raw


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Authorization",
        "Cookie",
        "Content-Type",
        "TE",
    ],
)
def test_reserved_headers_cannot_be_set_by_arguments(name: str) -> None:
    with pytest.raises(ArgumentError, match="cannot be set"):
        request(tool("/x", Argument(name="h", location="header", wire_name=name)), h="x")


def test_accept_argument_replaces_the_computed_header_and_yields_to_the_configured_one() -> None:
    choice = tool("/x", Argument(name="accept", location="header", wire_name="Accept"), accept="application/json")
    assert request(choice, accept="text/csv").headers["Accept"] == "text/csv"
    configured = RequestOptions(headers=(("accept", "text/html"),))
    assert request(choice, configured, accept="text/csv").headers.get_list("Accept") == ["text/html"]


def test_invalid_header_name_is_an_error_of_the_document() -> None:
    with pytest.raises(RequestError, match="not a header name"):
        request(tool("/x", Argument(name="h", location="header", wire_name="X: 1\r\nY")), h="x")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a; session=x", "c=a%3B%20session%3Dx"),
        ("a,b c", "c=a%2Cb%20c"),
        ("a\r\nSet: x", "c=a%0D%0ASet%3A%20x"),
        (["a", "b"], "c=a; c=b"),
    ],
)
def test_cookie_value_is_escaped(value: Any, expected: str) -> None:
    assert request(tool("/x", COOKIE), c=value).headers["cookie"] == expected


def test_cookies_of_arguments_and_credentials_share_one_header() -> None:
    own = Argument(name="s", location="cookie", wire_name="session", style="form")
    options = RequestOptions(credentials={"session": "K;3"})
    sent_request = request(tool("/x", COOKIE, own, security=((SESSION,),)), options, c="fr", s="mine")
    assert sent_request.headers.get_list("cookie") == ["c=fr; session=K%3B3"]


def test_configured_headers_replace_others_case_insensitively() -> None:
    options = RequestOptions(
        headers=(("accept", "text/plain"), ("X-TEXT", "configured"), ("authorization", "Basic x"), ("X-More", "1")),
        credentials={"bearer": "T"},
    )
    sent_request = request(tool("/x", HEADER, security=((BEARER,),)), options, h="argument")
    assert sent_request.headers.get_list("accept") == ["text/plain"]
    assert sent_request.headers.get_list("x-text") == ["configured"]
    assert sent_request.headers.get_list("authorization") == ["Basic x"]
    assert sent_request.headers["x-more"] == "1"


def test_configured_content_type_does_not_replace_that_of_a_body() -> None:
    options = RequestOptions(headers=(("content-type", "text/plain"),))
    assert request(with_body("application/json"), options, body={}).headers.get_list("content-type") == [
        "application/json"
    ]
    assert request(with_body("application/json"), options).headers["content-type"] == "text/plain"


@pytest.mark.parametrize(
    "header", [("Content-Length", "5"), ("transfer-encoding", "chunked"), ("X-A", "a\r\nb"), ("X A", "b")]
)
def test_invalid_configured_header_is_refused(header: tuple[str, str]) -> None:
    with pytest.raises(RequestError):
        request(tool(), RequestOptions(headers=(header,)))
