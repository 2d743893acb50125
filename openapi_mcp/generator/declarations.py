"""The source of tool declarations, and the constants that the declarations of a module share.

A declaration leaves out options that follow from the others. No rule is repeated here: a Toolbox makes a Tool of the
shortest declaration, and the options in which that Tool differs are written in full.

Schemas and inputs that several tools share become constants of the module, named as in the document; long schemas go
into the JSON file beside the module. Schemas that are short and used once stay where they are used.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Final

from ..runtime import jsontext
from ..runtime.declarations import INPUT_LOCATIONS, Input, Toolbox, ToolOptions
from ..runtime.tool import Argument, SecurityScheme, Tool
from ..runtime.types import Schema
from ..tools.names import make_unique, shorten
from . import python_names
from .literals import Group, Source, layout, literal, node

OPTIONS: Final[Mapping[str, str]] = {
    "title": "title",
    "description": "description",
    "input_schema": "input_schema",
    "output_schema": "output_schema",
    "annotations": "annotations",
    "presets": "presets",
    "body": "request_body",
    "base_url": "base_url",
    "base_url_is_guess": "base_url_is_guess",
    "security": "security",
    "required_schemes": "required_schemes",
    "accept": "accept",
    "content_type": "content_type",
    "response_headers": "response_headers",
    "select": "select",
    "max_result_bytes": "max_result_bytes",
    "operation_id": "operation_id",
    "tags": "tags",
    "deprecated": "deprecated",
    "meta": "meta",
}
"""The options of a declaration by the fields of a Tool, in the order in which they are written."""

StoreSchema = Callable[[str, Schema], Source | Group]
"""Stores a schema under a name and returns the expression that refers to it."""


def inputs(tool: Tool) -> tuple[list[Input], bool]:
    """Return the inputs of a tool with their schemas, and whether it accepts undeclared arguments."""
    properties = tool.input_schema.get("properties", {})
    return (
        [Input(argument, properties.get(argument.name)) for argument in tool.arguments],
        tool.input_schema.get("additionalProperties") is not False,
    )


def declared_options(tool: Tool, function: str, docstring: str, shared: Toolbox) -> tuple[ToolOptions, list[str]]:
    """Return the options that declare the inputs, and the fields of the Tool that have to be written besides."""
    declared, is_open = inputs(tool)
    options = ToolOptions(name=tool.name, inputs=declared, **({"open_body": True} if is_open else {}))
    if docstring != tool.description:
        options["description"] = tool.description
    if tool.operation_id != tool.name:
        options["operation_id"] = tool.operation_id
    derived = shared.tool(tool.method, tool.path, function, docstring, options)
    different = [
        field
        for field, option in OPTIONS.items()
        if option in options or not is_same_json(getattr(derived, field), getattr(tool, field))
    ]
    if "input_schema" in different:
        options["inputs"] = [Input(item.argument, None) for item in declared]
    if tool.name == function:
        del options["name"]
    return options, different


def is_same_json(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON text: `1` and `true` differ, and so do orders of keys."""
    try:
        return json.dumps(one) == json.dumps(other)
    except TypeError:
        return bool(one == other)


def input_call(item: Input, store: StoreSchema, name: str) -> Group:
    """Return the call that declares an input, `query("limit", {…})`. A long schema is stored under `name`."""
    argument = item.argument
    location = location_name(argument)
    default = INPUT_LOCATIONS[location](argument.name).argument
    args: list[Any] = [argument.name]
    if item.schema is not None:
        args.append(store(name, item.schema))
    items = [("", node(value)) for value in args]
    for field in fields(Argument)[2:]:
        value = getattr(argument, field.name)
        if value != getattr(default, field.name):
            items.append((f"{field.name}=", node(expression(value))))
    return Group(f"{location}(", items, ")")


def location_name(argument: Argument) -> str:
    """Return the name of the function of the runtime that declares an input."""
    return "whole_body" if argument.location == "body" and argument.wire_name is None else argument.location


def expression(value: Any, schemes: Mapping[SecurityScheme, Source] | None = None) -> Any:
    """Return an instance of the runtime's classes as its call, without defaults; JSON values unchanged."""
    if schemes and isinstance(value, SecurityScheme):
        return schemes[value]
    if is_dataclass(value) and not isinstance(value, type):
        items = [
            (f"{field.name}=", node(expression(getattr(value, field.name), schemes)))
            for field in fields(value)
            if not _is_default(field, getattr(value, field.name))
        ]
        return Group(f"{type(value).__name__}(", items, ")")
    if isinstance(value, tuple):
        return tuple(expression(item, schemes) for item in value)
    if isinstance(value, list):
        return [expression(item, schemes) for item in value]
    if isinstance(value, Mapping):
        return {key: expression(item, schemes) for key, item in value.items()}
    return value


def _is_default(field: Any, value: Any) -> bool:
    if field.default is not MISSING:
        return bool(field.default == value)
    return field.default_factory is not MISSING and bool(field.default_factory() == value)


