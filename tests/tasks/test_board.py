"""Operations in the background: a task for a client that has tasks, one bounded wait for any other."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_mcp.document.model import Document
from openapi_mcp.elicitation.confirmation import Confirmation
from openapi_mcp.runtime.protocol import ServerDescription, Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.grants import GRANT, Grant
from openapi_mcp.runtime.server.reloadable import ReloadableServer
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.session_state import SESSION_STATE, SessionState
from openapi_mcp.runtime.types import Implementation
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.tasks import board, polling
from openapi_mcp.tasks.board import TaskBoard
from openapi_mcp.tasks.records import TaskRecord, TaskRecords
from openapi_mcp.tools.compiler import build
from tests.tasks.jobs import KEY, RESULT, Jobs, document

EXTENSION = "io.modelcontextprotocol/tasks"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask without pauses, which an API asks for with `Retry-After: 0`."""
    monkeypatch.setattr(polling, "MIN_INTERVAL", 0.0)
    monkeypatch.setattr(polling, "FIRST_INTERVAL", 0.0)


@dataclass
class Client:
    """A client of a server in front of the API of `jobs`."""

    server: Server
    jobs: Jobs
    sent: list[bytes] = field(default_factory=list)

    async def request(
        self, method: str, capabilities: Mapping[str, Any] | None = None, *, has_tasks: bool = True, **params: Any
    ) -> dict[str, Any]:
        """Return the response to a request of 2026-07-28."""
        if capabilities is None:
            capabilities = {"extensions": {EXTENSION: {}}} if has_tasks else {}
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "progressToken": "p",
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta, **params}}
        step = self.server.receive(message, Session())

        async def notify(body: bytes) -> None:
            self.sent.append(body)

        reply = await self.server.perform(step, notify)
        assert reply.body is not None
        response: dict[str, Any] = json.loads(reply.body)
        return response | {"status": step.status}

    async def call(self, name: str = "startJob", *, has_tasks: bool = True, **arguments: Any) -> dict[str, Any]:
        """Return the result of a call."""
        response = await self.request("tools/call", has_tasks=has_tasks, name=name, arguments=arguments)
        result: dict[str, Any] = response["result"]
        return result

    async def ended(self, task_id: str) -> dict[str, Any]:
        """Ask for a task until it has ended; return it."""
        for _ in range(10_000):
            task: dict[str, Any] = (await self.request("tasks/get", taskId=task_id))["result"]
            if task["status"] != "working":
                return task
            await asyncio.sleep(0.001)
        raise AssertionError("the task does not end")


def run(
    scenario: Callable[[Client], Awaitable[None]],
    *,
    seconds: float = 60,
    total: float = 10,
    location: str = "header",
    **options: Any,
) -> Jobs:
    """Carry out a scenario with a client; return the API."""

    async def with_client() -> Jobs:
        jobs = Jobs()
        tools = build(Document(document(location), "file:///jobs.json", "3.1")).tools
        server = Server(
            Catalog(tools),
            ServerDescription(implementation=Implementation("jobs", "1"), tasks=True),
            Upstream(transport=httpx.ASGITransport(jobs.app()), total_timeout=total),
            options=RequestOptions(credentials={"key": KEY}),
            follower=lambda: TaskBoard(seconds, lambda: tools, **options),
        )
        try:
            await scenario(Client(server, jobs))
        finally:
            await server.aclose()
        return jobs

    return asyncio.run(with_client())


KINDS = ["location", "azure", "azure-created", "google", "see-other", "status", "busy", "again"]


def answer_of(kind: str, result: Mapping[str, Any]) -> Any:
    """Return what the API said in the end."""
    content = result["structuredContent"]
    return content["response"] if kind == "google" else content


