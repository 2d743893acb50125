"""Find the document of an API whose address is that of a host, or of a page that shows its documentation.

Looked at are, in this order: what the page names (Swagger UI, Redoc, Scalar, `<link rel="service-desc">`), the scripts
and settings of Swagger UI, RFC 9727's catalog, and the paths where frameworks put their document. All of it is on the
origin of the page, within `MAX_REQUESTS` and `MAX_SECONDS`.

Specification: RFC 8631 §4.1 (service-desc), RFC 9727 §2 and RFC 9264 §4.2 (catalog).
"""

import html
import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urljoin

import httpx

from ..errors import DocumentError
from ..runtime.request.redaction import redact
from .fetcher import Fetcher, origin
from .model import Limits
from .sources import SourceFile

MAX_REQUESTS: Final = 20
"""Requests for one document: the well-known paths, and what a page may name."""

MAX_SECONDS: Final = 30.0
"""Time after which no further request is made."""

MAX_PAGE_BYTES: Final = 256 << 10
"""Bytes of a page or script that are searched: Swagger UI's own page has some thousands."""

WELL_KNOWN: Final = (
    "/openapi.json",
    "/openapi.yaml",
    "/swagger.json",
    "/v3/api-docs",
    "/v2/api-docs",
    "/api-docs",
    "/swagger/v1/swagger.json",
    "/api/openapi.json",
    "/openapi.yml",
    "/swagger.yaml",
    "/.well-known/openapi.json",
)
"""Paths of FastAPI, Spring, ASP.NET, NestJS and others; relative to the folder of the address, then to the host."""

_CATALOG: Final = "/.well-known/api-catalog"
_LINK: Final = re.compile(r"<link\b([^>]{1,500})>", re.IGNORECASE)
_IS_SERVICE_DESC: Final = re.compile(r"\brel\s?=\s?[\"']?service-desc\b", re.IGNORECASE)
_HREF: Final = re.compile(r"\bhref\s?=\s?[\"']([^\"']{1,500})", re.IGNORECASE)
_IN_PAGE: Final = (
    re.compile(r"\b(?:spec-url|specUrl|data-url|apiDescriptionUrl)\s?[=:]\s?[\"']([^\"']{1,500})", re.IGNORECASE),
    re.compile(r"\burl[\"']?\s?:\s?[\"']([^\"'\s]{1,500})[\"']", re.IGNORECASE),
    re.compile(
        r"[\"'=]([^\"'=\s<>]{0,100}(?:openapi|swagger|api-docs)[^\"'=\s<>]{0,50}\.(?:json|ya?ml))\b", re.IGNORECASE
    ),
)
"""Every repetition is bounded, since a page may be made to be searched for ever."""

_FURTHER: Final = (
    re.compile(r"\bsrc\s?=\s?[\"']([^\"']{0,300}swagger-initializer\.js)", re.IGNORECASE),
    re.compile(r"\bconfigUrl[\"']?\s?:\s?[\"']([^\"'\s]{1,500})"),
)
"""Files in which a page names its document."""


class Discovery:
    """The search for one document; `tried` are the addresses that were asked for."""

    def __init__(self, address: str, fetcher: Fetcher, limits: Limits) -> None:
        self._address = address
        self._fetcher = fetcher
        self._limits = limits
        self._deadline = time.monotonic() + MAX_SECONDS
        self.tried: list[str] = []

    def candidates(self, page: str) -> Iterator[SourceFile]:
        """Yield files that may be the document, best first; `page` is what the address answered, empty if nothing."""
        for url in self._addresses(page[:MAX_PAGE_BYTES]):
            file = self._get(url, self._limits.file_bytes)
            if file is not None:
                yield file

    def _addresses(self, page: str) -> Iterator[str]:
        files = [(page, self._address)]
        for text, base in files:
            yield from _joined(base, _documents(text))
            further = (self._get(url, MAX_PAGE_BYTES) for url in _joined(base, _links(_FURTHER, text)))
            files.extend((_text(file), file.uri) for file in further if file is not None)
        for url in _joined(self._address, [_CATALOG]):
            catalog = self._get(url, MAX_PAGE_BYTES)
            yield from _joined(catalog.uri, _descriptions(_text(catalog))) if catalog is not None else ()
        yield from _joined(self._address, (path.removeprefix("/") for path in WELL_KNOWN))
        yield from _joined(self._address, WELL_KNOWN)

    def _get(self, url: str, most_bytes: int) -> SourceFile | None:
        """Return a file of the same origin that was not asked for before, or None."""
        shown = redact(url)
        is_allowed = _is_same_origin(url, self._address) and shown not in self.tried
        if not is_allowed or len(self.tried) >= MAX_REQUESTS or time.monotonic() > self._deadline:
            return None
        self.tried.append(shown)
        try:
            fetched = self._fetcher.get(url, most_bytes, self._admit)
        except DocumentError:
            return None
        return SourceFile(fetched.data, fetched.url, fetched.charset, fetched.validators, fetched.is_private)

    def _admit(self, url: str) -> None:
        """Raise DocumentError for a redirect to another origin."""
        if not _is_same_origin(url, self._address):
            raise DocumentError("leads to another host")


def _is_same_origin(url: str, other: str) -> bool:
    try:
        return origin(url) == origin(other)
    except (ValueError, httpx.InvalidURL):
        return False


def _documents(text: str) -> Iterator[str]:
    """Yield the addresses that a page, a script or settings name as that of the document."""
    for link in _LINK.finditer(text):
        href = _HREF.search(link[1])
        if href and _IS_SERVICE_DESC.search(link[1]):
            yield href[1]
    yield from _links(_IN_PAGE, text)


def _links(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[str]:
    for pattern in patterns:
        yield from (match[1] for match in pattern.finditer(text))


def _joined(base: str, links: Iterable[str]) -> Iterator[str]:
    """Yield the absolute addresses of links; one that is no address is left out."""
    for link in links:
        with suppress(ValueError):
            yield urljoin(base, html.unescape(link))


def _text(file: SourceFile) -> str:
    return file.data.decode(errors="replace")


def _descriptions(text: str) -> Iterator[str]:
    """Yield the addresses of service descriptions in a catalog (a linkset as JSON)."""
    try:
        linkset: Any = json.loads(text)["linkset"]
        for context in linkset:
            yield from (str(link["href"]) for link in context.get("service-desc", ()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return
