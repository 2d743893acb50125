"""Which arguments of a tool a client repeats in HTTP headers (`x-mcp-header`): what clients accept, else a Problem.

A client drops a tool of which a single annotation is wrong, so what stays has passed the rules that the server itself
goes by. Specification: MCP 2026-07-28 transports, "Custom Headers from Tool Parameters".
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from . import keywords
from .conversion import DEFINITIONS
from .runtime.protocol.mirrored import header_arguments, problem_of
from .runtime.types import Schema

Tokens = tuple[str | int, ...]
"""Where in an inputSchema an annotation stands: the tokens of a JSON pointer."""

_BESIDE: Final = frozenset({"$ref", "description", "default", "deprecated", keywords.MIRRORED})


def written_out(schema: Schema, definition: Callable[[str], Schema]) -> Schema:
    """A property that only refers to what is mirrored, as that itself: clients follow no references to find it."""
    if "$ref" not in schema or schema.keys() - _BESIDE:
        return schema
    target = definition(schema["$ref"].removeprefix(DEFINITIONS))
    if "$ref" in target or keywords.MIRRORED not in {**target, **schema}:
        return schema
    return {**target, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}


def settled(schema: Schema, report: Callable[[Tokens, str], None]) -> Schema:
    """An inputSchema with the annotations that clients accept and that give nothing away; `report` hears of others."""
    for tokens, reason in problem_of(schema):
        report(tokens, f"`{keywords.MIRRORED}` is left out: {reason}")
        schema = _without(schema, tokens)
    for path in header_arguments(schema):
        tokens = (*(token for name in path for token in ("properties", name)), keywords.MIRRORED)
        if reason := _unfit(_at(schema, tokens[:-1])):
            report(tokens, f"`{keywords.MIRRORED}` is left out: {reason}")
            schema = _without(schema, tokens)
    return schema


def _unfit(schema: Schema) -> str:
    """Why a value should not be in a header, which proxies log and limit."""
    if schema.get("format") == "password":
        return "a secret does not belong into headers, which are logged on the way"
    return "bytes in base64 are too long for a header" if "contentEncoding" in schema else ""


def _at(node: Any, tokens: Sequence[str | int]) -> Any:
    for token in tokens:
        node = node[token]
    return node


def _without(node: Any, tokens: Sequence[str | int]) -> Any:
    """A copy without what stands at a place; whatever is not on the way there is shared."""
    first, *rest = tokens
    copy = node.copy()
    if rest:
        copy[first] = _without(node[first], rest)
    else:
        del copy[first]
    return copy
