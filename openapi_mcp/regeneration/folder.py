"""Read and write files of one folder on disk, and nothing outside of it. Writes are atomic.

Paths come from documents and lock files, and are checked before use: relative, without `..`, not in `.git`, and without
symbolic links that lead out of the folder.
"""

import errno
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from ..errors import BridgeError, UsageError

UNSAFE: Final = re.compile(r'[\x00-\x1f<>:"|?*\\]|[ .]$|^ |^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE)
"""Parts of paths that Windows interprets (drives, streams, devices, trimmed ends); refused on every system."""

PARTIAL_SUFFIX: Final = ".openapi-mcp-part"
"""The suffix of a file while it is being written."""


class Folder:
    """A folder, which need not exist yet. Raises UsageError if the path is a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folders: dict[PurePosixPath, Path] = {}
        if path.exists() and not path.is_dir():
            raise UsageError("output is a file", where=str(path), hint="give a folder for the package")

    def resolve(self, path: PurePosixPath) -> Path:
        """Return the absolute path of a file of this folder, with links resolved. Raises UsageError."""
        if path.is_absolute() or not path.parts or any(map(_unsafe, path.parts)):
            raise UsageError(f"invalid path of a file of a package: {str(path)!r}", where=str(self.path))
        target = self._folder(path.parent) / path.name
        return self._followed(path) if os.path.islink(target) else target  # noqa: PTH114  `Path` raises where it cannot look

    def _folder(self, path: PurePosixPath) -> Path:
        """Return the absolute path of a folder; its links are followed once, since packages have thousands of files."""
        if path not in self._folders:
            self._folders[path] = self._followed(path)
        return self._folders[path]

    def _followed(self, path: PurePosixPath) -> Path:
        """Return an absolute path with links resolved. Raises UsageError if they lead out of the folder."""
        try:
            target = _resolved(self.path / path)
        except OSError as error:
            raise UsageError("symbolic links form a circle", where=str(self.path / path)) from error
        if path.parts and not target.is_relative_to(self._folder(PurePosixPath())):
            raise UsageError(
                "symbolic link leads out of the folder", where=str(self.path / path), hint="replace the link"
            )
        return target

    def read(self, path: PurePosixPath) -> bytes | None:
        """Return the content of a file, or None if it does not exist. Raises UsageError."""
        target = self.resolve(path)
        try:
            if stat.S_ISREG(target.stat().st_mode):
                return target.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            if next(parent for parent in target.parents if parent.exists()).is_dir():
                return None
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(target)) from error
        raise UsageError("this path is needed for a file of the package", where=str(target), hint="move it away")

    def write(self, path: PurePosixPath, content: bytes) -> None:
        """Write a file atomically; an existing file keeps its permissions. Raises BridgeError."""
        target = self.resolve(path)
        part = _partial(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            with part.open("xb") as file:  # x: not through an existing link of that name
                file.write(content)
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise BridgeError(f"cannot be written: {error.strerror}", where=str(target), hint="run again") from error

    def remove(self, path: PurePosixPath) -> None:
        """Delete a file, and the folders that become empty."""
        target = self.resolve(path)
        (self.path / path).unlink(missing_ok=True)
        for parent in target.parents:
            if parent == self._folder(PurePosixPath()) or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()

    def sweep(self, path: PurePosixPath) -> None:
        """Delete the partial file of an interrupted `write`."""
        _partial(self.resolve(path)).unlink(missing_ok=True)

    def is_empty(self) -> bool:
        """Return whether the folder holds nothing but `.git` and partial files of an interrupted `write`."""
        entries = self.path.iterdir() if self.path.exists() else ()
        return all(entry.name == ".git" or entry.name.endswith(PARTIAL_SUFFIX) for entry in entries)

    def walk(self, is_excluded: Callable[[PurePosixPath], bool]) -> Iterator[PurePosixPath]:
        """Yield every file that is not excluded, in no order. Raises UsageError for a link to a folder."""
        for root, folders, names in os.walk(self.path):
            relative = PurePosixPath(Path(root).relative_to(self.path).as_posix())
            folders[:] = [name for name in folders if not is_excluded(relative / name)]
            for name in folders:
                if (Path(root) / name).is_symlink():
                    raise UsageError("symbolic links to folders are not followed", where=str(Path(root) / name))
            yield from (relative / name for name in names if not is_excluded(relative / name))


def _partial(target: Path) -> Path:
    return target.with_name(target.name + PARTIAL_SUFFIX)


def _unsafe(part: str) -> bool:
    return part.lower() in {"..", ".git"} or UNSAFE.search(part) is not None


def _resolved(path: Path) -> Path:
    """Return a path with its symbolic links followed. Raises OSError for links that lead back to themselves.

    `Path.resolve` raises RuntimeError for such links before Python 3.13, and nothing since.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
    return path.resolve()
