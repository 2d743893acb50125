"""`WorkflowTool`: a workflow as a tool with one inputSchema and one result; `Workflows`: those of a server.

The hints of a workflow follow from its steps: it only reads if all of them do, and destroys if one does. A token needs
the scopes of every operation that the workflow may call.

Specification: MCP server/tools ("ToolAnnotations", "Structured Content"); Arazzo 1.1.0 "Workflow Object".
"""

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from .. import plain_text
from ..code_mode.report import report
from ..errors import Problem
from ..runtime import background, jsontext
from ..runtime.result import truncation
from ..runtime.server.catalog import BuiltinTool, CallByName
from ..runtime.tool import Tool
from ..runtime.types import CallToolResult, JsonObject, Schema, error_result, text_content
from ..tools.names import MAX_NAME_LENGTH, ascii_text, shorten
from .compiler import needed
from .evaluation.scope import StepExchange
from .inputs import values_of
from .model import Workflow, WorkflowKey
from .run import Outcome, Run, RunLimitReached

CALLS: Final = "openapi-mcp/calls"
"""The name in `_meta` of the calls that a workflow sent: their numbers by tool."""

MAX_RESULT_BYTES: Final = 500_000
"""Bytes of a result, also where --max-result-tokens allows more: a client drops a larger event after notifications."""

_MAX_SHOWN_STEPS: Final = 12
"""Steps that a description lists."""


