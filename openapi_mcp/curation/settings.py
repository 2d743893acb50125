"""`ArgumentValues`: values of arguments that the user fixes for all tools, or for some, by `--set`.

`NAME=VALUE` fixes the argument in every tool that has it, `TOOLS:NAME=VALUE` in the tools whose names match a pattern.
The name is the argument's or the document's. `VALUE` is text, JSON where the argument takes no text, `env:NAME` or
`header:NAME`. The values are applied to compiled tools, so that none is cached.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final, Self

from ..errors import UsageError
from ..runtime.tool import Argument, Preset, Tool
from .arguments import InputParts, preset_of_source, takes_text, with_properties
from .keys import NEVER_PASSED_ON

MAX_NAMES: Final = 10
"""Names of arguments that an error lists."""


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
            if not any(value.matches(tool, argument) for tool in tools for argument in _all_arguments(tool)):
                raise _unmatched(value, tools)

    def apply(self, tool: Tool) -> Tool:
        """Return a tool whose arguments with a value are hidden and fixed. Raises UsageError for a value of no JSON."""
        fixed: list[Preset] = []
        for argument in _all_arguments(tool):
            value = next((each for each in self.values if each.matches(tool, argument)), None)
            if value is not None:
                fixed.append(_preset(tool, argument, value))
        if not fixed:
            return tool
        names = {preset.argument.name for preset in fixed}
        parts = InputParts(
            tool.input_schema,
            tuple(argument for argument in tool.arguments if argument.name not in names),
            (*(preset for preset in tool.presets if preset.argument.name not in names), *fixed),
        )
        properties = {key: schema for key, schema in tool.input_schema["properties"].items() if key not in names}
        parts = with_properties(parts, properties)
        return replace(tool, input_schema=parts.schema, arguments=parts.arguments, presets=parts.presets)


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
    takes = _takes_text(tool, argument)
    if (preset := preset_of_source(argument, value.text, takes_text=takes)) is not None:
        if preset.header is not None and NEVER_PASSED_ON.fullmatch(preset.header):
            message = f"{preset.header} is for this server and not for the API"
            raise UsageError(message, where=value.shown, hint="name another header of the client's request")
        return preset
    try:
        return Preset(argument=argument, value=value.text if takes else json.loads(value.text))
    except ValueError:
        hint = f"the argument takes no text; `openapi-mcp inspect SPEC {tool.name}` shows what it takes"
        raise UsageError("the value is not JSON", where=value.shown, hint=hint) from None


def _takes_text(tool: Tool, argument: Argument) -> bool:
    """Return whether an argument takes text, by its schema; by its former value where the document hides it."""
    own = (preset for preset in tool.presets if not preset.path and preset.argument.name == argument.name)
    old = next(own, None)
    if old is None or old.is_default:
        return takes_text(tool.input_schema["properties"][argument.name], tool.input_schema)
    return not old.is_json if old.variable or old.header else isinstance(old.value, str)


def _unmatched(value: ArgumentValue, tools: tuple[Tool, ...]) -> UsageError:
    from ..runtime.arguments.spelling import suggestion

    selected = [tool for tool in tools if fnmatchcase(tool.name, value.pattern)]
    if not selected:
        hint = suggestion(value.pattern, [tool.name for tool in tools]) or "`openapi-mcp inspect SPEC` lists the tools"
        return UsageError(f"no tool has a name like {value.pattern}", where=value.shown, hint=hint)
    names = list(dict.fromkeys(argument.name for tool in selected for argument in _all_arguments(tool)))
    some = f"their arguments are {', '.join(names[:MAX_NAMES])}{' …' if len(names) > MAX_NAMES else ''}"
    hint = suggestion(value.name, names) or (some if names else "they have no arguments")
    return UsageError(f"no tool has an argument {value.name}", where=value.shown, hint=hint)
