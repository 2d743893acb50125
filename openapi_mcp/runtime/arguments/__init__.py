"""The arguments of a call: checked against the tool's inputSchema, coerced where that is safe, else explained.

Arguments that surely fit are recognised at once; all others are judged beside the event loop. The module that judges
and explains them (`validation`) is imported for the first one.
"""

from collections.abc import Mapping
from typing import Any, Final

from .. import background
from ..background import MAX_SMALL_PARTS, exceeds
from ..json_schema import is_flat_and_declared, undecided_patterns, undeclared_names, verdict
from ..types import Schema, ToolDescription

MAX_QUICK_UNITS: Final = 100_000
"""Applications of a schema to a part of the arguments while an event loop waits: about a millisecond."""


async def prepare_aside(tool: ToolDescription, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return and raise as `prepare`; only small arguments that fit are judged while the event loop waits."""
    if surely_fit(tool, arguments):
        return dict(arguments)
    from .validation import prepare

    return await background.run(_lane(arguments), prepare, tool, arguments)


async def check_aside(tool: ToolDescription, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return and raise as `check`; only small arguments that fit are judged while the event loop waits."""
    if surely_fit(tool, arguments):
        return dict(arguments), ""
    from .validation import check

    return await background.run(_lane(arguments), check, tool, arguments)


def _lane(arguments: Mapping[str, Any]) -> background.Lane:
    return "large" if exceeds(arguments, MAX_SMALL_PARTS) else "small"


def surely_fit(tool: ToolDescription, arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments are small and certainly fit, with no name that may be misspelled."""
    undecided = undecided_patterns()
    return _seem_to_fit(tool.input_schema, arguments) and undecided_patterns() == undecided


def _seem_to_fit(schema: Schema, arguments: Mapping[str, Any]) -> bool:
    if is_flat_and_declared(arguments, schema):
        return verdict(schema, arguments, MAX_QUICK_UNITS) is True
    if exceeds(arguments, MAX_SMALL_PARTS) or verdict(schema, arguments, MAX_QUICK_UNITS) is not True:
        return False
    return not any(undeclared.absent for undeclared in undeclared_names(schema, arguments))
