"""What traffic shows: differences from the document, from probes and from the log of `serve --check-contract`.

A log line is `TOOL differs from the document: SIDE WHERE: MESSAGE [KIND]`, as text or in a line of JSON; lines of other
programs around it are passed over.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from ..contract import refusals
from ..contract.checker import UNCHECKED, Drift
from ..errors import UsageError
from ..regular_files import UnfitFile, read_regular
from .rules import Finding
from .subject import JudgedDocument

MAX_LOG_BYTES: Final = 64 << 20
"""Bytes of a log: some 300,000 differences, each of which a server logs once."""

MAX_LINE: Final = 2_000
MAX_DRIFTS: Final = 10_000
"""Differences that are read: several for each tool of the largest APIs."""

_LINE: Final = re.compile(
    r"(?:^|[\s:])(?P<tool>[\w-]{1,64}) differs from the document: "
    r"(?P<side>request|response)(?: (?P<where>.{0,500}?))?: (?P<message>.*) \[(?P<kind>[A-Za-z ]{1,40})\]\s*$"
)
_RULES: Final = {
    "status": "drift-status",
    "content type": "drift-media-type",
    refusals.REFUSED_MEDIA_TYPE: "drift-media-type",
    refusals.REFUSED_TYPE: "drift-refused",
    refusals.REFUSED_MISSING: "drift-refused",
    refusals.DEMANDED_CREDENTIAL: "security-missing",
}


def read_log(path: Path) -> list[Drift]:
    """Return the differences in a log, each once. Raises UsageError for a file that cannot be read or has none."""
    try:
        text = read_regular(path, MAX_LOG_BYTES).decode("utf-8", "replace")
    except UnfitFile as error:
        raise UsageError(f"the log {error.reason}", where=str(path), hint="check --contract-log") from None
    except OSError as error:
        raise UsageError(
            f"cannot read the log: {error.strerror}", where=str(path), hint="check --contract-log"
        ) from None
    return list(parse_log(text.splitlines()))


def parse_log(lines: Iterable[str]) -> Iterator[Drift]:
    """Yield the differences in lines of a log, each once, at most MAX_DRIFTS."""
    seen: set[Drift] = set()
    for line in lines:
        match = _LINE.search(_message(line[:MAX_LINE]))
        if match is None or len(seen) >= MAX_DRIFTS:
            continue
        drift = Drift(
            tool=match["tool"],
            side="request" if match["side"] == "request" else "response",
            kind=match["kind"],
            where=match["where"] or "",
            message=match["message"],
        )
        if drift not in seen:
            seen.add(drift)
            yield drift


def _message(line: str) -> str:
    """Return the message of a line of JSON, any other line as it is."""
    if line.startswith("{"):
        try:
            return str(json.loads(line).get("message", ""))
        except ValueError:
            return line
    return line


def drift_findings(subject: JudgedDocument, drifts: Iterable[Drift]) -> Iterator[Finding]:
    """Yield differences as findings about the operations of tools; those of unknown tools are passed over."""
    tools = {tool.name: tool for tool in subject.tools}
    for drift in drifts:
        tool = tools.get(drift.tool)
        operation = subject.operation_of(tool) if tool else None
        if operation is None or drift.kind in (UNCHECKED, "security"):
            continue
        yield Finding(
            rule=_RULES.get(drift.kind, "drift-schema"),
            pointer=subject.display(operation.pointer),
            message=f"{f'{drift.side} {drift.where}'.rstrip()}: {drift.message}",
            operation=operation.label,
        )
