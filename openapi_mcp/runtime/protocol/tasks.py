"""The extension `io.modelcontextprotocol/tasks` of 2026-07-28: requests about tasks, and replies. Pure functions.

A server that has it may answer a call with a task in place of a result, if the request of the call declares it; the
client then asks for the task until it has ended. Specification: ext-tasks, draft of 2026.
"""

from collections.abc import Mapping
from typing import Any

from ..types import JsonObject
from . import jsonrpc
from .jsonrpc import INVALID_PARAMS, Refusal, Request, members
from .messages import MISSING_CAPABILITY, TASKS_EXTENSION, TaskRequest, ToolCall, client_capabilities


def has_tasks(params: Any) -> bool:
    """Return whether the parameters of a request declare the extension."""
    capabilities = client_capabilities(params)
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return isinstance(extensions, dict) and isinstance(extensions.get(TASKS_EXTENSION), dict)


def missing_capability() -> Refusal:
    """Return the refusal of a request that needs the extension."""
    data: JsonObject = {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
    return Refusal(MISSING_CAPABILITY, f"This request needs the extension {TASKS_EXTENSION}.", data)


def read_task_request(request: Request, result_fields: Mapping[str, Any]) -> TaskRequest | Refusal:
    """Return a request about a task."""
    if not has_tasks(request.params):
        return missing_capability()
    params = members(request.params)
    if isinstance(params, Refusal):
        return params
    task_id, responses = params.get("taskId"), params.get("inputResponses")
    if not isinstance(task_id, str):
        return Refusal(INVALID_PARAMS, "params.taskId must be the id of a task.")
    if request.method == "tasks/update" and not isinstance(responses, dict):
        return Refusal(INVALID_PARAMS, "params.inputResponses must be an object.")
    return TaskRequest(request.id, request.method, task_id, result_fields)


def created(call: ToolCall, task: JsonObject) -> JsonObject:
    """Return the response to a call that became a task."""
    return jsonrpc.result(call.request_id, {**call.result_fields, **task, "resultType": "task"})


def described(request: TaskRequest, task: JsonObject) -> JsonObject:
    """Return the response with a task as it is now, with its result or error if it has ended."""
    return jsonrpc.result(request.request_id, {**task, **request.result_fields})


def acknowledged(request: TaskRequest) -> JsonObject:
    """Return the response to an update or a cancellation."""
    return jsonrpc.result(request.request_id, request.result_fields)


def unknown(request: TaskRequest) -> JsonObject:
    """Return the response for a task that the caller has not, or no longer."""
    message = "There is no such task: its time is over, or it was never one of this caller."
    return jsonrpc.error(INVALID_PARAMS, message, request_id=request.request_id)
