"""`TokenBudget`: limits on the texts of tools, so that a model can afford a long list; and an estimate of tokens.

The more tools there are, the shorter the texts of each. Only explanations are cut: names, types, enums and `required`
of an input schema stay. Descriptions are cut after a sentence, output schemas after a level. The limits change in
steps, so that one more operation seldom changes the other tools. Tokens are estimated in one way everywhere.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from .plain_text import MAX_DESCRIPTION_LENGTH
from .runtime.jsontext import byte_length
from .runtime.server.catalog import size
from .runtime.tool import Tool
from .runtime.types import Schema, ToolDescription

BUDGET: Final = 64 * 1024
"""Tokens for the output schemas of all tools together, and as many for their descriptions: half of what today's models
can read at once. It cuts nothing for up to 64 tools."""

BYTES_PER_TOKEN: Final = 4
"""Tokenisers differ; for the JSON of schemas with English descriptions they lie between 3.5 and 4.5 bytes a token."""

_MAX_OUTPUT: Final = 4096
"""Bytes of an output schema. A model reads it with every tool; a longer one tells it little more."""

_MIN_OUTPUT: Final = 512
"""Bytes of an output schema: some ten fields with their types."""

_MIN_DESCRIPTION: Final = 256
"""Characters of a tool's description: two sentences."""

_MIN_ARGUMENT: Final = 100
"""Characters of a description in an input schema: one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """Limits on one tool's texts: bytes of its output schema (0: no schema), characters of descriptions."""

    output: int = _MAX_OUTPUT
    description: int = MAX_DESCRIPTION_LENGTH
    argument: int = MAX_DESCRIPTION_LENGTH

    @property
    def is_full(self) -> bool:
        """Return whether these are the limits of a tool in a short list."""
        return self == FULL


FULL: Final = ToolLimits()
COMPACT: Final = ToolLimits(output=0, description=120, argument=60)
"""Enough for somebody who knows the API to find and call a tool: a sentence for it, half of one for each argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """The user's options about the size of the list.

    `budget` is in tokens, as BUDGET is; None cuts nothing. `compact` has the smallest limits. Of more than `max_tools`
    tools the first stay, deprecated ones only where there are too few others. More than `max_listed` tools are searched
    instead of listed, so their texts are not cut.
    """

    budget: int | None = BUDGET
    compact: bool = False
    max_tools: int | None = None
    max_listed: int | None = None

    def limits(self, tools: int) -> ToolLimits:
        """Return the limits of each tool, where there are this many."""
        if self.compact:
            return COMPACT
        if self.budget is None or (self.max_listed is not None and tools > self.max_listed):
            return FULL
        share = self.budget * BYTES_PER_TOKEN // max(tools, 1)
        step = 1 << share.bit_length() - 1 if share else 0
        return ToolLimits(
            output=min(_MAX_OUTPUT, max(_MIN_OUTPUT, step)),
            description=min(MAX_DESCRIPTION_LENGTH, max(_MIN_DESCRIPTION, step)),
            argument=min(MAX_DESCRIPTION_LENGTH, max(_MIN_ARGUMENT, step // 4)),
        )


__all__ = ["size", "sizes", "tokens", "tokens_of_bytes", "total"]


def sizes(tools: Iterable[Tool]) -> Iterator[int]:
    """Yield the size of each tool. Shared parts are measured once: all together they may have gigabytes."""
    kept = tuple(tools)
    cache: dict[int, int] = {}  # of each property, definition and output schema, and of each tool's `$defs`

    def cached_size(part: Schema, measure: Callable[[Schema], int]) -> int:
        if id(part) not in cache:
            cache[id(part)] = measure(part)
        return cache[id(part)]

    def total_size(schemas: Schema) -> int:
        each = sum(len(name) + cached_size(schema, byte_length) for name, schema in schemas.items())
        return each + len('"":,') * len(schemas) - 1 if schemas else 0

    for tool in kept:
        properties, definitions = tool.input_schema.get("properties", {}), tool.input_schema.get("$defs")
        inputs: Schema = {**tool.input_schema, "properties": {}}
        inner = total_size(properties)
        if definitions:
            inputs["$defs"] = {}
            inner += cached_size(definitions, total_size)
        if tool.output_schema is not None:
            inner += cached_size(tool.output_schema, _size_of_output)
        yield size(_description(tool, inputs)) + inner


def _size_of_output(schema: Schema) -> int:
    """Return the bytes that an output schema adds to the entry of a tool."""
    return size(replace(_EMPTY, output_schema=schema)) - size(_EMPTY)


def _description(tool: Tool, input_schema: Schema) -> ToolDescription:
    """Return what is listed of a tool but its schemas."""
    return ToolDescription(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema,
        annotations=tool.annotations,
    )


_EMPTY: Final = ToolDescription(name="", description="", input_schema={}, annotations={})


def tokens(tool: ToolDescription) -> int:
    """Estimate the tokens of a tool: bytes of its entry in the newest tools/list as compact JSON, divided by four."""
    return tokens_of_bytes(size(tool))


def tokens_of_bytes(count: int) -> int:
    """Estimate the tokens of this many bytes, rounded up."""
    return math.ceil(count / BYTES_PER_TOKEN)


def total(sizes: Iterable[int]) -> int:
    """Estimate the tokens of tools of these sizes in bytes."""
    return sum(map(tokens_of_bytes, sizes))
