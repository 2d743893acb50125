"""Compare two sets of tools: find each tool in the other set, then compare what a model and its users depend on.

A tool is the same where its request is (names of path parameters do not matter), else where its operationId is, else
where its name is; so a tool that is named anew is renamed, not gone and new.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from .. import plain_text
from ..runtime.request.redaction import redact
from ..runtime.tool import Argument, Tool
from ..runtime.types import Schema
from .changes import Comparison, Side, ToolChange
from .schemas import LocatedSchema, SchemaChange, SchemaComparison, excerpts

MAX_CHANGES: Final = 20_000
"""Changes that are reported. Two versions of one API have some thousands at most."""

_DEPRECATED: Final = "Deprecated."
"""The last word of the description of a deprecated tool (`tools.compiler`)."""

_VARIABLE: Final = re.compile(r"\{[^{}]*\}")

_KINDS: Final[Mapping[Side, Mapping[str, str]]] = {
    "argument": {},
    "result": {
        "removed": "field-removed",
        "added": "field-added",
        "added-required": "field-added",
        "required": "field-required",
        "optional": "field-optional",
        "deprecated": "",
        "values-removed": "",
        "values-added": "",
        "default-changed": "",
        "limit-narrowed": "",
        "limit-widened": "",
        "form-changed": "",
    },
}
"""The kinds of changes of a schema as those of one side; empty where they mean nothing there."""


def compare(old: Sequence[Tool], new: Sequence[Tool], *, names: tuple[str, str] = ("", "")) -> Comparison:
    """Return the changes from one set of tools to another; `names` are those of their documents."""
    changes = _ToolComparison(SchemaComparison())
    found = list(islice(changes.of_sets(old, new), MAX_CHANGES + 1))
    return Comparison(
        old=names[0],
        new=names[1],
        old_tools=len(old),
        new_tools=len(new),
        changes=tuple(sorted(found[:MAX_CHANGES], key=lambda change: not change.is_breaking)),
        omitted=len(found) > MAX_CHANGES or changes.schemas.is_exhausted,
    )


def pairs(old: Sequence[Tool], new: Sequence[Tool]) -> dict[int, int]:
    """Return the index of each old tool that is in the new set, with its index there."""
    found: dict[int, int] = {}
    keys: tuple[Callable[[Tool], str], ...] = (
        lambda tool: f"{tool.method} {tool.path}",
        lambda tool: f"{tool.method} {_VARIABLE.sub('{}', tool.path)}",
        lambda tool: tool.operation_id or "",
        lambda tool: tool.name,
    )
    for key in keys:
        rest = [index for index in range(len(old)) if index not in found]
        taken = set(found.values())
        others = _by_key([(index, key(tool)) for index, tool in enumerate(new) if index not in taken])
        for name, index in _by_key([(index, key(old[index])) for index in rest]).items():
            if name in others:
                found[index] = others[name]
    return found


def _by_key(entries: Sequence[tuple[int, str]]) -> dict[str, int]:
    """Return the index of each key that only one entry has; an empty key is none."""
    counts = Counter(key for _, key in entries)
    return {key: index for index, key in entries if key and counts[key] == 1}


class _ToolComparison:
    """The changes of tools; `schemas` compares their schemas."""

    def __init__(self, schemas: SchemaComparison) -> None:
        self.schemas = schemas

    def of_sets(self, old: Sequence[Tool], new: Sequence[Tool]) -> Iterator[ToolChange]:
        """Yield all changes: tools that are gone, in the old order, then the others in the new one."""
        found = pairs(old, new)
        yield from (_change("tool-removed", tool) for index, tool in enumerate(old) if index not in found)
        origins = {index: old[origin] for origin, index in found.items()}
        for index, tool in enumerate(new):
            if index in origins:
                yield from self.of_tool(origins[index], tool)
            else:
                yield _change("tool-added", tool)

    def of_tool(self, old: Tool, new: Tool) -> Iterator[ToolChange]:
        """Yield the changes of a tool that is in both sets."""
        yield from _of_description(old, new)
        yield from _of_request(old, new)
        yield from self._of_arguments(old, new)
        yield from self._of_result(old, new)

    def _of_arguments(self, old: Tool, new: Tool) -> Iterator[ToolChange]:
        before, after = _properties(old.input_schema), _properties(new.input_schema)
        matches = _arguments(old, new)
        required = [frozenset(each.input_schema.get("required", ())) for each in (old, new)]
        for name in before:
            if name not in matches:
                yield _change("argument-removed", new, name)
        origins = {now: name for name, now in matches.items()}
        for name in after:
            if name not in origins:
                kind = "argument-added-required" if name in required[1] else "argument-added"
                yield _change(kind, new, name)
                continue
            origin = origins[name]
            if origin != name:
                yield _change("argument-renamed", new, name, origin, name)
            if (origin in required[0]) != (name in required[1]):
                yield _change("argument-required" if name in required[1] else "argument-optional", new, name)
            schemas = self._located(old.input_schema, before[origin]), self._located(new.input_schema, after[name])
            yield from _of_side("argument", new, name, self.schemas.changes(*schemas, "argument"))

    def _located(self, root: Schema, schema: Schema) -> LocatedSchema:
        return LocatedSchema(schema, root.get("$defs", {}), self.schemas.meter)

    def _of_result(self, old: Tool, new: Tool) -> Iterator[ToolChange]:
        if old.output_schema is None or new.output_schema is None:
            if old.output_schema != new.output_schema:
                yield _change("result-described" if old.output_schema is None else "result-undescribed", new)
            return
        schemas = [self._located(schema, schema) for schema in (old.output_schema, new.output_schema)]
        yield from _of_side("result", new, "", self.schemas.changes(schemas[0], schemas[1], "result"))


def _of_side(side: Side, tool: Tool, name: str, changes: Sequence[SchemaChange]) -> Iterator[ToolChange]:
    for change in changes:
        if kind := _KINDS[side].get(change.kind, change.kind):
            place = (name + change.place).removeprefix(".")
            yield _change(f"{side}-{kind}", tool, place, change.before, change.after)


def _arguments(old: Tool, new: Tool) -> dict[str, str]:
    """Return the new name of each argument that is in both: by its place in the request, then by its name.

    The parameters of a path are compared by their order in it, since their names are not sent. Where one argument is
    gone and one is new in the same location, with equal schemas, it was renamed.
    """
    places = [{_place(argument, each): argument.name for argument in each.arguments} for each in (old, new)]
    found = {name: places[1][place] for place, name in places[0].items() if place in places[1]}
    rest = [
        [argument for argument in each.arguments if argument.name not in known]
        for each, known in ((old, found.keys()), (new, set(found.values())))
    ]
    for location in {argument.location for argument in rest[0]}:
        gone, added = ([argument for argument in each if argument.location == location] for each in rest)
        if len(gone) == len(added) == 1 and _schema(old, gone[0]) == _schema(new, added[0]):
            found[gone[0].name] = added[0].name
    return found


def _place(argument: Argument, tool: Tool) -> tuple[str, str | int | None]:
    if argument.location == "path":
        return "path", _VARIABLE.findall(tool.path).index(f"{{{argument.wire_name}}}")
    return argument.location, argument.wire_name


def _schema(tool: Tool, argument: Argument) -> Schema:
    """Return the schema of an argument without its texts."""
    schema = _properties(tool.input_schema).get(argument.name, {})
    return {key: value for key, value in schema.items() if key not in ("description", "examples")}


def _of_description(old: Tool, new: Tool) -> Iterator[ToolChange]:
    if old.name != new.name:
        yield _change("tool-renamed", new, "", old.name, new.name)
    if old.title != new.title:
        yield _change("title-changed", new, "", old.title or "", new.title or "")
    before, after = (tool.description.removesuffix(_DEPRECATED) for tool in (old, new))  # `tool-deprecated` says it
    if before.split() != after.split():
        yield _change("description-changed", new, "", *excerpts(before, after))
    if old.deprecated != new.deprecated:
        yield _change("tool-deprecated" if new.deprecated else "tool-restored", new)
    hints = [
        ", ".join(f"{name} {str(value).lower()}" for name, value in each.annotations.items()) for each in (old, new)
    ]
    if hints[0] != hints[1]:
        yield _change("hints-changed", new, "", *hints)


def _of_request(old: Tool, new: Tool) -> Iterator[ToolChange]:
    operations = [f"{each.method} {_VARIABLE.sub('{}', each.path)}" for each in (old, new)]
    if operations[0] != operations[1]:
        yield _change("request-changed", new, "", _operation(old), _operation(new))
    if old.base_url != new.base_url:
        yield _change("base-url-changed", new, "", *(redact(each.base_url or "nowhere") for each in (old, new)))
    credentials = [dict.fromkeys(_credentials(each)) for each in (old, new)]
    if credentials[0].keys() != credentials[1].keys():
        is_enough = credentials[0].keys() <= credentials[1].keys() or "none" in credentials[1]
        kind = "credential-optional" if is_enough else "credential-required"
        yield _change(kind, new, "", *(" or ".join(each) for each in credentials))
    if set(old.scopes) != set(new.scopes):
        alternatives = [[frozenset(each) for each in tool.scopes or ((),)] for tool in (old, new)]
        is_enough = all(any(less <= scopes for less in alternatives[1]) for scopes in alternatives[0])
        kind = "scopes-optional" if is_enough else "scopes-required"
        yield _change(kind, new, "", *(_alternatives(each.scopes) for each in (old, new)))


def _credentials(tool: Tool) -> Iterator[str]:
    """Yield the alternatives of a tool's credentials; `none` where a call needs none."""
    for alternative in tool.security or ((),):
        schemes = {*alternative, *tool.required_schemes}
        yield " and ".join(sorted(f"{scheme.name} ({scheme.type})" for scheme in schemes)) or "none"


def _alternatives(scopes: Sequence[Sequence[str]]) -> str:
    return " or ".join(" ".join(each) for each in scopes) or "none"


def _change(kind: str, tool: Tool, place: str = "", before: str = "", after: str = "") -> ToolChange:
    texts = [plain_text.line(text, MAX_TEXT_LENGTH) for text in (place, before, after)]
    return ToolChange(
        kind=kind, tool=tool.name, operation=_operation(tool), place=texts[0], before=texts[1], after=texts[2]
    )


MAX_TEXT_LENGTH: Final = 200
"""Characters of a text in a change."""


def _operation(tool: Tool) -> str:
    return plain_text.line(f"{tool.method} {tool.path}", MAX_TEXT_LENGTH)


def _properties(schema: Schema) -> Mapping[str, Schema]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    return properties
