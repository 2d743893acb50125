"""A report as SARIF, which GitHub and other places show at the lines of a change.

Specification: SARIF 2.1.0 (OASIS), sections 3.13 to 3.49.
"""

from typing import Any, Final
from urllib.parse import quote

from .. import __version__
from ..runtime.types import JsonObject
from .report import Report
from .rules import RULES, Finding

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(report: Report) -> JsonObject:
    """Return a report as a SARIF log with one run."""
    used = sorted({finding.rule for finding in report.findings})
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "openapi-mcp",
                        "version": __version__,
                        "rules": [_rule(rule) for rule in used],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, used, report.source) for finding in report.findings],
                "properties": {"score": report.score.value, "level": report.score.level, "tokens": report.tokens},
            }
        ],
    }


def _rule(rule: str) -> JsonObject:
    entry = RULES[rule]
    return {
        "id": rule,
        "shortDescription": {"text": entry.title},
        "help": {"text": entry.cure},
        "defaultConfiguration": {"level": entry.severity},
    }


def _result(finding: Finding, used: list[str], source: str) -> JsonObject:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(source)}}
    if finding.line is not None:
        location["region"] = {"startLine": finding.line}
    place: dict[str, Any] = {
        "physicalLocation": location,
        "logicalLocations": [{"fullyQualifiedName": finding.pointer, "kind": "member"}],
    }
    subject = f"{finding.operation}: " if finding.operation else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": used.index(finding.rule),
        "level": finding.severity,
        "message": {"text": f"{subject}{finding.message}. {finding.cure or RULES[finding.rule].cure}"},
        "locations": [place],
        "partialFingerprints": {"openapiMcp/v1": f"{finding.rule} {finding.pointer}"},
    }


def _uri(source: str) -> str:
    """Return a source as a URI reference: a path with slashes, percent-encoded."""
    if "://" in source:
        return source
    return quote(source.replace("\\", "/"), safe="/-._~:") if source != "-" else "stdin"
