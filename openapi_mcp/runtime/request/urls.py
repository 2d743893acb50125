"""Build the URL of a call from base URL, path template and query.

The host is that of the base URL, whatever the path contains. A template is expanded once: a value that looks like
`{name}` is only a value. A value stays within its path segment, also on servers that decode a path before they
resolve it: nginx and others read `..%2Fadmin` as `../admin`.

Specification: OpenAPI 3.2 "Path Templating", RFC 3986 §3 and §5.2.4 (dot segments).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote, unquote_plus

import httpx

from ..errors import ArgumentError, RequestError

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_TRIPLE: Final = re.compile("(%[0-9A-Fa-f]{2})")
# RFC 3986 §3.3 and §3.4: the characters of a path or query that are not escaped.
_PATH_SAFE: Final = "/:@!$&'()*+,;="
_QUERY_SAFE: Final = _PATH_SAFE + "?"


# A path or query that httpx would not change: nothing to escape, and no segment that begins with a dot.
_ESCAPED: Final = re.compile(r"(?:[A-Za-z0-9_~:@!$&()*+,;=.-]++|/(?!\.)|%[0-9A-Fa-f]{2})*+")
_MAX_PREPARED: Final = 8192  # characters; the limit of httpx is eight times as high

_DOT_PART: Final = re.compile(r"(?:^|[/\\])[\s\0]*(\.\.?)[\s\0]*(?:$|[/\\;?#\0])")
"""A part `.` or `..` of a decoded text, as servers find it: between slashes of both kinds, before the parameters of a
segment (`..;x` is `..` for Tomcat), a query, a fragment or a NUL, and surrounded by white space, which Windows ignores.
"""

MAX_DECODINGS: Final = 3
"""Decodings of an escaped text before its parts are judged: that of the value itself, and two of what the value holds.
A proxy and the server behind it decode once each."""

_EMPTY_LABEL: Final = re.compile(r"^\.|\.\.")
"""An empty label in a host name, as in a URL whose variable was not filled in (RFC 1034 §3.1)."""

_MAX_CACHED: Final = 4096
"""Enough for the paths of a large document. Texts of documents and configuration are cached, never those of calls."""


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """A base URL: `origin` (scheme, user, host, port), path without its last slash, and query.

    `host` is the value of the Host header. `parts` is the parsed URL in httpx's private form
    (`httpx.URL._uri_reference`), or None if this httpx has no such attribute.
    """

    origin: str = field(repr=False)
    path: str
    query: str = field(repr=False)
    host: bytes
    parts: Any = field(repr=False)


@lru_cache(_MAX_CACHED)
def parse_base_url(url: str | None) -> BaseUrl:
    """Parse a base URL. Raises RequestError, with the remedy, if it cannot be used."""
    if not url:
        raise RequestError("The document names no server that can be used; start the server with `--base-url URL`.")
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        reason = "" if "@" in url else f" ({error})"  # which could quote a part of the password
        raise RequestError(
            f"The base URL is not a valid URL{reason}; start the server with `--base-url URL`."
        ) from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise RequestError(
            "The base URL must be an absolute http(s) URL, e.g. https://api.example.com/v1; "
            "start the server with `--base-url URL`."
        )
    if _EMPTY_LABEL.search(parsed.host) or not all(len(label) < 64 for label in parsed.host.split(".")):
        raise RequestError(
            f"The base URL has an invalid host name ({parsed.host}); start the server with `--base-url URL`."
        )
    user = parsed.userinfo.decode("ascii")
    path, _, query = parsed.raw_path.decode("ascii").partition("?")
    origin = f"{parsed.scheme}://{user + '@' if user else ''}{parsed.netloc.decode('ascii')}"
    parts = getattr(parsed, "_uri_reference", None)
    is_known = getattr(parts, "_fields", ())[-3:] == ("path", "query", "fragment")
    return BaseUrl(origin, path.rstrip("/"), query, parsed.netloc, parts if is_known else None)


class PathValue(NamedTuple):
    """The replacement of one expression in a template: an escaped text, and the name of its argument."""

    argument: str
    text: str


def build(base_url: BaseUrl, template: str, values: Mapping[str, PathValue], query: str) -> httpx.URL:
    """Return the URL of a call.

    `values` are keyed by their names in the template. `query` follows the queries of base URL and template; its pairs
    replace those of the template by name. A fragment in the template only distinguishes operations and is not sent.
    """
    pieces, pairs = _split(template)
    path = "".join([piece if isinstance(piece, str) else _segment(piece, values) for piece in pieces])
    separator = "" if path.startswith("/") or not path else "/"
    queries = (base_url.query, _template_query(pairs, values, query) if pairs else "", query)
    full_query = "&".join([part for part in queries if part])
    target = base_url.path + separator + path or "/"
    if base_url.parts and _is_final(target, full_query):
        parts = base_url.parts
        return _PreparedURL(parts._make((*parts[:-3], target, full_query or None, None)), base_url.host)
    return _url(base_url.origin, target + (f"?{full_query}" if full_query else ""))


def _is_final(path: str, query: str) -> bool:
    """Return whether httpx would change neither path nor query."""
    is_short = len(path) + len(query) < _MAX_PREPARED
    return is_short and _ESCAPED.fullmatch(path) is not None and (not query or _ESCAPED.fullmatch(query) is not None)


class _Expressions(NamedTuple):
    """A text with expressions (`{name}`): the URL-escaped texts around them, and their names."""

    texts: tuple[str, ...]
    names: tuple[str, ...]


@lru_cache(_MAX_CACHED)
def _split(template: str) -> tuple[list[str | _Expressions], list[_Expressions]]:
    """Return the path of a template, in literal pieces and segments with expressions, and the pairs of its query."""
    path, _, query = template.partition("#")[0].partition("?")
    pieces: list[str | _Expressions] = []
    for index, segment in enumerate(path.split("/")):
        parsed = _parse_expressions(segment, _PATH_SAFE)
        pieces += ["/" if index else "", parsed if parsed.names else parsed.texts[0]]
    return pieces, [_parse_expressions(pair, _QUERY_SAFE) for pair in query.split("&")] if query else []


def _parse_expressions(text: str, safe: str) -> _Expressions:
    pieces = _EXPRESSION.split(text)
    return _Expressions(tuple(_literal(piece, safe) for piece in pieces[::2]), tuple(pieces[1::2]))


def _template_query(pairs: list[_Expressions], values: Mapping[str, PathValue], query: str) -> str:
    """Return a template's query without the pairs that have no value (`?q={q}`) or that `query` replaces."""
    replaced = {pair_name(pair) for pair in query.split("&")}
    expanded = [_expand(pair, values) for pair in pairs if all(name in values for name in pair.names)]
    return "&".join([pair for pair in expanded if pair_name(pair) not in replaced])


