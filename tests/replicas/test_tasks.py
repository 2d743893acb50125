"""Two replicas that share Redis: a task that one follows is asked for and cancelled through the other."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.command import command, serving_http
from tests.replicas.servers import redis
from tests.runtime.http.test_sessions_of_clients import message, until
from tests.servers import running
from tests.tasks.jobs import KEY, RESULT, Jobs, document

pytestmark = pytest.mark.process

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}


def ask(endpoint: str, method: str, **params: Any) -> dict[str, Any]:
    name = params.get("name") or params["taskId"]
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}
    headers["Accept"] = "application/json, text/event-stream"
    body = message(method, {**params, "_meta": ENVELOPE})
    answer: dict[str, Any] = httpx.post(endpoint, json=body, headers=headers, timeout=30).json()
    return answer


def task(endpoint: str, task_id: str) -> dict[str, Any]:
    result: dict[str, Any] = ask(endpoint, "tasks/get", taskId=task_id)["result"]
    return result


@pytest.fixture(scope="module")
def jobs() -> Iterator[tuple[Jobs, str]]:
    made = Jobs()
    with running(made.app()) as url:
        yield made, url


def test_a_task_is_that_of_all_replicas(
    tmp_path: Path, jobs: tuple[Jobs, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAPI_MCP_SESSION_SECRET", "one secret for all replicas")
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("API_JOBS_KEY", KEY)
    (tmp_path / "jobs.json").write_text(json.dumps(document()))
    with ExitStack() as stack:
        store = stack.enter_context(redis(tmp_path))
        serve = command(tmp_path / "jobs.json", f"{jobs[1]}/v1", "--redis", store)
        here, there = (stack.enter_context(serving_http(serve)) for _ in range(2))
        call = {"name": "startJob", "arguments": {"kind": "status", "steps": "2"}}
        created = ask(here, "tools/call", **call)["result"]
        assert created["resultType"] == "task"
        assert task(there, created["taskId"])["taskId"] == created["taskId"]
        until(lambda: task(there, created["taskId"])["status"] == "completed")
        assert task(there, created["taskId"])["result"]["structuredContent"] == RESULT

        call["arguments"] = {"kind": "status", "steps": "100000"}
        task_id = ask(here, "tools/call", **call)["result"]["taskId"]
        assert "result" in ask(there, "tasks/cancel", taskId=task_id)
        until(lambda: task(here, task_id)["status"] == "cancelled")
        until(lambda: task(there, task_id)["status"] == "cancelled")
    assert "DELETE /v1/jobs/status/100000" in jobs[0].seen
