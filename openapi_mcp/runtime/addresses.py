"""The URL of a call: base URL, path template and query put together; the bytes on the wire are the ones meant.

The host is the base URL's, whatever the path says. A template is filled once: a value that looks like `{name}` is
only a value. Values fill a segment and never leave it. Specification: OpenAPI 3.2 "Path Templating", RFC 3986 §3.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import httpx

from .errors import ArgumentError, RequestError

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_TRIPLE: Final = re.compile("(%[0-9A-Fa-f]{2})")
# RFC 3986 §3.3 and §3.4: what may stand in a path or query as it is.
_PATH_SAFE: Final = "/:@!$&'()*+,;="
_QUERY_SAFE: Final = _PATH_SAFE + "?"


def base(url: str | None) -> httpx.URL:
    """The base URL. Raises RequestError, with the cure, where there is none that can be used."""
    if not url:
        raise RequestError("The document names no server that can be used; start the server with `--base-url URL`.")
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise RequestError(f"The base URL cannot be used ({error}); start the server with `--base-url URL`.") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise RequestError(
            "The base URL must begin with http:// or https:// and name a host; start the server with `--base-url URL`."
        )
    return parsed


@dataclass(frozen=True, slots=True)
class Filling:
    """What replaces one expression of a template: text, already escaped, and the argument that it comes from."""

    argument: str
    text: str


def build(base_url: httpx.URL, template: str, values: Mapping[str, Filling], query: str) -> httpx.URL:
    """The whole URL: `values` by their names in the template; `query` follows what base and template ask already.

    A fragment in the template tells operations apart and is never sent.
    """
    path, _, fixed = template.partition("#")[0].partition("?")
    base_path, _, base_query = base_url.raw_path.decode("ascii").partition("?")
    filled = "/".join(_segment(segment, values) for segment in path.split("/"))
    separator = "" if filled.startswith("/") or not filled else "/"
    asked = "&".join(part for part in (base_query, _filled(fixed, values, _QUERY_SAFE), query) if part)
    target = base_path.rstrip("/") + separator + filled
    return _url(base_url, (target or "/") + (f"?{asked}" if asked else ""))


def _url(base_url: httpx.URL, target: str) -> httpx.URL:
    """Put together as text: nothing in the target can be read as an authority once one stands before it."""
    user = base_url.userinfo.decode("ascii")
    origin = f"{base_url.scheme}://{user + '@' if user else ''}{base_url.netloc.decode('ascii')}"
    try:
        return httpx.URL(origin + target)
    except httpx.InvalidURL as error:
        raise ArgumentError(f"The arguments do not make a URL that can be sent: {error}.") from error


def _segment(segment: str, values: Mapping[str, Filling]) -> str:
    """One path segment. Values that would empty it or make it `.` or `..` are refused: they name another resource."""
    names = _EXPRESSION.findall(segment)
    filled = _filled(segment, values, _PATH_SAFE)
    if names and filled in {"", ".", ".."}:
        shown = ", ".join(f"`{values[name].argument if name in values else name}`" for name in names)
        what = "is empty" if not filled else f"would make the path segment `{filled}`"
        raise ArgumentError(f"{shown} {what}, which would lead to another resource; give a value that names one.")
    return filled


def _filled(template: str, values: Mapping[str, Filling], safe: str) -> str:
    """Each expression replaced once, the text between as it may stand in a URL."""
    pieces = _EXPRESSION.split(template)
    return "".join(
        values.get(piece, Filling(piece, "")).text if index % 2 else _literal(piece, safe)
        for index, piece in enumerate(pieces)
    )


def _literal(text: str, safe: str) -> str:
    """A template's own text: what is percent-encoded stays so, what may not stand in a URL is encoded."""
    pieces = _TRIPLE.split(text)
    return "".join(piece if index % 2 else quote(piece, safe=safe) for index, piece in enumerate(pieces))
