"""Read regular files, within a limit of bytes: what is read from the disk is no pipe, no device, and has an end.

A path is opened without waiting for a writer, and the file is judged once it is open, so that nothing else can take its
place in between. A watched file that becomes a pipe or `/dev/zero` is refused like one that was removed.
"""

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import Final

MAX_SETTINGS_BYTES: Final = 1 << 20
"""Bytes of a settings file: a thousand times the largest that anybody writes by hand."""

MAX_DOCUMENT_BYTES: Final = 64 << 20
"""Bytes of one file of a document: five times the largest public one known (GitHub's, 13 MB), and what a small machine
can still parse."""

_FLAGS: Final = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
"""Opening a pipe does not wait for its writer, and opening a terminal does not make it that of this process."""

_KINDS: Final = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


_MIN_CHUNK: Final = 1 << 20
"""Bytes that are read at once of a file that has no size, like those of /proc."""


class UnfitFile(OSError):
    """A path that leads to something that is not read: no regular file, or one that is too large.

    `reason` says which: "is a pipe, not a file".
    """

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(errno.EINVAL, reason, str(path))
        self.reason = reason


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file of at most `most_bytes`.

    Raises UnfitFile for another kind of file or a larger one, IsADirectoryError for a folder, else the OSError of the
    operating system; ValueError for a path with a NUL.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, which cannot be opened
            raise UnfitFile("is a socket, not a file", path) from error
        raise
    try:
        status = os.fstat(descriptor)
        _check(status, most_bytes, path)
        data = _read(descriptor, status.st_size, most_bytes)
    finally:
        os.close(descriptor)
    if len(data) > most_bytes:  # it has grown, or is one of /proc, whose size is 0
        raise _too_large(most_bytes, path)
    return data


def digest_of(path: Path, most_bytes: int) -> str:
    """Return the SHA-256 of a regular file in hexadecimal. Raises like `read_regular`."""
    return hashlib.sha256(read_regular(path, most_bytes)).hexdigest()


def _read(descriptor: int, size: int, most_bytes: int) -> bytes:
    """Return the content of a file of about `size` bytes, up to one byte beyond the limit: it shows that there is more.

    A file that did not change is read at once, without a second copy in memory.
    """
    data = b""
    while left := most_bytes + 1 - len(data):
        chunk = os.read(descriptor, min(max(size + 1, _MIN_CHUNK), left))
        if not chunk:
            break
        data = data + chunk if data else chunk
    return data


def _check(status: os.stat_result, most_bytes: int, path: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    for is_kind, kind in _KINDS:
        if is_kind(status.st_mode):
            raise UnfitFile(f"is {kind}, not a file", path)
    if status.st_size > most_bytes:
        raise _too_large(most_bytes, path)


def _too_large(most_bytes: int, path: Path) -> UnfitFile:
    return UnfitFile(f"is larger than {most_bytes:,} bytes", path)
