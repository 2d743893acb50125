"""Text and JSON about a bridge, for `inspect` and `serve`. No text of a document reaches a terminal unescaped.

`savings` tries each option that shortens the list, so that the tokens it shows are those of that option.
"""

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from .. import token_budget
from ..bridge import Bridge
from ..compilation import Compilation
from ..errors import BridgeError, Problem
from ..modes import Mode
from ..runtime.protocol.output_schemas import open_schema
from ..runtime.request.credentials import credential_lines
from ..runtime.request.redaction import redact
from ..runtime.search.ranking import is_available
from ..runtime.search.tools import search_catalog
from ..runtime.tool import Argument, Tool
from ..selection import only_reads, read_only_candidates
from ..token_budget import TokenBudget, tokens, tokens_of_bytes, total


def savings(bridge: Bridge) -> Iterator[tuple[str, int]]:
    """Yield options that change the size of the list, and the tokens of the list with each.

    They do not change a search; where tools are searched, they are tried on the list of all tools.
    """
    config, searches = bridge.config, bridge.mode_decision.searches
    list_budget = replace(config, mode=Mode.ALL).compile_options.token_budget
    listed = _compile(bridge, list_budget) if searches else bridge.compilation
    prefix = "--mode all " if searches else ""
    if searches:
        yield "--mode all", token_budget.total(listed.sizes)
    if not config.selection.read_only:
        sizes = zip(listed.tools, listed.sizes, strict=True)
        yield (
            f"{prefix}--read-only",
            token_budget.total(
                size for tool, size in sizes if only_reads(tool.method, tool.annotations.get("readOnlyHint"))
            ),
        )
    if not config.compact:
        compact = _compile(bridge, TokenBudget(compact=True, max_tools=config.max_tools))
        yield f"{prefix}--compact", token_budget.total(compact.sizes)
    if not searches and is_available():
        searched = search_catalog(bridge.tools).tools
        yield "--mode search", token_budget.total(map(token_budget.size, searched))
    if not listed.limits.is_full:
        uncut = _compile(bridge, TokenBudget(budget=None, max_tools=config.max_tools))
        yield f"{prefix and prefix + 'and '}nothing shortened", token_budget.total(uncut.sizes)


def _compile(bridge: Bridge, budget: TokenBudget) -> Compilation:
    from ..tools import compiler

    return compiler.compile_document(bridge.document, replace(bridge.config.compile_options, token_budget=budget))


MAX_COLUMNS = 10_000
"""Columns if the output is not a terminal: rows are never wrapped, so that grep and cut work on them."""


def printable(text: str) -> str:
    """Return a text of a document in one line, with control and direction-changing characters as U+FFFD."""
    return "".join(
        "\ufffd" if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn") else character
        for character in " ".join(text.split())
    )


