"""What a tool costs a model that is told about it: an estimate, with one stated method, wherever tokens are shown."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .economy import BYTES_PER_TOKEN
from .runtime.catalog import json_size, size
from .runtime.models import Tool
from .runtime.types import ToolDescription

__all__ = ["of_bytes", "size", "sizes", "tokens", "total"]


def sizes(tools: Iterable[Tool]) -> Iterator[int]:
    """The size of each tool. What tools share is measured once: they may have gigabytes of definitions together."""
    known: dict[int, int] = {}
    for tool in tools:
        definitions = tool.input_schema.get("$defs")
        if not definitions:
            yield size(tool)
            continue
        for schema in definitions.values():
            if id(schema) not in known:
                known[id(schema)] = json_size(schema)
        empty = replace(tool, input_schema={**tool.input_schema, "$defs": {}})
        between = len('"":,') * len(definitions) - 1
        yield size(empty) + between + sum(len(name) + known[id(each)] for name, each in definitions.items())


def tokens(tool: ToolDescription) -> int:
    """Tokens of the tool's entry in the newest tools/list: bytes of its compact JSON divided by four, rounded up."""
    return of_bytes(size(tool))


def of_bytes(count: int) -> int:
    """So many bytes in tokens."""
    return math.ceil(count / BYTES_PER_TOKEN)


def total(sizes: Iterable[int]) -> int:
    """Tokens of tools of these sizes."""
    return sum(map(of_bytes, sizes))
