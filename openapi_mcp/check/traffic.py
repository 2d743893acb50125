"""Differences between traffic and the document: from probes and from the log of `serve --check-contract`.

A log line is `TOOL differs from the document: SIDE WHERE: MESSAGE [KIND]`, as text or in a line of JSON; lines of other
programs around it are passed over.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
_CALLED: Final = re.compile(r"([\w-]{1,64}) +[\d,]+ +[1-9][\d,]* +[\d,]+")
"""A row of the summary: tool, requests and responses that were checked, differences."""

_RULES: Final = {
    "status": "drift-status",
    "content type": "drift-media-type",
    refusals.REFUSED_MEDIA_TYPE: "drift-media-type",
    refusals.REFUSED_TYPE: "drift-refused",
    refusals.REFUSED_MISSING: "drift-refused",
    refusals.DEMANDED_CREDENTIAL: "security-missing",
}


@dataclass(frozen=True, slots=True)
class ContractLog:
    """Content of a log of `serve --check-contract`.

    `answered` names the tools that the API answered without demanding a credential, as far as the summary at the end of
    the log counts them.
    """

    drifts: tuple[Drift, ...] = ()
    answered: frozenset[str] = frozenset()


NO_LOG: Final = ContractLog()


def read_log(path: Path) -> ContractLog:
    """Return what a log says. Raises UsageError for a file that cannot be read."""
    try:
        text = read_regular(path, MAX_LOG_BYTES).decode("utf-8", "replace")
    except UnfitFile as error:
        raise UsageError(f"the log {error.reason}", where=str(path), hint="check --contract-log") from None
    except OSError as error:
        raise UsageError(
            f"cannot read the log: {error.strerror}", where=str(path), hint="check --contract-log"
        ) from None
    return parse_log(text.splitlines())


def parse_log(lines: Sequence[str]) -> ContractLog:
    """Return what the lines of a log say."""
    drifts = tuple(_drifts(lines))
    refused = {drift.tool for drift in drifts if drift.kind == refusals.DEMANDED_CREDENTIAL}
    called = (match[1] for line in lines if (match := _CALLED.fullmatch(line[:MAX_LINE].rstrip())))
    return ContractLog(drifts, frozenset(called) - refused)


def _drifts(lines: Iterable[str]) -> Iterator[Drift]:
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
