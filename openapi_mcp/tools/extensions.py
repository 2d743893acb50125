"""Read `x-mcp`: overrides by the document's author for tools, on the root, a path item or an operation.

Those for arguments are read by `curation.extensions`.

Of those for tools, the most specific object wins, key by key. Keys: `name`, `title`, `description` (text),
`annotations` (an object of MCP's hints, merged hint by hint), `tags` and `group`, `confirm`, `select` and `limit` (of
the result), `scopes` (a list of those that a client's access token needs, instead of the ones in `security`; a list of
lists holds alternatives), `hidden` (true leaves the operation out) or `enabled` (false does). A boolean alone means
`enabled`. Any other value is a Problem and changes nothing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from .. import plain_text
from ..curation.keys import HINTS, TOOL_KEYS, valid_keys
from ..document.resolver import Resolver
from ..errors import Problem
from ..runtime.errors import ArgumentError
from ..runtime.types import JsonObject
from ..token_budget import BYTES_PER_TOKEN
from .operations import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """The overrides for one operation; None for a key that is not given."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: Mapping[str, bool] = field(default_factory=dict)
    scopes: tuple[tuple[str, ...], ...] | None = None
    tags: tuple[str, ...] | None = None
    group: str | None = None
    confirm: bool | None = None
    select: str | None = None
    limit: int | None = None
    hidden: bool = False

    def tagged(self, operation: Operation) -> Operation:
        """Return an operation with these tags instead of its own, and the group as the first of them."""
        if self.tags is None and not self.group:
            return operation
        tags = operation.tags if self.tags is None else self.tags
        first = (self.group,) if self.group else ()
        return replace(operation, value={**operation.value, "tags": list(dict.fromkeys((*first, *tags)))})

    @property
    def max_result_bytes(self) -> int | None:
        """The limit of a result in bytes."""
        return None if self.limit is None else self.limit * BYTES_PER_TOKEN


def read_overrides(operation: Operation, resolver: Resolver, report: Callable[[Problem], None]) -> Overrides:
    """Return the overrides of an operation. A `name` counts on the operation itself only, since names are unique."""
    merged: JsonObject = {}
    annotations: dict[str, bool] = {}
    for value, pointer in operation.overrides:

        def problem(message: str, pointer: str = pointer) -> None:
            report(Problem(pointer=resolver.display(pointer), message=message, kind="x-mcp"))

        level = _level(value, problem)
        if pointer.rpartition("/")[0] != operation.pointer:
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
    level = valid_keys(value, TOOL_KEYS, problem)
    if "scopes" in level:
        level["scopes"] = _scopes(level["scopes"], problem)
    if "tags" in level:
        level["tags"] = _tags(level["tags"], problem)
    if "select" in level and (reason := _misfit(level["select"])):
        problem(f"`select` of `x-mcp` is left out: {reason}")
        del level["select"]
    if "enabled" in level:
        level["hidden"] = not level.pop("enabled")
    return level


def _tags(value: list[Any], problem: Callable[[str], None]) -> tuple[str, ...]:
    tags = tuple(plain_text.line(tag) for tag in value if isinstance(tag, str))
    if len(tags) < len(value):
        problem("`tags` of `x-mcp` must be texts; the others are left out")
    return tuple(tag for tag in tags if tag)


def _misfit(expression: str) -> str:
    """Return why a text is no JMESPath expression; empty if it is one."""
    from ..runtime.result.projection import Projection

    try:
        Projection.parse(expression)
    except ArgumentError as error:
        return str(error)
    return ""


def _scopes(value: Any, problem: Callable[[str], None]) -> tuple[tuple[str, ...], ...]:
    """Return the alternatives of a list of scopes, or of a list of such lists; empty where no scope is needed.

    A text holds scopes with spaces between them. An entry that cannot be read must not give everybody the right: it
    becomes a scope of that text, which no token has.
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
        if key in HINTS and isinstance(value, bool):
            hints[key] = value
        else:
            problem(
                f"{key} in `annotations` of `x-mcp` is left out; the hints are {', '.join(HINTS)}, each true or false"
            )
    return hints
