"""`redirects`: the next request by method and status; no other origin ever gets a credential."""

import httpx
import pytest

from openapi_mcp.runtime.upstream.redirects import is_host, redirected_request

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


EVERYWHERE = ("*.test", "evil.test", "api.test:8443", "api.test:80")


def redirected(
    location: str | None,
    *,
    method: str = "POST",
    status: int = 307,
    url: str = "https://api.test/v1/x?q=1",
    first: str = "",
    hosts: tuple[str, ...] = (),
) -> httpx.Request | None:
    request = httpx.Request(method, url, headers=HEADERS, content=b"{}")
    request.method = method
    headers = {} if location is None else {"location": location}
    response = httpx.Response(status, headers=headers, request=request)
    return redirected_request(request, response, httpx.URL(first or url), hosts)


def required(
    location: str, *, method: str = "POST", status: int = 307, url: str = "https://api.test/v1/x?q=1"
) -> httpx.Request:
    next_request = redirected(location, method=method, status=status, url=url, hosts=EVERYWHERE)
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
    assert next_request.headers["host"] != "api.test"
    assert not next_request.url.userinfo


ELSEWHERE = [
    "https://evil.test/",
    "https://api.test:8443/",
    "//evil.test/x",
    "https://api.test.evil.test/",
    "https://api.test@evil.test/",
    "https://sub.api.test/",
    "http://api.test/v1/x",
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:8080/",
    "http://[::1]/",
    "https://2130706433/",
    "\\\\evil.test/x",
    "https:evil.test",
    "file:///etc/passwd",
    "ftp://api.test/x",
    "javascript:alert(1)",
    "http:",
    "http://[x]/",
    "http://h:x/",
]


@pytest.mark.parametrize("location", ELSEWHERE)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_away_from_the_api_is_not_followed(location: str, status: int) -> None:
    request = redirected(location, status=status)
    assert request is None or request.url.netloc == b"api.test"


@pytest.mark.parametrize("location", ["http://api.test/x", "http://evil.test/x"])
def test_redirect_from_https_to_http_is_never_followed(location: str) -> None:
    assert redirected(location, hosts=("api.test", "evil.test")) is None
    assert redirected(location, first="http://api.test/", hosts=("api.test", "evil.test")) is None


def test_redirect_up_to_https_keeps_credentials() -> None:
    request = redirected("https://api.test/x", url="http://api.test/x")
    assert request is not None
    assert request.headers["authorization"] == "Bearer T"


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("http://api.test/x", "https://api.test:8443/x"),
        ("http://api.test:8080/x", "https://api.test/x"),
        ("http://api.test:8080/x", "https://api.test:8080/x"),
        ("http://api.test/x", "https://www.api.test/x"),
    ],
)
def test_redirect_up_to_https_keeps_host_and_default_ports(url: str, location: str) -> None:
    assert redirected(location, url=url) is None


def test_redirect_back_to_the_first_origin_is_followed_without_credentials() -> None:
    request = redirected("https://first.test/x", first="https://first.test/")
    assert request is not None
    assert "authorization" not in request.headers


def test_user_that_the_api_names_is_not_sent() -> None:
    request = redirected("https://evil:secret@api.test/x")
    assert request is not None
    assert not request.url.userinfo


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("files.test", "https://files.test/x", True),
        ("Files.Test", "http://files.test/x", True),
        ("files.test", "https://files.test:8443/x", False),
        ("files.test:8443", "https://files.test:8443/x", True),
        ("files.test:443", "https://files.test/x", True),
        ("files.test", "https://a.files.test/x", False),
        ("*.files.test", "https://a.files.test/x", True),
        ("*.files.test", "https://files.test/x", False),
        ("*.files.test", "https://afiles.test/x", False),
        ("files.test", "https://files.test.evil.test/x", False),
        ("[::1]:80", "http://[::1]/x", True),
        ("[::1]", "http://[::1]/x", True),
        ("127.0.0.1:9000", "http://127.0.0.1:9000/x", True),
    ],
)
def test_hosts_are_named_with_their_ports(pattern: str, url: str, expected: bool) -> None:
    assert is_host(pattern, httpx.URL(url)) is expected


@pytest.mark.parametrize(
    ("status", "location"), [(200, "/y"), (201, "/y"), (300, "/y"), (304, "/y"), (302, None), (307, "")]
)
def test_other_responses_are_no_redirect(status: int, location: str | None) -> None:
    assert redirected(location, status=status) is None


@pytest.mark.parametrize(("location", "kept"), [("/y", True), ("https://other.test/y", False)])
def test_extensions_stay_with_the_origin(location: str, kept: bool) -> None:
    request = httpx.Request("GET", "https://api.test/x", extensions={"credentials": "sent"})
    response = httpx.Response(307, headers={"location": location}, request=request)
    next_request = redirected_request(request, response, request.url, ["other.test"])
    assert next_request is not None
    assert ("credentials" in next_request.extensions) is kept
