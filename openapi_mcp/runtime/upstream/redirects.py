"""The next request after a redirect: pure, and never with credentials to another origin.

Specification: RFC 9110 §15.4, WHATWG Fetch "HTTP-redirect fetch" (which methods change), RFC 6454 §4 (origin).
"""

from typing import Final

import httpx

from ..errors import UpstreamError

MAX_REDIRECTS: Final = 5
"""Enough for an API whose host and paths changed a few times; more is a loop."""

_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
# The only headers that are sent to another origin: the form of the response, and the form of a body that is sent too.
# Any other header may be a credential, since an API's key can have any name.
_CROSS_ORIGIN_HEADERS: Final = frozenset(
    {
        *("accept", "accept-encoding", "accept-language", "user-agent", "range", "prefer"),
        *("content-type", "content-encoding", "content-language"),
    }
)
_BODY_HEADERS: Final = frozenset({"content-type", "content-encoding", "content-language", "content-location"})
# Computed for each request anew.
_COMPUTED_HEADERS: Final = frozenset({"host", "content-length", "transfer-encoding"})


def redirected_request(request: httpx.Request, response: httpx.Response) -> httpx.Request | None:
    """Return the request that `response` redirects to, or None where it is no redirect. Raises UpstreamError."""
    location = response.headers.get("location") if response.status_code in _STATUSES else None
    if not location:
        return None
    url = _target(request.url, location)
    method = _method(request.method, response.status_code)
    keeps_body = method == request.method
    dropped = _COMPUTED_HEADERS if keeps_body else _COMPUTED_HEADERS | _BODY_HEADERS
    allowed = None if origin(url) == origin(request.url) else _CROSS_ORIGIN_HEADERS
    headers = [
        (name, value)
        for name, value in request.headers.raw
        if (key := name.decode("latin-1").lower()) not in dropped and (allowed is None or key in allowed)
    ]
    content = request.content if keeps_body else None
    extensions = request.extensions if allowed is None else {}  # they say which credentials the request carries
    next_request = httpx.Request(method, url, headers=headers, content=content, extensions=extensions)
    next_request.method = method  # httpx upper-cases it, but a method is case-sensitive (RFC 9110 §9.1)
    return next_request


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Return scheme, host and port; httpx leaves a scheme's default port out."""
    return url.scheme, url.host, url.port


def _target(url: httpx.URL, location: str) -> httpx.URL:
    try:
        target = url.join(location)
    except (httpx.InvalidURL, ValueError) as error:  # ValueError: from urllib, with which httpx joins
        raise UpstreamError(f"The API at {url.host} redirects to something that is not a URL.") from error
    if target.scheme not in {"http", "https"} or not target.host:
        raise UpstreamError(f"The API at {url.host} redirects to a {target.scheme}: address, which is not followed.")
    return target


def _method(method: str, status: int) -> str:
    """Return GET after 303, and for POST after 301 and 302 as browsers do; else the same method."""
    if status == 303 and method not in {"GET", "HEAD"}:
        return "GET"
    return "GET" if status in {301, 302} and method == "POST" else method
