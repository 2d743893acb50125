"""`headers`: what may be set and what may not, and that no value ends its line or its cookie."""

from typing import Any

import pytest

from openapi_mcp.runtime.errors import ArgumentError, RequestError
from openapi_mcp.runtime.models import Argument, SecurityScheme
from openapi_mcp.runtime.requests import RequestOptions
from tests.runtime.making import request, tool, with_body

HEADER = Argument(name="h", location="header", wire_name="X-Text")
COOKIE = Argument(name="c", location="cookie", style="form", explode=True)
BEARER = SecurityScheme(name="bearer", type="http", variable="TOKEN", scheme="bearer")
SESSION = SecurityScheme(name="session", type="apiKey", variable="SESSION", location="cookie", parameter="session")


def test_content_in_headers_and_cookies_is_text() -> None:
    in_header = Argument(name="h", location="header", wire_name="X-Filter", content_type="application/json")
    in_cookie = Argument(name="c", location="cookie", content_type="application/json", style="form")
    made = request(tool("/x", in_header, in_cookie), h={"a": [1, "b c"]}, c={"a": 1})
    assert made.headers["x-filter"] == '{"a":[1,"b c"]}'
    assert made.headers["cookie"] == "c=%7B%22a%22%3A1%7D"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x00b", "\x1b[0m", "x\x7f", ["ok", "a\r\nb"]])
def test_a_header_value_that_would_end_its_line_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"`h` holds a line break"):
        request(tool("/x", HEADER), h=value)


@pytest.mark.parametrize(
    ("value", "sent"),
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
def test_a_header_value_is_sent_as_it_is_in_utf8(value: Any, sent: bytes) -> None:
    made = request(tool("/x", HEADER), h=value)
    assert (b"X-Text", sent) in made.headers.raw


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Authorization",
        "Cookie",
        "Accept",
        "Content-Type",
        "TE",
    ],
)
def test_no_argument_sets_the_host_the_framing_or_who_is_asking(name: str) -> None:
    with pytest.raises(ArgumentError, match="cannot be set"):
        request(tool("/x", Argument(name="h", location="header", wire_name=name)), h="x")


def test_a_header_name_that_is_none_is_the_documents_fault() -> None:
    with pytest.raises(RequestError, match="not a header name"):
        request(tool("/x", Argument(name="h", location="header", wire_name="X: 1\r\nY")), h="x")


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("a; session=x", "c=a%3B%20session%3Dx"),
        ("a,b c", "c=a%2Cb%20c"),
        ("a\r\nSet: x", "c=a%0D%0ASet%3A%20x"),
        (["a", "b"], "c=a; c=b"),
    ],
)
def test_a_cookie_value_stays_one_value(value: Any, sent: str) -> None:
    assert request(tool("/x", COOKIE), c=value).headers["cookie"] == sent


def test_cookies_of_arguments_and_credentials_are_one_header() -> None:
    own = Argument(name="s", location="cookie", wire_name="session", style="form")
    options = RequestOptions(credentials={"session": "K;3"})
    made = request(tool("/x", COOKIE, own, security=((SESSION,),)), options, c="fr", s="mine")
    assert made.headers.get_list("cookie") == ["c=fr; session=K%3B3"]


def test_configured_headers_replace_computed_ones_whatever_their_case() -> None:
    options = RequestOptions(
        headers=(("accept", "text/plain"), ("X-TEXT", "configured"), ("authorization", "Basic x"), ("X-More", "1")),
        credentials={"bearer": "T"},
    )
    made = request(tool("/x", HEADER, security=((BEARER,),)), options, h="argument")
    assert made.headers.get_list("accept") == ["text/plain"]
    assert made.headers.get_list("x-text") == ["configured"]
    assert made.headers.get_list("authorization") == ["Basic x"]
    assert made.headers["x-more"] == "1"


def test_configured_headers_never_replace_the_content_type_of_a_body() -> None:
    options = RequestOptions(headers=(("content-type", "text/plain"),))
    assert request(with_body("application/json"), options, body={}).headers.get_list("content-type") == [
        "application/json"
    ]
    assert request(with_body("application/json"), options).headers["content-type"] == "text/plain"


@pytest.mark.parametrize(
    "header", [("Content-Length", "5"), ("transfer-encoding", "chunked"), ("X-A", "a\r\nb"), ("X A", "b")]
)
def test_a_configured_header_that_would_break_the_message_is_refused(header: tuple[str, str]) -> None:
    with pytest.raises(RequestError):
        request(tool(), RequestOptions(headers=(header,)))
