"""Requests about tasks over Streamable HTTP: their headers."""

from typing import Any

import pytest

from openapi_mcp.runtime.protocol import ServerDescription, Session, TaskRequest, receive
from openapi_mcp.runtime.types import Implementation

SERVER = ServerDescription(implementation=Implementation("jobs", "1"), tasks=True)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize(("name", "status"), [({"mcp-name": "t-1"}, 200), ({"mcp-name": "t-2"}, 400), ({}, 400)])
def test_name_in_the_header_is_the_id_of_the_task(method: str, name: dict[str, str], status: int) -> None:
    params: dict[str, Any] = {"_meta": META, "taskId": "t-1", "inputResponses": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, **name}
    step = receive(SERVER, Session(), message, headers)
    assert step.status == status
    if status == 200:
        assert isinstance(step.action, TaskRequest)
        assert step.action.task_id == "t-1"
    else:
        assert step.reply is not None
        assert step.reply["error"]["code"] == -32020


def test_server_without_tasks_does_not_know_their_methods() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"_meta": META, "taskId": "t-1"}}
    step = receive(ServerDescription(implementation=Implementation("jobs", "1")), Session(), message)
    assert step.status == 404
    assert step.reply is not None
    assert step.reply["error"]["code"] == -32601
