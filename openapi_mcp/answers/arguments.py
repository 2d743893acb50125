"""The arguments `select` and `pages`: which tools are listed with them, and what a call has of them.

They belong to no Tool: a generated package has the same tools. The live server adds them to the tools that it lists,
and its hook `AnswerShaper` takes them from the arguments of a call before these are judged. A tool that has an argument
of such a name gets ours with an underscore before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..runtime.errors import ArgumentError
from ..runtime.server.catalog import BuiltinTool, ListedTool
from ..runtime.tool import Tool
from ..runtime.types import Schema
from ..token_budget import BYTES_PER_TOKEN
from .frame import has_pages
from .size import answer_bytes

SELECT: Final = "select"
PAGES: Final = "pages"
_POSSIBLE_NAMES: Final = frozenset({f"{prefix}{base}" for prefix in ("", "_", "__") for base in (SELECT, PAGES)})

MAX_PAGES: Final = 50
"""Pages of a call: 5,000 items where a page has a hundred."""

MIN_ANSWER_TOKENS: Final = 2_000
"""Tokens of an answer, by its document, from which on its tool is listed with `select`. The two arguments cost some 60
tokens in each request to the model, so that over a session of 20 requests they pay where they halve one such answer."""

MAX_ADDED_TOKENS: Final = 3_000
"""Tokens that the arguments may add to a list: those of 66 tools. A list whose arguments would cost more has none;
calls may have them all the same, and a result that was cut says so."""

_SELECT: Final[Schema] = {"type": "string", "description": "JMESPath: what to return of the answer"}
_PAGES: Final[Schema] = {
    "type": "integer",
    "minimum": 1,
    "maximum": MAX_PAGES,
    "description": "Pages to read as one list",
}
_ADDED_TOKENS: Final = 45
"""Tokens of both arguments in the inputSchema of a tool."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Selection that a call asks for: an expression and a number of pages, each None if the call has none."""

    select: str | None = None
    pages: int | None = None


def name_for(tool: Tool, base: str) -> str:
    """Return the name of one of the arguments for a tool, whose own arguments have others."""
    return next(_names(tool, base), f"_{base}")


def _names(tool: Tool, base: str) -> Iterator[str]:
    """Yield the names that an argument of ours may have in calls of a tool."""
    own = {argument.name for argument in tool.arguments} | {preset.argument.name for preset in tool.presets}
    for name in (base, f"_{base}", f"__{base}"):
        if name not in own:
            yield name


def listed(
    tools: Sequence[ListedTool], called: Sequence[Tool] = (), *, offers_all: bool = False
) -> tuple[ListedTool, ...]:
    """Return tools as they are listed: those with large answers, or all, have the arguments in their inputSchema.

    `call_tool` of a search has them for the tools that are `called` by it.
    """
    chosen = [isinstance(tool, Tool) and (offers_all or _is_large(tool)) for tool in tools]
    if not offers_all and sum(chosen) * _ADDED_TOKENS > MAX_ADDED_TOKENS:
        chosen = [False] * len(tools)
    return tuple(
        _of_search(tool, called) if isinstance(tool, BuiltinTool) else _with_arguments(tool) if is_chosen else tool
        for tool, is_chosen in zip(tools, chosen, strict=True)
    )


def _is_large(tool: Tool) -> bool:
    """Return whether the document describes large answers, or a list in pages without describing its answers."""
    if tool.select is not None or tool.method == "HEAD":
        return False
    size = answer_bytes(tool)
    return has_pages(tool) if size is None else size >= MIN_ANSWER_TOKENS * BYTES_PER_TOKEN


def _with_arguments(tool: Tool) -> Tool:
    properties = {**tool.input_schema.get("properties", {}), name_for(tool, SELECT): _SELECT}
    if may_page(tool) and has_pages(tool):
        properties[name_for(tool, PAGES)] = _PAGES
    return replace(tool, input_schema={**tool.input_schema, "properties": properties})


def _of_search(tool: BuiltinTool, called: Sequence[Tool]) -> BuiltinTool:
    if tool.name != "call_tool":
        return tool
    own = {argument.name for each in called for argument in each.arguments}
    names = [next(name for name in (base, f"_{base}", f"__{base}") if name not in own) for base in (SELECT, PAGES)]
    added = dict(zip(names, (_SELECT, _PAGES), strict=True))
    return replace(tool, input_schema={**tool.input_schema, "properties": {**tool.input_schema["properties"], **added}})


def may_page(tool: Tool) -> bool:
    """Return whether several requests of a tool may be sent for one call: where they change nothing."""
    return tool.annotations.get("readOnlyHint") is True and tool.select is None


def taken(tool: Tool, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], Wishes | None]:
    """Return the arguments of the request, and the wishes that the others are. Raises ArgumentError."""
    if _POSSIBLE_NAMES.isdisjoint(arguments):
        return arguments, None
    select, pages = (_given(tool, base, arguments) for base in (SELECT, PAGES))
    if select is None and pages is None:
        return arguments, None
    rest = {name: value for name, value in arguments.items() if name not in (select, pages)}
    wishes = Wishes(
        None if select is None else _text(select, arguments[select]),
        None if pages is None else _number(tool, pages, arguments[pages]),
    )
    return rest, wishes if wishes != Wishes() else None


def _given(tool: Tool, base: str, arguments: Mapping[str, Any]) -> str | None:
    """Return the name by which a call has one of the arguments."""
    return next((name for name in _names(tool, base) if name in arguments and is_ours(tool, name)), None)


def is_ours(tool: Tool, name: str) -> bool:
    """Return whether an argument is not a property of the body, which may have any."""
    if name in tool.input_schema.get("properties", {}) or tool.body is None:
        return True
    return any(each.location == "body" and each.wire_name is None for each in tool.arguments)


def _text(name: str, value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ArgumentError(f"`{name}` is a JMESPath expression, so it must be text, as `items[].name`.")
    return value


def _number(tool: Tool, name: str, value: Any) -> int | None:
    if value is None:
        return None
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 5 else value
    if type(number) is not int or not 1 <= number <= MAX_PAGES:
        raise ArgumentError(f"`{name}` is the number of pages to read, from 1 to {MAX_PAGES}.")
    if not may_page(tool):
        reason = "its answers are selected from" if tool.select is not None else "its calls may change something"
        raise ArgumentError(f"`{name}` cannot be used with {tool.name}, since {reason}; leave it out.")
    return number
