"""ToolAnnotations by HTTP method: what a client may assume of a call before it is made.

Specification: MCP server/tools ("ToolAnnotations"), RFC 9110 section 9.2.
"""

from collections.abc import Mapping
from typing import Final

READ_ONLY_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "QUERY"})
"""Methods that change nothing (RFC 9110 section 9.2.1, and QUERY). TRACE is none: it shows what proxies added."""

_CHANGING: Final[Mapping[str, Mapping[str, bool]]] = {
    "POST": {"destructiveHint": False, "idempotentHint": False},
    "PUT": {"destructiveHint": True, "idempotentHint": True},
    "PATCH": {"destructiveHint": True, "idempotentHint": False},
    "DELETE": {"destructiveHint": True, "idempotentHint": True},
}


def hints(method: str) -> dict[str, bool]:
    """The hints for a method; of one that nobody knows, the worst is assumed. An API is always an open world."""
    if method in READ_ONLY_METHODS:
        return {"readOnlyHint": True, "openWorldHint": True}
    return {"readOnlyHint": False, **_CHANGING.get(method, {"destructiveHint": True}), "openWorldHint": True}
