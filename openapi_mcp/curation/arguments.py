"""Change the arguments of a tool: hide them with a value, give them a default, a name, a description, examples.

`Changes` are what `x-mcp` says of one argument; `changed` applies them to an inputSchema and its Arguments. A hidden
argument leaves the inputSchema, and with it the definitions that only it refers to.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from .. import plain_text
from ..runtime.request.credentials import FROM_ENVIRONMENT
from ..runtime.request.headers import is_field_name
from ..runtime.tool import Argument, Preset
from ..runtime.types import Schema
from .keys import ARGUMENT_KEYS, FROM_HEADER, NEVER_PASSED_ON, valid_keys

_NAME: Final = re.compile(ARGUMENT_KEYS["name"]["pattern"])
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CREDENTIAL: Final = re.compile(r"(?i)auth|cookie|credential|key|passw|secret|session|signature|token")
"""Words in the names of headers whose values no document may ask for."""

OWN_VARIABLES: Final = "API_"
"""The beginning of the names of variables that a document may name: those of other programs are not its business."""


class UserText(str):
    """A text that the user wrote, in an overlay: it may name any environment variable."""

    __slots__ = ()


class InputParts(NamedTuple):
    """The parts of a tool that say what its arguments are."""

    schema: Schema
    arguments: tuple[Argument, ...]
    presets: tuple[Preset, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The `x-mcp` object of an argument: its valid keys, and the function that reports what has no effect."""

    keys: Mapping[str, Any]
    problem: Callable[[str], None]

    @property
    def is_hidden(self) -> bool:
        """True if no model may see the argument."""
        return bool("fixed" in self.keys or self.keys.get("hidden"))


def read_changes(value: Any, problem: Callable[[str], None]) -> Changes | None:
    """Read the `x-mcp` of a parameter or a property; None if it changes nothing."""
    if not isinstance(value, dict):
        problem("`x-mcp` of an argument is not an object; it is left out")
        return None
    keys = valid_keys(value, ARGUMENT_KEYS, problem)
    if "name" in keys and not _NAME.fullmatch(keys["name"]):
        problem("`name` of `x-mcp` is not a name of at most 64 of A-Z, a-z, 0-9, _, . and -; it is left out")
        del keys["name"]
    if "fixed" in keys and keys.get("hidden") is False:
        problem("an argument with `fixed` is hidden, whatever `hidden` says")
    for key in ("fixed", "default"):
        if (header := header_of(keys.get(key))) is not None and (reason := _refusal(header, keys, key)):
            problem(f"`{key}` of `x-mcp` is left out: {reason}")
            del keys[key]
            continue
        variable = variable_of(keys.get(key))
        if variable is None:
            continue
        if not (isinstance(keys[key], UserText) or variable.startswith(OWN_VARIABLES)):
            problem(
                f"`{key}` of `x-mcp` is left out: a document may only name environment variables that begin with "
                f"{OWN_VARIABLES}; an overlay and --set may name any"
            )
            del keys[key]
        elif key == "default" and not keys.get("hidden"):
            problem("`default` of `x-mcp` is left out: models see a default, and a variable is a secret; write `fixed`")
            del keys[key]
    return Changes(keys=keys, problem=problem) if keys else None


def _refusal(header: str, keys: Mapping[str, Any], key: str) -> str:
    """Return why a header of the client's request may not be sent to the API; empty if it may."""
    if NEVER_PASSED_ON.fullmatch(header):
        return f"the header {header} belongs to the connection with this server and is not sent to the API"
    if not isinstance(keys[key], UserText) and _CREDENTIAL.search(header):
        return f"the header {header} may hold a credential: an overlay or --set may forward it, the document may not"
    if key == "default" and not keys.get("hidden"):
        return "models see a default; write `fixed`"
    return ""


def variable_of(value: Any) -> str | None:
    """Return the name of the environment variable that a value stands for, or None."""
    if not isinstance(value, str) or not value.startswith(FROM_ENVIRONMENT):
        return None
    name = value.removeprefix(FROM_ENVIRONMENT).strip()
    return name if _VARIABLE.fullmatch(name) else None


def header_of(value: Any) -> str | None:
    """Return the name of the header of the client's request that a value stands for, or None."""
    if not isinstance(value, str) or not value.startswith(FROM_HEADER):
        return None
    name = value.removeprefix(FROM_HEADER).strip()
    return name if is_field_name(name) else None


def names_source(value: Any) -> bool:
    """Return whether a value stands for a variable or a header, whose name only its author may choose."""
    return variable_of(value) is not None or header_of(value) is not None


def changed(parts: InputParts, changes: Mapping[str, Changes], max_text_length: int) -> InputParts:
    """Return the parts with these changes, which are by the names of arguments."""
    properties = dict(parts.schema["properties"])
    arguments: list[Argument] = []
    presets = list(parts.presets)
    taken = set(properties)
    for argument in parts.arguments:
        change = changes.get(argument.name)
        if change is None:
            arguments.append(argument)
            continue
        schema = properties[argument.name]
        if change.is_hidden and is_hideable(argument.name, change, is_required=argument.required):
            presets += _hidden(argument, schema, change, parts.schema)
            del properties[argument.name]
            continue
        name = _new_name(argument, change, taken)
        properties[argument.name] = described(schema, change, max_text_length)
        if "default" in change.keys:
            _report_misfit(schema, change.keys["default"], change, parts.schema)
            argument = replace(argument, required=False)  # noqa: PLW2901  the argument itself
            presets.append(Preset(argument=replace(argument, name=name), value=change.keys["default"], is_default=True))
        if name != argument.name:
            properties = {name if key == argument.name else key: value for key, value in properties.items()}
        arguments.append(replace(argument, name=name))
    return with_properties(InputParts(parts.schema, tuple(arguments), tuple(presets)), properties)


