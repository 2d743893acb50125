"""`Workflow`: a workflow of an Arazzo Description as frozen values, with every reference resolved.

Specification: Arazzo 1.1.0 "Workflow Object", "Step Object", "Success Action Object", "Failure Action Object".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..errors import Problem
from ..runtime.types import Schema
from .evaluation.criteria import Criterion
from .operations import OperationCall

WorkflowKey: TypeAlias = tuple[str, str]
"""The URI of a document and the workflowId there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAction:
    """Action that follows a step if its criteria hold. A goto leads to `step` or `workflow`; a retry runs it first.

    `inputs` are those of that workflow. `retry_after` is in seconds; `retry_limit` is for one visit of the step.
    """

    name: str
    type: Literal["end", "goto", "retry"]
    criteria: tuple[Criterion, ...] = ()
    step: str | None = None
    workflow: WorkflowKey | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    retry_after: float = 0.0
    retry_limit: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStep:
    """A step: a `call` of an operation, or of another `workflow` with `inputs`.

    `timeout` is in seconds. `depends_on` are steps that must have ended well, by the key of their workflow (None: this
    one) and their ids.
    """

    id: str
    pointer: str
    call: OperationCall | None = None
    workflow: WorkflowKey | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()
    on_success: tuple[StepAction, ...] = ()
    on_failure: tuple[StepAction, ...] = ()
    outputs: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    depends_on: tuple[tuple[WorkflowKey | None, str], ...] = ()

    @property
    def label(self) -> str:
        """Name of the operation or workflow that the step calls, for people."""
        return self.call.label if self.call else f"workflow {self.workflow[1]}" if self.workflow else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of a workflow: a schema as clients accept it, the name in the document by that of each argument."""

    schema: Schema
    names: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A workflow. `depends_on` run before it; `own` has the valid keys of its `x-mcp`, such as name and title."""

    key: WorkflowKey
    pointer: str
    inputs: Inputs
    steps: tuple[WorkflowStep, ...]
    title: str = ""
    description: str = ""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    depends_on: tuple[WorkflowKey, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The workflowId."""
        return self.key[1]

    def index_of(self, step: str) -> int:
        """Return the place of a step."""
        return next(index for index, each in enumerate(self.steps) if each.id == step)


class Defect(Exception):
    """A part of a document that cannot be compiled, with the Problem that reports it."""

    def __init__(self, pointer: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.problem = Problem(pointer=pointer, message=message, kind="workflow", hint=hint)
