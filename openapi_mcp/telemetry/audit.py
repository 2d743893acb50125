"""The audit file: a JSON line for each call, appended by all processes of a server. Values only where asked for."""

import json
import logging
import os
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError
from ..runtime import background
from .call_log import as_json
from .records import CallRecord, Sink

REPORT_SECONDS: Final = 60.0
"""Seconds between two reports that the file cannot be written."""

MAX_PARTS: Final = 20_000
"""Values of arguments that are written: it takes some hundredths of a second, for which other calls wait."""

MAX_VALUES: Final = 64 * 1024
"""Characters of the arguments in a line; longer ones are cut, which the line says."""

logger = logging.getLogger("openapi_mcp")

_SECRET_WORDS: Final = ("password", "passwd", "secret", "token", "authorization", "api_key", "apikey", "credential")


class _AuditFile:
    """A file that only its owner may read, with one write for each line: those of several processes do not mix.

    One that was moved away (log rotation) is made anew. While it cannot be written, as on a full disk, calls go on; the
    log says so now and then, and how many lines are missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1
        self._is_torn = False
        self._lost = 0
        self._next_report = 0.0
        self._open()

    def write(self, line: str) -> None:
        """Append a line, if that is possible."""
        try:
            if self._was_moved():
                self._open()
            self._append(line.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            self._lost += 1
            self._report(f"The audit file cannot be written ({error.strerror})")
            return
        if self._lost:
            self._next_report = 0.0
            self._report("The audit file is written again")
            self._lost = 0

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        self.close()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        self._file = os.open(self._path, flags, 0o600)

    def _was_moved(self) -> bool:
        """Return whether the path names another file than the open one, or none."""
        if self._file < 0:
            return True
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(self._file))
        except FileNotFoundError:
            return True

    def _append(self, data: bytes) -> None:
        """Write a line. After one of which only a part could be written, the next one begins on a new line."""
        data = b"\n" + data if self._is_torn else data
        written = os.write(self._file, data)
        self._is_torn = written < len(data)
        if self._is_torn:
            os.write(self._file, data[written:])
            self._is_torn = False

    def _report(self, what: str) -> None:
        if time.monotonic() >= self._next_report:
            self._next_report = time.monotonic() + REPORT_SECONDS
            logger.error("%s: %s. Lines that are missing: %d.", self._path, what, self._lost)


def audit_file(path: Path, redact: Callable[[str], str], *, with_arguments: bool = False) -> Sink:
    """Return a sink that appends to a file. Raises UsageError if it cannot be opened.

    `redact` removes the configured secrets from a text. With `with_arguments` the values are written too, without those
    whose name says that they are secrets.
    """
    try:
        file = _AuditFile(path)
    except OSError as error:
        hint = "name a file that can be written"
        raise UsageError(f"cannot write the audit file: {error.strerror}", where=f"--audit {path}", hint=hint) from None

    def sink(record: CallRecord) -> None:
        facts = as_json(record)
        if with_arguments:
            facts["values"] = _values(record.arguments)
        file.write(redact(json.dumps(facts, default=str)))

    weakref.finalize(sink, file.close)
    return sink


def _values(arguments: Mapping[str, Any]) -> Any:
    """Return the arguments without secrets; as cut text if they are large, and their number if that takes long."""
    if background.exceeds(arguments, MAX_PARTS):
        return f"more than {MAX_PARTS:,} values"
    shown = without_secrets(arguments)
    text = json.dumps(shown, default=str)
    return shown if len(text) <= MAX_VALUES else f"{text[:MAX_VALUES]}… ({len(text)} characters)"


def without_secrets(value: Any, depth: int = 50) -> Any:
    """Return a JSON value with `***` for what a name calls a secret."""
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return {
            name: "***"
            if any(word in str(name).lower() for word in _SECRET_WORDS)
            else without_secrets(item, depth - 1)
            for name, item in value.items()
        }
    return [without_secrets(item, depth - 1) for item in value] if isinstance(value, list) else value
