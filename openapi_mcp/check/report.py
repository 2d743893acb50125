"""`Report`: what `check` found about a document, and how it is made."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..bridge import Bridge
from ..errors import Problem
from ..runtime.request.redaction import redact
from ..runtime.types import JsonObject
from ..token_budget import tokens_of_bytes, total
from .exposure import exposure_findings
from .lines import lines_of
from .readiness.score import Score, score_of
from .rules import RULES, SEVERITIES, Finding, Severity, listed, numbered
from .similarity import name_findings
from .subject import JudgedDocument
from .texts import text_findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Findings, the worst first, at most some hundred of each rule, and how many more there are by rule.

    `sizes` are the tokens of each tool by its name; `source` names the document without secrets.
    """

    title: str
    source: str
    version: str
    score: Score
    findings: tuple[Finding, ...]
    more: dict[str, int]
    sizes: dict[str, int]
    tokens: int

    def count(self, severity: Severity) -> int:
        """Return the number of findings of a severity, also of those that are not listed."""
        rest = sum(count for rule, count in self.more.items() if RULES[rule].severity == severity)
        return rest + sum(finding.severity == severity for finding in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of findings by severity."""
        return {severity: self.count(severity) for severity in SEVERITIES}


def report_of(
    bridge: Bridge, drift: Iterable[Finding] = (), read: Callable[[], str] = lambda: "", *, validate: bool = False
) -> Report:
    """Judge a document. `drift` are findings from traffic; `read` returns the document's text, for line numbers."""
    subject = JudgedDocument(bridge)
    findings, more = listed([*_findings(subject, validate=validate), *drift])
    lines = lines_of(read()) if findings else {}
    return Report(
        title=f"{bridge.implementation.title} {bridge.implementation.version}",
        source=redact(bridge.config.source),
        version=bridge.document_info.version,
        score=score_of(subject),
        findings=tuple(numbered(findings, lines)),
        more=more,
        sizes={name: tokens_of_bytes(size) for name, size in bridge.sizes.items()},
        tokens=total(bridge.sizes.values()),
    )


def _findings(subject: JudgedDocument, *, validate: bool) -> Iterator[Finding]:
    yield from map(_of_problem, subject.bridge.problems)
    if validate:
        for problem in subject.bridge.validate():
            yield _of_problem(problem, rule="document-invalid")
    yield from text_findings(subject)
    yield from name_findings(subject)
    yield from exposure_findings(subject)


def _of_problem(problem: Problem, rule: str = "document-problem") -> Finding:
    return Finding(
        rule="operation-lost" if problem.operation else rule,
        pointer=redact(problem.pointer),
        message=redact(f"{problem.kind}: {problem.message}"),
        cure=problem.hint,
        operation=problem.operation or "",
    )


def report_json(report: Report) -> JsonObject:
    """Return a report as JSON."""
    return {
        "title": report.title,
        "source": report.source,
        "openapi": report.version,
        "score": report.score.value,
        "level": report.score.level,
        "dimensions": [
            {
                "id": each.id,
                "name": each.name,
                "score": each.score,
                "limit": each.limit or None,
                "signals": [
                    {"name": signal.name, "value": round(signal.value, 3), "reason": signal.reason}
                    for signal in each.signals
                ],
            }
            for each in report.score.dimensions
        ],
        "counts": report.counts,
        "findings": [finding_json(finding) for finding in report.findings],
        "more": report.more,
        "tools": len(report.sizes),
        "tokens": report.tokens,
        "tokensOfTools": report.sizes,
    }


def finding_json(finding: Finding) -> JsonObject:
    """Return a finding as JSON."""
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "pointer": finding.pointer,
        "line": finding.line,
        "operation": finding.operation or None,
        "message": finding.message,
        "cure": finding.cure or RULES[finding.rule].cure,
    }
