"""`x-mcp`: what the author of a document says about its tools, on the root, a path item or an operation.

The most specific place wins, key by key. Keys: `name`, `title`, `description` (text), `annotations` (an object of
MCP's hints, merged hint by hint), `hidden` (true leaves the operation out) or `enabled` (false does). A boolean alone
means `enabled`. What is anything else is a Problem and changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .document import join
from .errors import Problem
from .operations import Operation
from .resolver import Resolver
from .runtime.types import JsonObject

_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_WANTED: Final[Mapping[str, type]] = {
    "name": str,
    "title": str,
    "description": str,
    "annotations": dict,
    "hidden": bool,
    "enabled": bool,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What the document's author decided; None where nothing was."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: Mapping[str, bool] = field(default_factory=dict)
    hidden: bool = False


def overrides(operation: Operation, resolver: Resolver, report: Callable[[Problem], None]) -> Overrides:
    """The overrides of an operation; a name is one operation's, so only its own counts."""
    found: JsonObject = {}
    annotations: dict[str, bool] = {}
    for value, pointer in operation.overrides:

        def problem(message: str, pointer: str = pointer) -> None:
            report(Problem(pointer=resolver.shown(pointer), message=message, kind="x-mcp"))

        level = _level(value, problem)
        if pointer != join(operation.pointer, "x-mcp"):
            level.pop("name", None)
        annotations |= _hints(level.pop("annotations", {}), problem)
        found |= level
    return Overrides(annotations=annotations, **found)


def _level(value: Any, problem: Callable[[str], None]) -> JsonObject:
    """One `x-mcp` object, with `enabled` as `hidden`."""
    if isinstance(value, bool):
        value = {"enabled": value}
    if not isinstance(value, dict):
        problem("`x-mcp` is an object or a boolean; this one is left out")
        return {}
    for key, wanted in value.items():
        if key not in _WANTED:
            problem(f"`x-mcp` has no key {key}; it has {', '.join(_WANTED)}")
        elif not isinstance(wanted, _WANTED[key]):
            problem(f"`{key}` of `x-mcp` is of the wrong type; it is left out")
    level = {key: kept for key, kept in value.items() if key in _WANTED and isinstance(kept, _WANTED[key])}
    if "enabled" in level:
        level["hidden"] = not level.pop("enabled")
    return level


def _hints(value: JsonObject, problem: Callable[[str], None]) -> dict[str, bool]:
    for key, hint in value.items():
        if key not in _HINTS or not isinstance(hint, bool):
            problem(f"`annotations` of `x-mcp` holds {', '.join(_HINTS)}, each true or false; {key} is left out")
    return {key: hint for key, hint in value.items() if key in _HINTS and isinstance(hint, bool)}
