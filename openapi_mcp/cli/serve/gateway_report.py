"""Text and JSON about the APIs of a gateway, for `serve` and `inspect`: those of one API, for several."""

from collections.abc import Iterator, Sequence

from ...gateway.gateway import ApiFailure, Gateway
from ...token_budget import tokens, tokens_of_bytes
from .. import destinations
from ..report import base_urls, credentials, heading, limit_lines, one_line, plural, totals


def serving(gateway: Gateway, connection: Sequence[str]) -> str:
    """Return the text that `serve` prints on stderr when it is ready: each API, then how to connect."""
    rows = []
    for name, bridge in gateway.bridges.items():
        rows.append((name, f"{heading(bridge)}: {totals(bridge, bridge.problems)}"))
        rows += [("calls go to", line) for line in base_urls(bridge)]
        rows += [("credentials", line) for line in (*credentials(bridge), *destinations.memory_lines(bridge))]
        rows += [("", line) for line in limit_lines(bridge)]
        if bridge.problems:
            rows.append(("problems", f"openapi-mcp inspect {name}"))
    rows += [("connect", line) for line in connection]
    rows.append(("mode", listing(gateway)))
    width = max(12, *(len(label) for label, _ in rows))
    return "\n".join(f"{label:>{width}}  {text}" for label, text in rows)


def failure_line(failure: ApiFailure) -> str:
    """Return a line about an API that could not be loaded."""
    state = "could not be loaded, the old tools stay" if failure.is_old else "could not be loaded, and is left out"
    return f"{state}: {one_line(failure.error)}"


def listing(gateway: Gateway) -> str:
    """Return one line about the list: its tools and tokens, and the reason for a search."""
    decision = gateway.mode_decision
    hint = "; --mode all lists every tool, --pin single ones" if decision.searches else ""
    listed = f"{plural(len(gateway.catalog.tools), 'tool')} listed, about {listed_tokens(gateway):,} tokens"
    return f"{listed}{f': {decision.reason}' if decision.reason else ''}{hint}"


def listed_tokens(gateway: Gateway) -> int:
    """Return the tokens of the list as it is served."""
    if gateway.mode_decision.searches:
        return sum(map(tokens, gateway.catalog.tools))
    return tokens_of_bytes(sum(gateway.sizes.values()))


def reloaded(old: Gateway, new: Gateway) -> Iterator[str]:
    """Yield a line about each API that a reload changed, and about each that could not be loaded."""
    for name in {**old.bridges, **new.bridges}:
        before, after = (
            {tool.name: tool for tool in each.bridges[name].tools} if name in each.bridges else {}
            for each in (old, new)
        )
        changed = sum(tool in before and before[tool] != value for tool, value in after.items())
        added, removed = len(after.keys() - before.keys()), len(before.keys() - after.keys())
        if changed or added or removed:
            numbers = f"{plural(len(after), 'tool')}, {added:,} new, {changed:,} changed, {removed:,} removed"
            yield f"reloaded {name}: {numbers}"
    yield from (f"{failure.name} {failure_line(failure)}" for failure in new.failures)
