"""Read `x-mcp`: overrides by the document's author for tools, on the root, a path item or an operation.

The most specific object wins, key by key. Keys: `name`, `title`, `description` (text), `annotations` (an object of
MCP's hints, merged hint by hint), `scopes` (a list of those that a client's access token needs, instead of the ones in
`security`; a list of lists holds alternatives), `hidden` (true leaves the operation out) or `enabled` (false does). A
boolean alone means `enabled`. Any other value is a Problem and changes nothing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..document.model import join
from ..document.resolver import Resolver
from ..errors import Problem
from ..runtime.types import JsonObject
from .operations import Operation

_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_KEY_TYPES: Final[Mapping[str, type]] = {
    "name": str,
    "title": str,
    "description": str,
    "annotations": dict,
    "scopes": object,
    "hidden": bool,
    "enabled": bool,
}


_TYPE_NAMES: Final[Mapping[type, str]] = {str: "string", dict: "JSON object", bool: "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """The overrides for one operation; None for a key that is not given."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: Mapping[str, bool] = field(default_factory=dict)
    scopes: tuple[tuple[str, ...], ...] | None = None
    hidden: bool = False


def read_overrides(operation: Operation, resolver: Resolver, report: Callable[[Problem], None]) -> Overrides:
    """Return the overrides of an operation. A `name` counts on the operation itself only, since names are unique."""
    merged: JsonObject = {}
    annotations: dict[str, bool] = {}
    for value, pointer in operation.overrides:

        def problem(message: str, pointer: str = pointer) -> None:
            report(Problem(pointer=resolver.display(pointer), message=message, kind="x-mcp"))

        level = _level(value, problem)
        if pointer != join(operation.pointer, "x-mcp"):
            level.pop("name", None)
        annotations |= _hints(level.pop("annotations", {}), problem)
        merged |= level
    return Overrides(annotations=annotations, **merged)


def _level(value: Any, problem: Callable[[str], None]) -> JsonObject:
    """Return the valid keys of one `x-mcp` value, with `enabled` as `hidden`."""
    if isinstance(value, bool):
        value = {"enabled": value}
    if not isinstance(value, dict):
        problem("`x-mcp` is neither an object nor a boolean; it is left out")
        return {}
    level: JsonObject = {}
    for key, setting in value.items():
        if key not in _KEY_TYPES:
            problem(f"{key} is not a key of `x-mcp` and is left out; the keys are {', '.join(_KEY_TYPES)}")
        elif not isinstance(setting, _KEY_TYPES[key]):
            problem(f"`{key}` of `x-mcp` is not a {_TYPE_NAMES[_KEY_TYPES[key]]}; it is left out")
        else:
            level[key] = setting
    if "scopes" in level:
        level["scopes"] = _scopes(level["scopes"], problem)
    if "enabled" in level:
        level["hidden"] = not level.pop("enabled")
    return level


def _scopes(value: Any, problem: Callable[[str], None]) -> tuple[tuple[str, ...], ...]:
    """Return the alternatives of a list of scopes, or of a list of such lists; empty where no scope is needed.

    A text holds scopes with spaces between them. What cannot be read is no right for everybody: it becomes a scope of
    that text, which no token has.
    """
    value = value.split() if isinstance(value, str) else value if isinstance(value, list) else [value]
    groups = value if value and all(isinstance(group, list) for group in value) else [value]
    alternatives = tuple(dict.fromkeys(tuple(sorted(set(map(_scope, group)))) for group in groups))
    if not all(isinstance(scope, str) and _SCOPE.fullmatch(scope) for group in groups for scope in group):
        problem("`scopes` of `x-mcp` must be a list of scopes, or a list of such lists; no token has these")
    return () if () in alternatives else alternatives


def _scope(value: Any) -> str:
    return value if isinstance(value, str) else f"not a scope: {value!r}"


_SCOPE: Final = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
"""A scope (RFC 6749 §3.3): visible ASCII without quotation marks and backslashes."""


def _hints(annotations: JsonObject, problem: Callable[[str], None]) -> dict[str, bool]:
    hints: dict[str, bool] = {}
    for key, value in annotations.items():
        if key in _HINTS and isinstance(value, bool):
            hints[key] = value
        else:
            problem(
                f"{key} in `annotations` of `x-mcp` is left out; the hints are {', '.join(_HINTS)}, each true or false"
            )
    return hints
