"""Response headers that a model needs beside a body: paging, totals, versions, limits, and those that are declared.

They are shown in one line and in `_meta`. A link to the same address is shown by the difference of its query alone
(`next: page=2`), which is what the next call needs.

Specification: RFC 8288 §3 (Link), RFC 9110 §8.8.3 (ETag), §10.2 (Location, Retry-After), §14.4 (Content-Range).
"""

import re
from functools import lru_cache
from itertools import islice
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx

from ..tool import Tool
from ..upstream.http11 import raw_headers

HEADERS: Final = "openapi-mcp/headers"
"""The name in `_meta` of the headers: text by lower-case name, `link` an object of URLs by relation."""

_NEEDED: Final = re.compile(
    r"link|etag|location|content-location|content-range|retry-after|deprecation|sunset"
    r"|(x-)?rate-?limit(-.+)?"
    r"|(x-)?(total|pages?|per-?page|pagination|next|prev|previous|cursor|count|result-count|item-count)(-.+)?"
    r"|(x-)?[a-z-]+-(total|total-?count|page-?count|total-?pages|next-?page|next-?cursor|next-?token|continuation)"
)
_NEVER: Final = frozenset({"set-cookie", "content-type", "content-length", "content-encoding"})
_MAX_VALUE: Final = 300
"""Characters of a header's value: a long URL."""
MAX_LINK: Final = 2000
"""Characters of a link's URL: cursors in it have some hundred, and one that is cut leads nowhere."""

MAX_HEADERS: Final = 50
"""Headers that are shown, and relations of links: more than APIs send, and few for the size of a result."""

_MAX_LINE: Final = 2000
_LINK: Final = re.compile(r"<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:\"[^\"]*\"|[^\s,;\"]+))*)")
_RELATION: Final = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s,;\"]+))", re.IGNORECASE)


def needed_headers(tool: Tool, response: httpx.Response) -> dict[str, Any]:
    """Return the headers of a response that a model needs: `link` parsed, others as text."""
    names = _needed_names(tuple([name for name, _ in raw_headers(response)]), tool.response_headers)
    if not names:
        return {}
    links = _links(response) if "link" in names else {}
    headers: dict[str, Any] = {"link": links} if links else {}
    for name in names[:MAX_HEADERS]:
        if name != "link" and (value := response.headers.get(name)):
            headers[name] = value[:_MAX_VALUE]
    return headers


@lru_cache(maxsize=256)  # an API's answers have a few sets of names
def _needed_names(raw_names: tuple[bytes, ...], declared: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of the names that a model needs, in lower case, each once."""
    names = dict.fromkeys(name.decode("latin-1").lower() for name in raw_names)
    return tuple(name for name in names if _NEEDED.fullmatch(name) or (name in declared and name not in _NEVER))


def line(headers: dict[str, Any], response: httpx.Response) -> str:
    """Return the headers in one line."""
    links = [f"{relation}: {_difference(url, response)}" for relation, url in headers.get("link", {}).items()]
    others = [f"{name}: {value}" for name, value in headers.items() if name != "link"]
    return f"Headers: {'; '.join([*links, *others])}"[:_MAX_LINE]


def _links(response: httpx.Response) -> dict[str, str]:
    """Return the absolute URLs of a Link header by their relations, the first of each."""
    targets: dict[str, str] = {}
    for target, parameters in _LINK.findall(response.headers.get("link", "")):
        relation = _RELATION.search(parameters)
        for name in (relation[1] or relation[2] or "").split() if relation else ():
            targets.setdefault(name.lower(), target)
    return {name: _absolute(target, response)[:MAX_LINK] for name, target in islice(targets.items(), MAX_HEADERS)}


def _absolute(target: str, response: httpx.Response) -> str:
    try:
        return str(response.request.url.join(target))
    except (httpx.InvalidURL, ValueError):  # ValueError: from urllib, with which httpx joins
        return target


def _difference(url: str, response: httpx.Response) -> str:
    """Return the query pairs of a link that the request has not, if the address is the same; else the URL."""
    own = response.request.url
    try:
        target = httpx.URL(url)
    except httpx.InvalidURL:
        return url
    if target.path != own.path or not target.query:
        return url
    sent = set(parse_qsl(own.query.decode("ascii", "replace"), keep_blank_values=True))
    pairs = parse_qsl(target.query.decode("ascii", "replace"), keep_blank_values=True)
    return "&".join(f"{name}={value}" for name, value in pairs if (name, value) not in sent) or url
