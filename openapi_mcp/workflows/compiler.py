"""Compile the workflows of Arazzo Descriptions: each becomes a `Workflow`, or Problems with its place.

A part that cannot be compiled costs its workflow, and those that call it; a part without effect is a Problem only.
Specification: Arazzo 1.1.0 "Workflow Object", "Step Object", "Step Dependencies and Execution Order".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..curation.keys import TOOL_KEYS, valid_keys
from ..errors import Problem
from ..tools.names import suggest_names
from .documents import Description
from .evaluation.expressions import Expression, expressions_of, shown
from .inputs import InputSchemas, with_inputs_of
from .model import Defect, Inputs, Workflow, WorkflowKey, WorkflowStep
from .parts import FIELDS, PartReader
from .references import OperationReferences

MAX_WORKFLOWS: Final = 200
"""Workflows of a document; a list of tools that is longer is no list for a model."""

_REQUIRED: Final = ("info", "sourceDescriptions")
_OWN_KEYS: Final = {
    name: schema
    for name, schema in TOOL_KEYS.items()
    if name in {"name", "title", "description", "annotations", "hidden", "enabled"}
}
"""The keys of `x-mcp` on a workflow."""

MAX_STEPS: Final = 200
"""Steps of a workflow."""


class WorkflowCompiler:
    """The compiler of all descriptions of a server. `problems` are the defects that it found."""

    def __init__(self, references: OperationReferences, report: Callable[[Problem], None]) -> None:
        self._references = references
        self._report = report

    def compile(self, descriptions: Sequence[Description]) -> dict[WorkflowKey, Workflow]:
        """Return the workflows of some descriptions that can be run, by their keys."""
        workflows: dict[WorkflowKey, Workflow] = {}
        for description in descriptions:
            schemas = InputSchemas(description)
            for index, node in enumerate(self._nodes(description)):
                workflow = self._workflow(description, schemas, index, node)
                if workflow is not None and workflow.key in workflows:
                    message = f"{shown(workflow.id)} is the id of another workflow too: this one is left out"
                    self._problem(workflow.pointer, message, "give each workflow its own workflowId")
                elif workflow is not None:
                    workflows[workflow.key] = workflow
            for problem in schemas.problems:
                self._report(problem)
        self._drop_broken(workflows)
        return {key: _with_dependencies(workflow, workflows) for key, workflow in workflows.items()}

    def _nodes(self, description: Description) -> list[Any]:
        nodes = description.root.get("workflows")
        for name in () if description.is_short else _REQUIRED:
            if not isinstance(description.root.get(name), dict if name == "info" else list):
                self._problem(description.place(), f"the description has no `{name}`", "Arazzo requires it")
        if not isinstance(nodes, list) or not nodes:
            self._problem(description.place("workflows"), "the description has no workflows", "add one")
            return []
        if len(nodes) > MAX_WORKFLOWS:
            self._problem(description.place("workflows"), f"only the first {MAX_WORKFLOWS} workflows are read")
        for name in description.root.keys() - FIELDS["description"]:
            if not str(name).startswith("x-"):
                self._problem(description.place(name), f"{shown(str(name))} is not a field of an Arazzo Description")
        return nodes[:MAX_WORKFLOWS]

    def _workflow(self, description: Description, schemas: InputSchemas, index: int, node: Any) -> Workflow | None:
        reader = _WorkflowReader(description, self._references, self._report, ("workflows", index))
        try:
            return reader.workflow(node, schemas)
        except Defect as defect:
            self._report(defect.problem)
            return None

    def _drop_broken(self, workflows: dict[WorkflowKey, Workflow]) -> None:
        """Remove workflows that need one that could not be compiled."""
        while broken := [(each, key) for each in workflows.values() for key in needed(each) if key not in workflows]:
            for workflow, key in broken:
                if workflows.pop(workflow.key, None) is not None:
                    message = f"the workflow {workflow.id} needs {key[1]}, which cannot be run"
                    self._problem(workflow.pointer, message, "see the problems of that workflow")

    def _problem(self, pointer: str, message: str, hint: str = "") -> None:
        self._report(Problem(pointer=pointer, message=message, kind="workflow", hint=hint))


def needed(workflow: Workflow) -> Iterator[WorkflowKey]:
    """Yield the keys of the workflows that one may run."""
    yield from workflow.depends_on
    for step in workflow.steps:
        if step.workflow is not None:
            yield step.workflow
        yield from (each.workflow for each in (*step.on_success, *step.on_failure) if each.workflow is not None)


def _with_dependencies(workflow: Workflow, workflows: Mapping[WorkflowKey, Workflow]) -> Workflow:
    """Return a workflow whose inputs are also those of the workflows that run before it, at any depth."""
    inputs, pending, seen = workflow.inputs, list(workflow.depends_on), {workflow.key}
    while pending:
        key = pending.pop()
        if key not in seen:
            seen.add(key)
            inputs = with_inputs_of(inputs, workflows[key].inputs)
            pending += workflows[key].depends_on
    return replace(workflow, inputs=inputs)


class _WorkflowReader(PartReader):
    """The reader of one workflow."""

    def workflow(self, node: Any, schemas: InputSchemas) -> Workflow:
        """Return the workflow. Raises Defect; the defects of all its steps are reported."""
        self.object(node, "workflow", "workflowId", "steps")
        key = self.description.identity, node["workflowId"]
        inputs = schemas.of(node.get("inputs"), *self.tokens, "inputs")
        steps, defects = self._steps(node), list[Defect]()
        read = list[WorkflowStep]()
        for index, step in steps:
            try:
                read.append(self._step(index, step, node))
            except Defect as defect:
                defects.append(defect)
        for each in defects[1:]:
            self.report(each.problem)
        if defects:
            raise defects[0]
        outputs = self.outputs(node.get("outputs"), "outputs")
        ordered = self._ordered(read)
        self._check_expressions(ordered, inputs, outputs)
        title, description = self.text(node.get("summary")), self.text(node.get("description"))
        return Workflow(
            key=key,
            pointer=self.place(),
            inputs=inputs,
            steps=ordered,
            title=title,
            description=description,
            outputs=outputs,
            depends_on=tuple(self._dependencies(node)),
            constants=self._constants(),
            own=self._own(node.get("x-mcp")),
        )

    def _steps(self, node: Mapping[str, Any]) -> list[tuple[int, Any]]:
        steps = node["steps"]
        if not isinstance(steps, list) or not steps or len(steps) > MAX_STEPS:
            raise Defect(self.place("steps"), f"a workflow has 1 to {MAX_STEPS} steps", "`steps` is a list of objects")
        self.step_ids = [each["stepId"] for each in steps if isinstance(each, dict) and "stepId" in each]
        return list(enumerate(steps))

    def _step(self, index: int, node: Any, workflow: Mapping[str, Any]) -> WorkflowStep:
        here = self.at("steps", index)
        here.object(node, "step", "stepId")
        name = node["stepId"]
        if self.step_ids.count(name) > 1:
            raise Defect(here.place("stepId"), f"{shown(name)} is the id of several steps", "give each its own")
        kinds = [kind for kind in ("operationId", "operationPath", "workflowId", "channelPath") if kind in node]
        if len(kinds) != 1 or kinds == ["channelPath"]:
            reason = (
                "has a `channelPath`: AsyncAPI is not supported" if "channelPath" in kinds else "names no operation"
            )
            hint = "a step has one of operationId, operationPath and workflowId"
            raise Defect(here.place(), f"the step {shown(name)} {reason if len(kinds) < 2 else 'names several'}", hint)
        common = {
            "id": name,
            "pointer": here.place(),
            "criteria": here.criteria(node.get("successCriteria"), "successCriteria"),
            "on_success": here.actions(node, workflow, "onSuccess", "successActions"),
            "on_failure": here.actions(node, workflow, "onFailure", "failureActions"),
            "outputs": here.outputs(node.get("outputs"), "outputs"),
            "timeout": here.seconds(node.get("timeout")),
            "depends_on": tuple(here.step_dependencies(node.get("dependsOn"))),
        }
        if "workflowId" in node:
            key = self.references.workflow(self.description, node["workflowId"], here.place("workflowId"))
            inputs = {each.name: each.value for each in here.parameters(node, workflow)}
            return WorkflowStep(workflow=key, inputs=inputs, **common)
        return WorkflowStep(call=here.call(node, workflow), **common)

    def _dependencies(self, node: Mapping[str, Any]) -> Iterator[WorkflowKey]:
        for index, reference in enumerate(self.items(node.get("dependsOn"), "dependsOn")):
            yield self.references.workflow(self.description, reference, self.place("dependsOn", index))

    def _ordered(self, steps: Sequence[WorkflowStep]) -> tuple[WorkflowStep, ...]:
        """Return steps in an order in which those that others depend on come first, if any says so.

        Where actions jump, the order is that of the document. Raises Defect for a circle.
        """
        own = {step.id: {name for key, name in step.depends_on if key is None} for step in steps}
        if not any(own.values()) or any(each.step for step in steps for each in (*step.on_success, *step.on_failure)):
            return tuple(steps)
        for step in steps:
            own[step.id] |= {each.names[0] for each in expressions_of(_values(step)) if each.source == "steps"}
        waiting, ordered = list(steps), list[WorkflowStep]()
        while waiting:
            done = {step.id for step in ordered}
            ready = next((each for each in waiting if own[each.id] & own.keys() <= done), None)
            if ready is None:
                names = ", ".join(each.id for each in waiting)
                raise Defect(waiting[0].pointer, f"the steps {names} depend on each other", "remove a dependsOn")
            waiting.remove(ready)
            ordered.append(ready)
        return tuple(ordered)

    def _check_expressions(self, steps: Sequence[WorkflowStep], inputs: Inputs, outputs: Mapping[str, Any]) -> None:
        """Report expressions whose value is always missing. Raises Defect for a step that is not there."""
        places = {step.id: (index, set(step.outputs)) for index, step in enumerate(steps)}
        jumps = any(
            each.step or each.type == "retry" for step in steps for each in (*step.on_success, *step.on_failure)
        )
        known = set(inputs.names.values()) | set(inputs.names)
        for index, step in enumerate(steps):
            for expression in expressions_of(_values(step)):
                later = self._check(expression, step.pointer, places, known)
                if later >= index and not jumps:
                    message = (
                        f"{shown(expression.text)} has no value yet in the step {step.id}, which runs before that one"
                    )
                    self.problem(step.pointer, message, "change the order of the steps")
        for expression in expressions_of(dict(outputs)):
            self._check(expression, self.place("outputs"), places, known)

    def _check(
        self, expression: Expression, pointer: str, places: Mapping[str, tuple[int, set[str]]], inputs: set[str]
    ) -> int:
        """Return the place of the step that an expression names, or -1."""
        if expression.is_loose:
            id_, name = expression.names
            self.problem(pointer, f"{shown(expression.text)} is read as $steps.{id_}.outputs.{name}", "write it so")
        first = expression.names[0] if expression.names else ""
        is_known = "" in inputs or {first, first.split(".")[0]} & inputs
        if expression.source == "inputs" and not is_known:
            hint = suggest_names(expression.names[0], inputs) or "add it to the inputs"
            self.problem(pointer, f"the workflow has no input {expression.names[0]}", hint)
        if expression.source != "steps":
            return -1
        step, output = expression.names[0], expression.names[1]
        if step not in places:
            hint = suggest_names(step, places) or f"steps are {', '.join(places)}"
            raise Defect(pointer, f"{shown(expression.text)} names no step of this workflow", hint)
        if not {output, output.split(".")[0]} & places[step][1]:
            hint = suggest_names(output, places[step][1]) or "add it to the outputs of that step"
            self.problem(pointer, f"the step {step} has no output {output}: it is always missing", hint)
        return places[step][0]

    def _constants(self) -> dict[str, Any]:
        constants: dict[str, Any] = {}
        if "$self" in self.description.root:
            constants["$self"] = self.description.identity
        for each in self.description.sources.values():
            start = f"$sourceDescriptions.{each.name}"
            constants |= {f"{start}.url": each.url, f"{start}.type": each.type, f"{start}.name": each.name}
        return constants

    def _own(self, value: Any) -> dict[str, Any]:
        """Return the valid keys of `x-mcp`."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.problem(self.place("x-mcp"), "`x-mcp` of a workflow is an object")
            return {}
        return dict(valid_keys(value, _OWN_KEYS, lambda message: self.problem(self.place("x-mcp"), message)))


def _values(step: WorkflowStep) -> list[Any]:
    """Return the values of a step that hold expressions which must be known before it runs."""
    call = [step.call.values, step.call.headers, step.call.payload] if step.call else []
    return [call, dict(step.inputs)]