def plural(count: int, noun: str) -> str:
    """Return a number with a noun: `1 tool`, `2 tools`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def totals(bridge: Bridge, problems: Sequence[Problem]) -> str:
    """Return one line with the numbers of operations, tools, tokens and problems."""
    parts = [
        f"{plural(len(bridge.tools), 'tool')} from {plural(bridge.compilation.operations, 'operation')}",
        f"about {total(bridge.compilation.sizes):,} tokens",
    ]
    if bridge.compilation.excluded:
        parts.append(f"{bridge.compilation.excluded:,} left out by options")
    if count := sum(problem.operation is not None for problem in problems):
        parts.append(f"{count:,} lost to problems")
    if problems:
        parts.append(plural(len(problems), "problem"))
    return ", ".join(parts)


def heading(bridge: Bridge) -> str:
    """Return title and version of the API, and the version of its document as it is written."""
    version = bridge.document_info.version
    kind = "Swagger" if version == "2.0" else "OpenAPI"
    return printable(f"{bridge.implementation.title} {bridge.implementation.version} ({kind} {version})")


MAX_DESTINATIONS: Final = 10
"""Lines about base URLs: some documents have one for each operation."""

MAX_NAMES: Final = 5
"""Names of tools in the line about a base URL that not all tools have."""


def base_urls(bridge: Bridge) -> list[str]:
    """Return a line for each base URL that calls go to, with the tools of each if there are several.

    If --base-url takes calls of several servers elsewhere, there is a line for each of these servers.
    """
    if not bridge.tools:
        hint = "; see --include, --exclude and --read-only" if bridge.compilation.excluded else ""
        return [redact(bridge.config.base_url or "") or f"nowhere: there are no tools{hint}"]
    names: dict[tuple[str, str], list[str]] = {}
    for tool, original in zip(bridge.tools, bridge.compilation.tools, strict=True):
        names.setdefault(_destination(bridge, tool, original), []).append(tool.name)
    several = len(names) > 1
    ranked = sorted(names.items(), key=lambda item: -len(item[1]))
    lines = [
        printable(f"{url}{f' (--base-url; not {instead})' if instead and several else ''}") + _names(tools, several)
        for (url, instead), tools in ranked
    ]
    rest = len(lines) - MAX_DESTINATIONS
    return [
        *lines[:MAX_DESTINATIONS],
        *([f"… and {rest:,} more; `openapi-mcp inspect --json` has them"] if rest > 0 else []),
    ]


def _destination(bridge: Bridge, tool: Tool, original: Tool) -> tuple[str, str]:
    """Return the base URL of a tool's calls, and the document's base URL if --base-url replaces that."""
    url = bridge.config.only_base_url or _base_url(tool.base_url, tool.base_url_is_guess)
    return redact(url), redact(original.base_url or "") if original.base_url != url else ""


def _names(tools: Sequence[str], several: bool) -> str:
    if not several:
        return ""
    names = ", ".join(tools[:MAX_NAMES]) + (" …" if len(tools) > MAX_NAMES else "")
    return f": {plural(len(tools), 'tool')}, {names}"


def _base_url(url: str | None, is_guess: bool) -> str:
    if url is None:
        return "nowhere: the document names no server; set --base-url"
    return f"{url} (a guess: the document names no host; see --base-url)" if is_guess else url


def credentials(bridge: Bridge) -> list[str]:
    """Return a line for each security scheme: whether its credential is set, by what, and which hosts it is sent to."""
    lines = [printable(line) for line in credential_lines(bridge.tools, bridge.request_options())]
    unused = bridge.config.credentials.keys() - {scheme.name for scheme in bridge.security_schemes()}
    return lines + [f"{printable(name)}: set, but no tool uses it" for name in sorted(unused)]


def connections(bridge: Bridge, url: str) -> list[str]:
    """Return the URL of an HTTP server, and a command that connects a client to it."""
    return [url, f"claude mcp add --transport http {bridge.implementation.name} {url}"]


def serving(bridge: Bridge, connection: Sequence[str]) -> str:
    """Return the text that `serve` prints on stderr when it is ready: tools, base URLs, credentials, how to connect."""
    rows = [("", f"{heading(bridge)}: {totals(bridge, bridge.problems)}")]
    rows += [("calls go to", line) for line in base_urls(bridge)]
    rows += [("credentials", line) for line in credentials(bridge)]
    rows += [("connect", line) for line in connection]
    if bridge.mode_decision.reason:
        rows.append(("mode", listing(bridge)))
    page, next_cursor = bridge.catalog.page()
    if next_cursor:
        hint = f"clients that read only one page see {len(page):,} of the tools; --include selects tools"
        rows.append(("pages", hint))
    rows += [("", line) for line in _limit_lines(bridge)]
    if bridge.problems:
        rows.append(("problems", f"openapi-mcp inspect {redact(bridge.config.source)}"))
    return "\n".join(f"{label:>12}  {text}" if label else text for label, text in rows)


def listing(bridge: Bridge) -> str:
    """Return one line about the list: its tools and tokens, and the reason for a search or against it."""
    decision = bridge.mode_decision
    listed = f"{plural(len(bridge.catalog.tools), 'tool')} listed, about {_listed_tokens(bridge):,} tokens"
    hint = "; --mode all lists every tool, --pin single ones" if decision.searches else ""
    return f"{listed}{f': {decision.reason}' if decision.reason else ''}{hint}"


def _listed_tokens(bridge: Bridge) -> int:
    return sum(map(tokens, bridge.catalog.tools)) if bridge.mode_decision.searches else total(bridge.compilation.sizes)


def reloaded(old: Bridge, new: Bridge) -> str:
    """Return one line about a reload: new, changed and removed tools, and the list if its mode has changed."""
    before, after = ({tool.name: tool for tool in bridge.tools} for bridge in (old, new))
    changed = sum(name in before and before[name] != tool for name, tool in after.items())
    added, removed = len(after.keys() - before.keys()), len(before.keys() - after.keys())
    mode = f"; now {listing(new)}" if old.mode_decision.searches != new.mode_decision.searches else ""
    return f"reloaded: {plural(len(after), 'tool')}, {added:,} new, {changed:,} changed, {removed:,} removed{mode}"


def one_line(error: BridgeError) -> str:
    """Return an error with its location and cure."""
    location = f" ({error.where})" if error.where else ""
    return printable(f"{error.message}{location}{f'; {error.hint}' if error.hint else ''}")


def print_tools(bridge: Bridge, problems: Sequence[Problem]) -> None:
    """Print the tools, a line each, then the problems, the credentials and savings, and the totals last."""
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
        table.add_row(*(Text(printable(cell)) for cell in cells), f"{tokens_of_bytes(sizes[tool.name]):,}")
    Console(width=None if sys.stdout.isatty() else MAX_COLUMNS).print(table)
    lines = [*problem_lines(problems), *(f"calls go to {line}" for line in base_urls(bridge))]
    lines += [f"credential {line}" for line in credentials(bridge)]
    lines += [*_limit_lines(bridge), *_candidate_lines(bridge)]
    lines += [f"serve: {listing(bridge)}", *_saving_lines(bridge)]
    for line in ("", *lines, f"{heading(bridge)}: {totals(bridge, problems)}"):
        print(line)


def _limit_lines(bridge: Bridge) -> Iterable[str]:
    """Yield a line about the instructions and one about the tools' texts, where they were cut."""
    info = bridge.document_info
    length = len(info.instructions or "")
    if length < info.instructions_length:
        yield f"instructions shortened to {length:,} of {info.instructions_length:,} characters; see --max-instructions"
    limits = bridge.compilation.limits
    if not limits.is_full:
        cause = "--compact" if bridge.config.compact else f"{plural(len(bridge.tools), 'tool')}; see --budget"
        schemas = f"to {limits.output:,} bytes" if limits.output else "removed"
        yield (
            f"shortened because of {cause}: descriptions to {limits.description:,} characters, those of arguments to "
            f"{limits.argument:,}, output schemas {schemas}"
        )