def tuples_to_lists(value: Any) -> Any:
    """Return tuples as lists, also inside of tuples: people write them so."""
    return [tuples_to_lists(item) for item in value] if isinstance(value, tuple) else value


MAX_CODE_BYTES: Final = 400
"""Bytes of a schema that is written in code: about six lines."""

MAX_CODE_DEFINITIONS_BYTES: Final = 2000
"""Bytes of all definitions of a module that are written in code."""

_LONG_NAME: Final = re.compile(r'[^"\\]{80}":')
"""A property whose name is too long for a line of code."""

MAX_KEY_LENGTH: Final = 64
"""Characters of a schema's name in the JSON file."""

MIN_SHARED_INPUT_BYTES: Final = 60
"""Bytes of a shared input that becomes a constant. A shorter one reads better where it is used."""


class Constants:
    """The shared schemas and inputs of a module.

    `declared` and `inputs` are the source of constants, `schemas` the content of the JSON file.
    """

    def __init__(self, tools: Sequence[Tool], output_names: Mapping[str, str], taken: Iterable[str]) -> None:
        self.declared: list[Source] = []
        self.inputs: list[Source] = []
        self.schemas: dict[str, Any] = {}
        self._known: dict[str, Source] = {}
        self._names = python_names.constants(_outputs(tools, output_names) | _common_inputs(tools), taken)
        self._declared_inputs: set[str] = set()

    @property
    def names(self) -> Iterable[str]:
        """The names of all constants."""
        return self._names.values()

    def output(self, tool: Tool) -> Source:
        """Return the expression for an output schema; its constant is declared at the first use."""
        schema = tool.output_schema or {}
        text = _text(schema)
        if text not in self._known:
            if _is_readable(schema):
                name = self._names[text]
                head = f"{name}: Schema = "
                self.declared.append(Source(head + literal(schema, before=len(head))))
                self._known[text] = name
            else:
                self._known[text] = self._in_json_file(tool.name, schema)
        return self._known[text]

    def schema(self, name: str, schema: Schema) -> Source | Group:
        """Return the expression for a schema of an input: the schema itself, or its entry in the JSON file."""
        text = _text(schema)
        if _is_readable(schema):
            tree = node(schema)
            return tree if isinstance(tree, Group) else Source(tree)
        if text not in self._known:
            self._known[text] = self._in_json_file(name, schema)
        return self._known[text]

    def input(self, tool: Tool, item: Input) -> Source | Group:
        """Return the expression for an input: a constant where other tools have the same input."""
        key = _key(item)
        call = input_call(item, self.schema, f"{tool.name}.{item.argument.name}")
        name = self._names.get(key)
        if name is None:
            return call
        if key not in self._declared_inputs:
            self._declared_inputs.add(key)
            head = f"{name} = "
            self.inputs.append(Source(head + layout(call, before=len(head))))
        return name

    def definitions(self, definitions: Mapping[str, Schema]) -> Source:
        """Return the expression for the definitions of the module."""
        if _is_readable(definitions, MAX_CODE_DEFINITIONS_BYTES):
            head = "DEFINITIONS: dict[str, Schema] = "
            self.declared.append(Source(head + literal(dict(definitions), before=len(head))))
            return Source("DEFINITIONS")
        return self._in_json_file("$defs", dict(definitions))

    def _in_json_file(self, name: str, schema: Any) -> Source:
        name = make_unique(shorten(name, MAX_KEY_LENGTH), self.schemas)
        self.schemas[name] = schema
        return Source(f"SCHEMAS[{literal(name)}]")


def _outputs(tools: Sequence[Tool], names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the candidate names of each output schema: that of the document, else after its first tool."""
    candidates: dict[str, tuple[str, ...]] = {}
    for tool in tools:
        if tool.output_schema is not None:
            name = f"{tool.name} output"
            candidates.setdefault(_text(tool.output_schema), (names.get(tool.name, name), name))
    return candidates


def _common_inputs(tools: Sequence[Tool]) -> dict[str, tuple[str, ...]]:
    """Return the candidate names of inputs that several tools share; of several with one name, the most frequent."""
    items = {_key(item): item.argument.name for tool in tools for item in inputs(tool)[0]}
    counts = Counter(_key(item) for tool in tools for item in inputs(tool)[0])
    names: dict[str, str] = {}
    for key, count in counts.most_common():
        if count > 1 and len(key.partition("\n")[2]) > MIN_SHARED_INPUT_BYTES and items[key] not in names.values():
            names[key] = items[key]
    return {key: (name, f"{name} input") for key, name in names.items()}


def _key(item: Input) -> str:
    """Return a text that is the same for equal inputs only."""
    return f"{item.argument}\n{_text(item.schema)}"


def _is_readable(schema: Any, max_bytes: int = MAX_CODE_BYTES) -> bool:
    """Return whether a schema is written in code: it is short, and so are the names in it."""
    return len(_text(schema)) <= max_bytes and not _LONG_NAME.search(_text(schema))


def _text(schema: Any) -> str:
    return jsontext.write_ascii(schema)
