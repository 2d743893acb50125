"""URLs: base URL and path template joined; no value leaves its segment, whatever it contains."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.errors import ArgumentError, RequestError
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.tool import Argument, SecurityScheme, Style
from tests.runtime.making import request, tool

PATH = Argument(name="a", location="path")
OTHER = Argument(name="b", location="path", wire_name="b!")
QUERY = Argument(name="q", location="query", style="form", explode=True)


def target(sent_request: httpx.Request) -> str:
    return sent_request.url.raw_path.decode("ascii")


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
def test_base_url_and_path_are_joined(base_url: str, path: str, expected: str) -> None:
    assert str(request(tool(path), at(base_url)).url) == expected


def test_configured_base_url_replaces_that_of_the_document() -> None:
    operation = tool(base_url="http://document.test/v1")
    assert str(request(operation).url) == "http://document.test/v1/x"
    assert str(request(operation, at("http://configured.test")).url) == "http://configured.test/x"


@pytest.mark.parametrize(
    "base_url", [None, "", "ftp://h/x", "file:///etc", "/relative", "h.example", "http://", "http://h:x"]
)
def test_invalid_base_url_is_refused_with_a_remedy(base_url: str | None) -> None:
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
        ("{b!}", "%7Bb%21%7D"),
        ("...", "..."),
        ("v1..v2", "v1..v2"),
        ("..x/x..", "..x%2Fx.."),
        ("a/.b/c.", "a%2F.b%2Fc."),
        ("100%.", "100%25."),
        (".x", ".x"),
        ("é✓😀", "%C3%A9%E2%9C%93%F0%9F%98%80"),
        ("a\r\nb\x00", "a%0D%0Ab%00"),
        ("~-._", "~-._"),
        (0, "0"),
        (["a/b", "c"], "a%2Fb,c"),
    ],
)
def test_path_value_is_escaped_within_its_segment(value: Any, segment: str) -> None:
    sent_request = request(tool("/files/{a}/{b!}", PATH, OTHER), at("http://h/base"), a=value, b="v")
    assert target(sent_request) == f"/base/files/{segment}/v"


@pytest.mark.parametrize("value", ["", [], {}])
def test_empty_path_values_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^`a` is empty"):
        request(tool("/files/{a}", PATH), a=value)


CLIMBING = [
    *(".", "..", "../admin", "../..", "../../admin", "a/..", "a/../b", "a/./b", "./a", "/..", "../"),
    *("..\\..", "a\\..\\b", "..\\/x", "a/..\\b"),
    *("%2e%2e", "%2E%2e/admin", "..%2fadmin", ".%2e%5cadmin", "a%2F..%2Fb"),
    *("%252e%252e", "%252e%252e%252fadmin", "..%255Cadmin", ".%2e%252fadmin"),
    *("..;", "..;x=1/admin", "a/..;/b", "../?x", "..?", "..#", ".. /x", " ..", "..\0/x", "a/\t../b"),
]
"""Values that name another resource where a server decodes before it matches (nginx, IIS, Tomcat)."""


@pytest.mark.parametrize("value", CLIMBING)
@pytest.mark.parametrize("template", ["/files/{a}", "/files/{a}/x", "/v{a}", "/files/{a}.json", "/x-{a}-y/z"])
@pytest.mark.parametrize("allow_reserved", [False, True])
def test_path_value_with_a_dot_part_is_refused(value: str, template: str, allow_reserved: bool) -> None:
    with pytest.raises(ArgumentError, match=r"^`a` has the part `\.\.?`.*`a/b` is allowed") as caught:
        request(tool(template, replace(PATH, allow_reserved=allow_reserved)), a=value)
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    ("style", "explode", "value"),
    [
        ("simple", False, ["../admin", "x"]),
        ("simple", False, ["x", "a/../b"]),
        ("simple", False, [".."]),
        ("simple", True, {"..": "x", "a/..": "b/../c"}),
        ("simple", False, {"a/..": "x", "b": "c/../.."}),
        ("label", False, "."),
        ("label", False, "/x"),
        ("label", True, ["", "/x"]),
        ("label", False, ["./x"]),
        ("matrix", False, ".."),
        ("matrix", False, "../admin"),
        ("matrix", False, "x/../admin"),
        ("matrix", True, ["x", "y/.."]),
        ("matrix", True, {"k/..": "x", "r": "x/../y"}),
    ],
)
def test_path_array_or_object_makes_no_dot_segment(style: Style, explode: bool, value: Any) -> None:
    argument = replace(PATH, style=style, explode=explode)
    with pytest.raises(ArgumentError, match=r"the part `\.\.?`"):
        request(tool("/files/{a}", argument), a=value)


def test_path_arrays_with_dots_within_their_members_are_sent() -> None:
    assert target(request(tool("/f/{a}", PATH), a=["1.2", "..", "a/b"])) == "/f/1.2,..,a%2Fb"
    assert target(request(tool("/f/{a}", replace(PATH, style="matrix")), a="a.b")) == "/f/;a=a.b"
    assert target(request(tool("/f/{a}", replace(PATH, style="label")), a="a.b")) == "/f/.a.b"


def test_refused_path_value_is_named_by_its_argument() -> None:
    with pytest.raises(ArgumentError, match=r"^`b` is empty"):
        request(tool("/files/{b!}", OTHER), b="")
    with pytest.raises(ArgumentError, match=r"^`b!` is empty"):
        request(tool("/files/{b!}", OTHER))


def test_value_in_the_query_of_a_template_is_escaped() -> None:
    assert target(request(tool("/x?fixed={a}&y={b!}", PATH, OTHER), a="1&2", b="{a}")) == "/x?fixed=1%262&y=%7Ba%7D"


def test_values_cannot_form_a_dot_segment_with_each_other_or_with_the_template() -> None:
    with pytest.raises(ArgumentError, match=r"^`a` has the part `.`"):
        request(tool("/files/{a}{b!}/x", PATH, OTHER), a=".", b=".")
    with pytest.raises(ArgumentError, match=r"^`a`, `b` would make the path segment `..`"):
        request(tool("/files/{a}.{b!}.{b!}", PATH, OTHER), a="", b="")
    with pytest.raises(ArgumentError, match=r"^`a` would make the path segment `.`"):
        request(tool("/files/.{a}", PATH), a="/x")


def test_segment_with_several_values() -> None:
    operation = tool("/r/{a}.{b!},{a}", PATH, OTHER)
    assert target(request(operation, a="x.y", b="json")) == "/r/x.y.json,x.y"
    assert target(request(operation, a="", b="")) == "/r/.,"


@given(st.text(), st.text(min_size=1))
def test_no_value_changes_the_structure_of_the_url(in_path: str, in_query: str) -> None:
    operation = tool("/files/{a}/end", PATH, QUERY)
    try:
        url = request(operation, at("http://h/base"), a=in_path, q=in_query).url
    except ArgumentError:
        parts = re.split(r"[/\\\\;?#\0]", unquote(unquote(in_path)))
        assert not in_path or {".", ".."} & {part.strip() for part in parts}
        return
    path, _, query = url.raw_path.decode("ascii").partition("?")
    assert url.host == "h"
    assert path.split("/")[:3] == ["", "base", "files"]
    assert path.split("/")[4:] == ["end"]
    assert query.count("&") == 0
    assert url.params.get_list("q") == [in_query]


def test_url_beyond_the_limit_of_httpx_is_refused() -> None:
    with pytest.raises(ArgumentError, match="URL"):
        request(tool("/x", QUERY), q="x" * 100_000)


@given(
    base=st.text("/.~-ab%2F é'", max_size=12),
    template=st.text("/.~-ab%2F?=&é'", max_size=12),
    value=st.text(min_size=1),
)
def test_prepared_url_equals_one_parsed_by_httpx(base: str, template: str, value: str) -> None:
    """Compare prepared URLs, which httpx does not parse, with its parse of the same text."""
    try:
        sent_request = request(
            tool("/" + template + "/{a}", PATH, QUERY), at("https://u:p@api.test:8443/" + base), a=value, q=value
        )
    except (ArgumentError, RequestError):
        return
    url = sent_request.url
    parsed = httpx.URL(str(url))
    assert (parsed, str(parsed), parsed.raw_path) == (url, str(url), url.raw_path)
    assert (url.netloc, url.userinfo, url.fragment) == (b"api.test:8443", b"u:p", "")
    assert sent_request.headers["host"] == "api.test:8443"


def test_query_of_a_template_without_its_path_argument_is_omitted() -> None:
    sent_request = request(tool("/x?a=1&q={q}&p={a}", PATH, QUERY), a="v&w", q="z")
    assert target(sent_request) == "/x?a=1&p=v%26w&q=z"


@pytest.mark.parametrize("host", [".example.com", "a..b", "a" * 64 + ".com"])
def test_invalid_host_name_is_refused(host: str) -> None:
    with pytest.raises(RequestError, match="--base-url"):
        request(tool(path="/x"), at(f"https://{host}"))


@pytest.mark.parametrize(
    ("path", "arguments", "expected"),
    [
        ("/x?q=list", {"q": "delete"}, "/x?q=list"),
        ("/x?q=a%20b&q=c", {"q": "delete"}, "/x?q=a%20b&q=c"),
        ("/x?q=", {"q": "z"}, "/x?q=z"),
        ("/x?q", {"q": "z"}, "/x?q=z"),
        ("/x?q", {}, "/x?q"),
        ("/x?q=#post", {"q": "z"}, "/x?q=z"),
        ("/x?%71=list", {"q": "delete"}, "/x?%71=list"),
    ],
)
def test_pair_of_the_path_and_of_an_argument_is_sent_once(path: str, arguments: Any, expected: str) -> None:
    assert target(request(tool(path, QUERY), **arguments)) == expected


@pytest.mark.parametrize(
    "argument",
    [
        Argument(name="q", location="query", wire_name="filter", style="form", explode=True),
        Argument(name="q", location="querystring", content_type="application/x-www-form-urlencoded"),
    ],
)
def test_no_property_replaces_a_pair_that_the_path_sets(argument: Argument) -> None:
    sent_request = request(tool("/x?Action=List", argument), q={"Action": "Delete", "b": "1"})
    assert target(sent_request) == "/x?Action=List&b=1"


def test_credential_replaces_the_pair_of_the_path() -> None:
    key = SecurityScheme(name="key", type="apiKey", variable="KEY", location="query", parameter="api_key")
    demo = tool("/x?api_key=DEMO&a=1", security=((key,),))
    assert target(request(demo, RequestOptions(credentials={"key": "K"}))) == "/x?a=1&api_key=K"
