"""Shapes of answers: what `x-mcp` selects of a tool's answers, and how a result shows what a shape has to say.

A call whose shape asks for several requests sends them as one call: with its rate limit, its time, and its log.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import httpx

from .. import background
from ..errors import ArgumentError
from ..result.headers import HEADERS
from ..tool import Tool
from ..types import CallToolResult, text_content
from .hooks import AnswerShape, Findings, Sending, ShapedAnswer

if TYPE_CHECKING:
    from ..result.projection import Projection, ProjectionError

R = TypeVar("R")

MAX_READ_BYTES: Final = 16 * 1024
"""Bytes of an answer of which something is selected while the event loop waits: about a millisecond."""


class SelectedAnswer:
    """The shape of a tool whose `x-mcp` selects a part of each answer."""

    async def answer(self, tool: Tool, arguments: Mapping[str, Any], sending: Sending) -> ShapedAnswer:
        """Return the selected part of the answer."""
        response, _ = await sending.send(tool, arguments)
        return await selected_part(tool, own_projections(tool), response, sending)


OWN_SHAPE: Final[AnswerShape] = SelectedAnswer()


async def shaped(
    shape: AnswerShape | None, tool: Tool, arguments: Mapping[str, Any], sending: Sending
) -> tuple[ShapedAnswer, Findings | None]:
    """Return the answer to a call, by default in its tool's shape, and the findings about its last request."""
    findings: list[Findings | None] = [None]

    async def send(tool: Tool, arguments: Mapping[str, Any]) -> tuple[httpx.Response, Findings | None]:
        response, findings[0] = await sending.send(tool, arguments)
        return response, findings[0]

    return await (shape or OWN_SHAPE).answer(tool, arguments, sending._replace(send=send)), findings[0]


def own_projections(tool: Tool) -> "tuple[Projection, ...]":
    """Return the expression of a tool's `x-mcp`, if it has one."""
    from ..result.projection import Projection

    return () if tool.select is None else (Projection.parse(tool.select),)


async def selected_part(
    tool: Tool, projections: "Sequence[Projection]", response: httpx.Response, sending: Sending
) -> ShapedAnswer:
    """Return what expressions take of a successful response, large ones beside the event loop; of others, all.

    Where that fails, the answer of a call that may have changed something is kept whole. Raises ArgumentError.
    """
    if not response.is_success or not response.content or not projections:
        return ShapedAnswer(response)
    from ..result.projection import ProjectionError, project

    try:
        part, note = await evaluated(len(response.content), partial(project, projections, response, sending.sanitizer))
    except ProjectionError as error:
        return unselected(tool, response, error)
    return ShapedAnswer(part, (note,) if note else ())


async def evaluated(size: int, function: Callable[[int], R]) -> R:
    """Return what a function returns that reads so many bytes and is told how many steps it may take.

    What is large, or takes many steps, is done beside the event loop. Raises ProjectionError.
    """
    from ..result.projection import MAX_QUICK_STEPS, MAX_STEPS, TooManySteps

    if size <= MAX_READ_BYTES:
        with suppress(TooManySteps):
            return function(MAX_QUICK_STEPS)
    return await background.run("large", function, MAX_STEPS)


def unselected(tool: Tool, response: httpx.Response, error: "ProjectionError") -> ShapedAnswer:
    """Return the whole answer of a call that must not be repeated. Raises ArgumentError for any other."""
    message = f"The API answered with {response.status_code}, but nothing was selected: {error}"
    if tool.annotations.get("readOnlyHint"):
        raise ArgumentError(message)
    return ShapedAnswer(response, (f"{message} This is the whole answer.",))


def with_notes(result: CallToolResult, answer: ShapedAnswer) -> CallToolResult:
    """Return a result with the notes of its answer, before the line of headers, which is the last."""
    notes = tuple(text_content(note) for note in answer.notes)
    end = len(result.content) - (HEADERS in result.meta)
    blocks = (*result.content[:end], *notes, *result.content[end:])
    return replace(result, content=blocks, meta={**result.meta, **answer.meta})
