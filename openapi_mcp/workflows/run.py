"""`Run`: one call of a workflow, step by step, within limits of calls, time, depth and size.

Each call of an operation takes the way of any other call: its arguments are checked, credentials, rate limits, logs and
limits of hosts apply. What was sent is noted, so that a failure can say what was done before it.

Specification: Arazzo 1.1.0 "Step Object", "Success Action Object", "Failure Action Object".
"""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import httpx

from ..code_mode.report import MAX_ARGUMENT, Call, shorten
from ..overlay.paths import InvalidQuery
from ..runtime import background
from ..runtime.errors import RuntimeFailure
from ..runtime.request.context import FORWARDED
from ..runtime.server.catalog import CallByName
from ..runtime.types import MISSING, CallToolResult
from ..runtime.upstream.client import TRUNCATED
from ..runtime.upstream.retries import retry_after
from .evaluation.criteria import hold
from .evaluation.scope import Scope, StepExchange, exchange
from .evaluation.templates import fill
from .events import StepEvents
from .model import StepAction, Workflow, WorkflowKey, WorkflowStep
from .operations import OperationCall, StepRequest

MAX_VISITS: Final = 100
"""Steps of one run, retries and jumps counted: as many calls as a program of code mode makes."""

MAX_DEPTH: Final = 8
"""Workflows within each other."""

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one answer that a step works with."""

MAX_ALL_BYTES: Final = 32 * 1024 * 1024
"""Bytes of all answers of a run: their values may be kept until its end."""

_SMALL_BYTES: Final = 128 * 1024
"""Bytes of an answer that is read while the event loop waits: some milliseconds."""

_RESULT_BYTES: Final = 8 * 1024
"""Bytes of a call's own result, of which a run uses the message of an error."""


class RunLimitReached(RuntimeFailure):
    """A run that has made too many steps, is nested too deeply, or has read too much; no action goes on from there."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a workflow: its outputs, its last exchange, and the failure that it ended with, empty if with none.

    `note` tells of an action that ended it early.
    """

    outputs: Mapping[str, Any]
    exchange: StepExchange
    failure: str = ""
    note: str = ""


@dataclass(slots=True)
class Run:
    """A call of one of some workflows. `sent` are the calls that the APIs received, `doing` tells what is done now.

    `seconds` are those of the whole run, None for any number.
    """

    workflows: Mapping[WorkflowKey, Workflow]
    call: CallByName
    seconds: float | None = None
    sent: list[Call] = field(default_factory=list)
    doing: str = ""
    _visits: int = 0
    _bytes: int = 0
    _done: set[tuple[WorkflowKey, str]] = field(default_factory=set)
    _records: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)

    async def workflow(self, key: WorkflowKey, inputs: Mapping[str, Any], depth: int = 1) -> Outcome:
        """Run a workflow after those that it depends on, and return how it ended. Raises RunLimitReached."""
        if depth > MAX_DEPTH:
            raise RunLimitReached(f"The workflows are nested more than {MAX_DEPTH} deep, the last of them {key[1]}.")
        workflow = self.workflows[key]
        for each in workflow.depends_on:
            before = await self.workflow(each, _inputs_of(self.workflows[each], inputs), depth + 1)
            if before.failure:
                return Outcome({}, before.exchange, f"{each[1]}, which runs before it: {before.failure}")
        records = self._records.setdefault(key[0], {})
        given = {**workflow.inputs.defaults, **inputs}
        constants = workflow.constants
        scope = Scope(given, lambda expression: constants.get(expression.text, MISSING), records)
        records[workflow.id] = {"inputs": given, "outputs": {}}
        outcome = await _WorkflowRun(self, workflow, scope, depth).run()
        records[workflow.id]["outputs"] = outcome.outputs
        return outcome

    def visit(self, workflow: Workflow, step: WorkflowStep) -> None:
        """Count a step. Raises RunLimitReached."""
        self.doing = f"{step.id} ({step.label})"
        self._visits += 1
        if self._visits > MAX_VISITS:
            raise RunLimitReached(f"The workflow {workflow.id} has made {MAX_VISITS} steps, which is the limit.")

    def finished(self, key: WorkflowKey, step: str) -> None:
        """Note a step that has ended well."""
        self._done.add((key, step))

    def has_finished(self, key: WorkflowKey, step: str) -> bool:
        """Return whether a step has ended well."""
        return (key, step) in self._done

    def remaining(self) -> float:
        """Return the seconds that the run has left."""
        return float("inf") if self.seconds is None else self._began + self.seconds - time.monotonic()

    async def operation(self, call: OperationCall, scope: Scope) -> str:
        """Make the call of a step, and give its exchange to the scope; return why it failed, or an empty text.

        Raises RunLimitReached.
        """
        try:
            request = call.request(scope)
        except (RuntimeFailure, InvalidQuery) as failure:
            scope.exchange = StepExchange()
            return f"its values cannot be used: {failure}"
        note, responses = Call(call.tool, shorten(request.arguments)), list[httpx.Response]()
        result = await self._made(call, request, responses, note)
        if not responses:
            scope.exchange = StepExchange(method=call.tool.method, given=request.given, sent=request.sent)
            return _text(result) or "the API gave no answer"
        response = responses[-1]
        self._check_size(response)
        sanitizer = self.call.using(self.call.events, call.api).sanitizer
        read = partial(exchange, response, request.given, request.sent, sanitizer)
        is_small = len(response.content) <= _SMALL_BYTES
        scope.exchange = read() if is_small else await background.run("large", read)
        body = scope.exchange.body
        made = body.get("id") if isinstance(body, dict) else None
        note.made = str(made)[:MAX_ARGUMENT] if isinstance(made, str) or type(made) is int else ""
        return _text(result) if response.status_code >= 400 or result.is_error else ""

    async def _made(
        self, call: OperationCall, request: StepRequest, responses: list[httpx.Response], note: Call
    ) -> CallToolResult:
        """Make a call; what it sends besides the arguments goes to the API of the call alone."""

        def on_sent(status: int) -> None:
            note.status = status
            if note not in self.sent:  # it may be sent again with another token
                self.sent.append(note)

        calls = self.call.using(StepEvents(self.call.events, responses), call.api)
        tool = replace(call.tool, confirm=False, select=None)  # the user was asked before; steps read whole answers
        token = FORWARDED.set((*(() if call.api else FORWARDED.get()), *request.headers))
        try:
            result = await calls(tool, request.arguments, max_result_bytes=_RESULT_BYTES, on_sent=on_sent)
        finally:
            FORWARDED.reset(token)
        responses[:] = map(calls.sanitizer.response, responses[-1:])
        return result

    def _check_size(self, response: httpx.Response) -> None:
        size = len(response.content)
        self._bytes += size
        if response.extensions.get(TRUNCATED) or size > MAX_BODY_BYTES:
            raise RunLimitReached(f"The answer has more than {MAX_BODY_BYTES:,} bytes, the most that a workflow reads.")
        if self._bytes > MAX_ALL_BYTES:
            raise RunLimitReached(f"The answers have more than {MAX_ALL_BYTES:,} bytes together, which is the limit.")


