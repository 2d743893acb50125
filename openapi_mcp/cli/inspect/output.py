"""Text and JSON about the tools of a bridge and its problems, for `inspect`.

`savings` tries each option that shortens the list, so that the tokens it shows are those of that option.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ... import token_budget
from ...bridge import Bridge
from ...compilation import Compilation
from ...errors import Problem
from ...modes import Mode
from ...runtime.protocol.output_schemas import open_schema
from ...runtime.request.redaction import redact
from ...runtime.search.full_text import is_available
from ...runtime.search.tools import search_catalog
from ...runtime.tool import Tool
from ...selection import only_reads, read_only_candidates
from ...token_budget import TokenBudget, tokens, tokens_of_bytes, total
from .. import console
from ..report import (
    base_urls,
    credentials,
    heading,
    limit_lines,
    listed_tokens,
    listing,
    printable,
    totals,
    workflow_json,
    workflow_lines,
)
from ..settings import ProgressLine
from .tool_list import Sort, argument_text, change, for_eyes, separated, sorted_tools

MAX_OPERATIONS: Final = 5000
"""Operations of a document for which options are tried: it takes as long as three compilations."""


def savings(bridge: Bridge) -> Iterator[tuple[str, int]]:
    """Yield options that change the size of the list, and the tokens of the list with each.

    They do not change a search; where tools are searched, they are tried on the list of all tools. Of very large
    documents none is tried, since all tools are made again for each.
    """
    if bridge.compilation.operations > MAX_OPERATIONS:
        return
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
        is_full = bridge.compilation.limits.is_full  # texts of tools that are searched are not cut
        full = bridge.compilation if is_full else _compile(bridge, TokenBudget(budget=None, max_tools=config.max_tools))
        yield f"{prefix and prefix + 'and '}nothing shortened", token_budget.total(full.sizes)


def _compile(bridge: Bridge, budget: TokenBudget) -> Compilation:
    from ...tools import compiler

    return compiler.compile_document(bridge.document, replace(bridge.config.compile_options, token_budget=budget))


def show(bridge: Bridge, sort: Sort | None, form: str | None, *, validates: bool, as_json: bool) -> int:
    """Print the tools and the problems of a document; return the number of problems.

    `form` is `text`, or `tsv` for the tools alone with the rest on stderr; None chooses by where stdout leads.
    """
    found = validated(bridge) if validates else ()
    if not as_json:
        is_text = form == "text" or (form is None and sys.stdout.isatty())
        tools = for_eyes(bridge, sort) if is_text else separated(bridge, sorted_tools(bridge, sort))
        return len(_print(bridge, tools, found, console.out if is_text else console.err))
    problems = bridge.problems + tuple(found)
    console.out(json.dumps(bridge_json(bridge, problems), indent=2, ensure_ascii=True))
    return len(problems)


def validated(bridge: Bridge) -> Iterator[Problem]:
    """Yield the validator's findings; it begins when the first one is asked for."""
    with ProgressLine("validating the document (--no-validate skips this)"):
        yield from bridge.validate()


def _print(
    bridge: Bridge, tools: Iterable[str], validation: Iterable[Problem], say: Callable[[str], None]
) -> tuple[Problem, ...]:
    """Print the known problems, the tools, the facts about the list, the findings of `validation`, and the totals.

    What takes long comes after what is known at once. `say` prints all but the tools. Return all problems.
    """
    known = bridge.problems
    _say_all(say, [*problem_lines(known), *([""] if known else [])])
    _say_all(console.out, tools)
    lines = ["", *workflow_lines(bridge)]
    lines += [f"calls go to {line}" for line in base_urls(bridge)]
    lines += [f"credential {line}" for line in credentials(bridge)]
    lines += [*limit_lines(bridge), *_client_lines(bridge), f"serve: {listing(bridge)}"]
    _say_all(say, lines)
    _say_all(say, [*_candidate_lines(bridge), *_saving_lines(bridge)])
    found: list[Problem] = []
    for problem in validation:
        found.append(problem)
        _say_all(say, problem_lines([problem]))
    problems = (*known, *found)
    say(f"{heading(bridge)}: {totals(bridge, problems)}")
    return problems


def _say_all(say: Callable[[str], None], lines: Iterable[str]) -> None:
    for line in lines:
        say(line)


MAX_CANDIDATES = 20
"""Names in the line about tools that may only read; the JSON has all."""


def _read_only_candidates(bridge: Bridge) -> list[str]:
    """Return the names of POST tools that may only read, also of those that --read-only left out."""
    config, tools = bridge.config, bridge.tools
    if config.selection.read_only:
        selection = replace(config.selection, read_only=False)
        from ...tools import compiler

        options = replace(config.compile_options, selection=selection)
        tools = compiler.compile_document(bridge.document, options).tools
    return [tool.name for tool in read_only_candidates(tools)]


def _candidate_lines(bridge: Bridge) -> Iterable[str]:
    """Yield a line that names the POST tools that may only read, and how to mark them."""
    names = _read_only_candidates(bridge)
    if names:
        rest = f" and {len(names) - MAX_CANDIDATES:,} more (--json)" if len(names) > MAX_CANDIDATES else ""
        yield (
            f"POST operations that may only read: {', '.join(map(printable, names[:MAX_CANDIDATES]))}{rest}; "
            "--read-only includes those that the document marks with x-mcp: {annotations: {readOnlyHint: true}}"
        )


