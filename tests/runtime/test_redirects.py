"""`redirects`: the next request, method by method, and that no other origin ever sees a credential."""

import httpx
import pytest

from openapi_mcp.runtime.errors import UpstreamError
from openapi_mcp.runtime.redirects import following

HEADERS = {
    "Authorization": "Bearer T",
    "Cookie": "session=K",
    "X-API-Key": "K",
    "X-Anything": "1",
    "Accept": "application/json",
    "Accept-Language": "de",
    "User-Agent": "us",
    "Content-Type": "application/json",
}


def redirected(location: str | None, *, method: str = "POST", status: int = 307) -> httpx.Request | None:
    request = httpx.Request(method, "https://api.test/v1/x?q=1", headers=HEADERS, content=b"{}")
    request.method = method
    headers = {} if location is None else {"location": location}
    return following(request, httpx.Response(status, headers=headers, request=request))


def required(location: str, *, method: str = "POST", status: int = 307) -> httpx.Request:
    found = redirected(location, method=method, status=status)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("method", "status", "expected"),
    [
        ("GET", 301, "GET"),
        ("GET", 302, "GET"),
        ("GET", 303, "GET"),
        ("GET", 307, "GET"),
        ("GET", 308, "GET"),
        ("HEAD", 301, "HEAD"),
        ("HEAD", 303, "HEAD"),
        ("HEAD", 308, "HEAD"),
        ("POST", 301, "GET"),
        ("POST", 302, "GET"),
        ("POST", 303, "GET"),
        ("POST", 307, "POST"),
        ("POST", 308, "POST"),
        ("PUT", 301, "PUT"),
        ("PUT", 302, "PUT"),
        ("PUT", 303, "GET"),
        ("DELETE", 307, "DELETE"),
        ("notify", 308, "notify"),
    ],
)
def test_the_method_and_the_body_follow_the_status(method: str, status: int, expected: str) -> None:
    found = required("/y", method=method, status=status)
    assert found.method == expected
    assert found.content == (b"{}" if method == expected else b"")
    assert ("content-type" in found.headers) == (method == expected)
    assert found.headers.get("content-length") == ("2" if method == expected else None)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/y", "https://api.test/y"),
        ("y?z=1", "https://api.test/v1/y?z=1"),
        ("https://api.test:443/y", "https://api.test/y"),
        ("?page=2", "https://api.test/v1/x?page=2"),
    ],
)
def test_the_same_origin_gets_everything(location: str, url: str) -> None:
    found = required(location)
    assert str(found.url) == url
    assert {name.lower(): value for name, value in HEADERS.items()}.items() <= dict(found.headers).items()
    assert found.headers["host"] == "api.test"


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.test/",
        "http://api.test/v1/x",
        "https://api.test:8443/",
        "//evil.test/x",
        "https://api.test.evil.test/",
        "https://api.test@evil.test/",
        "https://sub.api.test/",
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_another_origin_gets_no_credential_whatever_it_is_called(location: str, status: int) -> None:
    found = required(location, status=status)
    kept = {"accept", "accept-language", "user-agent", "host", "content-type", "content-length"}
    assert set(found.headers) <= kept
    assert found.headers["host"] != "api.test" or found.url.scheme == "http"


@pytest.mark.parametrize(
    ("status", "location"), [(200, "/y"), (201, "/y"), (300, "/y"), (304, "/y"), (302, None), (307, "")]
)
def test_what_is_no_redirect_is_the_answer(status: int, location: str | None) -> None:
    assert redirected(location, status=status) is None


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://h/x", "javascript:alert(1)", "http:", "http://[x]/", "http://h:x/"]
)
def test_what_cannot_be_followed_is_an_error_without_the_address(location: str) -> None:
    with pytest.raises(UpstreamError, match=r"api\.test redirects to") as refused:
        redirected(location)
    assert "passwd" not in str(refused.value)
