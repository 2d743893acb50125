"""`Cache`: a folder of files by key, shared by any number of processes. It never fails: at worst it is empty.

A file appears complete or not at all (written to another name, then renamed), and only its owner may read it. The files
used longest ago are removed when all together are too large. A folder that others can write is not used, and neither is
a file that others have written: what is in the cache decides where credentials are sent. Windows keeps the folders of
its users apart.
"""

import logging
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

logger = logging.getLogger("openapi_mcp")

VARIABLE: Final = "OPENAPI_MCP_CACHE"
"""Environment variable that names another folder than that of the user's caches."""

MAX_CACHE_BYTES: Final = 128 << 20
"""Size of all files together. The largest documents known, of 1,200 tools, are 1 MB each."""

MAX_FILE_BYTES: Final = 32 << 20
"""Size of one file: 11,000 tools are 13 MB."""

_SUFFIX: Final = ".tools"
_UNFINISHED: Final = ".part"
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_FLAGS: Final = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
"""A link is not followed, and opening a pipe does not wait for its writer."""

_reported: Final = set[Path]()


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

    def __init__(self, folder: Path, *, max_bytes: int = MAX_CACHE_BYTES, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._max_file_bytes = min(max_file_bytes, max_bytes)

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a key, or None if there are none that can be used."""
        path = self._path(key)
        try:
            if not self._is_private():
                return None
            data = self._read(path)
            os.utime(path)  # `_prune` removes the files used longest ago
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                logger.debug("The cache cannot be read: %s", error)
            return None
        return data

    def put(self, key: str, data: bytes) -> None:
        """Store bytes under a key, if the folder can be written."""
        if len(data) > self._max_file_bytes:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_private():
                return
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

    def _is_private(self) -> bool:
        """Return whether others cannot write the folder; report once if they can. Raises OSError if there is none."""
        reason = refusal(self.folder)
        if reason and self.folder not in _reported and not _is_worker():
            _reported.add(self.folder)
            logger.warning("warning: the cache is not used: %s", reason)
        return not reason

    def _read(self, path: Path) -> bytes | None:
        """Return the content of a file; None if it is too large, no regular file, or written by others."""
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or _is_foreign(status) or _is_shared(status):
                return None
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(self._max_file_bytes + 1)
        finally:
            os.close(descriptor)
        return data if len(data) <= self._max_file_bytes else None

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


def refusal(folder: Path) -> str:
    """Return why a folder is not used, with the cure; empty if it can be. Raises OSError if there is none."""
    status = folder.stat()
    if _is_foreign(status):
        return f"the folder {folder} belongs to another user; name one of your own in {VARIABLE}"
    # In a folder with the sticky bit others can add files, which are not read, and cannot replace any.
    if _is_shared(status) and not status.st_mode & stat.S_ISVTX:
        mode = stat.S_IMODE(status.st_mode)
        cure = f"run chmod go-w {folder}, or name another folder in {VARIABLE}"
        return f"other users can write to the folder {folder} (mode {mode:04o}); {cure}"
    return ""


def _is_foreign(status: os.stat_result) -> bool:
    """Return whether a file belongs to another user, who could have written anything."""
    return hasattr(os, "getuid") and status.st_uid not in (os.getuid(), 0)


def _is_shared(status: os.stat_result) -> bool:
    """Return whether users besides the owner can write a file."""
    return hasattr(os, "getuid") and bool(status.st_mode & _OTHERS_WRITE)


def _is_worker() -> bool:
    """Return whether this is one of several processes of a server, whose parent has reported the same."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None
