"""How the tools are offered: all of them in the list, or by a search where the list would be more than clients bear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .budget import of_bytes, tokens
from .code_limits import USUAL, Limits
from .errors import UsageError
from .mode import Mode
from .naming import nearest
from .runtime import search
from .runtime.catalog import Catalog
from .runtime.models import Tool
from .runtime.search_tools import NAMES, search_catalog

MOST_TOOLS: Final = 128
"""VS Code and OpenAI's API take no more tools; other clients take fewer still, and drop the rest in silence."""

MOST_TOKENS: Final = 40_000
"""A fifth of a context window of 200,000 tokens, before anything is asked."""

CODE_NAMES: Final = frozenset({"search_tools", "describe_tool", "run_code"})
"""The tools that are always listed in code mode."""


@dataclass(frozen=True, slots=True)
class Offering:
    """Whether tools are offered by a search, and why, for whoever runs the server; empty where that needs no saying."""

    searches: bool
    why: str = ""


def offering(mode: Mode, tools: Sequence[Tool], sizes: Mapping[str, int] = {}) -> Offering:
    """How tools are offered in a mode; `sizes` are those of Catalog."""
    if mode is not Mode.AUTO:
        return Offering(False) if mode is Mode.ALL else Offering(True, "as asked")
    why = _too_much(tools, sizes)
    if why and not search.is_available():
        return Offering(False, f"{why}; but this Python's SQLite was built without FTS5, so there is no search")
    return Offering(bool(why), why)


def _too_much(tools: Sequence[Tool], sizes: Mapping[str, int]) -> str:
    if len(tools) > MOST_TOOLS:
        return f"more than {MOST_TOOLS} tools are more than many clients take"
    cost = sum(of_bytes(sizes[tool.name]) if tool.name in sizes else tokens(tool) for tool in tools)
    return f"the list would cost {cost:,} tokens, more than {MOST_TOKENS:,}" if cost > MOST_TOKENS else ""


def catalog(
    tools: Sequence[Tool],
    mode: Mode,
    pinned: Sequence[str] = (),
    *,
    page_size: int | None = None,
    sizes: Mapping[str, int] = {},
    limits: Limits = USUAL,
) -> Catalog:
    """The tools as they are offered; `pinned` ones are listed beside a search as well; `sizes` are those of Catalog.

    Raises UsageError for a pin that is no tool, or has the name of a search tool, where SQLite cannot search, and where
    there is no sandbox for code.
    """
    names = {tool.name for tool in tools}
    for name in pinned:
        if name not in names:
            hint = nearest(name, names) or "`openapi-mcp inspect` names the tools"
            raise UsageError(f"there is no tool {name}", where="--pin", hint=hint)
    if not offering(mode, tools, sizes).searches:
        return Catalog(tools, page_size=page_size, sizes=sizes)
    if taken := (CODE_NAMES if mode is Mode.CODE else NAMES).intersection(pinned):
        message = f"{min(taken)} is also the name of a tool of the search"
        raise UsageError(message, where="--pin", hint="give it another name with x-mcp")
    if not search.is_available():
        hint = "use --mode all, or another build of Python"
        raise UsageError("this Python's SQLite was built without FTS5", where=f"--mode {mode}", hint=hint)
    if mode is Mode.CODE:
        return _code_catalog(tools, pinned, page_size, limits)
    return search_catalog(tools, pinned=pinned, page_size=page_size)


def _code_catalog(tools: Sequence[Tool], pinned: Sequence[str], page_size: int | None, limits: Limits) -> Catalog:
    try:
        from .code_mode import code_catalog

        return code_catalog(tools, pinned=pinned, page_size=page_size, limits=limits)
    except (ImportError, FileNotFoundError):
        hint = "pip install 'mcp-openapi-bridge[code]', which brings pydantic-monty"
        raise UsageError("there is no sandbox for programs here", where="--mode code", hint=hint) from None
