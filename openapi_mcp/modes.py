"""`Mode`: the tools that `serve` lists. All of them, or the tools of a search where the list would exceed clients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from .code_mode.limits import DEFAULT_LIMITS, CodeLimits
from .errors import UsageError
from .runtime.server.catalog import BuiltinTool, Catalog, ListedTool
from .runtime.tool import Tool
from .token_budget import tokens, tokens_of_bytes

if TYPE_CHECKING:
    from .runtime.search.index_store import IndexStore


class Mode(StrEnum):
    """Contents of the list: every tool, search tools, search tools that run programs, or whichever suits the size."""

    ALL = "all"
    SEARCH = "search"
    CODE = "code"
    AUTO = "auto"


MAX_LISTED_TOOLS: Final = 128
"""VS Code and OpenAI's API take no more tools; other clients take fewer still, and drop the rest in silence."""

_SEARCH_LIST_TOKENS: Final = 800
"""The list of a search: its three tools, whatever the API (benchmarks/tokens.py)."""

_SEARCH_TOKENS: Final = 800
"""A search of ten tools, in the median of 16 documents (benchmarks/tokens.py); few need `describe_tool` as well."""

_SEARCHES: Final = 24
"""Searches of a session: eight tasks, which need 2.9 tools each (the tasks of `steps.json`)."""

MAX_LISTED_TOKENS: Final = _SEARCH_LIST_TOKENS + _SEARCHES * _SEARCH_TOKENS
"""20,000: what a session of searches costs. A list that costs less is cheaper, and the model sees every tool of it: a
list of 5,600 tokens from the sixth search on. One that costs more is read, with each request to the model, for tools of
which most are never called."""

CODE_NAMES: Final = frozenset({"search_tools", "describe_tool", "run_code"})
"""Names of the tools that code mode always lists."""


@dataclass(frozen=True, slots=True)
class ModeDecision:
    """The choice between list and search, and its reason for the user; empty where all tools are listed as usual."""

    searches: bool
    reason: str = ""


def decide(
    mode: Mode, tools: Sequence[Tool], sizes: Mapping[str, int] = {}, max_listed: int = MAX_LISTED_TOOLS
) -> ModeDecision:
    """Choose between list and search; `sizes` are those of Catalog, a client takes `max_listed` tools."""
    if mode is not Mode.AUTO:
        return ModeDecision(False) if mode is Mode.ALL else ModeDecision(True, "requested with --mode")
    reason = _excess(tools, sizes, max_listed)
    if reason and not _has_search():
        return ModeDecision(False, f"{reason}; but this Python's SQLite was built without FTS5, so there is no search")
    return ModeDecision(bool(reason), reason)


def _has_search() -> bool:
    from .runtime.search import full_text

    return full_text.is_available()


def _excess(tools: Sequence[Tool], sizes: Mapping[str, int], max_listed: int) -> str:
    if len(tools) > max_listed:
        clients = "many clients accept" if max_listed == MAX_LISTED_TOOLS else "the client accepts"
        return f"{len(tools):,} tools are more than the {max_listed} that {clients}"
    cost = sum(tokens_of_bytes(sizes[tool.name]) if tool.name in sizes else tokens(tool) for tool in tools)
    return f"the list would cost {cost:,} tokens, more than {MAX_LISTED_TOKENS:,}" if cost > MAX_LISTED_TOKENS else ""


def catalog(
    tools: Sequence[Tool],
    mode: Mode,
    pinned: Sequence[str] = (),
    *,
    page_size: int | None = None,
    sizes: Mapping[str, int] = {},
    limits: CodeLimits = DEFAULT_LIMITS,
    store: "IndexStore | None" = None,
    max_listed: int = MAX_LISTED_TOOLS,
    select: str = "never",
    workflows: Sequence[BuiltinTool] = (),
) -> Catalog:
    """Return the tools as a mode offers them; `pinned` are listed in a search as well; `sizes` are those of Catalog.

    The index of a search is kept in `store`. `max_listed` is as for `decide`. `select`
    tells which tools are listed with the arguments of `answers.arguments`. Programs may call the `workflows`.

    Raises UsageError for a pin that is no tool or has the name of a search tool, where SQLite has no full-text search,
    and where the sandbox of code mode is not installed.
    """
    check_pins(tools, pinned)
    if not decide(mode, tools, sizes, max_listed).searches:
        return Catalog(_listed(tools, select, tools), page_size=page_size, sizes=sizes)
    from .runtime.search.tools import NAMES, search_catalog

    if reserved := (CODE_NAMES if mode is Mode.CODE else NAMES).intersection(pinned):
        message = f"{min(reserved)} is also the name of a tool of the search"
        raise UsageError(message, where="--pin", hint="give the operation another name with x-mcp")
    if not _has_search():
        message = "this Python's SQLite was built without FTS5, which the search needs"
        hint = "use --mode all, or another build of Python"
        raise UsageError(message, where=f"--mode {mode}", hint=hint)
    if mode is Mode.CODE:
        return _code_catalog(tools, pinned, page_size, limits, store, workflows=workflows)
    found = search_catalog(tools, pinned=pinned, page_size=page_size, store=store)
    if select == "never":
        return found
    return Catalog(_listed(found.tools, select, tools), hidden=tools, page_size=page_size)


def _listed(tools: Sequence[ListedTool], select: str, called: Sequence[Tool]) -> Sequence[ListedTool]:
    """Return tools with the arguments `select` and `pages`, as far as they are offered."""
    if select == "never":
        return tools
    from .answers.arguments import listed

    return listed(tools, called, offers_all=select == "all")


def check_pins(tools: Sequence[Tool], pinned: Sequence[str]) -> None:
    """Raise UsageError for a pin that is no tool."""
    names = {tool.name for tool in tools}
    for name in pinned:
        if name not in names:
            from .tools.names import suggest_names

            hint = suggest_names(name, names) or "`openapi-mcp inspect` names the tools"
            raise UsageError(f"no such tool: {name}", where=f"--pin {name}", hint=hint)


def _code_catalog(
    tools: Sequence[Tool],
    pinned: Sequence[str],
    page_size: int | None,
    limits: CodeLimits,
    store: "IndexStore | None",
    *,
    workflows: Sequence[BuiltinTool],
) -> Catalog:
    try:
        from .code_mode.tools import code_catalog

        return code_catalog(tools, pinned=pinned, page_size=page_size, limits=limits, store=store, workflows=workflows)
    except (ImportError, FileNotFoundError):
        hint = "pip install 'mcp-openapi-bridge[code]', which brings pydantic-monty"
        raise UsageError("the sandbox for programs is not installed", where="--mode code", hint=hint) from None
