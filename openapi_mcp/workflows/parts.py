"""The parts of workflows: parameters, bodies, criteria, actions and outputs, read with the place of each.

Specification: Arazzo 1.1.0 "Parameter Object", "Reusable Object", "Success Action Object", "Failure Action Object",
"Request Body Object", "Criterion Object"; of 1.0 the same.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

from .. import plain_text
from ..errors import Problem
from ..tools.names import suggest_names
from .documents import Description
from .evaluation.criteria import Criterion, compile_criterion
from .evaluation.expressions import Expression, ExpressionError, shown
from .evaluation.templates import Replacement, Selector, StepPayload, compile_payload, compile_value, selector_type
from .model import Defect, StepAction, WorkflowKey
from .operations import OperationCall, StepParameter, UnknownParameter, compile_call
from .references import OperationReferences

FIELDS: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "description": "arazzo $self info sourceDescriptions workflows components",
        "workflow": "workflowId summary description inputs dependsOn steps successActions failureActions outputs "
        "parameters",
        "step": "stepId description operationId operationPath channelPath workflowId parameters requestBody "
        "successCriteria onSuccess onFailure outputs timeout correlationId action dependsOn",
        "parameter": "name in value",
        "success action": "name type workflowId stepId parameters criteria",
        "failure action": "name type workflowId stepId parameters retryAfter retryLimit criteria",
        "criterion": "context condition type",
        "requestBody": "contentType payload replacements",
        "replacement": "target targetSelectorType value",
        "reusable object": "reference value",
    }.items()
}
"""The fields of each object; others are reported, unless they begin with `x-`."""

LOCATIONS: Final = frozenset({"path", "query", "querystring", "header", "cookie"})
MAX_ITEMS: Final = 500
"""Entries of a list in a description: of parameters, criteria, actions."""

MAX_RETRIES: Final = 100
"""Retries of a step; a run ends earlier by its number of calls or its time."""

_OUTPUT: Final = re.compile(r"[a-zA-Z0-9._-]+")
_COMPONENT: Final = re.compile(r"\$components\.([A-Za-z]+)\.([A-Za-z0-9._-]+)")
_STEP_OF_WORKFLOW: Final = re.compile(r"\$workflows\.(?P<workflow>.+)\.steps\.(?P<step>.+)")
_STEP_OF_OTHER: Final = re.compile(r"(?P<workflow>\$sourceDescriptions\..+)\.steps\.(?P<step>.+)")


class PartReader:
    """A reader of parts below one place of a description. `step_ids` are those of the workflow that is read."""

    def __init__(
        self,
        description: Description,
        references: OperationReferences,
        report: Callable[[Problem], None],
        tokens: tuple[str | int, ...],
    ) -> None:
        self.description = description
        self.references = references
        self.report = report
        self.tokens = tokens
        self.step_ids: Sequence[str] = ()

    def at(self, *tokens: str | int) -> Self:
        """Return a reader of a part of this one."""
        reader = type(self)(self.description, self.references, self.report, (*self.tokens, *tokens))
        reader.step_ids = self.step_ids
        return reader

    def place(self, *tokens: str | int) -> str:
        """Return the pointer of a part, with the address of its document."""
        return self.description.place(*self.tokens, *tokens)

    def problem(self, pointer: str, message: str, hint: str = "") -> None:
        """Report what costs nothing else."""
        self.report(Problem(pointer=pointer, message=message, kind="workflow", hint=hint))

    def object(self, node: Any, kind: str, *required: str) -> None:
        """Check an object: it has some texts, or lists, and no fields that it cannot have. Raises Defect."""
        if not isinstance(node, dict):
            raise Defect(self.place(), f"a {kind} is an object", "correct it")
        for name in required:
            if not isinstance(node.get(name), list if name == "steps" else str):
                noun = "a list" if name == "steps" else "a text"
                raise Defect(self.place(), f"a {kind} needs the field `{name}`, which is {noun}", "add it")
        for name in node.keys() - FIELDS[kind]:
            if not str(name).startswith("x-"):
                hint = suggest_names(str(name), FIELDS[kind])
                self.problem(
                    self.place(str(name)), f"{shown(str(name))} is not a field of a {kind}: it is left out", hint
                )

    def items(self, node: Any, name: str) -> list[Any]:
        """Return the entries of a list, which may be absent. Raises Defect."""
        if node is None:
            return []
        if not isinstance(node, list) or len(node) > MAX_ITEMS:
            raise Defect(self.place(name), f"`{name}` is a list of at most {MAX_ITEMS} entries", "correct it")
        return node

    def text(self, node: Any) -> str:
        """Return a text for people and models."""
        return plain_text.clean(node)

    def value(self, node: Any, *tokens: str | int) -> Any:
        """Return a compiled value; a parameter of the components has its value. Raises Defect."""
        try:
            value = compile_value(node)
        except ExpressionError as error:
            raise Defect(self.place(*tokens), str(error), 'see docs/workflows.md, "Expressions"') from None
        if isinstance(value, Expression) and value.source == "components":
            component = self.component(value.text, "parameters", *tokens)
            if str(component.get("value")).startswith("$components"):
                raise Defect(self.place(*tokens), f"{value.text} leads to another component", "write its value")
            return self.value(component.get("value"), *tokens)
        return value

    def criteria(self, node: Any, name: str) -> tuple[Criterion, ...]:
        """Return criteria. Raises Defect."""
        criteria = []
        for index, item in enumerate(self.items(node, name)):
            here = self.at(name, index)
            here.object(item, "criterion", "condition")
            if (
                isinstance(item.get("type"), dict)
                and item["type"].get("version") == "draft-goessner-dispatch-jsonpath-00"
            ):
                here.problem(here.place("type"), "the query is read as RFC 9535, not as a draft before it")
            try:
                criteria.append(compile_criterion(item))
            except ExpressionError as error:
                raise Defect(here.place(), str(error), 'see docs/workflows.md, "Criteria"') from None
        return tuple(criteria)

    def outputs(self, node: Any, name: str) -> dict[str, Any]:
        """Return outputs by name; one that is no expression is a Problem. Raises Defect."""
        if node is None:
            return {}
        if not isinstance(node, dict) or len(node) > MAX_ITEMS:
            raise Defect(self.place(name), f"`{name}` is an object of at most {MAX_ITEMS} outputs", "correct it")
        outputs: dict[str, Any] = {}
        for key, item in node.items():
            value = self.value(item, name, str(key))
            if isinstance(value, Expression | Selector) and _OUTPUT.fullmatch(str(key)):
                outputs[str(key)] = value
            else:
                hint = "a name has letters, digits, . - and _; a value is $response.body#/id, for example"
                self.problem(self.place(name, str(key)), f"the output {shown(str(key))} is left out", hint)
        return outputs

    def seconds(self, node: Any) -> float | None:
        """Return a time of a document, in milliseconds there, in seconds. Raises Defect."""
        if node is None:
            return None
        if isinstance(node, bool) or not isinstance(node, int) or node < 0:
            raise Defect(self.place("timeout"), "`timeout` is a number of milliseconds", "correct it")
        return node / 1000

    def step_dependencies(self, node: Any) -> Iterator[tuple[WorkflowKey | None, str]]:
        """Yield the steps that a step depends on. Raises Defect."""
        for index, item in enumerate(self.items(node, "dependsOn")):
            place = self.place("dependsOn", index)
            match = _STEP_OF_WORKFLOW.fullmatch(str(item)) or _STEP_OF_OTHER.fullmatch(str(item))
            if match:
                yield self.references.workflow(self.description, match["workflow"], place), match["step"]
            else:
                yield None, self.step_id(item, place)

    def parameters(self, step: Mapping[str, Any], workflow: Mapping[str, Any]) -> list[StepParameter]:
        """Return the parameters of a step, and those of its workflow that it does not replace. Raises Defect."""
        calls_workflow = "workflowId" in step
        own = self.parameters_of(step, calls_workflow=calls_workflow)
        top = type(self)(self.description, self.references, self.report, self.tokens[:2])
        taken = {(each.name, each.location) for each in own}
        shared = [
            each._replace(is_of_step=False) for each in top.parameters_of(workflow, calls_workflow=calls_workflow)
        ]
        return [*(each for each in shared if (each.name, each.location) not in taken), *own]

    def call(self, step: Mapping[str, Any], workflow: Mapping[str, Any]) -> OperationCall:
        """Return the call of an operation by a step. Raises Defect."""
        found = self.references.operation(self.description, step, self.place())
        assert found is not None  # noqa: S101  # the step names an operation
        tool, api = found
        payload = self._payload(step.get("requestBody"))
        try:
            return compile_call(
                tool, api, self.parameters(step, workflow), payload, lambda text: self.problem(self.place(), text)
            )
        except UnknownParameter as error:
            names = sorted({each.wire_name or each.name for each in tool.arguments})
            raise Defect(self.place("parameters"), str(error), f"it has {', '.join(names) or 'none'}") from None

    def actions(
        self, step: Mapping[str, Any], workflow: Mapping[str, Any], name: str, shared: str
    ) -> tuple[StepAction, ...]:
        """Return the actions of a step, then those of its workflow that it does not replace. Raises Defect."""
        own = [self.action(item, name, index) for index, item in enumerate(self.items(step.get(name), name))]
        top = type(self)(self.description, self.references, self.report, self.tokens[:2])
        top.step_ids = self.step_ids
        taken = {each.name for each in own}
        others = [top.action(item, shared, index) for index, item in enumerate(top.items(workflow.get(shared), shared))]
        return (*own, *(each for each in others if each.name not in taken))

    def action(self, node: Any, name: str, index: int) -> StepAction:
        """Return an entry of a list of actions. Raises Defect."""
        here = self.at(name, index)
        is_failure = name in ("onFailure", "failureActions")
        node = here.resolved(node, "failureActions" if is_failure else "successActions")
        here.object(node, "failure action" if is_failure else "success action", "name", "type")
        kinds = ("end", "goto", "retry") if is_failure else ("end", "goto")
        if node["type"] not in kinds:
            raise Defect(
                here.place("type"), f"an action is {' or '.join(kinds)}, not {shown(node['type'])}", "correct it"
            )
        step, workflow = node.get("stepId"), node.get("workflowId")
        if (step is not None and workflow is not None) or (node["type"] == "goto" and step is workflow):
            raise Defect(here.place(), "a goto leads to one of stepId and workflowId", "name one of them")
        parameters = here.parameters_of(node, calls_workflow=True)
        is_jump = node["type"] != "end"
        return StepAction(
            name=node["name"],
            type=node["type"],
            criteria=here.criteria(node.get("criteria"), "criteria"),
            step=here.step_id(step, here.place("stepId")) if step is not None and is_jump else None,
            workflow=self.references.workflow(self.description, workflow, here.place("workflowId"))
            if workflow is not None and is_jump
            else None,
            inputs={each.name: each.value for each in parameters},
            retry_after=here.number(node, "retryAfter", 0),
            retry_limit=min(int(here.number(node, "retryLimit", 1)), MAX_RETRIES),
        )

    def number(self, node: Mapping[str, Any], name: str, default: float) -> float:
        """Return a number of a field, from 0. Raises Defect."""
        value = node.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value < math.inf):
            raise Defect(self.place(name), f"`{name}` is a number from 0", "correct it")
        return float(min(value, 1e9))

    def step_id(self, node: Any, place: str) -> str:
        """Return the id of a step of the workflow. Raises Defect."""
        if node not in self.step_ids:
            hint = suggest_names(str(node), self.step_ids) or f"steps are {', '.join(self.step_ids)}"
            raise Defect(place, f"there is no step {shown(str(node))} in this workflow", hint)
        return str(node)

    def parameters_of(self, node: Mapping[str, Any], *, calls_workflow: bool) -> list[StepParameter]:
        """Return the parameters of an object; those of a workflow have no location. Raises Defect."""
        parameters = list[StepParameter]()
        for index, item in enumerate(self.items(node.get("parameters"), "parameters")):
            here = self.at("parameters", index)
            resolved = here.resolved(item, "parameters")
            here.object(resolved, "parameter", "name")
            if "value" not in resolved:
                raise Defect(here.place(), f"the parameter {shown(resolved['name'])} has no `value`", "add it")
            location = "" if calls_workflow else resolved.get("in", "")
            if location not in LOCATIONS and not (location == "" and (calls_workflow or self.description.is_short)):
                raise Defect(
                    here.place(), f"the parameter {shown(resolved['name'])} needs `in`", f"one of {_LOCATIONS}"
                )
            parameters.append(StepParameter(resolved["name"], location, here.value(resolved["value"], "value")))
        return parameters

    def resolved(self, node: Any, kind: str) -> Any:
        """Return a part, or the component that a Reusable Object names, with the value that it sets."""
        if not isinstance(node, dict) or "reference" not in node:
            return node
        component = self.component(node["reference"], kind)
        return {**component, "value": node["value"]} if kind == "parameters" and "value" in node else component

    def component(self, reference: Any, kind: str, *tokens: str | int) -> dict[str, Any]:
        """Return a component that a text names. Raises Defect."""
        match = _COMPONENT.fullmatch(str(reference))
        components = self.description.root.get("components")
        named = components.get(match[1]) if match and isinstance(components, dict) else None
        node = named.get(match[2]) if match and isinstance(named, dict) else None
        if match is None or match[1] != kind or not isinstance(node, dict):
            names = [f"$components.{kind}.{name}" for name in (named if isinstance(named, dict) else {})]
            hint = suggest_names(str(reference), names) or f"write $components.{kind}.NAME"
            raise Defect(self.place(*tokens), f"{shown(str(reference))} is not a component of the {kind}", hint)
        return node

    def _payload(self, node: Any) -> StepPayload | None:
        if node is None:
            return None
        here = self.at("requestBody")
        here.object(node, "requestBody")
        media_type = node.get("contentType")
        if media_type is not None and (not isinstance(media_type, str) or not _MEDIA_TYPE.fullmatch(media_type)):
            raise Defect(here.place("contentType"), "`contentType` is not a media type", "write application/json")
        try:
            value = compile_payload(node.get("payload"), media_type) if "payload" in node else {}
        except ExpressionError as error:
            raise Defect(here.place("payload"), str(error), 'see docs/workflows.md, "Expressions"') from None
        replacements = [
            here.replacement(item, index)
            for index, item in enumerate(here.items(node.get("replacements"), "replacements"))
        ]
        return StepPayload(value, tuple(replacements), media_type)

    def replacement(self, node: Any, index: int) -> Replacement:
        """Return an entry of the replacements. Raises Defect."""
        here = self.at("replacements", index)
        here.object(node, "replacement", "target")
        kind = node.get("targetSelectorType", "jsonpointer")
        if "value" not in node or (kind == "jsonpointer" and not node["target"].startswith("/")):
            hint = "a target is a JSON pointer, as /petId; XPath is not supported"
            raise Defect(here.place(), "a replacement needs a `target` and a `value`", hint)
        try:
            return Replacement(node["target"], selector_type(kind), here.value(node["value"], "value"))
        except ExpressionError as error:
            raise Defect(here.place("targetSelectorType"), str(error), "use jsonpointer or jsonpath") from None


_LOCATIONS: Final = ", ".join(sorted(LOCATIONS))
_MEDIA_TYPE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*(;[ -~]*)?")
