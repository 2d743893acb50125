"""Workflows in a settings file: a short form, which becomes an Arazzo Description and is compiled as one.

    [workflows.order_pet]
    description = "Order the first pet of a status."
    inputs = {status = "string", quantity = {type = "integer", default = 1}, note = "string?"}
    steps = [
      {id = "find", call = "findPetsByStatus", arguments = {status = "$inputs.status"}, outputs = {pet = "#/0/id"}},
      {call = "placeOrder", arguments = {petId = "$steps.find.pet", quantity = "$inputs.quantity"}},
    ]
    outputs = {order = "$steps.placeOrder.id"}

`call` is an operationId, the name of a tool, or that of another workflow. `arguments` have the names of the tool's, or
those of the document; `body` is the whole body. `if` is a condition of success, `retry` a number of retries. Of outputs
`#/id` is short for `$response.body#/id`; a step has the outputs that others name, and those of its own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..errors import UsageError
from ..tools.names import suggest_names

STEP_FIELDS: Final = ("id", "call", "arguments", "body", "if", "retry", "outputs")
WORKFLOW_FIELDS: Final = ("title", "description", "inputs", "steps", "outputs", "hidden")
_SHORT_OUTPUT: Final = re.compile(r"\$steps\.([A-Za-z0-9_-]+)\.(?!outputs\.)([A-Za-z0-9_-]+)")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_TYPE: Final = re.compile(r"(string|integer|number|boolean|array|object)(\?)?")
RETRY_SECONDS: Final = 1.0
"""Seconds before a retry where the API names none."""


def description_of(workflows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Arazzo Description that the table `workflows` of a settings file stands for. Raises UsageError."""
    entries = [_workflow(name, node, workflows) for name, node in workflows.items()]
    info = {"title": "Workflows of the settings", "version": "1"}
    return {"arazzo": "1.1.0", "info": info, "sourceDescriptions": [], "workflows": entries}


def _workflow(name: str, node: Any, workflows: Mapping[str, Any]) -> dict[str, Any]:
    where = f"[workflows.{name}]"
    _check(node, WORKFLOW_FIELDS, where)
    if not _NAME.fullmatch(name) or not isinstance(node.get("steps"), list) or not node["steps"]:
        hint = 'for example [workflows.order], and below it steps = [{call = "placeOrder"}]'
        raise UsageError("a workflow has a name of letters, digits, - and _, and `steps`", where=where, hint=hint)
    steps = [_step(step, f"{where}, step {number}", workflows) for number, step in enumerate(node["steps"], 1)]
    for step in steps:
        wanted = (output for id_, output in _SHORT_OUTPUT.findall(str(node)) if id_ == step["stepId"])
        step["outputs"] = _missing(step, wanted) | step["outputs"]
    workflow = {"workflowId": name, "inputs": _inputs(node.get("inputs", {}), where), "steps": _written(steps)}
    if "outputs" in node:
        workflow["outputs"] = _written(node["outputs"])
    workflow |= {"description": node["description"]} if "description" in node else {}
    own = {key: node[key] for key in ("title", "hidden") if key in node}
    return workflow | ({"x-mcp": own} if own else {})


def _missing(step: Mapping[str, Any], names: Iterator[str]) -> dict[str, Any]:
    """Return outputs of these names: properties of the response's body, or outputs of the workflow that is called."""
    start = "$outputs." if "workflowId" in step else "$response.body#/"
    return {name: f"{start}{name}" for name in names}


def _step(node: Any, where: str, workflows: Mapping[str, Any]) -> dict[str, Any]:
    _check(node, STEP_FIELDS, where)
    call = node.get("call")
    if not isinstance(call, str):
        raise UsageError("a step needs `call`", where=where, hint="the operationId of an operation, or a workflow")
    arguments, outputs = node.get("arguments", {}), node.get("outputs", {})
    if not isinstance(arguments, dict) or not isinstance(outputs, dict):
        raise UsageError("`arguments` and `outputs` of a step are tables", where=where, hint='{petId = "$inputs.id"}')
    step: dict[str, Any] = {"stepId": node.get("id", call), "workflowId" if call in workflows else "operationId": call}
    step["parameters"] = [{"name": name, "value": value} for name, value in arguments.items()]
    step["outputs"] = {name: _expression(value) for name, value in outputs.items()}
    if "body" in node:
        step["requestBody"] = {"payload": node["body"]}
    if "if" in node:
        step["successCriteria"] = [{"condition": node["if"]}]
    if "retry" in node:
        action = {"name": "retry", "type": "retry", "retryLimit": node["retry"], "retryAfter": RETRY_SECONDS}
        step["onFailure"] = [action]
    return step


def _expression(value: Any) -> Any:
    return f"$response.body{value}" if isinstance(value, str) and value.startswith("#") else value


def _inputs(node: Any, where: str) -> dict[str, Any]:
    """Return the schema of inputs, each a type, or a JSON Schema; one whose type ends with `?` is optional."""
    if not isinstance(node, dict):
        raise UsageError("`inputs` is a table", where=where, hint='inputs = {status = "string", limit = "integer?"}')
    properties, required = dict[str, Any](), list[str]()
    for name, value in node.items():
        match = _TYPE.fullmatch(value) if isinstance(value, str) else None
        if match is None and not isinstance(value, dict):
            hint = "a type is string, integer, number, boolean, array or object, with ? where it is optional"
            raise UsageError(f"the input {name} is neither a type nor a schema", where=where, hint=hint)
        properties[name] = {"type": match[1]} if match else {k: v for k, v in value.items() if k != "optional"}
        is_optional = match[2] if match else "default" in value or value.get("optional")
        required += [] if is_optional else [name]
    return {"type": "object", "properties": properties, "required": required}


def _written(value: Any) -> Any:
    """Return a value in which `$steps.find.pet` is written `$steps.find.outputs.pet`."""
    if isinstance(value, str):
        return _SHORT_OUTPUT.sub(r"$steps.\1.outputs.\2", value)
    if isinstance(value, list):
        return [_written(item) for item in value]
    return {name: _written(item) for name, item in value.items()} if isinstance(value, dict) else value


def _check(node: Any, fields: tuple[str, ...], where: str) -> None:
    """Raise UsageError for what is no table, or has other fields."""
    if not isinstance(node, dict):
        raise UsageError("this is not a table", where=where, hint=f"it has {', '.join(fields)}")
    unknown = sorted(node.keys() - set(fields))
    if unknown:
        hint = suggest_names(unknown[0], fields) or f"the fields are {', '.join(fields)}"
        raise UsageError(f"unknown field: {unknown[0]}", where=where, hint=hint)
