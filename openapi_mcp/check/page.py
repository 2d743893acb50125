"""A report as one HTML page that needs nothing else: no script, no font, no request; light and dark; accessible.

jinja2 escapes every text, and a policy in the page itself lets a browser load nothing.
"""

from pathlib import Path
from typing import Final

from .readiness.score import LEFT_OUT, SOURCE, VERSION
from .report import Report
from .rules import RULES, Finding

MAX_TOOLS: Final = 50
"""Rows of the table of tools: the most expensive ones."""

_TEMPLATE: Final = Path(__file__).with_name("page.html")


def page(report: Report) -> str:
    """Return the page of a report."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    groups: dict[str, list[Finding]] = {}
    for finding in report.findings:  # the worst first
        groups.setdefault(finding.rule, []).append(finding)
    largest = sorted(report.sizes.items(), key=lambda item: -item[1])
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        report=report,
        groups=groups,
        rules=RULES,
        largest=largest[:MAX_TOOLS],
        most=largest[0][1] if largest else 1,
        hidden=max(0, len(largest) - MAX_TOOLS),
        left_out=LEFT_OUT,
        source=SOURCE,
        version=VERSION,
    )
