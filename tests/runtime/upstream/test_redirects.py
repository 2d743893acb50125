"""`redirects`: the next request by method and status; no other origin ever gets a credential."""

import httpx
import pytest

from openapi_mcp.runtime.errors import UpstreamError
from openapi_mcp.runtime.upstream.redirects import redirected_request

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
    return redirected_request(request, httpx.Response(status, headers=headers, request=request))


def required(location: str, *, method: str = "POST", status: int = 307) -> httpx.Request:
    next_request = redirected(location, method=method, status=status)
    assert next_request is not None
    return next_request


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
def test_redirect_status_determines_method_and_body(method: str, status: int, expected: str) -> None:
    next_request = required("/y", method=method, status=status)
    assert next_request.method == expected
    assert next_request.content == (b"{}" if method == expected else b"")
    assert ("content-type" in next_request.headers) == (method == expected)
    assert next_request.headers.get("content-length") == ("2" if method == expected else None)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/y", "https://api.test/y"),
        ("y?z=1", "https://api.test/v1/y?z=1"),
        ("https://api.test:443/y", "https://api.test/y"),
        ("?page=2", "https://api.test/v1/x?page=2"),
    ],
)
def test_same_origin_gets_all_headers(location: str, url: str) -> None:
    next_request = required(location)
    assert str(next_request.url) == url
    assert {name.lower(): value for name, value in HEADERS.items()}.items() <= dict(next_request.headers).items()
    assert next_request.headers["host"] == "api.test"


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
def test_another_origin_gets_no_credential_under_any_name(location: str, status: int) -> None:
    next_request = required(location, status=status)
    allowed = {"accept", "accept-language", "user-agent", "host", "content-type", "content-length"}
    assert set(next_request.headers) <= allowed
    assert next_request.headers["host"] != "api.test" or next_request.url.scheme == "http"


@pytest.mark.parametrize(
    ("status", "location"), [(200, "/y"), (201, "/y"), (300, "/y"), (304, "/y"), (302, None), (307, "")]
)
def test_other_responses_are_no_redirect(status: int, location: str | None) -> None:
    assert redirected(location, status=status) is None


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://h/x", "javascript:alert(1)", "http:", "http://[x]/", "http://h:x/"]
)
def test_unusable_location_is_an_error_that_does_not_name_it(location: str) -> None:
    with pytest.raises(UpstreamError, match=r"api\.test redirects to") as refused:
        redirected(location)
    assert "passwd" not in str(refused.value)


@pytest.mark.parametrize(("location", "kept"), [("/y", True), ("https://other.test/y", False)])
def test_extensions_stay_with_the_origin(location: str, kept: bool) -> None:
    request = httpx.Request("GET", "https://api.test/x", extensions={"credentials": "sent"})
    next_request = redirected_request(request, httpx.Response(307, headers={"location": location}, request=request))
    assert next_request is not None
    assert ("credentials" in next_request.extensions) is kept
