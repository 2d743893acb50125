"""The command `check`: how good a document is as a set of tools, and an overlay that repairs it."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from ..errors import CheckFailed, UsageError
from . import console
from .commands import Values, command, reported_errors

if TYPE_CHECKING:
    from ..bridge import Bridge
    from ..check.examination import Examination
    from ..check.report import Report
    from ..check.traffic import ContractLog
    from ..runtime.types import JsonObject

EXAMPLES: Final = """\b
Examples:
  openapi-mcp check petstore.yaml
      findings and a score, with the reasons for each part of it
  openapi-mcp check petstore.yaml --probe https://staging.example.com/v1
      also where the API differs from the document: only GET and HEAD are sent
  openapi-mcp check petstore.yaml --contract-log serve.log --fix repairs.yaml
      an overlay with repairs, from what `serve --check-contract` logged
  openapi-mcp check petstore.yaml --format sarif --output check.sarif --fail-on error
      for CI: the exit code is 10 where there is an error
"""

MAX_SHOWN: Final = 8
"""Findings of a rule, and repairs, that the text shows; the other formats have all."""


def register(app: typer.Typer) -> None:
    """Register the command."""
    command(app, epilog=EXAMPLES)(check)


def check(
    spec: str | None,
    report_format: str | None,
    output: Path | None,
    probe: str | None,
    contract_log: Path | None,
    fix: Path | None,
    fail_under: int | None,
    fail_on: str | None,
    validate: bool,
    debug: bool,
    values: Values,
) -> None:
    """Judge SPEC as a set of tools for models, and repair it.

    Reports defects, missing and misleading texts, tools that look alike, their cost, the clients that refuse them, and
    differences between the API and its document. The score (0 to 100) is computed from those signals of Jentic's API
    AI-Readiness Framework that need no model.
    """
    with reported_errors(debug):
        from ..check.traffic import NO_LOG, read_log

        log = read_log(contract_log) if contract_log else NO_LOG
        examined = _examine(spec, values, probe, log, fix=fix, validate=validate)
        text = _text(examined, report_format or "text")
        if output is not None:
            _write(output, text, "--output")
        else:
            console.out(text.removesuffix("\n"))
        if fix is not None:
            _write_overlay(fix, examined)
        _judge(examined, fail_under, fail_on)


def _examine(
    spec: str | None, values: Values, probe: str | None, log: "ContractLog", *, fix: Path | None, validate: bool
) -> "Examination":
    from ..check.examination import examine
    from . import destinations
    from .settings import Settings, open_bridge

    values = dict(values) | {"mode": "all"}
    if probe is not None:
        values["base_url"] = [probe]
    file = values.pop("config", None)
    bridge = open_bridge(Settings.find(spec, values, file), with_document=True)
    if probe is not None:
        destinations.check(bridge)

    def reopen(overlays: Sequence[str]) -> "Bridge":
        from ..bridge import Bridge

        config = replace(bridge.config, overlays=(*bridge.config.overlays, *overlays), no_cache=True)
        return Bridge.open(config, with_document=True)

    return examine(
        bridge,
        reopen,
        log=log,
        probes=probe is not None,
        fix=fix is not None,
        earlier=_earlier(fix),
        base_url=bridge.config.only_base_url or "",
        validate=validate,
        read=lambda: _source_text(bridge),
    )


def _earlier(fix: Path | None) -> "JsonObject | None":
    """Return the overlay that an earlier --fix wrote to this file, which the new one extends. Raises DocumentError."""
    if fix is None or not fix.exists():
        return None
    from ..overlay.sources import read_overlay

    return read_overlay(fix)


def _source_text(bridge: "Bridge") -> str:
    """Return the text of a document in a file, for line numbers; empty for any other."""
    from ..document.addresses import is_remote
    from ..regular_files import MAX_DOCUMENT_BYTES, read_regular

    source = bridge.config.source
    if source == "-" or is_remote(source):
        return ""
    with suppress(OSError, ValueError):
        return read_regular(Path(source), MAX_DOCUMENT_BYTES).decode("utf-8", "replace")
    return ""


def _text(examined: "Examination", report_format: str) -> str:
    if report_format == "json":
        return json.dumps(_json(examined), indent=2, ensure_ascii=True)
    if report_format == "sarif":
        from ..check.sarif import sarif

        return json.dumps(sarif(examined.report), indent=2, ensure_ascii=True)
    if report_format == "html":
        from ..check.page import page

        return page(examined.report)
    return "\n".join(_lines(examined))


def _json(examined: "Examination") -> Mapping[str, Any]:
    from ..check.report import report_json

    after = examined.after
    repairs = [{"rule": each.rule, "reason": each.reason} for each in examined.repairs]
    facts = {"probes": examined.probes, "notProbed": list(examined.left_out)}
    repaired = {"repairs": repairs, "after": report_json(after)} if after else {}
    return {**report_json(examined.report), **facts, **repaired}


def _lines(examined: "Examination") -> Iterator[str]:
    """Yield the report for eyes: score, findings by rule, repairs."""
    from .report import plural, printable

    report = examined.report
    yield printable(f"{report.title} ({report.source})")
    yield f"score {report.score.value} of 100: {report.score.level}"
    yield from _table(report)
    yield ""
    yield from _finding_lines(report)
    counts = ", ".join(plural(count, severity) for severity, count in report.counts.items())
    yield f"{counts}; {plural(len(report.sizes), 'tool')}, about {report.tokens:,} tokens"
    if examined.probes:
        yield f"{plural(examined.probes, 'probe')} sent, {plural(len(examined.left_out), 'safe operation')} left out"
        yield from (f"  {printable(line)}" for line in examined.left_out[:MAX_SHOWN])
    if examined.after is not None:
        yield from _repair_lines(examined)


def _table(report: "Report") -> Iterator[str]:
    """Yield the parts of the score as a table, as wide as the terminal."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right")
    table.add_column()
    table.add_column(overflow="fold")
    for part in report.score.dimensions:
        signals = ", ".join(f"{signal.name} {signal.value:.2f} ({signal.reason})" for signal in part.signals)
        limit = f"; {part.limit}" if part.limit else ""
        table.add_row(Text(f"{part.score:.1f}"), Text(part.name), Text(signals + limit))
    stream = StringIO()
    width = None if sys.stdout.isatty() else 120
    Console(file=stream, width=width, color_system=None).print(table)
    yield from (line.rstrip() for line in stream.getvalue().splitlines())


