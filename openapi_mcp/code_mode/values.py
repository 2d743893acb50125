"""Values of programs: as JSON of a limited size (`json_value`), and kept between programs (`SavedValues`).

A list of a list of a list, each a thousand times the same, is a few kilobytes in the program and gigabytes as text.
"""

import asyncio
import base64
import datetime as dt
import decimal
import json
import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakSet

from ..runtime.session_state import STATE_FILES

P = ParamSpec("P")
R = TypeVar("R")

MAX_JSON_BYTES: Final = 8 * 1024 * 1024
"""Approximate bytes of a value as JSON: as much as an upload may have, and converted in well under a second."""

_MAX_DEPTH: Final = 100
_MAX_INTEGER_BITS: Final = 14_000
"""Python converts integers of at most 4,300 digits to text."""

MAX_SMALL_CHARACTERS: Final = 64 * 1024
"""Characters of a text that is read and written in a moment."""

_MAX_SMALL_PARTS: Final = 1000

_BYTES_PER_VALUE: Final = 16
"""Counted for each value besides its text: 524,288 values are converted in half a second."""

_MAX_PLAIN_INTEGER: Final = 2**63


MAX_SAVED: Final = 50
"""Values that a session keeps: their names fit into an error that lists them."""

MAX_SAVED_BYTES: Final = 256 * 1024
"""Bytes of a saved value as JSON: some thousand records."""

MAX_SESSION_BYTES: Final = 1024 * 1024
"""Bytes of all saved values of a session."""

MAX_ALL_BYTES: Final = 64 * 1024 * 1024
"""Bytes that all sessions of a process save; beyond that, those that are not used for longest are lost."""

MAX_NAME: Final = 100
"""Characters of the name of a saved value."""

_HANDLE_BYTES: Final = 16
"""Random bytes of a handle: nobody guesses one."""


class NotSerializableError(Exception):
    """A value cannot be converted to JSON, for the reason in the message."""


def is_small_value(value: Any) -> bool:
    """Return whether a JSON value is written in a moment: it has few parts and little text."""
    pending, parts, characters = [value], 0, 0
    while pending and parts <= _MAX_SMALL_PARTS and characters <= MAX_SMALL_CHARACTERS:
        part = pending.pop()
        parts += 1
        if isinstance(part, str):
            characters += len(part)
        elif isinstance(part, dict | list):
            if len(part) > _MAX_SMALL_PARTS:
                return False
            pending += part.values() if isinstance(part, dict) else part
    return not pending and characters <= MAX_SMALL_CHARACTERS


