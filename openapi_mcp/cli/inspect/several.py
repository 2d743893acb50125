"""Text and JSON about the tools of several APIs and their problems, for `inspect`: one list of all, then each API."""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import Problem
from ...gateway.gateway import Gateway
from ...runtime.request.redaction import redact
from .. import console
from ..report import base_urls, credentials, heading, limit_lines, one_line, totals, workflow_lines
from ..serve.gateway_report import failure_line, listed_tokens, listing
from .output import bridge_json, problem_lines, validated
from .tool_list import Sort, for_eyes, separated, sorted_tools


def show(gateway: Gateway, sort: Sort | None, form: str | None, *, validates: bool, as_json: bool) -> int:
    """Print the tools and the problems of all APIs; return the number of problems and of APIs that failed.

    The arguments are as of `output.show`.
    """
    if as_json:
        problems = _all_problems(gateway, validates=validates)
        console.out(json.dumps(_gateway_json(gateway, problems), indent=2, ensure_ascii=True))
        return sum(map(len, problems.values())) + len(gateway.failures)
    is_text = form == "text" or (form is None and sys.stdout.isatty())
    say = console.out if is_text else console.err
    for line in _known_problems(gateway):
        say(line)
    tools = for_eyes(gateway, sort) if is_text else separated(gateway, sorted_tools(gateway, sort), gateway.api_of)
    for line in tools:
        console.out(line)
    problems = _all_problems(gateway, validates=validates)
    for line in _facts(gateway, problems):
        say(line)
    return sum(map(len, problems.values())) + len(gateway.failures)


def _all_problems(gateway: Gateway, *, validates: bool) -> dict[str, Sequence[Problem]]:
    """Return the problems of each API, with the findings of the validator if it is asked."""
    return {
        name: (*bridge.problems, *(validated(bridge) if validates else ())) for name, bridge in gateway.bridges.items()
    }


def _known_problems(gateway: Gateway) -> Iterator[str]:
    """Yield the problems that are known at once, and an empty line after them."""
    lines = [
        *(f"[{failure.name}] {failure_line(failure)}" for failure in gateway.failures),
        *(f"[{name}] {line}" for name, bridge in gateway.bridges.items() for line in problem_lines(bridge.problems)),
    ]
    yield from [*lines, ""] if lines else ()


def _facts(gateway: Gateway, problems: dict[str, Sequence[Problem]]) -> Iterator[str]:
    """Yield the lines after the list: what is served of all, what the validator found, and the facts of each API."""
    yield ""
    if gateway.config.client != "generic":
        from ...adaptation import report

        own = [tool for bridge in gateway.bridges.values() for tool in bridge.tools]
        yield from report(own, gateway.tools, gateway.config.profile, searched=gateway.mode_decision.searches)
    yield f"serve: {listing(gateway)}"
    for name, bridge in gateway.bridges.items():
        found = problems[name]
        yield from (f"[{name}] {line}" for line in problem_lines(found[len(bridge.problems) :]))
        yield f"[{name}] {heading(bridge)}: {totals(bridge, found)}"
        yield from (f"  {line}" for line in workflow_lines(bridge))
        yield from (f"  calls go to {line}" for line in base_urls(bridge))
        yield from (f"  credential {line}" for line in credentials(bridge))
        yield from (f"  {line}" for line in limit_lines(bridge))


def _gateway_json(gateway: Gateway, problems: dict[str, Sequence[Problem]]) -> dict[str, Any]:
    """Return the output of `inspect --json`."""
    decision = gateway.mode_decision
    return {
        "instructions": gateway.instructions(),
        "served": {
            "searched": decision.searches,
            "tools": len(gateway.catalog.tools),
            "tokens": listed_tokens(gateway),
            "why": decision.reason,
        },
        "apis": {name: bridge_json(bridge, tuple(problems[name])) for name, bridge in gateway.bridges.items()},
        "failed": {
            failure.name: {"source": redact(failure.source), "error": one_line(failure.error)}
            for failure in gateway.failures
        },
    }
