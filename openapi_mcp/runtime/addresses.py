"""The URL of a call: base URL, path template and query put together; the bytes on the wire are the ones meant.

The host is the base URL's, whatever the path says. A template is filled once: a value that looks like `{name}` is
only a value. Values fill a segment and never leave it. Specification: OpenAPI 3.2 "Path Templating", RFC 3986 §3.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

import httpx

from .errors import ArgumentError, RequestError

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_TRIPLE: Final = re.compile("(%[0-9A-Fa-f]{2})")
# RFC 3986 §3.3 and §3.4: what may stand in a path or query as it is.
_PATH_SAFE: Final = "/:@!$&'()*+,;="
_QUERY_SAFE: Final = _PATH_SAFE + "?"


# A path or query that httpx would leave as it is: nothing to escape, and no segment that begins with a dot.
_WRITTEN: Final = re.compile(r"(?:[A-Za-z0-9_~:@!$&()*+,;=.-]++|/(?!\.)|%[0-9A-Fa-f]{2})*+")
_SHORT: Final = 8192  # httpx has a limit of eight times that

_NO_LABEL: Final = re.compile(r"^\.|\.\.")
"""Nothing where a host's name has a part, as where a variable was to be filled in (RFC 1034 section 3.1)."""

_KEPT: Final = 4096
"""Enough for the paths of a large document: texts of documents and configuration, never of calls, are kept parsed."""


@dataclass(frozen=True, slots=True)
class Base:
    """A base URL: scheme, user, host and port as they stand before a path; its path and its query.

    `parts` is what httpx keeps of a URL it has read, where it keeps that as it did when this was written.
    """

    origin: str = field(repr=False)
    path: str
    query: str
    parts: Any = field(repr=False)


@lru_cache(_KEPT)
def base(url: str | None) -> Base:
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
    if _NO_LABEL.search(parsed.host) or not all(len(label) < 64 for label in parsed.host.split(".")):
        raise RequestError(
            f"The base URL names no host that there can be ({parsed.host}); start the server with `--base-url URL`."
        )
    user = parsed.userinfo.decode("ascii")
    path, _, query = parsed.raw_path.decode("ascii").partition("?")
    origin = f"{parsed.scheme}://{user + '@' if user else ''}{parsed.netloc.decode('ascii')}"
    return Base(origin, path.rstrip("/"), query, getattr(parsed, "_uri_reference", None))


@dataclass(frozen=True, slots=True)
class Filling:
    """What replaces one expression of a template: text, already escaped, and the argument that it comes from."""

    argument: str
    text: str


def build(base_url: Base, template: str, values: Mapping[str, Filling], query: str) -> httpx.URL:
    """The whole URL: `values` by their names in the template; `query` follows what base and template ask already.

    A fragment in the template tells operations apart and is never sent.
    """
    path, fixed = _split(template)
    filled = "/".join(_segment(segment, values) for segment in path)
    separator = "" if filled.startswith("/") or not filled else "/"
    asked = "&".join(part for part in (base_url.query, _asked(fixed, values), query) if part)
    target = base_url.path + separator + filled or "/"
    if base_url.parts and len(target + asked) < _SHORT and _WRITTEN.fullmatch(target) and _WRITTEN.fullmatch(asked):
        return _Written(base_url.parts._replace(path=target, query=asked or None, fragment=None))
    return _url(base_url.origin, target + (f"?{asked}" if asked else ""))


@lru_cache(_KEPT)
def _split(template: str) -> tuple[tuple[str, ...], str]:
    """The segments of a template's path, and its query."""
    path, _, query = template.partition("#")[0].partition("?")
    return tuple(path.split("/")), query


def _asked(template: str, values: Mapping[str, Filling]) -> str:
    """A template's query, without what it would ask with a value that no path argument gives (`?q={q}`)."""
    if "{" in template:
        pairs = template.split("&")
        template = "&".join(pair for pair in pairs if all(name in values for name in _EXPRESSION.findall(pair)))
    return _filled(template, values, _QUERY_SAFE)


class _Written(httpx.URL):
    """A URL of which nothing is left to be read or escaped; httpx would do both for longer than all else takes here."""

    def __init__(self, parts: Any) -> None:
        self._uri_reference = parts


def _url(origin: str, target: str) -> httpx.URL:
    """Put together as text: nothing in the target can be read as an authority once one stands before it."""
    try:
        return httpx.URL(origin + target)
    except httpx.InvalidURL as error:
        raise ArgumentError(f"The arguments do not make a URL that can be sent: {error}.") from error


def _segment(segment: str, values: Mapping[str, Filling]) -> str:
    """One path segment. Values that would empty it or make it `.` or `..` are refused: they name another resource."""
    filled = _filled(segment, values, _PATH_SAFE)
    if filled in {"", ".", ".."} and (names := _EXPRESSION.findall(segment)):
        shown = ", ".join(f"`{values[name].argument if name in values else name}`" for name in names)
        what = "is empty" if not filled else f"would make the path segment `{filled}`"
        raise ArgumentError(f"{shown} {what}, which would lead to another resource; give a value that names one.")
    return filled


def _filled(template: str, values: Mapping[str, Filling], safe: str) -> str:
    """Each expression replaced once, the text between as it may stand in a URL."""
    texts, names = _parsed(template, safe)
    if not names:
        return texts[0]
    fillings = [values[name].text if name in values else "" for name in names]
    return "".join(part for pair in zip(texts, [*fillings, ""], strict=True) for part in pair)


@lru_cache(_KEPT)
def _parsed(template: str, safe: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts around a template's expressions, as they may stand in a URL, and the names in these."""
    pieces = _EXPRESSION.split(template)
    return tuple(_literal(piece, safe) for piece in pieces[::2]), tuple(pieces[1::2])


def _literal(text: str, safe: str) -> str:
    """A template's own text: what is percent-encoded stays so, what may not stand in a URL is encoded."""
    pieces = _TRIPLE.split(text)
    return "".join(piece if index % 2 else quote(piece, safe=safe) for index, piece in enumerate(pieces))