MAX_CANDIDATES = 20
"""Names in the line about tools that may only read; the JSON has all."""


def _read_only_candidates(bridge: Bridge) -> list[str]:
    """Return the names of POST tools that may only read, also of those that --read-only left out."""
    config, tools = bridge.config, bridge.tools
    if config.selection.read_only:
        selection = replace(config.selection, read_only=False)
        from ..tools import compiler

        options = replace(config.compile_options, selection=selection)
        tools = compiler.compile_document(bridge.document, options).tools
    return [tool.name for tool in read_only_candidates(tools)]


def _candidate_lines(bridge: Bridge) -> Iterable[str]:
    """Yield a line that names the POST tools that may only read, and how to mark them."""
    names = _read_only_candidates(bridge)
    if names:
        rest = f" and {len(names) - MAX_CANDIDATES:,} more (--json)" if len(names) > MAX_CANDIDATES else ""
        yield (
            f"POST that may only read: {', '.join(map(printable, names[:MAX_CANDIDATES]))}{rest}; --read-only offers "
            "those that the document marks with x-mcp: {annotations: {readOnlyHint: true}}"
        )


def _saving_lines(bridge: Bridge) -> Iterable[str]:
    """Yield a line for each option of `savings`, with the change in per cent."""
    now = _listed_tokens(bridge)
    for option, changed in savings(bridge):
        yield f"with {option}: about {changed:,} tokens ({(changed - now) / max(now, 1):+.0%})"


