"""Where a redirect leads, as the next request: pure, and never with credentials to another origin.

Specification: RFC 9110 §15.4, WHATWG Fetch "HTTP-redirect fetch" (which methods change), RFC 6454 §4 (origin).
"""

from typing import Final

import httpx

from .errors import UpstreamError

MAX_REDIRECTS: Final = 5
"""As many as an API needs to move house; more is a loop."""

_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
# All that goes along to another origin: what the answer should look like, and how a body that goes along is written.
# Anything else may be a credential; an API's key can have any name.
_HARMLESS: Final = frozenset(
    {
        *("accept", "accept-encoding", "accept-language", "user-agent", "range", "prefer"),
        *("content-type", "content-encoding", "content-language"),
    }
)
_OF_A_BODY: Final = frozenset({"content-type", "content-encoding", "content-language", "content-location"})
# Computed for each request anew.
_COMPUTED: Final = frozenset({"host", "content-length", "transfer-encoding"})


def following(request: httpx.Request, response: httpx.Response) -> httpx.Request | None:
    """The request that `response` redirects to, or None where it is the answer. Raises UpstreamError."""
    location = response.headers.get("location") if response.status_code in _STATUSES else None
    if not location:
        return None
    url = _target(request.url, location)
    method = _method(request.method, response.status_code)
    keeps_body = method == request.method
    dropped = _COMPUTED if keeps_body else _COMPUTED | _OF_A_BODY
    goes_along = None if origin(url) == origin(request.url) else _HARMLESS
    headers = [
        (name, value)
        for name, value in request.headers.raw
        if (key := name.decode("latin-1").lower()) not in dropped and (goes_along is None or key in goes_along)
    ]
    following_request = httpx.Request(method, url, headers=headers, content=request.content if keeps_body else None)
    following_request.method = method  # httpx upper-cases it, but a method is case-sensitive (RFC 9110 §9.1)
    return following_request


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port; httpx leaves a scheme's default port out."""
    return url.scheme, url.host, url.port


def _target(url: httpx.URL, location: str) -> httpx.URL:
    try:
        target = url.join(location)
    except (httpx.InvalidURL, ValueError) as error:  # ValueError: from urllib, with which httpx joins
        raise UpstreamError(f"The API at {url.host} redirects to something that is not a URL.") from error
    if target.scheme not in {"http", "https"} or not target.host:
        raise UpstreamError(f"The API at {url.host} redirects to a {target.scheme}: address that is not followed.")
    return target


def _method(method: str, status: int) -> str:
    """GET after 303, and after 301 and 302 for POST, as browsers have always done; else the same method and body."""
    if status == 303 and method not in {"GET", "HEAD"}:
        return "GET"
    return "GET" if status in {301, 302} and method == "POST" else method
