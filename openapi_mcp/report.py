"""What people are shown of a bridge: tables, summaries, JSON. Nothing of a document reaches a terminal unescaped."""

import json
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from .bridge import Bridge
from .budget import of_bytes, tokens, total
from .errors import BridgeError, Problem
from .runtime.models import Argument, Tool
from .savings import with_options

WIDE = 10_000
"""Columns when the output is not a terminal: a line stays a line, so that grep and cut work on it."""


def printable(text: str) -> str:
    """A text of a document in one line, with control and direction-changing characters made visible (U+FFFD)."""
    return "".join(
        "\ufffd" if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn") else character
        for character in " ".join(text.split())
    )


def plural(count: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def totals(bridge: Bridge, problems: Sequence[Problem]) -> str:
    """One line: how many operations there are and what became of them."""
    parts = [
        f"{plural(len(bridge.tools), 'tool')} from {plural(bridge.compiled.operations, 'operation')}",
        f"about {total(bridge.compiled.sizes):,} tokens",
    ]
    if bridge.compiled.excluded:
        parts.append(f"{bridge.compiled.excluded:,} left out as asked")
    if lost := sum(problem.operation is not None for problem in problems):
        parts.append(f"{lost:,} lost to problems")
    if problems:
        parts.append(plural(len(problems), "problem"))
    return ", ".join(parts)


def heading(bridge: Bridge) -> str:
    """Title and version of the API."""
    who = bridge.implementation
    return printable(f"{who.title} {who.version}")


def base_urls(bridge: Bridge) -> str:
    """Where the calls go."""
    if bridge.config.base_url:
        return bridge.config.base_url
    if not bridge.tools:
        cure = "; see --include, --exclude and --read-only" if bridge.compiled.excluded else ""
        return f"nowhere: there are no tools{cure}"
    counts = Counter(tool.base_url for tool in bridge.tools)
    urls = [url or "nowhere yet: the document names no server; give --base-url" for url, _ in counts.most_common(3)]
    return printable(", ".join(urls)) + (" …" if len(counts) > 3 else "")


def credentials(bridge: Bridge) -> list[str]:
    """One line for each security scheme: whether there is a credential for it, and how to give one."""
    options = bridge.request_options()
    lines = []
    for scheme in bridge.security_schemes():
        by_certificate = scheme.type == "mutualTLS"
        given = options.client_certificate if by_certificate else scheme.name in options.credentials
        cure = "use --client-cert" if by_certificate else f"set {scheme.variable}"
        lines.append(f"{printable(scheme.name)}: {'given' if given else f'not given; {cure}'}")
    unused = bridge.config.credentials.keys() - {scheme.name for scheme in bridge.security_schemes()}
    return lines + [f"{printable(name)}: given, but no tool asks for it" for name in sorted(unused)]


def connections(bridge: Bridge, url: str) -> list[str]:
    """How clients connect to a server over HTTP."""
    return [url, f"claude mcp add --transport http {bridge.implementation.name} {url}"]


def serving(bridge: Bridge, connection: Sequence[str]) -> str:
    """What `serve` prints on stderr when it is ready: what is served, to where, and how to connect."""
    rows = [("", f"{heading(bridge)}: {totals(bridge, bridge.problems)}"), ("calls go to", base_urls(bridge))]
    rows += [("credentials", line) for line in credentials(bridge)]
    rows += [("connect", line) for line in connection]
    if bridge.offering.why:
        rows.append(("mode", offered(bridge)))
    page, more = bridge.catalog.page()
    if more:
        hint = f"clients that never ask for a second page see {len(page):,} of the tools; --include narrows them"
        rows.append(("pages", hint))
    rows += [("", line) for line in _room_lines(bridge)]
    if bridge.problems:
        rows.append(("problems", f"openapi-mcp inspect {bridge.config.source}"))
    return "\n".join(f"{label:>12}  {text}" if label else text for label, text in rows)


def offered(bridge: Bridge) -> str:
    """What is listed, and why that; where it is a search, how all tools would be."""
    searches, why = bridge.offering.searches, bridge.offering.why
    listed = bridge.catalog.tools
    shown = f"{plural(len(listed), 'tool')} listed, about {_listed_tokens(bridge):,} tokens"
    hint = "; --mode all lists every tool, --pin some" if searches else ""
    return f"{shown}{f': {why}' if why else ''}{hint}"


def _listed_tokens(bridge: Bridge) -> int:
    return sum(map(tokens, bridge.catalog.tools)) if bridge.offering.searches else total(bridge.compiled.sizes)


def reloaded(old: Bridge, new: Bridge) -> str:
    """One line: what became of the tools, and of the way they are offered if that is another now."""
    before, after = ({tool.name: tool for tool in bridge.tools} for bridge in (old, new))
    changed = sum(name in before and before[name] != tool for name, tool in after.items())
    added, removed = len(after.keys() - before.keys()), len(before.keys() - after.keys())
    mode = f"; now {offered(new)}" if old.offering.searches != new.offering.searches else ""
    return f"loaded again: {plural(len(after), 'tool')}, {added:,} new, {changed:,} changed, {removed:,} gone{mode}"


def one_line(error: BridgeError) -> str:
    """An error with its place and cure."""
    place = f" ({error.where})" if error.where else ""
    return printable(f"{error.message}{place}{f'; {error.hint}' if error.hint else ''}")


def print_tools(bridge: Bridge, problems: Sequence[Problem]) -> None:
    """What `inspect` prints: the tools, a line each, the problems below them, the totals last."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("TOOL", "METHOD", "PATH", "TITLE", "ARGUMENTS"):
        table.add_column(column, overflow="fold")
    table.add_column("TOKENS", justify="right")
    sizes = bridge.sizes
    for tool in bridge.tools:
        cells = (tool.name, tool.method, tool.path, tool.title or "", ", ".join(map(_argument, tool.arguments)))
        table.add_row(*(Text(printable(cell)) for cell in cells), f"{of_bytes(sizes[tool.name]):,}")
    Console(width=None if sys.stdout.isatty() else WIDE).print(table)
    needed = [f"credential {line}" for line in credentials(bridge)]
    served = f"serve: {offered(bridge)}"
    told = [*problem_lines(problems), *needed, *_room_lines(bridge), served, *_saving_lines(bridge)]
    for line in ("", *told, f"{heading(bridge)}: {totals(bridge, problems)}"):
        print(line)


def _room_lines(bridge: Bridge) -> Iterable[str]:
    """What was cut, if anything was."""
    room = bridge.compiled.room
    if not room.is_whole:
        why = "--compact" if bridge.config.compact else f"there are {plural(len(bridge.tools), 'tool')}; see --budget"
        answers = f"to {room.output:,} bytes" if room.output else "away"
        yield (
            f"shortened, as {why}: descriptions to {room.description:,} characters, of arguments to {room.argument:,},"
            f" schemas of answers {answers}"
        )


def _saving_lines(bridge: Bridge) -> Iterable[str]:
    """What options would make of the list."""
    now = _listed_tokens(bridge)
    for option, then in with_options(bridge):
        yield f"with {option}: about {then:,} tokens ({(then - now) / max(now, 1):+.0%})"


def _argument(argument: Argument) -> str:
    return argument.name + ("" if argument.required else "?")


def problem_lines(problems: Sequence[Problem]) -> Iterable[str]:
    """The problems, worst (an operation lost) first: where and what, then the cure on a line of its own."""
    for problem in sorted(problems, key=lambda problem: problem.operation is None):
        lost = f"lost {problem.operation}: " if problem.operation else ""
        yield printable(f"{problem.kind}: {lost}{problem.message} [{problem.pointer}]")
        if problem.hint:
            yield "    " + printable(problem.hint)


def tool_page(tool: Tool) -> Iterable[str]:
    """One tool whole: its request, its arguments and where they go, its schemas."""
    yield printable(f"{tool.name} — {tool.title or tool.name}")
    yield printable(f"{tool.method} {(tool.base_url or '(no server; give --base-url)')}{tool.path}")
    yield ""
    yield from (printable(line) for line in tool.description.splitlines())
    for argument in tool.arguments:
        place = argument.location if argument.wire_name is None else f"{argument.location} {argument.wire_name}"
        yield f"  {printable(_argument(argument)):24} {printable(place)}"
    for scheme_names in (" and ".join(scheme.name for scheme in alternative) for alternative in tool.security):
        yield f"  credential: {printable(scheme_names) or 'none needed'}"
    for label, value in (("input schema", tool.input_schema), ("output schema", tool.output_schema)):
        if value is not None:
            yield f"\n{label}:\n{json.dumps(value, indent=2, ensure_ascii=True)}"
    yield f"\nannotations: {json.dumps(dict(tool.annotations))}, about {tokens(tool):,} tokens"


def tool_json(tool: Tool) -> dict[str, Any]:
    """One tool for programs: everything a client sees, and where each argument goes."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "method": tool.method,
        "path": tool.path,
        "baseUrl": tool.base_url,
        "operationId": tool.operation_id,
        "tags": list(tool.tags),
        "deprecated": tool.deprecated,
        "arguments": [
            {"name": each.name, "in": each.location, "wireName": each.wire_name, "required": each.required}
            for each in tool.arguments
        ],
        "mediaTypes": [media_type.content_type for media_type in tool.body.media_types] if tool.body else [],
        "security": [[scheme.name for scheme in alternative] for alternative in tool.security],
        "annotations": dict(tool.annotations),
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "tokens": tokens(tool),
    }


def problem_json(problem: Problem) -> dict[str, Any]:
    """One problem for programs."""
    return {
        "pointer": problem.pointer,
        "kind": problem.kind,
        "message": problem.message,
        "hint": problem.hint,
        "operation": problem.operation,
    }


def bridge_json(bridge: Bridge, problems: Sequence[Problem]) -> dict[str, Any]:
    """The whole of `inspect --json`."""
    who = bridge.implementation
    return {
        "title": who.title,
        "version": who.version,
        "source": bridge.origin.uri,
        "openapi": bridge.origin.version,
        "operations": bridge.compiled.operations,
        "excluded": bridge.compiled.excluded,
        "lost": sum(problem.operation is not None for problem in problems),
        "tokens": total(bridge.compiled.sizes),
        "served": {
            "searched": bridge.offering.searches,
            "tools": len(bridge.catalog.tools),
            "tokens": _listed_tokens(bridge),
            "why": bridge.offering.why,
        },
        "tokensWith": dict(with_options(bridge)),
        "credentials": {scheme.name: scheme.variable for scheme in bridge.security_schemes()},
        "tools": [tool_json(tool) for tool in bridge.tools],
        "problems": [problem_json(problem) for problem in problems],
    }
