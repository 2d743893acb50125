"""`openapi-mcp.lock`: what was generated last time, so that the next time the owner's edits can be told from ours.

It is written before the files, when it names what is about to change, and again when all is done; so an interrupted run
is known file by file, and is finished by running again. It is to be committed. JSON: a digest for each file and, where
merging needs it, the text itself (deflated, base64), one line a file.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final

from . import __version__
from .errors import UsageError
from .folder import Folder

NAME: Final = PurePosixPath("openapi-mcp.lock")

FORMAT: Final = 1
"""Raised when an older generator could not read what is written."""

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of one text: a lock comes from a repository, and a few of its bytes could unfold to fill the memory."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was generated; `text` is None where it is never merged, `packed` how that is written."""

    digest: str
    packed: str | None = None

    @classmethod
    def of(cls, content: bytes, *, merged: bool) -> "Entry":
        """The entry of a file that has just been generated."""
        packed = base64.b64encode(zlib.compress(content, 9)).decode() if merged else None
        return cls(digest(content), packed)

    def text(self) -> bytes | None:
        """The content, where it is known; what does not have the digest is not it."""
        if self.packed is None:
            return None
        try:
            content = zlib.decompressobj().decompress(base64.b64decode(self.packed), LARGEST)
        except (ValueError, zlib.error):
            return None
        return content if digest(content) == self.digest else None


@dataclass(frozen=True, slots=True)
class Lock:
    """The files as generated last, and those on their way: the digest each has once it is there, and its new entry."""

    files: Mapping[PurePosixPath, Entry] = field(default_factory=dict)
    pending: Mapping[PurePosixPath, tuple[str | None, Entry | None]] = field(default_factory=dict)


def digest(content: bytes) -> str:
    """What a file is told by."""
    return hashlib.sha256(content).hexdigest()


def read(folder: Folder) -> Lock | None:
    """The lock of a folder, None where it has none. UsageError if it cannot be understood."""
    content = folder.read(NAME)
    if content is None:
        return None
    try:
        value = json.loads(content)
        if value["format"] != FORMAT:
            where, hint = str(folder.path / NAME), "install that"
            raise UsageError("the lock file was written by a newer openapi-mcp", where=where, hint=hint)
        return _settled(folder, _parsed(value))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            "the lock file cannot be read",
            where=str(folder.path / NAME),
            hint="after a merge of branches take either side of it and generate again",
        ) from error


def write(folder: Folder, lock: Lock) -> None:
    """Write a lock, unless it says so already."""
    lines = [f'"format": {FORMAT}', f'"generator": {json.dumps(__version__)}']
    lines.append('"files": ' + _object({str(path): _entry(entry) for path, entry in lock.files.items()}))
    if lock.pending:
        pending = {str(path): [then, entry and _entry(entry)] for path, (then, entry) in lock.pending.items()}
        lines.append('"pending": ' + _object(pending))
    content = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    if folder.read(NAME) != content:
        folder.write(NAME, content)


def _object(members: Mapping[str, object]) -> str:
    """A JSON object with a line for each member: what changes in a file changes in one line of the lock."""
    return "{" + ",".join(f"\n{json.dumps(name)}: {json.dumps(members[name])}" for name in sorted(members)) + "\n}"


def _entry(entry: Entry) -> list[str]:
    return [entry.digest] if entry.packed is None else [entry.digest, entry.packed]


def _parsed(value: Any) -> Lock:
    files = {PurePosixPath(path): Entry(*map(str, entry)) for path, entry in value["files"].items()}
    pending = value.get("pending", {}).items()
    return Lock(files, {PurePosixPath(p): (then, entry and Entry(*map(str, entry))) for p, (then, entry) in pending})


def _settled(folder: Folder, lock: Lock) -> Lock:
    """A lock whose files are what they are now: of the pending, what arrived counts, what did not is as it was."""
    files = dict(lock.files)
    for path, (then, entry) in lock.pending.items():
        content = folder.read(path)
        if then == (None if content is None else digest(content)):
            files.pop(path, None)
            if entry is not None:
                files[path] = entry
    return replace(lock, files=files)