def with_properties(parts: InputParts, properties: Mapping[str, Schema]) -> InputParts:
    """Return the parts with other properties: without what only the former ones needed."""
    schema = {key: value for key, value in parts.schema.items() if key not in ("required", "$defs")}
    schema["properties"] = dict(properties)
    required = [argument.name for argument in parts.arguments if argument.required]
    result: Schema = {}
    for key, value in schema.items():  # the keys stay in the order in which a compiler writes them
        result[key] = value
        if key == "properties" and required:
            result["required"] = required
    if definitions := _reachable(properties, parts.schema.get("$defs", {})):
        result["$defs"] = definitions
    return parts._replace(schema=result)


def _reachable(properties: Mapping[str, Schema], definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    reached: set[str] = set()
    waiting = list(properties.values())
    while waiting:
        new = {name for name in _references(waiting.pop()) if name in definitions} - reached
        reached |= new
        waiting += [definitions[name] for name in new]
    return {name: schema for name, schema in definitions.items() if name in reached}


def _references(schema: Schema) -> Iterator[str]:
    """Yield the names of the definitions that a schema refers to; as in packages, values are searched too."""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"].removeprefix("#/$defs/")
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def is_hideable(name: str, change: Changes, *, is_required: bool) -> bool:
    """Return whether an argument can be hidden: one that is required needs a value. Report where it cannot."""
    if is_required and not change.keys.keys() & {"fixed", "default"}:
        change.problem(f"the required argument {name} cannot be hidden without `fixed` or `default`")
        return False
    return True


def _hidden(argument: Argument, schema: Schema, change: Changes, root: Schema) -> list[Preset]:
    """Return the preset of a hidden argument; none where it is never sent."""
    return [preset_of(argument, schema, change, root)] if change.keys.keys() & {"fixed", "default"} else []


def preset_of(argument: Argument, schema: Schema, change: Changes, root: Schema) -> Preset:
    """Return the preset for the value of `fixed`, else of `default`, which a schema describes."""
    value = change.keys["fixed"] if "fixed" in change.keys else change.keys["default"]
    preset = preset_of_source(argument, value, takes_text=takes_text(schema, root))
    if preset is None:
        _report_misfit(schema, value, change, root)
    return preset or Preset(argument=argument, value=value)


def preset_of_source(argument: Argument, value: Any, *, takes_text: bool) -> Preset | None:
    """Return the preset for a value that names its source, a variable or a header; None for a constant."""
    if (variable := variable_of(value)) is not None:
        return Preset(argument=argument, variable=variable, is_json=not takes_text)
    if (header := header_of(value)) is not None:
        return Preset(argument=argument, header=header, is_json=not takes_text)
    return None


def takes_text(schema: Schema, root: Schema) -> bool:
    """Return whether a schema of an argument takes a string; `root` is the inputSchema."""
    kinds = _types(schema, root)
    return not kinds or "string" in kinds


def _types(schema: Schema, root: Schema) -> frozenset[str]:
    """Return the JSON types that a schema names, itself or in the definition that it refers to; empty: any."""
    for _ in range(len(root.get("$defs", {})) + 1):
        if "type" in schema or "$ref" not in schema:
            break
        schema = root.get("$defs", {}).get(schema["$ref"].removeprefix("#/$defs/"), {})
    kinds = schema.get("type", [])
    return frozenset([kinds] if isinstance(kinds, str) else kinds)


def _report_misfit(schema: Schema, value: Any, change: Changes, root: Schema) -> None:
    kinds, kind = _types(schema, root), _KINDS.get(type(value), "string")
    if kinds and kind not in kinds and not (kind == "integer" and "number" in kinds):
        article = "an" if kind[0] in "aeio" else "a"
        change.problem(
            f"the value is {article} {kind}, and the schema takes {' or '.join(sorted(kinds))}; it is sent as it is"
        )


_KINDS: Final[Mapping[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
    type(None): "null",
}


def _new_name(argument: Argument, change: Changes, taken: set[str]) -> str:
    name: str = change.keys.get("name", argument.name)
    if name != argument.name and name in taken:
        change.problem(f"another argument has the name {name}; this one keeps the name {argument.name}")
        return argument.name
    taken.add(name)
    return name


def described(schema: Schema, change: Changes, max_text_length: int) -> Schema:
    """Return the schema of an argument with the description, the default and the examples of its `x-mcp`."""
    new = dict(schema)
    if text := plain_text.trim(plain_text.clean(change.keys.get("description")), max_text_length):
        new["description"] = text
    for key in ("default", "examples"):
        if key in change.keys:
            new[key] = change.keys[key]
    return new