def _finding_lines(report: "Report") -> Iterator[str]:
    from ..check.rules import RULES
    from .report import printable

    by_rule: dict[str, list[Any]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    for rule, findings in by_rule.items():
        count = len(findings) + report.more.get(rule, 0)
        yield f"{RULES[rule].severity}: {rule} ({count:,}): {RULES[rule].title} {RULES[rule].cure}"
        for finding in findings[:MAX_SHOWN]:
            place = f"line {finding.line}" if finding.line else finding.pointer
            subject = f"{finding.operation}: " if finding.operation else ""
            yield f"  {printable(f'{subject}{finding.message} [{place}]')}"
        if count > MAX_SHOWN:
            yield f"  … and {count - MAX_SHOWN:,} more (--format json)"
        yield ""


def _repair_lines(examined: "Examination") -> Iterator[str]:
    from .report import plural, printable

    report, after = examined.report, examined.after
    if after is None or examined.overlay is None:
        yield "nothing to repair"
        return
    yield ""
    yield f"{plural(len(examined.repairs), 'repair')}:"
    for repair in examined.repairs[:MAX_SHOWN]:
        yield f"  {printable(f'{repair.rule}: {repair.reason}')}"
    if len(examined.repairs) > MAX_SHOWN:
        yield f"  … and {len(examined.repairs) - MAX_SHOWN:,} more (--format json)"
    findings = " and ".join(f"{sum(each.counts.values()):,}" for each in (report, after))
    yield f"score before {report.score.value}, after {after.score.value}; findings before and after: {findings}"


def _write(path: Path, text: str, option: str) -> None:
    try:
        path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror}", where=f"{option} {path}", hint="check the path"
        ) from None


def _write_overlay(path: Path, examined: "Examination") -> None:
    from ..check.repair.actions import written

    if examined.overlay is None:
        console.err("nothing to repair: no overlay was written", "info")
        return
    text = written(examined.overlay)
    _write(path, text, "--fix")
    console.info(f"{path}: {len(text.splitlines())} lines; apply it with --overlay {path}")


def _judge(examined: "Examination", fail_under: int | None, fail_on: str | None) -> None:
    """Raise CheckFailed where the document, repaired if it was, is not good enough."""
    report = examined.after or examined.report
    if fail_under is not None and report.score.value < fail_under:
        raise CheckFailed(
            f"the score {report.score.value} is below {fail_under}",
            where=report.source,
            hint="see the findings, or --fix for an overlay that repairs some",
        )
    severities = {"error": ("error",), "warning": ("error", "warning")}.get(fail_on or "", ())
    count = sum(report.counts[severity] for severity in severities)
    if count:
        hint = "see the findings, or --fix for an overlay that repairs some"
        raise CheckFailed(f"there are {count:,} findings of --fail-on {fail_on}", where=report.source, hint=hint)
