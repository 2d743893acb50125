"""Text about a bridge and its errors, for `serve` and `inspect`. No text of a document reaches a terminal unescaped."""

import json
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..bridge import Bridge
from ..errors import BridgeError, Problem
from ..runtime.request.credentials import credential_lines
from ..runtime.request.redaction import redact
from ..runtime.tool import Tool
from ..token_budget import tokens, total
from . import destinations

if TYPE_CHECKING:
    from ..gateway.gateway import Served
    from ..workflows.tools import WorkflowTool


def printable(text: str) -> str:
    """Return a text of a document in one line, with control and direction-changing characters as U+FFFD."""
    line = " ".join(text.split())
    if line.isascii() and line.isprintable():
        return line
    return "".join(
        "\ufffd" if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn") else character
        for character in line
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
    if bridge.workflows:
        parts.append(plural(len(bridge.workflows.tools), "workflow"))
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
    """Return a line for each credential: whether it is set, by which variable or option, and the hosts that get it."""
    options = bridge.request_options()
    tokens = bridge.oauth_tokens(options.credentials, is_shown=True)
    schemes = tokens.sources.keys() if tokens else frozenset()
    static = credential_lines(bridge.tools, options, without=schemes)
    lines = [*static, *(tokens.lines() if tokens else ()), *destinations.lines_of_options(bridge, options)]
    lines = [printable(line) for line in lines]
    unused = bridge.config.credentials.keys() - {scheme.name for scheme in bridge.security_schemes()}
    return lines + [f"{printable(name)}: set, but no tool uses it" for name in sorted(unused)]


def connections(served: "Served", url: str) -> list[str]:
    """Return the URL of an HTTP server, and commands that connect clients to it."""
    from ..clients.profiles import installed_name
    from ..clients.snippets import http_command

    source = [redact(served.config.source)] if served.config.source else []
    install = shlex.join(["openapi-mcp", "install", *source, "--http", url, "--client"])
    return [url, http_command(installed_name(served.implementation.name), url), f"{install} cursor|vscode|codex|…"]


def serving(bridge: Bridge, connection: Sequence[str]) -> str:
    """Return the text that `serve` prints on stderr when it is ready: tools, base URLs, credentials, how to connect."""
    rows = [("", f"{heading(bridge)}: {totals(bridge, bridge.problems)}")]
    rows += [("calls go to", line) for line in base_urls(bridge)]
    rows += [("credentials", line) for line in (*credentials(bridge), *destinations.memory_lines(bridge))]
    rows += [("connect", line) for line in connection]
    if bridge.mode_decision.reason:
        rows.append(("mode", listing(bridge)))
    page, next_cursor = bridge.catalog.page()
    if next_cursor:
        hint = f"clients that read only one page see {len(page):,} of the tools; --include selects tools"
        rows.append(("pages", hint))
    rows += [("", line) for line in limit_lines(bridge)]
    if bridge.problems:
        rows.append(("problems", f"openapi-mcp inspect {redact(bridge.config.source)}"))
    return "\n".join(f"{label:>12}  {text}" if label else text for label, text in rows)


def listing(bridge: Bridge) -> str:
    """Return one line about the list: its tools and tokens, and the reason for a search or against it."""
    decision = bridge.mode_decision
    listed = f"{plural(len(bridge.catalog.tools), 'tool')} listed, about {listed_tokens(bridge):,} tokens"
    hint = "; --mode all lists every tool, --pin single ones" if decision.searches else ""
    return f"{listed}{f': {decision.reason}' if decision.reason else ''}{hint}"


def listed_tokens(bridge: Bridge) -> int:
    """Return the tokens of the list as it is served."""
    if bridge.mode_decision.searches:
        return sum(map(tokens, bridge.catalog.tools))
    return total(bridge.compilation.sizes) + sum(map(tokens, bridge.workflows.tools if bridge.workflows else ()))


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


def limit_lines(bridge: Bridge) -> Iterable[str]:
    """Yield a line about the instructions and one about the tools' texts, where they were cut."""
    made = bridge.instructions()
    length = len(made.text or "")
    if length < made.length:
        yield f"instructions shortened to {length:,} of {made.length:,} characters; see --max-instructions"
    limits = bridge.compilation.limits
    if not limits.is_full:
        cause = "--compact" if bridge.config.compact else f"{plural(len(bridge.tools), 'tool')}; see --budget"
        schemas = f"to {limits.output:,} bytes" if limits.output else "removed"
        yield (
            f"shortened because of {cause}: descriptions to {limits.description:,} characters, those of arguments to "
            f"{limits.argument:,}, output schemas {schemas}"
        )


def find_workflow(served: "Served", name: str) -> "tuple[Bridge, WorkflowTool] | None":
    """Return the workflow of a name and its bridge; None if there is none, or if a tool has the name."""
    from ..gateway.gateway import bridges_of

    for bridge in bridges_of(served):
        for tool in bridge.workflows.tools if bridge.workflows else ():
            if tool.name == name:
                return bridge, tool
    return None


def workflow_lines(bridge: Bridge) -> Iterator[str]:
    """Yield a line for each workflow: its name, its tokens, the number of its steps, its inputs."""
    for tool in bridge.workflows.tools if bridge.workflows else ():
        inputs = ", ".join(tool.input_schema["properties"]) or "no inputs"
        steps = plural(len(tool.steps), "step")
        yield f"workflow {printable(tool.name)}: {steps}, about {tokens(tool):,} tokens; {printable(inputs)}"


def workflow_json(tool: "WorkflowTool") -> dict[str, Any]:
    """Return a workflow as JSON."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "source": redact(tool.pointer),
        "steps": [{"id": name, "calls": call} for name, call in tool.steps],
        "operations": [f"{each.method} {each.path}" for each in tool.operations],
        "annotations": dict(tool.annotations),
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "tokens": tokens(tool),
    }


def workflow_page(tool: "WorkflowTool") -> Iterator[str]:
    """Yield the lines about one workflow: what it is, its steps, its inputs."""
    yield f"{printable(tool.name)}: {printable(tool.title or '')}"
    yield from (printable(line) for line in tool.description.splitlines())
    yield f"from {printable(redact(tool.pointer))}"
    yield from (f"step {number}: {step}" for number, step in enumerate(_steps(tool), 1))
    yield f"hints: {', '.join(f'{name} {str(value).lower()}' for name, value in tool.annotations.items())}"
    yield "inputSchema: " + json.dumps(tool.input_schema, indent=2)


def workflow_plan(tool: "WorkflowTool", arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a dry run of a workflow prints: its steps. Their requests depend on the answers of the API."""
    yield f"{printable(tool.name)} with {', '.join(map(printable, arguments)) or 'no inputs'}; nothing is sent"
    yield from (f"{number}. {step}" for number, step in enumerate(_steps(tool), 1))


def _steps(tool: "WorkflowTool") -> list[str]:
    return [f"{printable(name)}: {printable(call)}" for name, call in tool.steps]
