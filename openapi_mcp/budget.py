"""What a tool costs a model that is told about it: an estimate, with one stated method, wherever tokens are shown."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from .economy import BYTES_PER_TOKEN
from .runtime.catalog import json_size, size
from .runtime.models import Tool
from .runtime.types import Schema, ToolDescription

__all__ = ["of_bytes", "size", "sizes", "tokens", "total"]


def sizes(tools: Iterable[Tool]) -> Iterator[int]:
    """The size of each tool. What tools share is measured once: they may have gigabytes of definitions together."""
    known: dict[int, int] = {}  # of definitions, and of all of a tool's together

    def known_size(part: Schema, measure: Callable[[Schema], int]) -> int:
        if id(part) not in known:
            known[id(part)] = measure(part)
        return known[id(part)]

    def together(definitions: Schema) -> int:
        each = sum(len(name) + known_size(schema, json_size) for name, schema in definitions.items())
        return each + len('"":,') * len(definitions) - 1

    for tool in tools:
        definitions = tool.input_schema.get("$defs")
        if not definitions:
            yield size(tool)
        else:
            empty = replace(tool, input_schema={**tool.input_schema, "$defs": {}})
            yield size(empty) + known_size(definitions, together)


def tokens(tool: ToolDescription) -> int:
    """Tokens of the tool's entry in the newest tools/list: bytes of its compact JSON divided by four, rounded up."""
    return of_bytes(size(tool))


def of_bytes(count: int) -> int:
    """So many bytes in tokens."""
    return math.ceil(count / BYTES_PER_TOKEN)


def total(sizes: Iterable[int]) -> int:
    """Tokens of tools of these sizes."""
    return sum(map(of_bytes, sizes))
