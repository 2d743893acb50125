"""The whole of `check`: probe, judge, and with `fix` repair, probe again, and judge the repaired document."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..bridge import Bridge
from ..contract.checker import Drift
from .probe import ProbeResult, probe
from .repair.actions import overlay_of, written
from .repair.examples import example_repairs
from .repair.repairs import MAX_REPAIRS, Repair, repairs_of
from .report import Report, report_of
from .rules import Finding
from .subject import JudgedDocument
from .traffic import drift_findings

MAX_ROUNDS: Final = 3
"""Rounds of repairs: what a missing credential hides is seen in the second, what that hides in the third."""

Reopen = Callable[[Sequence[str]], Bridge]
"""A function that opens the document anew with overlays after those of the user, by their paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was found; with `fix` also the overlay as YAML, the repairs that it makes, and the report after it."""

    report: Report
    probes: int = 0
    left_out: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    overlay: str | None = None
    after: Report | None = None


def examine(
    bridge: Bridge,
    reopen: Reopen,
    *,
    drifts: Sequence[Drift] = (),
    probes: bool = False,
    fix: bool = False,
    base_url: str = "",
    validate: bool = False,
    read: Callable[[], str] = lambda: "",
) -> Examination:
    """Examine a document. `drifts` are those of a log; `base_url` is what the user named; `read` returns its text."""
    result = probe(bridge) if probes else ProbeResult()
    subject = JudgedDocument(bridge)
    findings = _findings(subject, drifts, result)
    report = report_of(bridge, findings, read, validate=validate)
    left_out = tuple(f"{tool.method} {tool.path}: {reason}" for tool, reason in result.left_out)
    sent = len(result.exchanges) + len(result.failures)
    if not fix:
        return Examination(report=report, probes=sent, left_out=left_out)
    rounds, overlay, repaired, last = _repair(bridge, reopen, drifts, result, base_url=base_url)
    after = report_of(repaired, _findings(JudgedDocument(repaired), (), last), validate=validate) if overlay else report
    return Examination(
        report=report,
        probes=sent,
        left_out=left_out,
        repairs=tuple(repair for each in rounds for repair in each),
        overlay=overlay,
        after=after,
    )


def _findings(subject: JudgedDocument, drifts: Iterable[Drift], result: ProbeResult) -> list[Finding]:
    findings = list(drift_findings(subject, [*drifts, *result.drifts]))
    for tool, message in result.failures:
        operation = subject.operation_of(tool)
        pointer = subject.display(operation.pointer) if operation else "#/paths"
        label = f"{tool.method} {tool.path}"
        findings.append(Finding(rule="probe-failed", pointer=pointer, message=message, operation=label))
    return findings


def _repair(
    bridge: Bridge, reopen: Reopen, drifts: Sequence[Drift], result: ProbeResult, *, base_url: str
) -> tuple[list[list[Repair]], str | None, Bridge, ProbeResult]:
    """Repair in rounds; return the repairs of each, the overlay, and the bridge and probes of the repaired document."""
    rounds: list[list[Repair]] = []
    text: str | None = None
    probes = bool(result.exchanges)
    root, title = JudgedDocument(bridge).document.as_written().root, f"Repairs of {bridge.implementation.title}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "repairs.yaml"
        while len(rounds) < MAX_ROUNDS:
            found = _found(JudgedDocument(bridge), drifts, result, base_url)
            overlay = overlay_of([*rounds, found], root, title) if found else None
            if overlay is None or written(overlay) == text:
                break
            rounds.append(found)
            text = written(overlay)
            path.write_text(text, encoding="utf-8")
            bridge = reopen([str(path)])
            result = probe(bridge) if probes else result
        else:
            return rounds, text, bridge, result
    return rounds, text, bridge, result


def _found(subject: JudgedDocument, drifts: Sequence[Drift], result: ProbeResult, base_url: str) -> list[Repair]:
    answered = {each.tool.name for each in result.exchanges if each.response.status_code < 300}
    found = [*repairs_of(subject, [*drifts, *result.drifts], answered, base_url)]
    found += example_repairs(subject, result.exchanges)
    return found[:MAX_REPAIRS]
