"""Answers that are a link to a file, as `resource_link` blocks beside their text: a client may fetch the file itself.

Only what is surely such a link counts: a list of URIs (`text/uri-list`), and a lone http(s) URL whose path ends with
the extension of a file type. It is the whole text, the whole JSON string, or the Location of an answer without a body.
Specification: MCP server/tools, "Resource Links"; RFC 2483 §5.
"""

import mimetypes
import re
from typing import Final

import httpx

from ..types import JsonObject, resource_link

URI_LIST: Final = "text/uri-list"

MAX_LINKS: Final = 100
"""Links of one answer; its text has all of them."""

_MAX_URL_LENGTH: Final = 2048
_FILE_TYPES: Final = mimetypes.MimeTypes()  # Python's own table, not the machine's
_MAX_PORT: Final = 65535
_LABEL: Final = r"(?!xn--)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_CHARACTER: Final = r"[!$%&-.0-;=@-Z_a-z~]"  # of RFC 3986 §3.3, without the slash
_URL: Final = re.compile(
    rf"https?://(?P<host>(?:{_LABEL}\.)*(?=[A-Za-z]){_LABEL})(?::(?P<port>[0-9]{{1,5}}))?"
    rf"(?P<path>(?:/{_CHARACTER}*)*)(?:\?(?:{_CHARACTER}|[/?])*)?(?:#(?:{_CHARACTER}|[/?])*)?",
    re.IGNORECASE,
)
"""URLs that every client accepts: one invalid URI makes some refuse the whole result."""

_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})


def file_links(text: str, *, is_list: bool = False) -> list[JsonObject]:
    """Return the links of a text: of each line of a list, else of a text that is the URL of a file."""
    if is_list:
        lines = [line.strip() for line in text.splitlines() if not line.startswith("#")]
        return [block for line in lines[:MAX_LINKS] if (block := _link(line, needs_type=False))]
    block = _link(text.strip(), needs_type=True) if len(text) <= _MAX_URL_LENGTH + 2 else None
    return [] if block is None else [block]


def location_links(response: httpx.Response) -> list[JsonObject]:
    """Return the link of an answer without a body whose Location is a file."""
    location = response.headers.get("location", "")
    try:
        return file_links(str(response.request.url.join(location))) if location else []
    except (httpx.InvalidURL, ValueError):  # ValueError: from urllib, with which httpx joins
        return []


def _link(text: str, *, needs_type: bool) -> JsonObject | None:
    """Return the link to a URL; None for anything else, and for a URL with a password."""
    match = _URL.fullmatch(text) if len(text) <= _MAX_URL_LENGTH else None
    if match is None or int(match["port"] or 0) > _MAX_PORT:
        return None
    name = match["path"].rpartition("/")[2]
    kind, encoding = _FILE_TYPES.guess_type(name)
    if needs_type and (kind is None or kind in _PAGES):
        return None
    return resource_link(text, name or match["host"], None if encoding else kind)