def pair_name(pair: str) -> str:
    """Return the decoded name of one pair of a query."""
    return unquote_plus(pair.partition("=")[0])


@lru_cache(_MAX_CACHED)
def fixed_pairs(template: str) -> Mapping[str, str]:
    """Return the pairs with a value in a template's own query, decoded: `/?comp=list` has comp, `/?q=` has none.

    They tell operations of one path apart, so no argument may replace them: it would call another operation.
    """
    pairs = template.partition("#")[0].partition("?")[2].split("&")
    literal = (pair.partition("=") for pair in pairs if not _EXPRESSION.search(pair))
    return MappingProxyType({unquote_plus(name): unquote_plus(value) for name, _, value in literal if value})


class _PreparedURL(httpx.URL):
    """A URL that is parsed and escaped already; httpx takes longer for both than all other work here.

    It skips `httpx.URL.__init__` and sets the private attribute `_uri_reference`, the parsed form from which all
    properties of an `httpx.URL` are computed. A test compares such URLs with those that httpx itself parses, and so
    guards against an httpx that works differently.
    """

    netloc = b""

    def __init__(self, parts: Any, netloc: bytes) -> None:
        self._uri_reference = parts
        self.netloc = netloc


def _url(origin: str, target: str) -> httpx.URL:
    """Parse origin and target as one text: after the origin no part of the target can be read as an authority."""
    try:
        return httpx.URL(origin + target)
    except httpx.InvalidURL as error:
        raise ArgumentError(f"The URL that the arguments make is not valid: {error}.") from error


def _segment(segment: _Expressions, values: Mapping[str, PathValue]) -> str:
    """Return one path segment. Raises ArgumentError if it, or a value of it, would name another resource.

    It does if it is empty, and if it or a value has a part `.` or `..`.
    """
    text = _expand(segment, values)
    if not text or "." in text or "%" in text:
        _check_segment(segment, text, values)
    return text


def _check_segment(segment: _Expressions, text: str, values: Mapping[str, PathValue]) -> None:
    given = [values[name] for name in segment.names if name in values]
    for value in given:
        check_value(*value)
    part = None if len(given) == 1 and given[0].text == text else dot_part(text)
    if text and not part:
        return
    arguments = (values[name].argument if name in values else name for name in segment.names)
    names = ", ".join(f"`{argument}`" for argument in dict.fromkeys(arguments))
    if not text:
        raise ArgumentError(f"{names} is empty, which would lead to another resource; give a value that names one.")
    raise ArgumentError(_REFUSAL.format(f"{names} would make the path segment `{part}`"))


def check_value(argument: str, text: str) -> None:
    """Raise ArgumentError if a path value, escaped or not, has a part `.` or `..`."""
    if part := dot_part(text):
        raise ArgumentError(_REFUSAL.format(f"`{argument}` has the part `{part}`"))


_REFUSAL: Final = (
    "{}, which would lead to another resource: servers decode a path before they resolve it. Give a value without the "
    "parts `.` and `..` between slashes or backslashes, also percent-encoded; `a/b` is allowed."
)


def dot_part(text: str) -> str | None:
    """Return the first part `.` or `..` of an escaped text, decoded up to MAX_DECODINGS times; None if it has none."""
    for _ in range(MAX_DECODINGS):
        if "%" not in text:
            break
        text = unquote(text)
    match = _DOT_PART.search(text) if "." in text else None
    return match[1] if match else None


def _expand(template: _Expressions, values: Mapping[str, PathValue]) -> str:
    """Replace each expression once; the texts between are unchanged."""
    text = template.texts[0]
    for index, name in enumerate(template.names, 1):
        text += (values[name].text if name in values else "") + template.texts[index]
    return text


def _literal(text: str, safe: str) -> str:
    """Return a template's own text with invalid characters encoded; percent-encoded ones are unchanged."""
    pieces = _TRIPLE.split(text)
    return "".join(piece if index % 2 else quote(piece, safe=safe) for index, piece in enumerate(pieces))
