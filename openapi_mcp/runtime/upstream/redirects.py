"""The next request after a redirect: pure, within the API's origin, and never with credentials to another one.

An API, or whoever can make it redirect, could else have this program fetch addresses that only this machine reaches,
and hand them the body of a call. So a redirect is followed within its origin, from http to https of the same host (both
at their default ports), back to the origin of the call, and to the hosts that the user names. Never from https to http.
Any other redirect is the answer of the call, with its address.

Specification: RFC 9110 §15.4, WHATWG Fetch "HTTP-redirect fetch" (which methods change), RFC 6454 §4 (origin).
"""

import re
from collections.abc import Collection
from typing import Final

import httpx

MAX_REDIRECTS: Final = 5
"""Enough for an API whose host and paths changed a few times; more is a loop."""

STATUSES: Final = frozenset({301, 302, 303, 307, 308})
"""The statuses that send a client to the address in Location."""

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


def redirected_request(
    request: httpx.Request, response: httpx.Response, first: httpx.URL, hosts: Collection[str] = ()
) -> httpx.Request | None:
    """Return the request that `response` redirects to; None where it is no redirect, or one that is not followed.

    `first` is the URL of the call's first request, `hosts` are as `is_host` takes them.
    """
    location = response.headers.get("location") if response.status_code in STATUSES else None
    url = _target(request.url, location) if location else None
    if url is None or not _is_followed(url, request.url, first, hosts):
        return None
    method = _method(request.method, response.status_code)
    keeps_body = method == request.method
    dropped = _COMPUTED_HEADERS if keeps_body else _COMPUTED_HEADERS | _BODY_HEADERS
    keeps_credentials = origin(url) == origin(request.url) or _is_upgrade(url, request.url)
    allowed = None if keeps_credentials else _CROSS_ORIGIN_HEADERS
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


def is_host(pattern: str, url: httpx.URL) -> bool:
    """Return whether a URL's host is `host`, `host:port`, or, for `*.host`, any name below it.

    Without a port it is the default one of the URL's scheme.
    """
    host, _, port = pattern.rpartition(":") if _HAS_PORT.search(pattern) else (pattern, "", "")
    host = host.lower().strip("[]")
    is_same = url.host.endswith(host[1:]) if host.startswith("*.") else url.host == host
    return is_same and url.port == (int(port) if port and int(port) != _DEFAULT_PORTS[url.scheme] else None)


_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HAS_PORT: Final = re.compile(r"(^[^:]*|\]):[0-9]+$")


def _is_followed(url: httpx.URL, current: httpx.URL, first: httpx.URL, hosts: Collection[str]) -> bool:
    if current.scheme == "https" and url.scheme == "http":
        return False
    is_own = origin(url) in {origin(current), origin(first)} or _is_upgrade(url, current)
    return is_own or any(is_host(pattern, url) for pattern in hosts)


def _is_upgrade(url: httpx.URL, current: httpx.URL) -> bool:
    """Return whether `url` is https of a host that was asked over http, both at their default ports."""
    return origin(url) == ("https", current.host, None) and origin(current) == ("http", current.host, None)


def _target(url: httpx.URL, location: str) -> httpx.URL | None:
    """Return the address of a redirect, without a user that the API names; None if it is none of HTTP."""
    try:
        target = url.join(location)
    except (httpx.InvalidURL, ValueError):  # ValueError: from urllib, with which httpx joins
        return None
    if target.scheme not in _DEFAULT_PORTS or not target.host:
        return None
    return target if target.userinfo == url.userinfo else target.copy_with(userinfo=b"")


def _method(method: str, status: int) -> str:
    """Return GET after 303, and for POST after 301 and 302 as browsers do; else the same method."""
    if status == 303 and method not in {"GET", "HEAD"}:
        return "GET"
    return "GET" if status in {301, 302} and method == "POST" else method
