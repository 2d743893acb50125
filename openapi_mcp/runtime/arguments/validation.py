"""The arguments of a call: checked against the tool's inputSchema, coerced where that is safe, else explained.

- Validation is JSON Schema 2020-12 without format assertion, and fetches nothing.
- Coercion: models and clients send objects, arrays, numbers and booleans as text, and one value for a list of one. A
  string that the schema refuses is replaced by the JSON that it holds, and a scalar instead of an array by an
  array with it, if the schema accepts that. Nothing else is ever changed.
- An undeclared property that is spelled almost like a declared one, which is missing, is refused even where the schema
  allows any name: APIs ignore what they do not know, and a filter that is ignored matches everything.
- Explanation: a failure becomes a sentence with which a model can correct its call: which argument, what is expected,
  what was sent, which names and values are near. Values are shortened, only the first failures are listed. For what a
  sentence does not show, an object's properties or an example follows (`advice`).

Specification: MCP server/tools, "Error Handling" (input validation errors are tool execution errors that a model can
correct).
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..background import MAX_SMALL_PARTS, exceeds
from ..errors import ArgumentError
from ..json_schema import undecided_patterns, verdict
from ..json_schema.judge import MAX_FAILURES, MAX_STEPS, BudgetSpent, Failure, Judge
from ..json_schema.place import refused_part
from ..tool import Tool
from ..types import Schema, ToolDescription
from .coercion import Coercion
from .explanation import MAX_LISTED, explain, location
from .spelling import misspellings

logger = logging.getLogger("openapi_mcp")

_MAX_SMALL_STEPS: Final = 100_000
"""Steps that are taken to explain the failures of so few parts: a tenth of a second. Most take some hundred."""

_MAX_LISTED_LENGTH: Final = 700
"""Characters of the listed sentences, unless one is longer: with what is said about them some 300 tokens."""

_MAX_PLACE_STEPS: Final = 100_000
"""Steps that are taken to explain a failure whose place alone is known: a tenth of a second."""


def prepare(tool: ToolDescription, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments to send. Raises ArgumentError: which argument, what is expected, what was sent."""
    coerced, refusal = check(tool, arguments)
    if refusal:
        raise ArgumentError(refusal)
    return coerced


def check(tool: ToolDescription, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the arguments, coerced where that makes them fit, and the refusal of the others; empty if all fit.

    Arguments for which that is not found out in time are not refused: the API judges them, and the log says so.
    """
    coerced, failures, sentences = dict(arguments), list[Failure](), list[str]()
    undecided = undecided_patterns()
    known = verdict(tool.input_schema, arguments)
    if known is not True:
        try:
            coerced, failures = _judge(tool.input_schema, coerced)
        except BudgetSpent:
            if known is False:
                sentences = _refused_part(tool.input_schema, coerced)
            else:
                logger.warning("The arguments of %s are too complex to be judged; the API judges them.", tool.name)
                undecided = undecided_patterns()  # said already
        except RecursionError:
            return coerced, "The arguments are nested too deeply to be checked."
    failures = _shallowest_first(failures)
    sentences = [*misspellings(tool.input_schema, coerced), *explain(failures), *sentences]
    if not sentences:
        if undecided_patterns() != undecided:
            logger.warning("A pattern takes too long for the arguments of %s; the API judges them.", tool.name)
        return coerced, ""
    listed = _listed(tool, sentences, is_complete=len(failures) < MAX_FAILURES) + _homonyms(tool, failures)
    return coerced, listed + _advice(tool.input_schema, coerced, failures, is_list=len(sentences) > 1)


def _advice(schema: Schema, arguments: Mapping[str, Any], failures: Sequence[Failure], *, is_list: bool) -> str:
    """Return what fits at the places of the first failures, behind the sentences about them."""
    if not failures or exceeds(arguments, MAX_SMALL_PARTS):
        return ""
    from .advice import advice

    sentences = advice(schema, arguments, failures)
    return f"\n{' '.join(sentences)}" if sentences and is_list else "".join(f" {each}" for each in sentences)


def _judge(schema: Schema, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[Failure]]:
    """Return the coerced arguments, and the first failures of these. Raises BudgetSpent and RecursionError."""
    judge = Judge(schema, MAX_STEPS if exceeds(arguments, MAX_SMALL_PARTS) else _MAX_SMALL_STEPS)
    failures = judge.failures(schema, arguments)
    coerced = Coercion(judge).coerce(schema, arguments, known=failures) if failures else arguments
    if coerced is arguments:
        return coerced, failures
    return coerced, [] if verdict(schema, coerced) else judge.failures(schema, coerced)


def _shallowest_first(failures: Sequence[Failure]) -> list[Failure]:
    return sorted(failures, key=lambda failure: len(failure.path))


def _refused_part(schema: Schema, arguments: dict[str, Any]) -> list[str]:
    """Return the sentences about arguments that certainly do not fit, where it would take too long to find out why."""
    place = refused_part(schema, arguments)
    try:
        failures = Judge(schema, _MAX_PLACE_STEPS).failures(place.schema, place.value)
    except (BudgetSpent, RecursionError):
        failures = []
    whole = [failure._replace(path=(*place.path, *failure.path)) for failure in _shallowest_first(failures)]
    return explain(whole) or [f"{location(place.path)} does not fit its schema, and is too complex to say why."]


def _homonyms(tool: ToolDescription, failures: Sequence[Failure]) -> str:
    """Return which argument is which, where one that failed shares its original name with another."""
    if not isinstance(tool, Tool):
        return ""
    failed = {str(failure.path[0]) for failure in failures if failure.path}
    failed |= {name for failure in failures if failure.keyword == "required" for name in failure.names}
    text = ""
    for wire_name in dict.fromkeys(item.wire_name for item in tool.arguments if item.name in failed and item.wire_name):
        group = [f"`{item.name}` in the {item.location}" for item in tool.arguments if item.wire_name == wire_name]
        text += f" The API has `{wire_name}` more than once: {', '.join(group)}." if len(group) > 1 else ""
    return text


def _listed(tool: ToolDescription, sentences: Sequence[str], *, is_complete: bool) -> str:
    """Return one sentence as it is, several as a short list."""
    if len(sentences) == 1:
        return sentences[0]
    shown = list(sentences[:MAX_LISTED])
    while len(shown) > 1 and sum(map(len, shown)) > _MAX_LISTED_LENGTH:
        shown.pop()
    listed = "".join(f"\n- {sentence}" for sentence in shown)
    rest = len(sentences) - len(shown)
    more = f"\n- … and {'' if is_complete else 'at least '}{rest} more." if rest > 0 else ""
    return f"The arguments do not fit `{tool.name}`:{listed}{more}"
