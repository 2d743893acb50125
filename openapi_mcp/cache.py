"""`Cache`: a folder of bytes by key, shared by any number of processes. It never fails: at worst it holds nothing.

A file appears whole or not at all (written beside, then renamed), and only its owner may read it. What was used longest
ago goes when there is too much.
"""

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

logger = logging.getLogger("openapi_mcp")

VARIABLE: Final = "OPENAPI_MCP_CACHE"
"""The environment variable that names the folder, where it is not to be the user's own cache."""

MOST_BYTES: Final = 128 << 20
"""Of all files together. GitHub's 1,223 tools are 2 MB, Kubernetes' 1,123 are 4: some thirty large documents."""

_SUFFIX: Final = ".tools"
_UNFINISHED: Final = ".part"


def folder() -> Path:
    """Where the cache is: the folder that the environment names, else that of this system's user caches."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("openapi-mcp", appauthor=False)


@dataclass(frozen=True, slots=True)
class Held:
    """How much there is."""

    files: int
    size: int


class Cache:
    """The files of one folder. A key is what a file may be called."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder
        self._most_bytes = most_bytes

    def get(self, key: str) -> bytes | None:
        """The bytes under a key, or None where there are none to be had."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_size > self._most_bytes or _is_foreign(status):
                    return None
                data = file.read()
            os.utime(path)  # it has been used
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                logger.debug("The cache cannot be read: %s", error)
            return None
        return data

    def put(self, key: str, data: bytes) -> None:
        """Hold bytes under a key, if that can be."""
        if len(data) > self._most_bytes:
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
        """Forget what is under a key."""
        with contextlib.suppress(OSError):
            self._path(key).unlink()

    def held(self) -> Held:
        """How much there is."""
        sizes = [status.st_size for _, status in self._files()]
        return Held(len(sizes), sum(sizes))

    def clear(self) -> Held:
        """Remove everything, and say how much that was."""
        held = self.held()
        for path, _ in self._files():
            with contextlib.suppress(OSError):
                path.unlink()
        return held

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """The files of this cache, and no others that may be there."""
        with contextlib.suppress(OSError):
            for entry in list(os.scandir(self.folder)):
                if entry.name.endswith((_SUFFIX, _UNFINISHED)):
                    with contextlib.suppress(OSError):
                        yield Path(entry.path), entry.stat(follow_symlinks=False)

    def _prune(self) -> None:
        """Remove the files used longest ago until the rest is not too much, what a killed process left among them."""
        files = sorted(self._files(), key=lambda file: file[1].st_mtime_ns, reverse=True)
        total = 0
        for path, status in files:
            total += status.st_size
            if total > self._most_bytes:
                with contextlib.suppress(OSError):
                    path.unlink()


def _is_foreign(status: os.stat_result) -> bool:
    """Whether a file is another user's, who could write into it what they like; Windows keeps users apart by itself."""
    return hasattr(os, "getuid") and status.st_uid not in (os.getuid(), 0)
