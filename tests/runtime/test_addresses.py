"""`addresses`: base URL and path template put together; no value leaves its segment, whatever it holds."""

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.errors import ArgumentError, RequestError
from openapi_mcp.runtime.models import Argument
from openapi_mcp.runtime.requests import RequestOptions
from tests.runtime.making import request, tool

PATH = Argument(name="a", location="path")
OTHER = Argument(name="b", location="path", wire_name="b!")
QUERY = Argument(name="q", location="query", style="form", explode=True)


def target(made: httpx.Request) -> str:
    return made.url.raw_path.decode("ascii")


def at(base_url: str | None) -> RequestOptions:
    return RequestOptions(base_url=base_url)


@pytest.mark.parametrize(
    ("base_url", "path", "expected"),
    [
        ("http://h", "/x", "http://h/x"),
        ("http://h/", "/x", "http://h/x"),
        ("http://h/base/", "/x", "http://h/base/x"),
        ("https://h:8443/v1", "x", "https://h:8443/v1/x"),
        ("http://h/base", "/", "http://h/base/"),
        ("http://h/base", "", "http://h/base"),
        ("http://h", "", "http://h/"),
        ("http://h/a?key=1", "/x", "http://h/a/x?key=1"),
        ("http://h/a?key=1", "/x?beta=true", "http://h/a/x?key=1&beta=true"),
        ("http://h", "/x#list", "http://h/x"),
        ("http://h", "/x?beta=true#list", "http://h/x?beta=true"),
        ("http://h", "//evil.example/x", "http://h//evil.example/x"),
        ("http://h", "/@evil.example/..;/admin", "http://h/@evil.example/..;/admin"),
        ("http://h", "@evil.example", "http://h/@evil.example"),
        ("http://h", "/a b/é%20ü/[1]", "http://h/a%20b/%C3%A9%20%C3%BC/%5B1%5D"),
        ("http://[::1]:80/v1", "/x", "http://[::1]/v1/x"),
        ("http://bücher.example", "/x", "http://xn--bcher-kva.example/x"),
    ],
)
def test_base_url_and_path_are_put_together_without_loss(base_url: str, path: str, expected: str) -> None:
    assert str(request(tool(path), at(base_url)).url) == expected


def test_the_configured_base_url_replaces_the_documents() -> None:
    made = tool(base_url="http://document.test/v1")
    assert str(request(made).url) == "http://document.test/v1/x"
    assert str(request(made, at("http://configured.test")).url) == "http://configured.test/x"


@pytest.mark.parametrize(
    "base_url", [None, "", "ftp://h/x", "file:///etc", "/relative", "h.example", "http://", "http://h:x"]
)
def test_a_base_url_that_cannot_be_used_is_refused_with_the_cure(base_url: str | None) -> None:
    with pytest.raises(RequestError, match="--base-url"):
        request(tool(base_url=base_url))


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        ("x/y", "x%2Fy"),
        ("p q", "p%20q"),
        ("a?b#c", "a%3Fb%23c"),
        ("50%", "50%25"),
        ("%2F", "%252F"),
        ("%2e%2e", "%252e%252e"),
        ("../..", "..%2F.."),
        ("../../admin", "..%2F..%2Fadmin"),
        ("a/../b", "a%2F..%2Fb"),
        ("..\\..", "..%5C.."),
        ("{b!}", "%7Bb%21%7D"),
        ("...", "..."),
        (".x", ".x"),
        ("é✓😀", "%C3%A9%E2%9C%93%F0%9F%98%80"),
        ("a\r\nb\x00", "a%0D%0Ab%00"),
        ("~-._", "~-._"),
        (0, "0"),
        (["a/b", "c"], "a%2Fb,c"),
    ],
)
def test_a_path_value_stays_in_its_segment(value: Any, segment: str) -> None:
    made = request(tool("/files/{a}/{b!}", PATH, OTHER), at("http://h/base"), a=value, b="v")
    assert target(made) == f"/base/files/{segment}/v"


@pytest.mark.parametrize("value", [".", "..", "", []])
def test_a_path_value_that_would_name_another_resource_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match="`a`"):
        request(tool("/files/{a}", PATH), a=value)


def test_a_path_value_that_is_refused_is_called_by_the_name_of_its_argument() -> None:
    with pytest.raises(ArgumentError, match=r"^`b` is empty"):
        request(tool("/files/{b!}", OTHER), b="")
    with pytest.raises(ArgumentError, match=r"^`b!` is empty"):
        request(tool("/files/{b!}", OTHER))


def test_a_value_in_the_query_of_a_template_stays_one_value() -> None:
    assert target(request(tool("/x?fixed={a}&y={b!}", PATH, OTHER), a="1&2", b="{a}")) == "/x?fixed=1%262&y=%7Ba%7D"


def test_two_values_cannot_climb_together() -> None:
    with pytest.raises(ArgumentError, match="path segment"):
        request(tool("/files/{a}{b!}/x", PATH, OTHER), a=".", b=".")


def test_several_values_share_a_segment() -> None:
    made = tool("/r/{a}.{b!},{a}", PATH, OTHER)
    assert target(request(made, a="x.y", b="json")) == "/r/x.y.json,x.y"
    assert target(request(made, a="", b="")) == "/r/.,"


@given(st.text(), st.text(min_size=1))
def test_no_value_leaves_its_place_in_the_url(in_path: str, in_query: str) -> None:
    made = tool("/files/{a}/end", PATH, QUERY)
    try:
        url = request(made, at("http://h/base"), a=in_path, q=in_query).url
    except ArgumentError:
        assert in_path in {"", ".", ".."}
        return
    path, _, query = url.raw_path.decode("ascii").partition("?")
    assert url.host == "h"
    assert path.split("/")[:3] == ["", "base", "files"]
    assert path.split("/")[4:] == ["end"]
    assert query.count("&") == 0
    assert url.params.get_list("q") == [in_query]


def test_a_url_beyond_what_can_be_sent_is_refused() -> None:
    with pytest.raises(ArgumentError, match="URL"):
        request(tool("/x", QUERY), q="x" * 100_000)


@given(
    base=st.text("/.~-ab%2F é'", max_size=12),
    template=st.text("/.~-ab%2F?=&é'", max_size=12),
    value=st.text(min_size=1),
)
def test_a_url_is_as_httpx_reads_it(base: str, template: str, value: str) -> None:
    """Most URLs are not read by httpx, whose reading of the very same text has to come to the same."""
    try:
        made = request(
            tool("/" + template + "/{a}", PATH, QUERY), at("https://u:p@api.test:8443/" + base), a=value, q=value
        )
    except (ArgumentError, RequestError):
        return
    read = httpx.URL(str(made.url))
    assert (read, str(read), read.raw_path) == (made.url, str(made.url), made.url.raw_path)
    assert (made.url.netloc, made.url.userinfo, made.url.fragment) == (b"api.test:8443", b"u:p", "")
    assert made.headers["host"] == "api.test:8443"


def test_what_a_template_asks_with_no_value_of_a_path_argument_is_left_to_the_query() -> None:
    made = request(tool("/x?a=1&q={q}&p={a}", PATH, QUERY), a="v&w", q="z")
    assert target(made) == "/x?a=1&p=v%26w&q=z"


@pytest.mark.parametrize("host", [".example.com", "a..b", "a" * 64 + ".com"])
def test_a_host_that_cannot_be_is_refused_before_anything_is_sent(host: str) -> None:
    with pytest.raises(RequestError, match="--base-url"):
        request(tool(path="/x"), at(f"https://{host}"))