def json_value(value: Any, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Return an independent JSON copy of a value. Raises NotSerializableError for values without JSON, or too large.

    Tuples and sets become arrays; dates, times and decimals text; bytes base64; an object the object of its attributes;
    an exception, as `gather(return_exceptions=True)` returns it, its type and message.
    """
    return _JsonCopy(max_bytes).of(value, 0)


@dataclass(slots=True)
class _JsonCopy:
    remaining_bytes: int

    def of(self, value: Any, depth: int) -> Any:
        self.remaining_bytes -= _BYTES_PER_VALUE
        kind = type(value)
        if kind is str:
            self.remaining_bytes -= len(value)
        if self.remaining_bytes < 0:
            raise NotSerializableError("it is too large")
        if kind is str or value is None or kind is bool or (kind is int and abs(value) < _MAX_PLAIN_INTEGER):
            return value
        if depth > _MAX_DEPTH:
            raise NotSerializableError(f"it is nested more than {_MAX_DEPTH} deep")
        if isinstance(value, list | tuple | set | frozenset):
            return [self.of(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self._key(key, depth): self.of(item, depth + 1) for key, item in value.items()}
        return self._scalar(value, depth)

    def _scalar(self, value: Any, depth: int) -> Any:
        if isinstance(value, int):
            if value.bit_length() > _MAX_INTEGER_BITS:
                raise NotSerializableError("it has a number of more than 4,300 digits")
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, bytes):
            return self.of(base64.b64encode(value).decode(), depth)
        if isinstance(value, dt.date | dt.time):
            return value.isoformat()
        if isinstance(value, decimal.Decimal | dt.timedelta | dt.timezone):
            return str(value)
        if isinstance(value, BaseException):
            return self.of(f"{type(value).__name__}: {value}", depth)
        return self._object(value, depth)

    def _object(self, value: Any, depth: int) -> Any:
        """Return the attributes of an instance of a class of the program."""
        attributes = getattr(value, "attributes", None)
        if not isinstance(attributes, dict):
            raise NotSerializableError(f"{getattr(value, 'name', None) or type(value).__name__} is not data")
        return self.of(attributes, depth + 1)

    def _key(self, key: Any, depth: int) -> str:
        if type(key) is str:
            self.remaining_bytes -= len(key)
            return key
        copy = self.of(key, depth + 1)
        return copy if isinstance(copy, str) else json.dumps(copy)


class SaveError(Exception):
    """A value that is not kept, for the reason in the message."""


class SavedValues:
    """The values that the programs of one session keep, as JSON, by their names.

    They are in memory, or in a `file` that several processes read and write. With `has_handles` they belong to clients
    that cannot be told apart: each name gets random characters, without which nobody reads the value, and the oldest
    values make place for new ones. With a file, all methods wait for the disk.
    """

    def __init__(self, *, has_handles: bool = False, file: Path | None = None) -> None:
        self.has_handles = has_handles
        self.file = file
        self.used_at = 0
        self.was_dropped = False
        self._texts: dict[str, str] = {}
        _SAVED.add(self)

    @property
    def size(self) -> int:
        """The bytes of all values in memory."""
        return _size(self._texts)

    def names(self) -> list[str]:
        """Return the names of the values that a program may know."""
        with self._opened() as texts:
            return [] if self.has_handles else list(texts)

    def save(self, name: str, text: str) -> str:
        """Keep a value, given as JSON in ASCII, and return the name to load it by. Raises SaveError."""
        if not 0 < len(name) <= MAX_NAME:
            raise SaveError(f"the name of a saved value has 1 to {MAX_NAME} characters")
        if len(text) > MAX_SAVED_BYTES:
            raise SaveError(f"{name} has {len(text):,} bytes as JSON; a saved value may have {MAX_SAVED_BYTES:,}")
        if self.has_handles:
            name = f"{name}~{secrets.token_urlsafe(_HANDLE_BYTES)}"
        with self._opened() as texts:
            self._add(texts, name, text)
        self._use()
        return name

    def _add(self, texts: dict[str, str], name: str, text: str) -> None:
        while self.has_handles and texts and not _has_place(texts, text):
            del texts[next(iter(texts))]
        others = {other: kept for other, kept in texts.items() if other != name}
        if not _has_place(others, text):
            kept = f"{MAX_SAVED} values of {MAX_SESSION_BYTES:,} bytes together"
            raise SaveError(f"a session keeps {kept}; save under one of these names again: {', '.join(others)}"[:2000])
        texts.pop(name, None)
        texts[name] = text

    def load(self, name: str) -> str:
        """Return a saved value as JSON. Raises KeyError."""
        with self._opened() as texts:
            text = texts[name]
        self._use()
        return text

    def drop(self) -> None:
        """Forget all values."""
        self._texts = {}
        self.was_dropped = True

    @contextmanager
    def _opened(self) -> Iterator[dict[str, str]]:
        """Return the values, which may be changed in the block; nothing is changed if it raises."""
        if self.file is None:
            yield self._texts
            return
        import fcntl  # which is on every platform where servers have several processes

        with os.fdopen(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="ascii") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX)
            before = opened.read()
            texts: dict[str, str] = json.loads(before or "{}")
            yield texts
            if (after := json.dumps(texts)) != (before or "{}"):
                opened.seek(0)
                opened.truncate()
                opened.write(after)

    def _use(self) -> None:
        self.used_at = max((each.used_at for each in _SAVED), default=0) + 1
        if self.file is None:
            _drop_unused(self)
        else:
            _remove_unused(self.file)


_SAVED: Final[WeakSet[SavedValues]] = WeakSet()
"""The saved values of all sessions of this process."""


def _size(texts: Mapping[str, str]) -> int:
    return sum(map(len, texts.values()))


def _has_place(texts: Mapping[str, str], text: str) -> bool:
    return len(texts) < MAX_SAVED and _size(texts) + len(text) <= MAX_SESSION_BYTES


def _drop_unused(used: SavedValues) -> None:
    """Drop the values of sessions that have not used theirs for longest, until the others fit."""
    size = sum(each.size for each in _SAVED)
    for each in sorted(_SAVED, key=lambda each: each.used_at) if size > MAX_ALL_BYTES else ():
        if size > MAX_ALL_BYTES and each is not used and each.size:
            size -= each.size
            each.drop()


def _remove_unused(used: Path) -> None:
    """Remove files of values beside one, those that were written first, until the others fit."""
    with suppress(OSError):  # another process removes them too
        os.utime(used)
        files = {file: file.stat() for file in used.parent.glob(f"{STATE_FILES}*")}
        size = sum(each.st_size for each in files.values())
        for file in sorted(files, key=lambda file: files[file].st_mtime_ns):
            if size > MAX_ALL_BYTES and file != used:
                size -= files[file].st_size
                file.unlink(missing_ok=True)


async def done(values: SavedValues, method: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    """Return what a method of saved values returns, in a thread where it waits for the disk."""
    return await asyncio.to_thread(method, *args, **named) if values.file else method(*args, **named)
