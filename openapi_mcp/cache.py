"""`CompilationCache`: compiled tools, kept from one start to the next while nothing they depend on changes.

- `Cache` is a folder of files by key, shared by any number of processes. It never fails: at worst it is empty. A file
  appears complete or not at all (written to another name, then renamed), and only its owner may read it. The files used
  longest ago are removed when all together are too large.
- `dump` and `load` turn compiled tools into bytes and back: a digest, then a pickle that may name only the classes of
  `_CLASSES`, so that reading one calls no other function, whoever wrote it. (JSON takes four times as long to read, and
  loses which parts are shared.)
- `CompilationCache` finds tools by the content of the document, the options of the compilation, and the program itself,
  then compares every other file that was read. A document from a URL is requested each time, on the condition that it
  has changed. Documents from stdin, those with unreadable files, and those that refer to an address with a query are
  not cached: a query may be a credential, and none is written to the disk.

Specification: RFC 9110 §13 (conditional requests).
"""

import hashlib
import io
import logging
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from . import __version__
from .compilation import Compilation, CompileOptions, DocumentInfo
from .document.fetcher import Fetcher, is_remote
from .document.model import DEFAULT_LIMITS
from .document.sources import local_path, real_path
from .errors import DocumentError, Problem
from .regular_files import digest_of
from .runtime import tool
from .runtime.request.redaction import redact
from .runtime.types import Implementation
from .token_budget import ToolLimits

CacheEntry: TypeAlias = tuple[DocumentInfo, Compilation]
"""The compiled tools of a document, and the facts about it that a server needs."""

_CLASSES: Final = {
    (each.__module__, each.__qualname__): each
    for each in (
        DocumentInfo,
        Compilation,
        Problem,
        ToolLimits,
        Implementation,
        tool.Tool,
        tool.Argument,
        tool.RequestBody,
        tool.MediaType,
        tool.Encoding,
        tool.XmlDocument,
        tool.XmlNode,
        tool.SecurityScheme,
    )
}
_DIGEST: Final = hashlib.sha256().digest_size


class InvalidCacheFile(Exception):
    """Bytes that are not compiled tools of this program."""


class _RestrictedUnpickler(pickle.Unpickler):
    """Unpickler for the classes of `_CLASSES`; the names of others are not even looked up."""

    def find_class(self, module: str, name: str) -> type[Any]:
        try:
            return _CLASSES[module, name]
        except KeyError:
            raise InvalidCacheFile(f"{module}.{name} is not a class of the cache") from None


def dump(entry: CacheEntry) -> bytes:
    """Return compiled tools as bytes."""
    pickled = pickle.dumps(entry, protocol=5)
    return hashlib.sha256(pickled).digest() + pickled


def load(data: bytes) -> CacheEntry:
    """Read the bytes of `dump`. Raises InvalidCacheFile."""
    digest, pickled = data[:_DIGEST], memoryview(data)[_DIGEST:]
    if hashlib.sha256(pickled).digest() != digest:
        raise InvalidCacheFile("the digest does not match the content")
    try:
        entry = _RestrictedUnpickler(io.BytesIO(pickled)).load()
    except InvalidCacheFile:
        raise
    except Exception as error:
        raise InvalidCacheFile(f"{type(error).__name__}: {error}") from error
    match entry:
        case (DocumentInfo() as info, Compilation() as compilation):
            return info, compilation
    raise InvalidCacheFile("the content is not a compilation")


logger = logging.getLogger("openapi_mcp")

VARIABLE: Final = "OPENAPI_MCP_CACHE"
"""Environment variable that names another folder than that of the user's caches."""

MAX_CACHE_BYTES: Final = 128 << 20
"""Size of all files together. GitHub's 1,223 tools are 2 MB, Kubernetes' 1,123 are 4: some thirty large documents."""

_SUFFIX: Final = ".tools"
_UNFINISHED: Final = ".part"


def folder() -> Path:
    """Return the folder of the cache: that of the environment variable, else one among the user's caches."""
    if path := os.environ.get(VARIABLE):
        return Path(path)
    from platformdirs import user_cache_path

    return user_cache_path("openapi-mcp", appauthor=False)


@dataclass(frozen=True, slots=True)
class CacheSize:
    """The number of files, and their bytes."""

    files: int
    bytes: int


