"""A Tool as the words of its declaration: what a Toolbox would conclude by itself is not said.

Nothing is assumed of those conclusions: the Toolbox is asked, and what it would get wrong is said in full.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Final

from .literals import Group, Source, node
from .runtime.declarations import PLACES, Input, Toolbox, Words
from .runtime.models import Argument, SecurityScheme, Tool
from .runtime.types import Schema

WORDS: Final[Mapping[str, str]] = {
    "title": "title",
    "description": "description",
    "input_schema": "input_schema",
    "output_schema": "output_schema",
    "annotations": "annotations",
    "body": "request_body",
    "base_url": "base_url",
    "security": "security",
    "accept": "accept",
    "operation_id": "operation_id",
    "tags": "tags",
    "deprecated": "deprecated",
    "meta": "meta",
}
"""The words for the fields of a Tool, in the order they are said."""

Keep = Callable[[str, Schema], Source | Group]
"""Puts a schema somewhere, under a name, and gives the expression that is it there."""


def inputs(tool: Tool) -> tuple[list[Input], bool]:
    """The inputs of a tool with their schemas, and whether it takes others."""
    properties = tool.input_schema.get("properties", {})
    return (
        [Input(argument, properties.get(argument.name)) for argument in tool.arguments],
        tool.input_schema.get("additionalProperties") is not False,
    )


def omissions(tool: Tool, function: str, docstring: str, shared: Toolbox) -> tuple[Words, list[str]]:
    """The words that make the inputs, and the fields that have to be said besides."""
    given, is_open = inputs(tool)
    said = Words(name=tool.name, inputs=given, **({"open_body": True} if is_open else {}))
    if docstring != tool.description:
        said["description"] = tool.description
    concluded = shared.tool(tool.method, tool.path, function, docstring, said)
    different = [
        field
        for field, word in WORDS.items()
        if word in said or not same(getattr(concluded, field), getattr(tool, field))
    ]
    if "input_schema" in different:
        said["inputs"] = [Input(item.argument, None) for item in given]
    if tool.name == function:
        del said["name"]
    return said, different


def same(one: Any, other: Any) -> bool:
    """Whether two values are written alike: `1` and `true` differ, and so do other orders of keys."""
    try:
        return json.dumps(one) == json.dumps(other)
    except TypeError:
        return bool(one == other)


def declared_input(item: Input, keep: Keep, name: str) -> Group:
    """`query("limit", {…})`; its schema is kept under this name where it is too long."""
    argument = item.argument
    whole = argument.location == "body" and argument.wire_name is None
    place = "whole_body" if whole else argument.location
    plain = PLACES[place](argument.name).argument
    args: list[Any] = [argument.name]
    if item.schema is not None:
        args.append(keep(name, item.schema))
    items = [("", node(value)) for value in args]
    for field in fields(Argument)[2:]:
        value = getattr(argument, field.name)
        if value != getattr(plain, field.name):
            items.append((f"{field.name}=", node(expression(value))))
    return Group(f"{place}(", items, ")")


def expression(value: Any, schemes: Mapping[SecurityScheme, Source] | None = None) -> Any:
    """A value of the models as the call that makes it, without what is its default; JSON values as they are."""
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


def listed(value: Any) -> Any:
    """Tuples as lists, which is how people write them."""
    return [listed(item) for item in value] if isinstance(value, tuple) else value