class Consent(Protocol):
    """A source of questions to users before workflows, which it gets as tools."""

    def as_listed(self, workflow: Tool, operations: Iterable[Tool]) -> Tool | None:
        """Return a workflow with the argument that an answer needs; None if it needs no consent."""

    async def ask(self, workflow: Tool, arguments: Mapping[str, Any], call: CallByName) -> Mapping[str, Any]:
        """Return the arguments of a workflow that may run. Raises RuntimeFailure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowTool(BuiltinTool):
    """A workflow as a built-in tool: its `steps`, and its place in its document.

    A step is its id and what it calls.
    """

    steps: tuple[tuple[str, str], ...] = ()
    pointer: str = ""

    @property
    def scopes(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """The scopes of each operation."""
        return tuple(tool.scopes for tool in self.operations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflows:
    """The workflows of a server as tools, the problems of their documents, and the files that these were read from.

    `digests` are those of the files by address, `validators` their headers for conditional requests. `apis` are the
    names of the other APIs that the workflows call, with the addresses of their documents.
    """

    tools: tuple[WorkflowTool, ...] = ()
    problems: tuple[Problem, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    validators: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    apis: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowLimits:
    """The seconds of a call of a workflow (None: any number), the bytes of its result, its name.

    The name begins with `prefix` and has `max_name` characters at most.
    """

    seconds: float | None
    result_bytes: int
    prefix: str = ""
    max_name: int = MAX_NAME_LENGTH


def workflow_tools(
    workflows: Mapping[WorkflowKey, Workflow],
    listed: Iterable[WorkflowKey],
    limits: WorkflowLimits,
    taken: Collection[str],
    consent: Consent | None,
) -> tuple[WorkflowTool, ...]:
    """Return the tools of some workflows, which have no name that is `taken`. Hidden ones are left out."""
    tools, names = list[WorkflowTool](), set(taken)
    for key in listed:
        workflow = workflows[key]
        if not workflow.own.get("hidden") and workflow.own.get("enabled", True):
            tools.append(_tool(workflow, workflows, limits, _name(workflow, names, limits), consent))
            names.add(tools[-1].name)
    return tuple(tools)


def _tool(
    workflow: Workflow,
    workflows: Mapping[WorkflowKey, Workflow],
    limits: WorkflowLimits,
    name: str,
    consent: Consent | None,
) -> WorkflowTool:
    operations = tuple(_operations(workflow, workflows))
    steps = tuple((step.id, step.label) for step in workflow.steps)
    asked = consent.as_listed(_as_operation(workflow, name, operations), operations) if consent else None
    runner = _Runner(workflow, workflows, limits, consent, asked)
    return WorkflowTool(
        name=name,
        title=plain_text.line(workflow.own.get("title") or workflow.title or workflow.id),
        description=_description(workflow),
        input_schema=asked.input_schema if asked else workflow.inputs.schema,
        output_schema=_output_schema(workflow),
        annotations=_annotations(operations) | workflow.own.get("annotations", {}),
        answer=runner.answer,
        target=lambda _: name,
        operations=operations,
        steps=steps,
        pointer=workflow.pointer,
    )


def _operations(workflow: Workflow, workflows: Mapping[WorkflowKey, Workflow]) -> Iterable[Tool]:
    """Return the operations that a workflow may call, itself or in others, each once."""
    pending, seen = [workflow.key], {workflow.key}
    found: dict[tuple[str, str], Tool] = {}
    while pending:
        current = workflows[pending.pop()]
        found |= {(step.call.api, step.call.tool.name): step.call.tool for step in current.steps if step.call}
        new = set(needed(current)) - seen
        seen |= new
        pending += new
    return found.values()


def _name(workflow: Workflow, taken: Collection[str], limits: WorkflowLimits) -> str:
    """Return a legal name that is not taken, in any case: that of `x-mcp`, else the workflowId."""
    folded = {name.casefold() for name in taken}
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", ascii_text(str(workflow.own.get("name") or workflow.id))).strip("_-")
    name = limits.prefix + shorten(name or "workflow", limits.max_name - len(limits.prefix))
    candidates = (name, *(shorten(name, limits.max_name - 12) + end for end in ("_workflow", "_workflow2")))
    free = (each for each in candidates if each.casefold() not in folded)
    numbered = (f"{shorten(name, limits.max_name - 6)}_{number}" for number in range(3, 10_000))
    return next(free, None) or next(each for each in numbered if each.casefold() not in folded)


def _description(workflow: Workflow) -> str:
    """Return the description for models: what the document says, then the steps."""
    text = workflow.own.get("description") or workflow.description or workflow.title or workflow.id
    labels = [step.label.rpartition(", ")[2] for step in workflow.steps]
    more = len(labels) - _MAX_SHOWN_STEPS
    steps = " → ".join([*labels[:_MAX_SHOWN_STEPS], *([f"{more} more"] if more > 0 else [])])
    return plain_text.append(plain_text.trim(plain_text.clean(text)), f"A workflow of several calls: {steps}.")


def _output_schema(workflow: Workflow) -> Schema | None:
    if not workflow.outputs:
        return None
    return {"type": "object", "properties": {name: {} for name in workflow.outputs}}


def _annotations(operations: Iterable[Tool]) -> dict[str, bool]:
    changing = [tool.annotations for tool in operations if not tool.annotations.get("readOnlyHint")]
    if not changing:
        return {"readOnlyHint": True, "openWorldHint": True}
    hints = {annotations.get("destructiveHint") for annotations in changing}
    destructive = {"destructiveHint": True} if True in hints else {"destructiveHint": False} if hints == {False} else {}
    return {"readOnlyHint": False, **destructive, "idempotentHint": False, "openWorldHint": True}


@dataclass(frozen=True, slots=True)
class _Runner:
    """The runner of one workflow for clients."""

    workflow: Workflow
    workflows: Mapping[WorkflowKey, Workflow]
    limits: WorkflowLimits
    consent: Consent | None
    asked: Tool | None
    """The workflow as a tool whose calls need the user's consent; None where they need none."""

    async def answer(self, arguments: Mapping[str, Any], call: CallByName) -> CallToolResult:
        """Answer a call of the tool. Raises RuntimeFailure."""
        if self.consent is not None and self.asked is not None:
            arguments = await self.consent.ask(self.asked, arguments, call)
        run = Run(self.workflows, call, self.limits.seconds)
        try:
            async with asyncio.timeout(self.limits.seconds):
                outcome = await run.workflow(self.workflow.key, values_of(self.workflow.inputs, arguments))
        except TimeoutError:
            seconds = f"{self.limits.seconds:g} seconds (`--total-timeout`)"
            outcome = Outcome({}, StepExchange(), f"it did not end within {seconds}; it was at the step {run.doing}")
        except RunLimitReached as limit:
            outcome = Outcome({}, StepExchange(), f"at the step {run.doing}: {limit}")
        meta = {CALLS: dict(Counter(each.tool.name for each in run.sent))}
        if outcome.failure:
            failure = f"The workflow {self.workflow.id} failed: {outcome.failure}"
            made = report(run.sent, "before the error") or "No call was made before the error."
            result = error_result(f"{failure}\n\n{made}")
            return CallToolResult(content=result.content, is_error=True, meta=meta)
        write = partial(_result, outcome, report(run.sent), self.limits.result_bytes, meta)
        is_large = background.exceeds(outcome.outputs, background.MAX_SMALL_PARTS)
        return await background.run("large", write) if is_large else write()


def _as_operation(workflow: Workflow, name: str, operations: Iterable[Tool]) -> Tool:
    """Return a workflow as a question to its user shows it: with its steps instead of method and path."""
    return Tool(
        name=name,
        description="",
        input_schema=workflow.inputs.schema,
        annotations=_annotations(operations),
        method="workflow",
        path=" → ".join(step.label.rpartition(", ")[2] for step in workflow.steps[:_MAX_SHOWN_STEPS]),
    )


def _result(outcome: Outcome, calls: str, max_bytes: int, meta: JsonObject) -> CallToolResult:
    """Return the outputs as text and structured content, each in half of the limit, and notes."""
    limit = min(max_bytes, MAX_RESULT_BYTES) // 2
    outputs: Any = dict(outcome.outputs)
    notes: list[str] = []
    if not truncation.surely_fits(text := jsontext.write(outputs), limit):
        outputs, notes = truncation.truncate(outputs, limit)
        text = jsontext.write(outputs)
    cut = f"This is a part of the outputs. They were cut to {limit} bytes: {'; '.join(notes)}." if notes else ""
    texts = [*([cut] if cut else []), text, "\n".join(each for each in (outcome.note, calls) if each)]
    blocks = tuple(text_content(each) for each in texts if each)
    return CallToolResult(content=blocks, structured_content=outputs, meta=meta)
