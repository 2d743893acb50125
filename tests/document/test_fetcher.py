"""Test fetching over HTTP: addresses are checked before each request, redirects included."""

import gzip
import socket
from typing import Any

import httpx
import pytest

from openapi_mcp.document.addresses import is_remote
from openapi_mcp.document.fetcher import DEADLINE, Fetcher, origin, public
from openapi_mcp.errors import DocumentError, ReferenceRefused

MOST = 1000


def answering(*responses: httpx.Response) -> tuple[httpx.MockTransport, list[httpx.Request]]:
    """Return a transport with these responses, one per request, and the list of its requests."""
    waiting, asked = list(responses), []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return waiting.pop(0)

    return httpx.MockTransport(answer), asked


def redirect(location: str, status: int = 302) -> httpx.Response:
    return httpx.Response(status, headers={"location": location})


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Replace the name service by a table."""
    known: dict[str, list[str]] = {}

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return known


def test_the_users_headers_are_sent_to_the_origin_of_the_document() -> None:
    transport, asked = answering(httpx.Response(200, content=b"openapi: 3.0.0"))
    home = "http://127.0.0.1:8000/openapi.yaml"
    fetched = Fetcher(home, {"X-Token": "secret", "accept": "text/yaml"}, transport).get(home, MOST)
    assert (fetched.data, fetched.url) == (b"openapi: 3.0.0", home)
    assert asked[0].headers["x-token"] == "secret"
    assert asked[0].headers.get_list("accept") == ["text/yaml"]


def test_a_password_in_a_url_is_sent_and_never_shown() -> None:
    home = "https://user:pass@example.com/openapi.json#/paths"
    transport, asked = answering(httpx.Response(200), httpx.Response(200))
    fetcher = Fetcher(home, transport=transport)
    assert fetcher.get(home, MOST).url == "https://example.com/openapi.json"
    fetcher.get("https://example.com/other.json", MOST)
    assert [request.headers["authorization"] for request in asked] == ["Basic dXNlcjpwYXNz"] * 2


def test_a_redirect_to_another_origin_gets_no_headers(names: dict[str, list[str]]) -> None:
    names["cdn.example.net"] = ["93.184.216.34"]
    transport, asked = answering(redirect("/v2"), redirect("https://cdn.example.net:8443/a.json"), httpx.Response(200))
    fetcher = Fetcher("https://example.com/v1", {"Authorization": "Bearer x"}, transport)
    assert fetcher.get("https://example.com/v1", MOST).url == "https://cdn.example.net:8443/a.json"
    assert [request.headers.get("authorization") for request in asked] == ["Bearer x", "Bearer x", None]


def test_another_port_of_the_same_host_is_another_origin() -> None:
    transport, asked = answering(redirect("http://127.0.0.1:9001/a"), httpx.Response(200))
    Fetcher("http://127.0.0.1:9000/a", {"X-Token": "secret"}, transport).get("http://127.0.0.1:9000/a", MOST)
    assert [request.headers.get("x-token") for request in asked] == ["secret", None]


def test_a_foreign_host_is_contacted_at_the_checked_address(names: dict[str, list[str]]) -> None:
    names["schemas.example.org"] = ["93.184.216.34"]
    transport, asked = answering(httpx.Response(200))
    Fetcher(transport=transport).get("https://schemas.example.org/a.json?v=1", MOST)
    assert str(asked[0].url) == "https://93.184.216.34/a.json?v=1"
    assert asked[0].headers["host"] == "schemas.example.org"
    assert asked[0].extensions["sni_hostname"] == "schemas.example.org"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
    ],
)
def test_a_foreign_host_at_a_private_address_is_refused(names: dict[str, list[str]], address: str) -> None:
    names["innocent.example.org"] = ["93.184.216.34", address]
    transport, asked = answering()
    with pytest.raises(ReferenceRefused, match="is at a private address"):
        Fetcher(transport=transport).get("http://innocent.example.org/a", MOST)
    assert asked == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "127.1", "localhost"])
def test_every_spelling_of_loopback_is_refused(host: str) -> None:
    transport, asked = answering()
    with pytest.raises(DocumentError):
        Fetcher(transport=transport).get(f"http://{host}:1/a", MOST)
    assert asked == []


def test_a_redirect_to_a_private_address_is_refused(names: dict[str, list[str]]) -> None:
    names["metadata.internal"] = ["169.254.169.254"]
    transport, asked = answering(redirect("http://metadata.internal/latest"))
    with pytest.raises(ReferenceRefused, match="private address"):
        Fetcher("https://example.com/", transport=transport).get("https://example.com/", MOST)
    assert len(asked) == 1


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://example.com/a", "gopher://x"])
def test_a_redirect_to_anything_but_http_is_refused(location: str) -> None:
    transport, asked = answering(redirect(location))
    with pytest.raises(DocumentError):
        Fetcher("https://example.com/", transport=transport).get("https://example.com/", MOST)
    assert len(asked) == 1


def test_every_redirect_is_admitted_first() -> None:
    transport, _ = answering(redirect("/b"), httpx.Response(200))
    admitted: list[str] = []
    Fetcher("https://example.com/a", transport=transport).get("https://example.com/a", MOST, admitted.append)
    assert admitted == ["https://example.com/a", "https://example.com/b"]


def test_too_many_redirects_are_an_error() -> None:
    transport, asked = answering(*[redirect("/again")] * 10)
    with pytest.raises(DocumentError, match="more than 5 redirects"):
        Fetcher("https://example.com/", transport=transport).get("https://example.com/", MOST)
    assert len(asked) == 6


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(httpx.Response(200, content=b"x" * (MOST + 1)), id="plain"),
        pytest.param(
            httpx.Response(200, content=gzip.compress(b"x" * 1_000_000), headers={"content-encoding": "gzip"}),
            id="gzip",
        ),
    ],
)
def test_a_file_that_is_too_large_is_refused(response: httpx.Response) -> None:
    transport, _ = answering(response)
    with pytest.raises(ReferenceRefused, match="larger than 1,000 bytes"):
        Fetcher("https://example.com/", transport=transport).get("https://example.com/", MOST)


@pytest.mark.parametrize(
    ("response", "message", "hint"),
    [
        (httpx.Response(401), "cannot be fetched: 401 Unauthorized", "--spec-header"),
        (httpx.Response(404), "cannot be fetched: 404 Not Found", "check the address"),
        (httpx.Response(503), "cannot be fetched: 503 Service Unavailable", ""),
        (httpx.Response(302), "cannot be fetched: 302 Found", ""),
    ],
)
def test_an_error_response_is_an_error_with_a_hint(response: httpx.Response, message: str, hint: str) -> None:
    transport, _ = answering(response)
    with pytest.raises(DocumentError) as caught:
        Fetcher("https://example.com/", transport=transport).get("https://example.com/", MOST)
    assert caught.value.message == message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "url", ["http://unknown.example.org/", "http://", "http://[", "http://a b/", "http://\x00/", "https://xn--/"]
)
def test_an_unreachable_url_is_an_error(names: dict[str, list[str]], url: str) -> None:
    names.clear()
    with pytest.raises(DocumentError):
        Fetcher().get(url, MOST)


def test_urls_are_normalised_for_comparison_and_display() -> None:
    assert origin("HTTPS://Example.com/a") == origin("https://example.com:443/b")
    assert origin("http://example.com") != origin("https://example.com")
    assert public("https://u:p@example.com/a?b=c#d") == "https://example.com/a?b=c"
    assert (is_remote("HTTP://x"), is_remote("http:/x"), is_remote("c:/http://")) == (True, False, False)
    assert DEADLINE > 0
