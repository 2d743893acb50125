"""Test fetching over HTTP: addresses are checked before each request, redirects included."""

import gzip
import socket
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import pytest

from openapi_mcp.document import fetcher
from openapi_mcp.document.addresses import is_remote
from openapi_mcp.document.fetcher import DEADLINE, Fetcher, origin, public
from openapi_mcp.errors import DocumentError, ReferenceRefused
from tests.runtime.echo import Recorded, answer, echoing

pytestmark = pytest.mark.slow

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
    transport, asked = answering(redirect("https://metadata.internal/latest"))
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


@cache
def stacked(codings: int) -> bytes:
    """Return half a gigabyte of zeros that is compressed several times."""
    if codings > 1:
        return gzip.compress(stacked(codings - 1))
    packer = zlib.compressobj(1, wbits=31)
    return b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(512)), packer.flush()])


@pytest.mark.slow
@pytest.mark.parametrize("codings", [1, 2, 3, 4])
def test_a_body_that_unpacks_to_half_a_gigabyte_is_refused_before_it_is_unpacked(codings: int) -> None:
    body = stacked(codings)
    with echoing() as server:
        server.respond = lambda _: answer(body, "Content-Encoding: " + ", ".join(["gzip"] * codings))
        tracemalloc.start()
        try:
            with pytest.raises(ReferenceRefused, match=r"larger than 67,108,864 bytes|compressed (several|4) times"):
                Fetcher(server.url).get(server.url, 64 << 20)
            assert tracemalloc.get_traced_memory()[1] < 150 << 20
        finally:
            tracemalloc.stop()
        assert server.last().one("accept-encoding") == "gzip, deflate"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, gzip", "x-gzip", ""])
def test_codings_are_unpacked(coding: str) -> None:
    body = b"openapi: 3.1.0"
    for name in coding.split(", ") if coding else ():
        body = zlib.compress(body) if name == "deflate" else gzip.compress(body)
    with echoing() as server:
        server.respond = lambda _: answer(body, *([f"Content-Encoding: {coding}"] if coding else []))
        assert Fetcher(server.url).get(server.url, MOST).data == b"openapi: 3.1.0"


def test_a_compressed_body_that_is_cut_off_is_an_error() -> None:
    with echoing() as server:
        server.respond = lambda _: answer(gzip.compress(b"x" * 100)[:-9], "Content-Encoding: gzip")
        with pytest.raises(DocumentError, match="cannot be fetched"):
            Fetcher(server.url).get(server.url, MOST)


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"]
)
def test_a_server_that_sends_byte_by_byte_is_cut_off(monkeypatch: pytest.MonkeyPatch, start: bytes) -> None:
    monkeypatch.setattr(fetcher, "DEADLINE", 0.5)

    def drip(_: Recorded) -> Iterator[bytes]:
        yield start
        for _number in range(400):
            time.sleep(0.05)
            yield b"H"

    with echoing() as server:
        server.respond = drip
        began = time.monotonic()
        with pytest.raises(DocumentError, match=r"took longer than|cannot be fetched"):
            Fetcher(server.url).get(server.url, MOST)
        assert time.monotonic() - began < 10


def test_no_redirect_leads_from_https_to_http() -> None:
    transport, asked = answering(redirect("http://example.com/a"))
    with pytest.raises(ReferenceRefused, match=r"redirects from https to http://example\.com/a"):
        Fetcher("https://example.com/", transport=transport).get("https://example.com/", MOST)
    assert len(asked) == 1
    transport, _ = answering(redirect("https://example.com/a"), httpx.Response(200))
    assert Fetcher("http://example.com/", transport=transport).get("http://example.com/", MOST).url[:5] == "https"


class Peer:
    """A connection to an address."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get_extra_info(self, _: str) -> tuple[str, int]:
        return self.address, 80


@pytest.mark.parametrize(
    ("first", "second", "is_refused"),
    [
        ("93.184.216.34", "127.0.0.1", True),
        ("93.184.216.34", "::1", True),
        ("93.184.216.34", "93.184.216.35", False),
        ("127.0.0.1", "127.0.0.1", False),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_a_host_that_was_public_does_not_become_private(first: str, second: str, is_refused: bool) -> None:
    responses = [
        httpx.Response(200, content=b"{}", extensions={"network_stream": Peer(peer)}) for peer in (first, second)
    ]
    transport, _ = answering(*responses)
    fetching = Fetcher("http://api.example/", transport=transport)
    fetching.get("http://api.example/", MOST)
    if is_refused:
        with pytest.raises(ReferenceRefused, match="is at a private address now"):
            fetching.get("http://api.example/schemas.json", MOST)
    else:
        fetching.get("http://api.example/schemas.json", MOST)


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