@pytest.mark.parametrize("kind", KINDS)
def test_call_waits_for_the_result(kind: str) -> None:
    async def scenario(client: Client) -> None:
        result = await client.call("readJobs" if kind == "again" else "startJob", has_tasks=False, kind=kind)
        assert not result["isError"]
        assert answer_of(kind, result) == RESULT
        assert result["resultType"] == "complete"

    jobs = run(scenario, total=60)
    assert sum(line.startswith("POST") for line in jobs.seen) <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_call_becomes_a_task_and_the_task_has_the_result(kind: str) -> None:
    async def scenario(client: Client) -> None:
        created = await client.call("readJobs" if kind == "again" else "startJob", kind=kind)
        assert created["resultType"] == "task"
        assert created["status"] == "working"
        assert {"taskId", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"} <= created.keys()
        assert not {"result", "error", "content", "task"} & created.keys()
        task = await client.ended(created["taskId"])
        assert (task["resultType"], task["status"]) == ("complete", "completed")
        assert answer_of(kind, task["result"]) == RESULT

    run(scenario, total=60)


def test_put_that_ends_is_answered_with_its_resource() -> None:
    async def scenario(client: Client) -> None:
        result = await client.call("putJob", has_tasks=False, kind="azure-created")
        assert result["structuredContent"] == RESULT

    run(scenario)


def test_the_key_of_a_query_is_sent_with_each_question() -> None:
    async def scenario(client: Client) -> None:
        result = await client.call(has_tasks=False, kind="azure")
        assert result["structuredContent"] == RESULT

    run(scenario, location="query")


def test_operation_that_fails_is_a_completed_task_with_an_error() -> None:
    async def scenario(client: Client) -> None:
        for kind in ("failing", "gone"):
            task = await client.ended((await client.call(kind=kind))["taskId"])
            assert task["status"] == "completed"
            assert task["result"]["isError"] is True
            assert "error" not in task
            result = await client.call(has_tasks=False, kind=kind)
            assert result["isError"] is True
        assert "no such job" in result["content"][0]["text"]

    run(scenario)


@pytest.mark.parametrize("kind", ["elsewhere", "nowhere"])
def test_status_of_another_origin_is_not_asked_for(kind: str) -> None:
    async def scenario(client: Client) -> None:
        for has_tasks in (True, False):
            result = await client.call(has_tasks=has_tasks, kind=kind)
            assert result["resultType"] == "complete"
            assert result["structuredContent"]["status"] == "queued"

    assert run(scenario).seen == [f"POST /v1/jobs/{kind}"] * 2


def test_progress_is_sent_while_a_call_waits() -> None:
    async def scenario(client: Client) -> None:
        await client.call(has_tasks=False, kind="status", steps="3")
        texts = b"".join(client.sent).decode()
        assert "Running, 50 %" in texts

    run(scenario)


def test_wait_ends_with_the_time_of_the_call_and_says_how_to_go_on() -> None:
    async def scenario(client: Client) -> None:
        result = await client.call(has_tasks=False, kind="slow", steps="7")
        note = result["content"][0]["text"]
        assert not result["isError"]
        assert "Do not make the call again" in note
        assert 'call getJob with {"kind":"slow","number":"7"} in 120 s or later' in note

    assert run(scenario, total=5).seen == ["POST /v1/jobs/slow"]


def test_wait_within_a_question_ends_with_the_time_of_the_call() -> None:
    async def scenario(client: Client) -> None:
        result = await client.call(has_tasks=False, kind="waiting", steps="7")
        assert "not finished yet" in result["content"][0]["text"]

    run(scenario, total=1.3)


def test_client_without_tasks_never_gets_one_and_may_not_ask_for_one() -> None:
    async def scenario(client: Client) -> None:
        created = await client.call(kind="waiting")
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            response = await client.request(method, has_tasks=False, taskId=created["taskId"], inputResponses={})
            assert (response["status"], response["error"]["code"]) == (400, -32021)
            assert response["error"]["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        listen = await client.request("subscriptions/listen", has_tasks=False, notifications={"taskIds": ["x"]})
        assert listen["error"]["code"] == -32021

    run(scenario)


def test_unknown_tasks_and_removed_methods_are_refused() -> None:
    async def scenario(client: Client) -> None:
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            response = await client.request(method, taskId="nobody's", inputResponses={})
            assert response["error"]["code"] == -32602
            assert (await client.request(method, inputResponses={}))["error"]["code"] == -32602
        for method in ("tasks/list", "tasks/result"):
            assert (await client.request(method, taskId="x"))["error"]["code"] == -32601

    run(scenario)


def test_tasks_belong_to_their_caller() -> None:
    async def scenario(client: Client) -> None:
        token = GRANT.set(Grant("ada"))
        try:
            created = await client.call(kind="waiting")
            assert (await client.request("tasks/get", taskId=created["taskId"]))["result"]["status"] == "working"
        finally:
            GRANT.reset(token)
        for subject in (None, Grant("bob")):
            token = GRANT.set(subject)
            try:
                for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                    response = await client.request(method, taskId=created["taskId"], inputResponses={})
                    assert response["error"]["code"] == -32602
            finally:
                GRANT.reset(token)

    assert not any(line.startswith("DELETE") for line in run(scenario).seen)


def test_cancelled_task_ends_and_its_operation_is_deleted_where_that_is_documented() -> None:
    async def scenario(client: Client) -> None:
        task_id = (await client.call(kind="waiting", steps="9"))["taskId"]
        acknowledged = await client.request("tasks/cancel", taskId=task_id)
        assert acknowledged["result"].keys() == {"resultType", "_meta"}
        assert (await client.ended(task_id))["status"] == "cancelled"
        again = await client.request("tasks/cancel", taskId=task_id)
        assert again["result"]["resultType"] == "complete"

    assert run(scenario).seen[-1] == "DELETE /v1/jobs/waiting/9"
    assert not [line for line in run(scenario, may_delete=False).seen if line.startswith("DELETE")]


def test_update_is_acknowledged() -> None:
    async def scenario(client: Client) -> None:
        task_id = (await client.call(kind="waiting"))["taskId"]
        response = await client.request("tasks/update", taskId=task_id, inputResponses={"never asked": {}})
        assert response["result"].keys() == {"resultType", "_meta"}
        assert (await client.request("tasks/update", taskId=task_id))["error"]["code"] == -32602

    run(scenario)


def test_nothing_is_sent_on_the_exchange_of_a_call_that_became_a_task() -> None:
    async def scenario(client: Client) -> None:
        created = await client.call(kind="status", steps="5")
        count = len(client.sent)
        await client.ended(created["taskId"])
        assert len(client.sent) == count

    run(scenario)


def test_call_beyond_the_tasks_of_its_caller_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "MAX_TASKS_OF_CALLER", 1)

    async def scenario(client: Client) -> None:
        assert (await client.call(kind="waiting"))["resultType"] == "task"
        assert (await client.call(kind="location"))["resultType"] == "complete"

    run(scenario)


def test_task_is_forgotten_when_its_time_is_over() -> None:
    async def scenario(client: Client) -> None:
        created = await client.call(kind="waiting")
        assert created["ttlMs"] == 10
        await asyncio.sleep(0.02)
        response = await client.request("tasks/get", taskId=created["taskId"])
        assert response["error"]["code"] == -32602

    run(scenario, seconds=0.01)


def test_server_advertises_the_extension() -> None:
    async def scenario(client: Client) -> None:
        capabilities = (await client.request("server/discover"))["result"]["capabilities"]
        assert capabilities["extensions"] == {EXTENSION: {}}
        assert "tasks" not in capabilities

    run(scenario)


def test_processes_of_a_machine_share_tasks(tmp_path: Path) -> None:
    state = SessionState(is_session=False, file=tmp_path / ".state-x")
    token = SESSION_STATE.set(lambda: state)

    async def scenario(client: Client) -> None:
        task_id = (await client.call(kind="waiting", steps="9"))["taskId"]
        sibling = TaskRecords()
        record = sibling.find(task_id, "", state.file)
        assert record is not None
        assert record.status == "working"
        assert sibling.find(task_id, "bob", state.file) is None
        client.jobs.release.set()
        await client.ended(task_id)
        ended = sibling.find(task_id, "", state.file)
        assert ended is not None
        assert ended.outcome["result"]["structuredContent"] == RESULT

    try:
        run(scenario)
    finally:
        SESSION_STATE.reset(token)
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.iterdir())


