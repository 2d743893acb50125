"""The files of one folder on disk: nothing is read or written outside it, and a file is there whole or not at all.

Paths come from documents and lock files, and are judged before they are used: relative, without `..`, nothing of git's
own, and no symbolic link on the way that leads out.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from .errors import BridgeError, UsageError

UNSAFE: Final = re.compile(r'[\x00-\x1f<>:"|?*\\]|[ .]$|^ |^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE)
"""Parts of paths that mean something else on Windows (drives, streams, devices, trimmed ends): refused everywhere."""

PART: Final = ".openapi-mcp-part"
"""The end of a file's name while it is being written."""


class Folder:
    """A folder, which need not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise UsageError("this is a file", where=str(path), hint="name a folder for the package")

    def place(self, path: PurePosixPath) -> Path:
        """Where a file of this folder is, links followed."""
        if path.is_absolute() or not path.parts or any(map(_unsafe, path.parts)):
            raise UsageError(f"{str(path)!r} is no path for a file of a package", where=str(self.path))
        try:
            place = (self.path / path).resolve()
        except (OSError, RuntimeError) as error:
            raise UsageError("symbolic links go round in a circle", where=str(self.path / path)) from error
        if not place.is_relative_to(self.path.resolve()):
            raise UsageError(
                "a symbolic link leads out of the folder", where=str(self.path / path), hint="replace the link"
            )
        return place

    def read(self, path: PurePosixPath) -> bytes | None:
        """The content of a file, None where there is none."""
        place = self.place(path)
        try:
            way = next(parent for parent in place.parents if parent.exists())
            if (place.exists() and not place.is_file()) or not way.is_dir():
                raise UsageError("this is in the way of a file of the package", where=str(place), hint="move it away")
            return place.read_bytes() if place.exists() else None
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(place)) from error

    def write(self, path: PurePosixPath, content: bytes) -> None:
        """Put a file in its place in one step; one that was there keeps its permissions."""
        place = self.place(path)
        part = place.with_name(place.name + PART)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            with part.open("xb") as file:  # x: never through a link that waits under that name
                file.write(content)
            if place.exists():
                shutil.copymode(place, part)
            part.replace(place)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise BridgeError(f"cannot be written: {error.strerror}", where=str(place), hint="run again") from error

    def remove(self, path: PurePosixPath) -> None:
        """Take a file away, and the folders that this leaves empty."""
        place = self.place(path)
        (self.path / path).unlink(missing_ok=True)
        for parent in place.parents:
            if parent == self.path.resolve() or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()

    def sweep(self, path: PurePosixPath) -> None:
        """Take away what an interrupted `write` left."""
        place = self.place(path)
        place.with_name(place.name + PART).unlink(missing_ok=True)

    def empty(self) -> bool:
        """Whether there is nothing in it but git's own folder, or what an interrupted `write` left."""
        entries = self.path.iterdir() if self.path.exists() else ()
        return all(entry.name == ".git" or entry.name.endswith(PART) for entry in entries)

    def walk(self, left_out: Callable[[PurePosixPath], bool]) -> Iterator[PurePosixPath]:
        """Every file in it, without what is left out, in no order."""
        for root, folders, names in os.walk(self.path):
            inside = PurePosixPath(Path(root).relative_to(self.path).as_posix())
            folders[:] = [name for name in folders if not left_out(inside / name)]
            for name in folders:
                if (Path(root) / name).is_symlink():
                    raise UsageError("a symbolic link to a folder is not followed", where=str(Path(root) / name))
            yield from (inside / name for name in names if not left_out(inside / name))


def _unsafe(part: str) -> bool:
    return part.lower() in {"..", ".git"} or UNSAFE.search(part) is not None
