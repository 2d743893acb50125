"""`ArgumentValues`: values of arguments that the user fixes for all tools, or for some, by `--set`.

`NAME=VALUE` fixes the argument in every tool that has it, `TOOLS:NAME=VALUE` in the tools whose names match a pattern.
The name is the argument's or the document's; dots lead to a property within it, `[]` to those of each item of a list
(`account.id`, `items[].price`). `VALUE` is text, JSON where the argument takes no text, `env:NAME` or `header:NAME`.
The values are applied to compiled tools, so that none is cached.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final, NamedTuple, Self

from ..errors import UsageError
from ..runtime.request.build import EACH_ITEM
from ..runtime.tool import Argument, Preset, Tool
from ..runtime.types import Schema
from .arguments import Changes, InputParts, preset_of_source, takes_text, with_properties
from .keys import NEVER_PASSED_ON
from .properties import changed_within, property_within

MAX_NAMES: Final = 10
"""Names of arguments that an error lists."""

MAX_PLACE: Final = 8
"""Parts of the name of a property within an argument: a part may hold dots, so that each more doubles the readings."""

_BODY: Final = "body"
"""The word that may stand before the names of a body's properties: `body.account.id`."""


class _Property(NamedTuple):
    """A property within an argument: its path, and its schema, or the preset by which the document hides it."""

    argument: Argument
    path: tuple[str, ...]
    schema: Schema | None
    preset: Preset | None = None


@dataclass(frozen=True, slots=True)
class ArgumentValue:
    """One value: the name of the argument, the text of the value, and a pattern of the names of tools."""

    name: str
    text: str = field(repr=False)
    pattern: str = "*"

    @property
    def shown(self) -> str:
        """The option without its value, which may be a secret."""
        return f"--set {self.name if self.pattern == '*' else f'{self.pattern}:{self.name}'}=…"

    def matches(self, tool: Tool, argument: Argument) -> bool:
        """Return whether it is the value of an argument of a tool."""
        return self.name in (argument.name, argument.wire_name) and fnmatchcase(tool.name, self.pattern)

    def inner(self, tool: Tool) -> _Property | None:
        """Return the property within an argument of a tool that it is the value of; None if it is of none."""
        if not fnmatchcase(tool.name, self.pattern):
            return None
        parts = self.name.replace("[]", f".{EACH_ITEM}").split(".")
        if not 1 < len(parts) <= MAX_PLACE:
            return None
        return next((found for path in _readings(parts) if (found := _inner(tool, path)) is not None), None)


