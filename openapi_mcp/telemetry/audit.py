"""The audit file: a JSON line for each call, appended by all processes of a server. Values only where asked for."""

import json
import logging
import os
import weakref
from collections.abc import Callable, Mapping
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError
from .call_log import as_json
from .records import CallRecord, Sink

MAX_VALUES: Final = 64 * 1024
"""Characters of the arguments in a line; longer ones are cut, which the line says."""

_SECRET_WORDS: Final = ("password", "passwd", "secret", "token", "authorization", "api_key", "apikey", "credential")


class _PrivateFile(WatchedFileHandler):
    """A file that only its owner may read; one that was moved away (log rotation) is made anew."""

    def _open(self) -> Any:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        return os.fdopen(os.open(self.baseFilename, flags, 0o600), "a", encoding="utf-8", errors="backslashreplace")


def audit_file(path: Path, redact: Callable[[str], str], *, with_arguments: bool = False) -> Sink:
    """Return a sink that appends to a file. Raises UsageError if it cannot be opened.

    `redact` removes the configured secrets from a text. With `with_arguments` the values are written too, without those
    whose name says that they are secrets.
    """
    try:
        handler = _PrivateFile(path)
    except OSError as error:
        hint = "name a file that can be written"
        raise UsageError(f"cannot write the audit file: {error.strerror}", where=f"--audit {path}", hint=hint) from None

    def sink(record: CallRecord) -> None:
        facts = as_json(record)
        if with_arguments:
            facts["values"] = _values(record.arguments)
        line = redact(json.dumps(facts, default=str))
        handler.emit(logging.LogRecord("audit", logging.INFO, "", 0, "%s", (line,), None))

    weakref.finalize(sink, handler.close)
    return sink


def _values(arguments: Mapping[str, Any]) -> Any:
    """Return the arguments without secrets; as cut text if they are large."""
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
