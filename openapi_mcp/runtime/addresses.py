"""The URL of a call: base URL, path template and query put together; the bytes on the wire are the ones meant.

The host is the base URL's, whatever the path says. A template is filled once: a value that looks like `{name}` is
only a value. Values fill a segment and never leave it. Specification: OpenAPI 3.2 "Path Templating", RFC 3986 §3.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple
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

    `host` is what a request says in Host; `parts` is what httpx keeps of a URL it has read, where it keeps that as it
    did when this was written.
    """

    origin: str = field(repr=False)
    path: str
    query: str
    host: bytes
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
    return Base(origin, path.rstrip("/"), query, parsed.netloc, getattr(parsed, "_uri_reference", None))


class Filling(NamedTuple):
    """What replaces one expression of a template: text, already escaped, and the argument that it comes from."""

    argument: str
    text: str


def build(base_url: Base, template: str, values: Mapping[str, Filling], query: str) -> httpx.URL:
    """The whole URL: `values` by their names in the template; `query` follows what base and template ask already.

    A fragment in the template tells operations apart and is never sent.
    """
    pieces, fixed = _split(template)
    filled = "".join([piece if isinstance(piece, str) else _segment(piece, values) for piece in pieces])
    separator = "" if filled.startswith("/") or not filled else "/"
    asked = "&".join([part for part in (base_url.query, _asked(fixed, values) if fixed else "", query) if part])
    target = base_url.path + separator + filled or "/"
    if base_url.parts and len(target + asked) < _SHORT and _WRITTEN.fullmatch(target) and _WRITTEN.fullmatch(asked):
        return _Written(base_url.parts._replace(path=target, query=asked or None, fragment=None))
    return _url(base_url.origin, target + (f"?{asked}" if asked else ""))


class _Expressions(NamedTuple):
    """A part of a template with expressions: the texts around them, as they may stand in a URL, and their names."""

    texts: tuple[str, ...]
    names: tuple[str, ...]


@lru_cache(_KEPT)
def _split(template: str) -> tuple[list[str | _Expressions], list[_Expressions]]:
    """A template's path, segments with expressions by themselves, and the pairs of its query if it has one."""
    path, _, query = template.partition("#")[0].partition("?")
    pieces: list[str | _Expressions] = []
    for index, segment in enumerate(path.split("/")):
        read = _read(segment, _PATH_SAFE)
        pieces += ["/" if index else "", read if read.names else read.texts[0]]
    return pieces, [_read(pair, _QUERY_SAFE) for pair in query.split("&")] if query else []


def _read(text: str, safe: str) -> _Expressions:
    pieces = _EXPRESSION.split(text)
    return _Expressions(tuple(_literal(piece, safe) for piece in pieces[::2]), tuple(pieces[1::2]))


def _asked(pairs: list[_Expressions], values: Mapping[str, Filling]) -> str:
    """A template's query, without what it would ask with a value that no path argument gives (`?q={q}`)."""
    return "&".join([_filled(pair, values) for pair in pairs if all(name in values for name in pair.names)])


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


def _segment(segment: _Expressions, values: Mapping[str, Filling]) -> str:
    """One path segment. Values that would empty it or make it `.` or `..` are refused: they name another resource."""
    filled = _filled(segment, values)
    if filled in {"", ".", ".."}:
        shown = ", ".join(f"`{values[name].argument if name in values else name}`" for name in segment.names)
        what = "is empty" if not filled else f"would make the path segment `{filled}`"
        raise ArgumentError(f"{shown} {what}, which would lead to another resource; give a value that names one.")
    return filled


def _filled(template: _Expressions, values: Mapping[str, Filling]) -> str:
    """Each expression replaced once, the text between as it stands."""
    filled = [template.texts[0]]
    for name, text in zip(template.names, template.texts[1:], strict=True):
        filled += [values[name].text if name in values else "", text]
    return "".join(filled)


def _literal(text: str, safe: str) -> str:
    """A template's own text: what is percent-encoded stays so, what may not stand in a URL is encoded."""
    pieces = _TRIPLE.split(text)
    return "".join(piece if index % 2 else quote(piece, safe=safe) for index, piece in enumerate(pieces))
