"""The inputs of workflows as schemas that every client accepts: self-contained, an object at the root, legal names.

The same code converts them as converts the schemas of operations. Specification: Arazzo 1.1.0 "Workflow Object"
(`inputs`), JSON Schema 2020-12; MCP server/tools ("inputSchema").
"""

from collections.abc import Mapping
from typing import Any, Final

from ..document.model import Document, join
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..schemas.definitions import SchemaCompiler, TooManyDefinitions
from ..tools.names import ArgumentKey, argument_names
from ..tools.request_body import Properties, flatten
from .documents import Description
from .model import Defect, Inputs

NO_INPUTS: Final = Inputs(schema={"type": "object", "properties": {}, "additionalProperties": False})
_VALUE: Final = "inputs"
"""The argument of inputs that are no plain object: a choice between several, for example."""


class InputSchemas:
    """The inputs of one description's workflows."""

    def __init__(self, description: Description) -> None:
        document = Document(dict(description.root), description.uri, "3.1")
        self._compiler = SchemaCompiler(document, Resolver(document))
        self._description = description

    @property
    def problems(self) -> list[Problem]:
        """The defects of the schemas that were converted."""
        return [_placed(each, self._description) for each in self._compiler.problems]

    def of(self, node: Any, *tokens: str | int) -> Inputs:
        """Return the inputs that a schema at a place describes. Raises Defect."""
        if node is None:
            return NO_INPUTS
        try:
            schema = self._compiler.convert(node, join("#", *tokens))
            body = flatten(schema, self._compiler.definition)
            if body is None and self._has_no_properties(schema):
                return NO_INPUTS
            properties = Properties(properties={_VALUE: schema}, required=(_VALUE,)) if body is None else body
            return self._inputs(properties, is_whole=body is None)
        except BrokenReference as error:
            problem = _placed(error.problem, self._description)
            raise Defect(problem.pointer, problem.message, problem.hint) from None
        except TooManyDefinitions:
            place = self._description.place(*tokens)
            raise Defect(place, "the schema of the inputs is too large", "simplify it") from None

    def _has_no_properties(self, schema: Mapping[str, Any]) -> bool:
        return not schema.keys() - {"type", "properties", "description"} and not schema.get("properties")

    def _inputs(self, body: Properties, *, is_whole: bool) -> Inputs:
        keys = list(body.properties)
        names = argument_names([ArgumentKey("body", key) for key in keys])
        properties = {name: body.properties[key] for name, key in zip(names, keys, strict=True)}
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required := [name for name, key in zip(names, keys, strict=True) if key in body.required]:
            schema["required"] = required
        if definitions := self._compiler.definitions(properties.values()):
            schema["$defs"] = definitions
        defaults = {key: value["default"] for key, value in body.properties.items() if "default" in value}
        pairs = {name: "" if is_whole else key for name, key in zip(names, keys, strict=True)}
        return Inputs(schema=schema, names=pairs, defaults=defaults)


def with_inputs_of(inputs: Inputs, other: Inputs) -> Inputs:
    """Return inputs with those of a workflow that runs before, which has the same values where names are the same."""
    own, before = inputs.schema, other.schema
    schema = {**own, "properties": {**before["properties"], **own["properties"]}}
    required = dict.fromkeys([*own.get("required", ()), *before.get("required", ())])
    schema |= {"required": list(required)} if required else {}
    if definitions := before.get("$defs", {}) | own.get("$defs", {}):
        schema["$defs"] = definitions
    return Inputs(schema=schema, names={**other.names, **inputs.names}, defaults={**other.defaults, **inputs.defaults})


def values_of(inputs: Inputs, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs as the document names them, of the arguments of a call, with their defaults."""
    values = dict(inputs.defaults)
    for name, value in arguments.items():
        key = inputs.names.get(name, name)
        values |= {key: value} if key else value if isinstance(value, dict) else {}
    return values


def _placed(problem: Problem, description: Description) -> Problem:
    """Return a Problem of a schema with the address of its document."""
    pointer = problem.pointer.partition("#")[2]
    place = f"{description.place()}{pointer}"
    return Problem(pointer=place, message=problem.message, kind="workflow", hint=problem.hint)
