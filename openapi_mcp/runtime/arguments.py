"""The arguments of a call against the tool's inputSchema: mended where they plainly hold what is wanted, else refused.

Validation is JSON Schema 2020-12 without format assertion, and never fetches anything. Specification: MCP server/tools,
"Error Handling" (input validation errors are tool execution errors that a model can correct).
"""

from collections.abc import Mapping
from typing import Any

from . import explanations, repairs, validation
from .errors import ArgumentError
from .types import ToolDescription


def prepare(tool: ToolDescription, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments to send. Raises ArgumentError: which argument, what was wanted, what came."""
    if validation.accepts(tool.input_schema, arguments):
        return dict(arguments)
    validator = validation.compiled(tool.input_schema)
    try:
        mended: dict[str, Any] = repairs.mend(validator, dict(arguments))
        errors = validation.errors(validator, mended)
    except RecursionError as error:
        raise ArgumentError("The arguments are nested too deeply to be checked.") from error
    if errors:
        raise ArgumentError(explanations.explain(tool, errors))
    return mended
