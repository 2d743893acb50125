"""A line for each call: for people, or as JSON for programs."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from .records import CallRecord, Sink

Write = Callable[[str], None]
"""A writer of one line, which removes secrets."""


def text_lines(write: Write) -> Sink:
    """Return a sink that writes `12:03:04 listPets 200 34 ms 1.2 kB ~300 tok address 127.0.0.1`."""

    def sink(record: CallRecord) -> None:
        clock = time.strftime("%H:%M:%S", time.localtime(record.time))
        status = "cancelled" if record.outcome == "cancelled" else str(record.status or "no answer")
        words = [clock, record.tool, status]
        words += [f"{record.seconds * 1000:.0f} ms", size(record.bytes), f"~{record.tokens} tok", record.caller]
        write(" ".join(words) + (" error" if record.outcome == "tool_error" else ""))

    return sink


def json_lines(write: Write) -> Sink:
    """Return a sink that writes a JSON object in a line."""
    return lambda record: write(json.dumps(as_json(record)))


def as_json(record: CallRecord) -> dict[str, Any]:
    """Return a record as a JSON object; the names of arguments, and no values."""
    facts = {
        "time": datetime.fromtimestamp(record.time, UTC).isoformat(timespec="milliseconds"),
        "event": "tools/call",
        "tool": record.tool,
        "caller": record.caller,
        "status": record.status or None,
        "outcome": record.outcome,
        "ms": round(record.seconds * 1000, 1),
        "bytes": record.bytes,
        "tokens": record.tokens,
        "arguments": record.argument_names,
    }
    extras = {"api": record.api, "trace_id": record.trace_id}
    return facts | {name: value for name, value in extras.items() if value}


def size(count: int) -> str:
    """Return a number of bytes for people."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
