"""Read `x-mcp`: overrides by the document's author for tools, on the root, a path item or an operation.

Those for arguments stand on a parameter, or on a property of a request body that becomes an argument
(`ArgumentExtensions`); their keys are those of `curation.keys`.

Of those for tools, the most specific object wins, key by key. Keys: `name`, `title`, `description` (text),
`annotations` (an object of MCP's hints, merged hint by hint), `scopes` (a list of those that a client's access token
needs, instead of the ones in `security`; a list of lists holds alternatives), `hidden` (true leaves the operation out)
or `enabled` (false does). A boolean alone means `enabled`. Any other value is a Problem and changes nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..curation.arguments import Changes, InputParts, changed, read_changes
from ..curation.keys import HINTS, TOOL_KEYS, valid_keys
from ..document.model import join
from ..document.resolver import Resolver
from ..errors import Problem
from ..runtime.types import JsonObject
from .input_schema import InputSchema
from .operations import LocatedNode, Operation
from .parameters import Parameter
from .request_body import BodyArguments

MAX_PARTS: Final = 100
"""Schemas of an `allOf` whose properties are searched for `x-mcp`."""


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
        if key in HINTS and isinstance(value, bool):
            hints[key] = value
        else:
            problem(
                f"{key} in `annotations` of `x-mcp` is left out; the hints are {', '.join(HINTS)}, each true or false"
            )
    return hints


_ArgumentKey = tuple[str, str | None]
"""The location of an argument, and its name in the document."""


class ArgumentExtensions:
    """The `x-mcp` of the arguments of one document's operations."""

    def __init__(self, resolver: Resolver, report: Callable[[Problem], None], max_text_length: int) -> None:
        self._resolver = resolver
        self._report = report
        self._max_text_length = max_text_length
        self._of_bodies: dict[str, Mapping[_ArgumentKey, LocatedNode]] = {}  # by the pointer of the body's schema

    def apply(self, inputs: InputSchema, parameters: Sequence[Parameter], body: BodyArguments | None) -> InputParts:
        """Return the inputs of an operation with what `x-mcp` says of its parameters and its body's properties."""
        found: dict[_ArgumentKey, LocatedNode] = {
            (each.location, each.wire_name): each.extension for each in parameters if each.extension is not None
        }
        if body is not None:
            found |= self._of_body(body.pointer)
        parts = InputParts(inputs.schema, inputs.arguments)
        if not found:
            return parts
        changes: dict[str, Changes] = {}
        names = {(argument.location, argument.wire_name): argument.name for argument in inputs.arguments}
        for key, (value, pointer) in found.items():
            if key not in names:
                self._problem(pointer, "`x-mcp` has no effect: this is no argument of its own")
            elif (change := self._changes(value, pointer)) is not None:
                changes[names[key]] = change
        return changed(parts, changes, self._max_text_length) if changes else parts

    def _changes(self, value: Any, pointer: str) -> Changes | None:
        return read_changes(value, lambda message: self._problem(pointer, message))

    def _of_body(self, pointer: str) -> Mapping[_ArgumentKey, LocatedNode]:
        """Return the `x-mcp` of the properties of a body's schema, which stands at a pointer."""
        if pointer not in self._of_bodies:
            node, place = self._resolver.follow_if_possible({"$ref": pointer}, "#")
            self._of_bodies[pointer] = dict(self._of_properties(node, place))
        return self._of_bodies[pointer]

    def _of_properties(self, node: Any, pointer: str) -> Iterator[tuple[_ArgumentKey, LocatedNode]]:
        waiting, count = [(node, pointer)], 0
        while waiting and count < MAX_PARTS:
            node, pointer = self._resolver.follow_if_possible(*waiting.pop())
            count += 1
            if not isinstance(node, dict):
                continue
            properties, parts = node.get("properties"), node.get("allOf")
            if isinstance(properties, dict):
                for name, schema in properties.items():
                    if isinstance(schema, dict) and "x-mcp" in schema:
                        yield ("body", name), (schema["x-mcp"], join(pointer, "properties", name, "x-mcp"))
            if isinstance(parts, list):
                waiting += [(part, join(pointer, "allOf", index)) for index, part in enumerate(parts)]

    def _problem(self, pointer: str, message: str) -> None:
        self._report(Problem(pointer=self._resolver.display(pointer), message=message, kind="x-mcp"))