@dataclass(frozen=True, slots=True)
class ArgumentValues:
    """The values, those that count first being first: those for a pattern of tools, and of equals the last."""

    values: tuple[ArgumentValue, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Read `NAME=VALUE` and `TOOLS:NAME=VALUE`. Raises UsageError, which shows no value."""
        values = [_parsed(text) for text in texts][::-1]
        return cls(tuple(sorted(values, key=lambda value: value.pattern == "*")))

    def check(self, tools: Iterable[Tool]) -> None:
        """Raise UsageError for a value of no argument of these tools, with the names that are most like it."""
        tools = tuple(tools)
        for value in self.values:
            if not any(
                value.inner(tool) or any(value.matches(tool, argument) for argument in _all_arguments(tool))
                for tool in tools
            ):
                raise _unmatched(value, tools)

    def apply(self, tool: Tool) -> Tool:
        """Return a tool whose arguments with a value are hidden and fixed. Raises UsageError for a value of no JSON."""
        fixed: list[Preset] = []
        for argument in _all_arguments(tool):
            value = next((each for each in self.values if each.matches(tool, argument)), None)
            if value is not None:
                fixed.append(_preset(tool, argument, value))
        return self._with_properties(_with_fixed(tool, fixed) if fixed else tool)

    def _with_properties(self, tool: Tool) -> Tool:
        """Return a tool whose arguments have the values of properties within them."""
        seen = set[tuple[str, tuple[str, ...]]]()
        for value in self.values:
            found = value.inner(tool)
            if found is not None and (place := (found.argument.name, found.path)) not in seen:
                seen.add(place)
                tool = _with_property(tool, found, value)
        return tool


def _with_fixed(tool: Tool, fixed: Iterable[Preset]) -> Tool:
    """Return a tool whose arguments with a preset are hidden."""
    names = {preset.argument.name for preset in fixed}
    parts = InputParts(
        tool.input_schema,
        tuple(argument for argument in tool.arguments if argument.name not in names),
        (*(preset for preset in tool.presets if preset.argument.name not in names), *fixed),
    )
    properties = {key: schema for key, schema in tool.input_schema["properties"].items() if key not in names}
    return _with_parts(tool, with_properties(parts, properties))


def _with_property(tool: Tool, found: _Property, value: ArgumentValue) -> Tool:
    """Return a tool with the value of a property within an argument. Raises UsageError."""
    schema, old = found.schema, found.preset
    takes = takes_text(schema, tool.input_schema) if schema is not None else _took_text(old)
    preset = replace(_preset_of(tool, found.argument, value, takes_text=takes), path=found.path)
    others = tuple(
        each for each in tool.presets if (each.argument.name, each.path) != (preset.argument.name, preset.path)
    )
    parts = InputParts(tool.input_schema, tool.arguments, others)
    if schema is not None:
        change = Changes(keys={"hidden": True, "fixed": None}, problem=lambda _: None)
        parts = changed_within(parts, found.argument.name, found.path, change, 0) or parts
    return _with_parts(tool, parts._replace(presets=(*others, preset)))


def _with_parts(tool: Tool, parts: InputParts) -> Tool:
    return replace(tool, input_schema=parts.schema, arguments=parts.arguments, presets=parts.presets)


def _readings(parts: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the paths that a name may mean, in which a part may hold dots: those with the shortest parts first."""
    for end in range(1, len(parts) + 1):
        first = ".".join(parts[:end])
        yield from ((first, *rest) for rest in _readings(parts[end:])) if parts[end:] else ((first,),)


def _inner(tool: Tool, path: tuple[str, ...]) -> _Property | None:
    """Return the property within an argument of a tool to which a path leads, with or without the word `body`."""
    for argument in tool.arguments:
        names, rest = {argument.name, argument.wire_name}, path
        if path[0] == _BODY and _BODY not in names and argument.location == "body":
            rest = path[1:]
        if len(rest) < 2 or rest[0] not in names:
            continue
        inner = rest[1:]
        hidden = (each for each in tool.presets if each.path == inner and each.argument.name == argument.name)
        old = next((each for each in hidden if not each.is_default), None)
        parts = InputParts(tool.input_schema, tool.arguments)
        schema = None if old else property_within(parts, argument.name, inner)
        if old is not None or schema is not None:
            return _Property(argument, inner, schema, old)
    return None


def _parsed(text: str) -> ArgumentValue:
    left, equals, value = text.partition("=")
    pattern, colon, name = left.rpartition(":")
    if not equals or not name or (colon and not pattern):
        hint = "for example --set server_id=localhost, --set token=env:SHOP_TOKEN or --set 'list_*:limit=50'"
        raise UsageError("a value must be written NAME=VALUE or TOOLS:NAME=VALUE", where="--set", hint=hint)
    return ArgumentValue(name, value, pattern or "*")


def _all_arguments(tool: Tool) -> Iterator[Argument]:
    """Yield the arguments of a tool, and those that its document hides."""
    yield from tool.arguments
    for preset in tool.presets:
        if not (preset.is_default or preset.path):
            yield preset.argument


def _preset(tool: Tool, argument: Argument, value: ArgumentValue) -> Preset:
    return _preset_of(tool, argument, value, takes_text=_takes_text(tool, argument))


def _preset_of(tool: Tool, argument: Argument, value: ArgumentValue, *, takes_text: bool) -> Preset:
    """Return the preset of a value, which is JSON unless its place `takes_text`. Raises UsageError."""
    if (preset := preset_of_source(argument, value.text, takes_text=takes_text)) is not None:
        if preset.header is not None and NEVER_PASSED_ON.fullmatch(preset.header):
            message = f"{preset.header} belongs to the connection with this server and is not sent to the API"
            raise UsageError(message, where=value.shown, hint="name another header of the client's request")
        return preset
    try:
        return Preset(argument=argument, value=value.text if takes_text else json.loads(value.text))
    except ValueError:
        hint = f"the argument takes no text; `openapi-mcp inspect SPEC {tool.name}` shows what it takes"
        raise UsageError("the value is not JSON", where=value.shown, hint=hint) from None


def _takes_text(tool: Tool, argument: Argument) -> bool:
    """Return whether an argument takes text, by its schema; by its former value where the document hides it."""
    own = (preset for preset in tool.presets if not preset.path and preset.argument.name == argument.name)
    old = next(own, None)
    if old is None or old.is_default:
        return takes_text(tool.input_schema["properties"][argument.name], tool.input_schema)
    return _took_text(old)


def _took_text(old: Preset | None) -> bool:
    """Return whether a place that has a value already takes text."""
    if old is None:
        return True
    return not old.is_json if old.variable or old.header else isinstance(old.value, str)


def _unmatched(value: ArgumentValue, tools: tuple[Tool, ...]) -> UsageError:
    from ..runtime.arguments.spelling import suggestion

    selected = [tool for tool in tools if fnmatchcase(tool.name, value.pattern)]
    if not selected:
        hint = suggestion(value.pattern, [tool.name for tool in tools]) or "`openapi-mcp inspect SPEC` lists the tools"
        return UsageError(f"no tool has a name like {value.pattern}", where=value.shown, hint=hint)
    names = list(dict.fromkeys(argument.name for tool in selected for argument in _all_arguments(tool)))
    some = f"their arguments are {', '.join(names[:MAX_NAMES])}{' …' if len(names) > MAX_NAMES else ''}"
    first = re.split(r"\.|\[\]", value.name.removeprefix(f"{_BODY}."))[0]
    if first != value.name and first in names:
        hint = "`openapi-mcp inspect SPEC TOOL` shows the properties; dots lead to them, [] to those of a list's items"
        return UsageError(f"no tool has an argument {first} with such a property", where=value.shown, hint=hint)
    hint = suggestion(value.name, names) or (some if names else "they have no arguments")
    return UsageError(f"no tool has an argument {value.name}", where=value.shown, hint=hint)
