"""Keeps compiled tools from one start to the next, and finds them again as long as nothing they were made of changed.

They are found by the content of the document, by what was wanted of it and by the program itself; then every other file
that was read is looked at. A document from a URL is asked for each time, on the condition that it changed. What comes
from stdin, or lacks a file, is not kept. Specification: RFC 9110 §13 (conditional requests).
"""

import hashlib
import logging
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from . import __version__, stored
from .cache import Cache
from .compiled import Origin
from .document import DEFAULT_LIMITS
from .errors import DocumentError
from .fetch import Fetcher, is_remote
from .sources import local_path
from .stored import Made, Unusable
from .wanted import Wanted

logger = logging.getLogger("openapi_mcp")

PACKAGE: Final = Path(__file__).parent


class Keeper:
    """The kept tools of one document, by what is wanted of it."""

    def __init__(self, cache: Cache, source: str, wanted: Wanted) -> None:
        self._cache = cache
        self._source = source
        self._wanted = wanted

    def find(self) -> Made | None:
        """The tools, if they were kept and are still those of the document."""
        key = self._key_now()
        data = self._cache.get(key) if key else None
        if key is None or data is None:
            return None
        try:
            made = stored.read(data)
        except Unusable as error:
            logger.debug("Kept tools cannot be used: %s", error)
            self._cache.drop(key)
            return None
        return made if self._is_current(made[0]) else None

    def keep(self, made: Made) -> None:
        """Keep tools for the next start."""
        origin, _ = made
        if self._source == "-" or origin.unread:
            return
        key = self._key(*(("", "") if is_remote(self._source) else (origin.uri, origin.digests[origin.uri])))
        self._cache.put(key, stored.written(made))

    def _key_now(self) -> str | None:
        """The key of a document as it is now: of a local one by its content; None where there is none."""
        if self._source == "-":
            return None
        if is_remote(self._source):
            return self._key("", "")
        with suppress(OSError, ValueError):
            path = local_path(self._source)
            return self._key(path.resolve().as_uri(), _digest(path))
        return None

    def _key(self, uri: str, digest: str) -> str:
        address = self._source if is_remote(self._source) else ""
        parts = (__version__, sys.version_info[:2], program(), address, uri, digest, asdict(self._wanted))
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _is_current(self, origin: Origin) -> bool:
        """Whether every file still holds what it did; of a local document itself the key has told that."""
        with suppress(OSError, ValueError, DocumentError):
            others = origin.digests.keys() - (set() if is_remote(self._source) else {origin.uri})
            return all(self._is_same(origin, uri) for uri in others)
        return False

    def _is_same(self, origin: Origin, uri: str) -> bool:
        if not is_remote(uri):
            return _digest(local_path(uri)) == origin.digests[uri]
        fetcher = Fetcher(self._source if is_remote(self._source) else "", self._wanted.headers)
        asked = self._source if uri == origin.uri else uri
        fetched = fetcher.get_again(asked, DEFAULT_LIMITS.file_bytes, origin.validators.get(uri, {}))
        return fetched is None or (fetched.url, _sha256(fetched.data)) == (uri, origin.digests[uri])


def program() -> str:
    """What tells this program from another: the state of its files, so that nobody who edits it gets old tools."""
    states = ((str(path), (status := path.stat()).st_mtime_ns, status.st_size) for path in PACKAGE.rglob("*.py"))
    return _sha256(repr(sorted(states)).encode("utf-8", "surrogateescape"))


def _digest(path: Path) -> str:
    return _sha256(path.read_bytes())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
