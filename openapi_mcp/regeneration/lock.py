"""The lock file `openapi-mcp.lock`: the files as they were generated last, to recognise the changes of their owner.

It is written before the files, with the pending changes, and again after them. So an interrupted run is known file by
file, and running again completes it. The lock belongs into version control. It is JSON with one line for each file: a
digest and, for files that are merged, the deflated text in base64.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final

from .. import __version__
from ..errors import UsageError
from .folder import Folder

NAME: Final = PurePosixPath("openapi-mcp.lock")

FORMAT: Final = 1
"""Incremented when older generators cannot read the file."""

MAX_LOCK_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one inflated text: a hostile lock in a repository could fill the memory with a few bytes."""


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file as it was generated: its digest and its packed text, None for a file that is never merged."""

    digest: str
    packed: str | None = None

    @classmethod
    def of(cls, content: bytes, *, merged: bool) -> "LockedFile":
        """Return the entry of a generated file."""
        packed = base64.b64encode(zlib.compress(content, 9)).decode() if merged else None
        return cls(digest(content), packed)

    def text(self) -> bytes | None:
        """Return the content, or None where it is unknown or does not match the digest."""
        if self.packed is None:
            return None
        try:
            content = zlib.decompressobj().decompress(base64.b64decode(self.packed), MAX_LOCK_BYTES)
        except (ValueError, zlib.error):
            return None
        return content if digest(content) == self.digest else None


@dataclass(frozen=True, slots=True)
class Lock:
    """The files as generated last, and pending changes: the digest of each file after the change, and its entry."""

    files: Mapping[PurePosixPath, LockedFile] = field(default_factory=dict)
    pending: Mapping[PurePosixPath, tuple[str | None, LockedFile | None]] = field(default_factory=dict)


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's content in hex."""
    return hashlib.sha256(content).hexdigest()


def read(folder: Folder) -> Lock | None:
    """Return the lock of a folder, or None if it has none. Raises UsageError for an unreadable lock."""
    content = folder.read(NAME)
    if content is None:
        return None
    try:
        value = json.loads(content)
        if value["format"] != FORMAT:
            where, hint = str(folder.path / NAME), "update openapi-mcp"
            raise UsageError("lock file was written by a newer openapi-mcp", where=where, hint=hint)
        return _without_pending(folder, _parsed(value))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            "lock file cannot be read",
            where=str(folder.path / NAME),
            hint="after a merge of branches keep one side of it and generate again",
        ) from error


def write(folder: Folder, lock: Lock) -> None:
    """Write a lock, unless the file has this content already."""
    lines = [f'"format": {FORMAT}', f'"generator": {json.dumps(__version__)}']
    lines.append('"files": ' + _object({str(path): _entry(entry) for path, entry in lock.files.items()}))
    if lock.pending:
        pending = {str(path): [then, entry and _entry(entry)] for path, (then, entry) in lock.pending.items()}
        lines.append('"pending": ' + _object(pending))
    content = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    if folder.read(NAME) != content:
        folder.write(NAME, content)


def _object(members: Mapping[str, object]) -> str:
    """Return a JSON object with a line for each member, so that a changed file changes one line of the lock."""
    return "{" + ",".join(f"\n{json.dumps(name)}: {json.dumps(members[name])}" for name in sorted(members)) + "\n}"


def _entry(entry: LockedFile) -> list[str]:
    return [entry.digest] if entry.packed is None else [entry.digest, entry.packed]


def _parsed(value: Any) -> Lock:
    files = {PurePosixPath(path): LockedFile(*map(str, entry)) for path, entry in value["files"].items()}
    pending = value.get("pending", {}).items()
    return Lock(
        files, {PurePosixPath(p): (then, entry and LockedFile(*map(str, entry))) for p, (then, entry) in pending}
    )


def _without_pending(folder: Folder, lock: Lock) -> Lock:
    """Return a lock without pending changes: those that were completed count, others did not happen."""
    files = dict(lock.files)
    for path, (then, entry) in lock.pending.items():
        content = folder.read(path)
        if then == (None if content is None else digest(content)):
            files.pop(path, None)
            if entry is not None:
                files[path] = entry
    return replace(lock, files=files)