def _argument(argument: Argument) -> str:
    return argument.name + ("" if argument.required else "?")


def problem_lines(problems: Sequence[Problem]) -> Iterable[str]:
    """Yield the problems, those that lost an operation first: message and pointer, then the cure on its own line."""
    for problem in sorted(problems, key=lambda problem: problem.operation is None):
        operation = f"lost {problem.operation}: " if problem.operation else ""
        yield printable(f"{problem.kind}: {operation}{problem.message} [{redact(problem.pointer)}]")
        if problem.hint:
            yield "    " + printable(problem.hint)


def tool_page(tool: Tool) -> Iterable[str]:
    """Yield the lines about one tool: its request, its arguments and their locations, its schemas."""
    yield printable(f"{tool.name} — {tool.title or tool.name}")
    yield printable(f"{tool.method} {redact(tool.base_url or '(no server; set --base-url)')}{tool.path}")
    yield ""
    yield from (printable(line) for line in tool.description.splitlines())
    for argument in tool.arguments:
        location = argument.location if argument.wire_name is None else f"{argument.location} {argument.wire_name}"
        yield f"  {printable(_argument(argument)):24} {printable(location)}"
    for alternative in dict.fromkeys((*each, *tool.required_schemes) for each in tool.security):
        names = " and ".join(dict.fromkeys(f"{scheme.name} ({scheme.variable})" for scheme in alternative))
        yield f"  credential: {printable(names) or 'none needed'}"
    for label, value in (("input schema", tool.input_schema), ("output schema", tool.output_schema)):
        if value is not None:
            yield f"\n{label}:\n{json.dumps(value, indent=2, ensure_ascii=True)}"
    yield f"\nannotations: {json.dumps(dict(tool.annotations))}, about {tokens(tool):,} tokens"


def tool_json(tool: Tool) -> dict[str, Any]:
    """Return one tool as JSON: everything that a client sees, and the location of each argument."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "method": tool.method,
        "path": tool.path,
        "baseUrl": None if tool.base_url is None else redact(tool.base_url),
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
        "outputSchema": None if tool.output_schema is None else open_schema(tool.output_schema),
        "tokens": tokens(tool),
    }


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return one problem as JSON."""
    return {
        "pointer": redact(problem.pointer),
        "kind": problem.kind,
        "message": problem.message,
        "hint": problem.hint,
        "operation": problem.operation,
    }


def bridge_json(bridge: Bridge, problems: Sequence[Problem]) -> dict[str, Any]:
    """Return the output of `inspect --json`."""
    decision = bridge.mode_decision
    return {
        "title": bridge.implementation.title,
        "version": bridge.implementation.version,
        "source": bridge.document_info.uri,
        "openapi": bridge.document_info.version,
        "instructions": bridge.document_info.instructions,
        "instructionsLength": bridge.document_info.instructions_length,
        "callsGoTo": base_urls(bridge),
        "operations": bridge.compilation.operations,
        "excluded": bridge.compilation.excluded,
        "lost": sum(problem.operation is not None for problem in problems),
        "tokens": total(bridge.compilation.sizes),
        "served": {
            "searched": decision.searches,
            "tools": len(bridge.catalog.tools),
            "tokens": _listed_tokens(bridge),
            "why": decision.reason,
        },
        "tokensWith": dict(savings(bridge)),
        "readOnlyCandidates": _read_only_candidates(bridge),
        "credentials": {scheme.name: scheme.variable for scheme in bridge.security_schemes()},
        "tools": [tool_json(tool) for tool in bridge.tools],
        "problems": [problem_json(problem) for problem in problems],
    }
