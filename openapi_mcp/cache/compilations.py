"""`CompilationCache`: compiled tools, kept from one start to the next while nothing they depend on changes.

It finds tools by the content of the document, the options of the compilation, and the program itself, then compares
every other file that was read. A document from a URL is requested each time, on the condition that it has changed.

Documents from stdin, and those with unreadable files, are not cached. Credentials are not written to the disk: neither
are documents that refer to an address with a query, which may be one, or whose servers have a user and password.

Specification: RFC 9110 §13 (conditional requests).
"""

import hashlib
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from .. import __version__
from ..compilation import CompileOptions, DocumentInfo
from ..document.addresses import is_remote, local_path, real_path
from ..egress.policy import EgressPolicy
from ..errors import DocumentError
from ..regular_files import MAX_DOCUMENT_BYTES, digest_of
from ..runtime.request.redaction import redact
from .decoder import CacheEntry, InvalidCacheFile, load
from .files import Cache
from .indexes import IndexCache

logger = logging.getLogger("openapi_mcp")

PACKAGE: Final = Path(__file__).parents[1]


class CompilationCache:
    """The cached tools of one document and one set of options."""

    def __init__(self, cache: Cache, source: str, options: CompileOptions) -> None:
        self._cache = cache
        self._source = source
        self._options = options

    def find(self) -> CacheEntry | None:
        """Return the cached tools if they are still those of the document, else None."""
        entry = self.kept()
        return entry if entry and self._is_current(entry[0]) else None

    def kept(self) -> CacheEntry | None:
        """Return the cached tools of this local document, or of this address as it was. Nothing is fetched."""
        key = self._current_key()
        data = self._cache.get(key) if key else None
        if key is None or data is None:
            return None
        try:
            return load(data)
        except InvalidCacheFile as error:
            logger.debug("The cached tools cannot be used: %s", error)
            self._cache.drop(key)
            return None

    def store(self, entry: CacheEntry) -> None:
        """Cache tools for the next start."""
        key = self._key_of(entry)
        if key is None:
            return
        from .encoder import dump

        try:
            self._cache.put(key, dump(entry))
        except ValueError as error:
            logger.debug("The tools cannot be cached: %s", error)

    def indexes(self, entry: CacheEntry) -> IndexCache | None:
        """Return the cache for the indexes of searches among these tools; None where tools are not cached either."""
        key = self._key_of(entry)
        return IndexCache.of_compilation(self._cache, key, entry[0]) if key else None

    def _key_of(self, entry: CacheEntry) -> str | None:
        """Return the key of tools; None if they may not be written to the disk."""
        info, compilation = entry
        if self._source == "-" or info.unread or any(map(_may_be_signed, info.digests.keys() - {info.uri})):
            return None
        if any("@" in urlsplit(url).netloc for url in compilation.base_urls):
            return None
        return self._key(*(("", "") if is_remote(self._source) else (info.uri, info.digests[info.uri])))

    def _current_key(self) -> str | None:
        """Return the key of the document as it is now: by content if local; None if it cannot be read or cached."""
        if self._source == "-":
            return None
        if is_remote(self._source):
            return self._key("", "")
        with suppress(OSError, ValueError):
            path = local_path(self._source)
            return self._key(real_path(path).as_uri(), _digest(path))
        return None

    @cached_property
    def _program(self) -> str:
        return program()

    def _key(self, uri: str, digest: str) -> str:
        address = self._source if is_remote(self._source) else ""
        parts = (__version__, sys.version_info[:2], self._program, address, uri, digest, asdict(self._options))
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _is_current(self, info: DocumentInfo) -> bool:
        """Return whether every file is unchanged; of a local document itself the key has shown that."""
        with suppress(OSError, ValueError, DocumentError):
            others = info.digests.keys() - (set() if is_remote(self._source) else {info.uri})
            return all(self._is_same(info, uri) for uri in others)
        return False

    def _is_same(self, info: DocumentInfo, uri: str) -> bool:
        if not is_remote(uri):
            return _digest(local_path(uri)) == info.digests[uri]
        from ..document.fetcher import Fetcher

        home = self._source if is_remote(self._source) else ""
        options = self._options
        policy = EgressPolicy(options.egress)
        fetcher = Fetcher(home, options.headers, certificates=options.certificates, egress=policy)
        url = self._source if uri == info.uri else uri
        fetched = fetcher.get_again(url, MAX_DOCUMENT_BYTES, info.validators.get(uri, {}))
        return fetched is None or (redact(fetched.url), _sha256(fetched.data)) == (uri, info.digests[uri])


def _may_be_signed(uri: str) -> bool:
    """Return whether an address has a query, which is not written to the disk, and without it cannot be requested."""
    return is_remote(uri) and "?" in uri


def program() -> str:
    """Return a digest of the state of this program's files, so that an edited program does not use old tools."""
    return _sha256(repr(sorted(_states(str(PACKAGE)))).encode("utf-8", "surrogateescape"))


def _states(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield the path, time and size of each module below a folder, in a third of the time that `Path.rglob` takes."""
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            yield entry.path, (status := entry.stat()).st_mtime_ns, status.st_size
        elif "." not in entry.name and entry.is_dir():
            yield from _states(entry.path)


def _digest(path: Path) -> str:
    return digest_of(path, MAX_DOCUMENT_BYTES)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