def test_a_sibling_can_cancel_a_task(tmp_path: Path) -> None:
    state = SessionState(is_session=False, file=tmp_path / ".state-x")
    token = SESSION_STATE.set(lambda: state)

    async def scenario(client: Client) -> None:
        task_id = (await client.call(kind="status", steps="100000"))["taskId"]
        TaskRecords().ask_to_cancel(task_id, state.file)
        assert (await client.ended(task_id))["status"] == "cancelled"

    try:
        assert run(scenario).seen[-1] == "DELETE /v1/jobs/status/100000"
    finally:
        SESSION_STATE.reset(token)


def test_a_replaced_server_is_closed_after_its_tasks() -> None:
    async def scenario(client: Client) -> None:
        reloadable = ReloadableServer(client.server)
        task_id = (await client.call(kind="waiting"))["taskId"]
        other = Server(
            client.server.catalog, client.server.description, Upstream(), options=RequestOptions(), follower=None
        )
        reloadable.replace(other)
        await asyncio.sleep(0.01)
        assert client.server.is_busy
        client.jobs.release.set()
        assert (await client.ended(task_id))["status"] == "completed"
        await reloadable.aclose()

    run(scenario)


def test_user_is_asked_before_a_call_becomes_a_task() -> None:
    async def scenario(client: Client) -> None:
        client.server._elicitor = client.server._calls._elicitor = Confirmation(all_changes=True)
        arguments = {"kind": "location"}
        capabilities: dict[str, Any] = {"extensions": {EXTENSION: {}}, "elicitation": {"form": {}}}
        asked = await client.request("tools/call", capabilities, name="startJob", arguments=arguments)
        question = asked["result"]
        assert question["resultType"] == "input_required"
        assert "taskId" not in question
        answers = {"question": {"action": "accept", "content": {"confirm": True}}}
        again = await client.request(
            "tools/call",
            capabilities,
            name="startJob",
            arguments=arguments,
            inputResponses=answers,
            requestState=question["requestState"],
        )
        created = again["result"]
        assert created["resultType"] == "task"
        assert not {"requestState", "inputRequests"} & created.keys()
        assert (await client.ended(created["taskId"]))["result"]["structuredContent"] == RESULT

    run(scenario)


def test_call_that_ends_with_an_error_of_the_protocol_is_a_failed_task() -> None:
    async def scenario(client: Client) -> None:
        task = board._RunningTask(TaskBoard(60, tuple), TaskRecord(owner="", seconds=60))
        error = {"code": -32603, "message": "It cannot be written."}

        async def work() -> dict[str, Any]:
            return {"jsonrpc": "2.0", "id": 1, "error": error}

        task.work = asyncio.create_task(work())
        await task.work
        task.write(**board._ending(task.work))
        found = (await client.request("tasks/get", taskId=task.record.id))["result"]
        assert (found["status"], found["error"], found["statusMessage"]) == ("failed", error, error["message"])
        assert "result" not in found

    run(scenario)
