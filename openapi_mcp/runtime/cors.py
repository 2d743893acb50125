"""CORS for pages that the door lets in; all others are refused there, and hear nothing of what is allowed.

Specification: WHATWG Fetch, "CORS protocol". Credentials of a browser's own (cookies) are never asked for.
"""

from typing import Final

from .door import Headers
from .replies import Content

_METHODS: Final = "POST, GET, DELETE"
_HEADERS: Final = frozenset({"accept", "authorization", "content-type", "last-event-id"})
_EXPOSED: Final = "Mcp-Session-Id, WWW-Authenticate, Retry-After"
_MAX_AGE: Final = "7200"
"""Seconds that a browser keeps the permission: no browser keeps it longer than two hours, or asks less often."""


def is_preflight(method: str, headers: Headers) -> bool:
    """Whether a browser asks what a page may do."""
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def preflight(headers: Headers) -> Content:
    """What a page may do: everything a client of MCP has to."""
    asked = [name.strip().lower() for name in headers.get("access-control-request-headers", "").split(",")]
    allowed = [name for name in asked if name in _HEADERS or _is_mcp(name)]
    return Content(
        204,
        headers={
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": ", ".join(allowed),
            "Access-Control-Max-Age": _MAX_AGE,
        },
    )


def permission(headers: Headers) -> list[tuple[bytes, bytes]]:
    """What is added to every response for a page that was let in; nothing where no page asks."""
    origin = headers.get("origin")
    if origin is None:
        return []
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", _EXPOSED.encode()),
        (b"vary", b"Origin"),
    ]


def _is_mcp(name: str) -> bool:
    """The headers of MCP; `Mcp-Param-…` are as many as tools like to have."""
    return name.startswith("mcp-") and name.replace("-", "").isalnum()