class Cache:
    """The files of one folder. A key must be valid as a file name."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self.folder = folder
        self._max_bytes = max_bytes

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a key, or None if there are none that can be used."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_size > self._max_bytes or _is_foreign(status):
                    return None
                data = file.read()
            os.utime(path)  # `_prune` removes the files used longest ago
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                logger.debug("The cache cannot be read: %s", error)
            return None
        return data

    def put(self, key: str, data: bytes) -> None:
        """Store bytes under a key, if the folder can be written."""
        if len(data) > self._max_bytes:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, unfinished = tempfile.mkstemp(suffix=_UNFINISHED, dir=self.folder)  # only its owner may read it
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(unfinished).replace(self._path(key))
            except BaseException:
                Path(unfinished).unlink(missing_ok=True)
                raise
            self._prune()
        except OSError as error:
            logger.debug("The cache cannot be written: %s", error)

    def drop(self, key: str) -> None:
        """Remove the bytes of a key."""
        with suppress(OSError):
            self._path(key).unlink()

    def size(self) -> CacheSize:
        """Return the size of the cache."""
        sizes = [status.st_size for _, status in self._files()]
        return CacheSize(len(sizes), sum(sizes))

    def clear(self) -> CacheSize:
        """Remove everything, and return its size."""
        size = self.size()
        for path, _ in self._files():
            with suppress(OSError):
                path.unlink()
        return size

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the files of this cache, and no others that may be in the folder."""
        with suppress(OSError):
            for entry in list(os.scandir(self.folder)):
                if entry.name.endswith((_SUFFIX, _UNFINISHED)):
                    with suppress(OSError):
                        yield Path(entry.path), entry.stat(follow_symlinks=False)

    def _prune(self) -> None:
        """Remove the files used longest ago until the rest is small enough; unfinished files count too."""
        files = sorted(self._files(), key=lambda file: file[1].st_mtime_ns, reverse=True)
        total = 0
        for path, status in files:
            total += status.st_size
            if total > self._max_bytes:
                with suppress(OSError):
                    path.unlink()


def _is_foreign(status: os.stat_result) -> bool:
    """Return whether a file belongs to another user, who could have written anything; Windows separates users."""
    return hasattr(os, "getuid") and status.st_uid not in (os.getuid(), 0)


PACKAGE: Final = Path(__file__).parent


class CompilationCache:
    """The cached tools of one document and one set of options."""

    def __init__(self, cache: Cache, source: str, options: CompileOptions) -> None:
        self._cache = cache
        self._source = source
        self._options = options

    def find(self) -> CacheEntry | None:
        """Return the cached tools if they are still those of the document, else None."""
        key = self._current_key()
        data = self._cache.get(key) if key else None
        if key is None or data is None:
            return None
        try:
            entry = load(data)
        except InvalidCacheFile as error:
            logger.debug("The cached tools cannot be used: %s", error)
            self._cache.drop(key)
            return None
        return entry if self._is_current(entry[0]) else None

    def store(self, entry: CacheEntry) -> None:
        """Cache tools for the next start."""
        info, _ = entry
        if self._source == "-" or info.unread or any(map(_may_be_signed, info.digests.keys() - {info.uri})):
            return
        key = self._key(*(("", "") if is_remote(self._source) else (info.uri, info.digests[info.uri])))
        self._cache.put(key, dump(entry))

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

    def _key(self, uri: str, digest: str) -> str:
        address = self._source if is_remote(self._source) else ""
        parts = (__version__, sys.version_info[:2], program(), address, uri, digest, asdict(self._options))
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
        home = self._source if is_remote(self._source) else ""
        fetcher = Fetcher(home, self._options.headers, certificates=self._options.certificates)
        url = self._source if uri == info.uri else uri
        fetched = fetcher.get_again(url, DEFAULT_LIMITS.file_bytes, info.validators.get(uri, {}))
        return fetched is None or (redact(fetched.url), _sha256(fetched.data)) == (uri, info.digests[uri])


def _may_be_signed(uri: str) -> bool:
    """Return whether an address has a query, which is not written to the disk, and without it cannot be requested."""
    return is_remote(uri) and "?" in uri


def program() -> str:
    """Return a digest of the state of this program's files, so that an edited program does not use old tools."""
    states = ((str(path), (status := path.stat()).st_mtime_ns, status.st_size) for path in PACKAGE.rglob("*.py"))
    return _sha256(repr(sorted(states)).encode("utf-8", "surrogateescape"))


def _digest(path: Path) -> str:
    return digest_of(path, DEFAULT_LIMITS.file_bytes)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