@dataclass(slots=True)
class _WorkflowRun:
    """The steps of one workflow in a run."""

    whole: Run
    workflow: Workflow
    scope: Scope
    depth: int
    _retries: Counter[str] = field(default_factory=Counter)

    async def run(self) -> Outcome:
        """Carry out the steps from the first one on, as their actions say."""
        index, steps = 0, self.workflow.steps
        while index < len(steps):
            step = steps[index]
            failure = await self._step(step)
            action = await self._action(step, failed=bool(failure))
            if action is None:
                if failure:
                    return self._failed(step, failure)
                index += 1
            elif action.type == "end":
                return self._outcome(note=self._note(step, action, failure))
            elif action.type == "retry":
                failure = await self._prepare_retry(step, action, failure)
                if failure:
                    return self._failed(step, failure)
                continue
            elif action.workflow is not None:
                return await self._transfer(action)
            else:
                index = self.workflow.index_of(action.step or "")
            self._retries.clear()
        return self._outcome()

    async def _step(self, step: WorkflowStep) -> str:
        """Carry out a step once; return why it failed, or an empty text."""
        self.whole.visit(self.workflow, step)
        for key, name in step.depends_on:
            if not self.whole.has_finished(key or self.workflow.key, name):
                self.scope.exchange = StepExchange()
                return f"it depends on the step {name}, which has not succeeded"
        try:
            async with asyncio.timeout(step.timeout):
                failure = await self._called(step)
        except TimeoutError:
            self.scope.exchange = StepExchange()
            failure = f"it did not end within {step.timeout or 0:g} seconds, its `timeout`"
        failure = await self._judged(step, failure)
        if not failure:
            self.whole.finished(self.workflow.key, step.id)
        place = f"step {self.workflow.index_of(step.id) + 1} of {len(self.workflow.steps)}, {step.id}"
        status = self.scope.exchange.status or "no answer"
        await self.whole.call.events.on_step(f"{place}: {'failed, ' if failure else ''}{status}")
        return failure

    async def _called(self, step: WorkflowStep) -> str:
        if step.call is not None:
            return await self.whole.operation(step.call, self.scope)
        assert step.workflow is not None  # noqa: S101  # it calls one of both
        outcome = await self._called_workflow(step.workflow, step.inputs)
        self.scope.outputs, self.scope.exchange = outcome.outputs, outcome.exchange
        return outcome.failure

    async def _called_workflow(self, key: WorkflowKey, inputs: Mapping[str, Any]) -> Outcome:
        try:
            filled = {name: fill(value, self.scope) for name, value in inputs.items()}
        except (RuntimeFailure, InvalidQuery) as failure:
            return Outcome({}, StepExchange(), f"its inputs cannot be used: {failure}")
        given = {name: value for name, value in filled.items() if value is not MISSING}
        return await self.whole.workflow(key, given, self.depth + 1)

    async def _judged(self, step: WorkflowStep, failure: str) -> str:
        """Return why a step failed, by its criteria if it has any and there was an answer; make its outputs."""
        is_answered = bool(self.scope.exchange.status) or (step.workflow is not None and not failure)
        if not is_answered:
            return failure or "there was no answer"
        if step.criteria and not (step.workflow is not None and failure):
            holds = await hold(step.criteria, self.scope)
            failure = "" if holds else failure or self._unmet()
        try:
            outputs = {name: fill(value, self.scope) for name, value in step.outputs.items()}
        except (RuntimeFailure, InvalidQuery) as error:
            return failure or f"an output cannot be read: it {error}"
        self.scope.steps[step.id] = {name: value for name, value in outputs.items() if value is not MISSING}
        return failure

    def _unmet(self) -> str:
        status = self.scope.exchange.status
        return f"its success criteria do not hold{f' (status {status})' if status else ''}"

    async def _action(self, step: WorkflowStep, *, failed: bool) -> StepAction | None:
        """Return the action that follows a step: the first whose criteria hold, but no retry beyond its limit."""
        for action in step.on_failure if failed else step.on_success:
            is_spent = action.type == "retry" and self._retries[action.name] >= action.retry_limit
            if not is_spent and await hold(action.criteria, self.scope):
                return action
        return None

    async def _prepare_retry(self, step: WorkflowStep, action: StepAction, failure: str) -> str:
        """Wait, and carry out what a retry runs before; return why the step cannot be tried again, or an empty text."""
        self._retries[action.name] += 1
        asked = retry_after(self.scope.exchange.headers.get("retry-after"), time.time())
        wait = action.retry_after if asked is None else asked
        if wait >= self.whole.remaining():
            return f"{failure}\nIt is not retried: the call has no time left to wait {wait:g} seconds."
        if action.workflow is not None:
            outcome = await self._called_workflow(action.workflow, action.inputs)
            if outcome.failure:
                return f"{failure}\nThe workflow {action.workflow[1]}, which runs before a retry: {outcome.failure}"
        elif action.step is not None:
            other = self.workflow.steps[self.workflow.index_of(action.step)]
            if reason := await self._step(other):
                return f"{failure}\nThe step {other.id}, which runs before a retry of {step.id}: {reason}"
        await asyncio.sleep(wait)
        return ""

    async def _transfer(self, action: StepAction) -> Outcome:
        """Go on in another workflow, whose end is that of this one."""
        assert action.workflow is not None  # noqa: S101  # the caller has seen it
        outcome = await self._called_workflow(action.workflow, action.inputs)
        own = self._outcome().outputs
        outputs = {**{name: value for name, value in own.items() if value is not None}, **outcome.outputs}
        return Outcome(outputs, outcome.exchange, outcome.failure, outcome.note)

    def _failed(self, step: WorkflowStep, failure: str) -> Outcome:
        return Outcome({}, self.scope.exchange, f"the step {step.id} of {self.workflow.id} ({step.label}): {failure}")

    def _note(self, step: WorkflowStep, action: StepAction, failure: str) -> str:
        after = f" after it failed: {failure}" if failure else ""
        return f"The workflow ended with the step {step.id} (action {action.name}){after}."

    def _outcome(self, note: str = "") -> Outcome:
        """Return the end of the workflow with its outputs; one without a value is null."""
        outputs = dict[str, Any]()
        for name, value in self.workflow.outputs.items():
            try:
                filled = fill(value, self.scope)
            except (RuntimeFailure, InvalidQuery) as error:
                return Outcome({}, self.scope.exchange, f"the output {name} of {self.workflow.id}: it {error}")
            outputs[name] = None if filled is MISSING else filled
        return Outcome(outputs, self.scope.exchange, note=note)


def _inputs_of(workflow: Workflow, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of some inputs that a workflow has."""
    names = set(workflow.inputs.names.values())
    return dict(inputs) if "" in names else {name: value for name, value in inputs.items() if name in names}


def _text(result: CallToolResult) -> str:
    texts: Sequence[str] = [block["text"] for block in result.content if block["type"] == "text"]
    return "\n".join(texts)