def _client_lines(bridge: Bridge) -> Sequence[str]:
    """Return lines about what the profile of a client changes, if one was chosen."""
    if bridge.config.client == "generic":
        return ()
    from ...adaptation import report

    searched = bridge.mode_decision.searches
    return report(bridge.compilation.tools, bridge.tools, bridge.config.profile, searched=searched)


def _client_json(bridge: Bridge) -> dict[str, Any]:
    """Return the profile of the client with its limits and their sources, and what it changes."""
    from ...adaptation import changes

    profile = bridge.config.profile
    made = changes(bridge.compilation.tools, bridge.tools, profile)
    return {
        "name": bridge.config.client,
        "limits": {name: _plain(getattr(profile, name)) for name in profile.sources},
        "sources": dict(profile.sources),
        "changes": [{"tool": name, "change": change} for name, change in made],
    }


def _plain(value: object) -> object:
    """Return the value of a limit as JSON has it."""
    return sorted(value) if isinstance(value, frozenset) else value


def _saving_lines(bridge: Bridge) -> Iterable[str]:
    """Yield a line for each option of `savings`, with its change of the list that it is an option of.

    Where tools are searched, that is the list of all tools, which comes first.
    """
    now = of_all = listed_tokens(bridge)
    for option, changed in savings(bridge):
        if option == "--mode all":
            of_all = changed
            yield f"with {option}: about {changed:,} tokens ({change(now, changed)})"
        else:
            yield f"with {option}: about {changed:,} tokens ({change(of_all, changed)})"


def problem_lines(problems: Sequence[Problem]) -> Iterable[str]:
    """Yield the problems, those that lost an operation first: message and pointer, then the cure on its own line."""
    for problem in sorted(problems, key=lambda problem: problem.operation is None):
        operation = f"lost {problem.operation}: " if problem.operation else ""
        yield printable(redact(f"{problem.kind}: {operation}{problem.message} [{problem.pointer}]"))
        if problem.hint:
            yield "    " + printable(problem.hint)


def _curation_lines(tool: Tool) -> Iterable[str]:
    """Yield a line for each value that models do not see, without constants, and for what `x-mcp` says of calls."""
    for preset in (each for each in tool.presets if not each.is_default):
        name = ".".join([preset.argument.wire_name or preset.argument.name, *preset.path])
        header = "" if preset.header is None else f"header {preset.header} of the client's request"
        yield f"hidden: {name} ({preset.variable or header or 'a constant'})"
    if tool.confirm is not None:
        yield f"a person is asked before a call: {'always' if tool.confirm else 'never'}"
    if tool.select is not None:
        yield f"selected of an answer: {tool.select}"
    if tool.max_result_bytes is not None:
        yield f"limit of a result: {tokens_of_bytes(tool.max_result_bytes):,} tokens"


def tool_page(tool: Tool) -> Iterable[str]:
    """Yield the lines about one tool: its request, its arguments and their locations, its schemas."""
    yield printable(f"{tool.name} — {tool.title or tool.name}")
    yield printable(f"{tool.method} {redact(tool.base_url or '(no server; set --base-url)')}{tool.path}")
    yield ""
    yield from (printable(line) for line in tool.description.splitlines())
    for argument in tool.arguments:
        location = argument.location if argument.wire_name is None else f"{argument.location} {argument.wire_name}"
        yield f"  {printable(argument_text(argument)):24} {printable(location)}"
    for alternative in dict.fromkeys((*each, *tool.required_schemes) for each in tool.security):
        names = " and ".join(dict.fromkeys(f"{scheme.name} ({scheme.variable})" for scheme in alternative))
        yield f"  credential: {printable(names) or 'none needed'}"
    for scopes in tool.scopes:
        yield f"  scopes of a caller's token: {printable(' and '.join(scopes))}"
    yield from (f"  {printable(line)}" for line in _curation_lines(tool))
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
        "scopes": [list(scopes) for scopes in tool.scopes],
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
        "message": redact(problem.message),
        "hint": problem.hint,
        "operation": problem.operation,
    }


def bridge_json(bridge: Bridge, problems: Sequence[Problem]) -> dict[str, Any]:
    """Return the output of `inspect --json`."""
    decision, made = bridge.mode_decision, bridge.instructions()
    return {
        "title": bridge.implementation.title,
        "version": bridge.implementation.version,
        "source": bridge.document_info.uri,
        "openapi": bridge.document_info.version,
        "instructions": made.text,
        "instructionsLength": made.length,
        "callsGoTo": base_urls(bridge),
        "operations": bridge.compilation.operations,
        "excluded": bridge.compilation.excluded,
        "lost": sum(problem.operation is not None for problem in problems),
        "tokens": total(bridge.compilation.sizes),
        "served": {
            "searched": decision.searches,
            "tools": len(bridge.catalog.tools),
            "tokens": listed_tokens(bridge),
            "why": decision.reason,
        },
        "client": _client_json(bridge),
        "tokensWith": dict(savings(bridge)),
        "readOnlyCandidates": _read_only_candidates(bridge),
        "credentials": {scheme.name: scheme.variable for scheme in bridge.security_schemes()},
        "tools": [tool_json(tool) for tool in bridge.tools],
        "workflows": [workflow_json(tool) for tool in bridge.workflows.tools] if bridge.workflows else [],
        "problems": [problem_json(problem) for problem in problems],
    }
