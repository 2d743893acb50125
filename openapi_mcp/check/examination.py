"""The whole of `check`: probe, judge, and with `fix` repair, probe again, and judge the repaired document."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..bridge import Bridge
from ..contract.checker import Drift
from ..document.addresses import is_remote
from ..errors import DocumentError
from ..overlay.sources import read_overlay
from ..runtime.types import JsonObject
from .probe import ProbeResult, probe
from .repair.actions import EXTRAS, example_count, overlay_of, written
from .repair.change import Repair
from .repair.examples import example_repairs
from .repair.formats import format_repairs
from .repair.repairs import MAX_REPAIRS, repairs_of
from .report import Report, report_of
from .rules import Finding
from .subject import JudgedDocument
from .traffic import NO_LOG, ContractLog, drift_findings

TITLE: Final = "Repairs of "
"""The beginning of the titles of overlays that `fix` writes."""

MAX_ROUNDS: Final = 3
"""Rounds of repairs: what a missing credential hides is seen in the second, what that hides in the third."""

Reopen = Callable[[Sequence[str]], Bridge]
"""A function that opens the document anew with overlays after those of the user, by their paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Findings of a check; with `fix` also the overlay, the repairs that it makes, and the report after it."""

    report: Report
    probes: int = 0
    left_out: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    overlay: JsonObject | None = None
    after: Report | None = None


def examine(
    bridge: Bridge,
    reopen: Reopen,
    *,
    log: ContractLog = NO_LOG,
    probes: bool = False,
    fix: bool = False,
    base_url: str = "",
    earlier: JsonObject | None = None,
    validate: bool = False,
    read: Callable[[], str] = lambda: "",
) -> Examination:
    """Examine a document.

    `log` is what calls showed; `base_url` is what the user named; `read` returns the text. `earlier` is the overlay of
    an earlier `fix`, which the new one extends.
    """
    repaired = _Repaired(bridge, reopen, log, base_url=base_url, earlier=earlier)
    if earlier is not None:
        bridge = repaired.bridge = applied(reopen, earlier)
    result = probe(bridge) if probes else ProbeResult()
    subject = JudgedDocument(bridge)
    findings = _findings(subject, log.drifts, result)
    report = report_of(bridge, findings, read, validate=validate)
    left_out = tuple(f"{tool.method} {tool.path}: {reason}" for tool, reason in result.left_out)
    sent = len(result.exchanges) + len(result.failures)
    if not fix:
        return Examination(report=report, probes=sent, left_out=left_out)
    repaired.run(result, probes=probes)
    after = report
    if repaired.overlay is not None:
        findings = _findings(JudgedDocument(repaired.bridge), (), repaired.result)
        after = report_of(repaired.bridge, findings, validate=validate)
    return Examination(
        report=report,
        probes=sent,
        left_out=left_out,
        repairs=tuple(repair for each in repaired.rounds for repair in each),
        overlay=repaired.overlay,
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


class _Repaired:
    """A document that is being repaired in rounds: its overlay, and the bridge and probes of the repaired document."""

    def __init__(
        self, bridge: Bridge, reopen: Reopen, log: ContractLog, *, base_url: str, earlier: JsonObject | None
    ) -> None:
        self.bridge = bridge
        self.result = ProbeResult()
        self.rounds: list[list[Repair]] = []
        self.overlay: JsonObject | None = None
        self._reopen = reopen
        self._log = log
        self._base_url = base_url
        self._earlier: Sequence[JsonObject] = earlier["actions"] if earlier else ()
        self._root = bridge.document.as_written().root
        self._title = f"{TITLE}{bridge.implementation.title}"
        has_extras = earlier is not None and example_count(earlier) > 0
        self._is_repaired = has_extras or any(map(_is_repair, bridge.config.overlays))

    def run(self, result: ProbeResult, *, probes: bool) -> None:
        """Repair until nothing more is found, probing again after each round."""
        self.result = result
        while len(self.rounds) < MAX_ROUNDS and (overlay := self._next()):
            self.overlay = overlay
            self.bridge = applied(self._reopen, overlay)
            if probes:
                self.result = probe(self.bridge)

    def _next(self) -> JsonObject | None:
        """Return the overlay with the repairs of one more round."""
        subject = JudgedDocument(self.bridge)
        seen = self.result.exchanges
        answered = {each.tool.name for each in seen if each.response.status_code < 300} | self._log.answered
        drifts = [*self._log.drifts, *self.result.drifts]
        found = list(repairs_of(subject, drifts, answered, self._base_url, self.result.accepted))
        found += [*format_repairs(subject, seen), *example_repairs(subject, seen)]
        if self._is_repaired:  # its extras were chosen then; the next ones would follow in each new overlay
            found = [each for each in found if each.rule not in EXTRAS]
        self.rounds.append(found[:MAX_REPAIRS])
        overlay = overlay_of(self.rounds, self._root, self._title, self._earlier)
        return None if overlay == self.overlay else overlay


def _is_repair(source: str) -> bool:
    """Return whether an overlay in a file was written by an earlier `fix`."""
    if is_remote(source):
        return False
    with suppress(DocumentError):
        return str(read_overlay(Path(source))["info"]["title"]).startswith(TITLE)
    return False


def applied(reopen: Reopen, overlay: JsonObject) -> Bridge:
    """Return the bridge of a document with an overlay."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "repairs.yaml"
        path.write_text(written(overlay), encoding="utf-8")
        return reopen([str(path)])
