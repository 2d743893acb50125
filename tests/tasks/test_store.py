"""Records of tasks that replicas share: sealed, kept as long as somebody follows them, found by their callers alone."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import pytest

from openapi_mcp.oauth.sealed_store import InMemory, SealedStore
from openapi_mcp.runtime.session_state import SESSION_STATE, SessionState
from openapi_mcp.tasks import board, polling, store
from openapi_mcp.tasks.records import TaskRecord, TaskRecords
from openapi_mcp.tasks.store import SharedRecords, SharingError
from tests.tasks.jobs import RESULT
from tests.tasks.test_board import Client, run

KEY = b"k" * 32


class Memory(InMemory):
    """A storage that notes what it keeps, and may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[bytes, float]] = []
        self.fails = False
        self.questions = 0

    def get(self, name: str) -> bytes | None:
        self.questions += 1
        if self.fails:
            raise OSError("gone")
        return super().get(name)

    def put(self, name: str, value: bytes, seconds: float) -> None:
        self.get(name)
        self.kept.append((value, seconds))
        super().put(name, value, seconds)


@pytest.fixture
def memory() -> Iterator[Memory]:
    state = SessionState(is_session=False, key=KEY)
    token = SESSION_STATE.set(lambda: state)
    yield Memory()
    SESSION_STATE.reset(token)


def replica(memory: Memory) -> SharedRecords:
    return SharedRecords(lambda key: SealedStore(memory, key), (OSError,))


def carried_out(memory: Memory, scenario: Callable[[Client], Awaitable[None]]) -> Any:
    """Carry out a scenario with a server that shares its tasks."""
    return run(scenario, shared=replica(memory))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "MIN_INTERVAL", 0.0)
    monkeypatch.setattr(polling, "FIRST_INTERVAL", 0.0)


def test_a_replica_finds_the_task_at_once_and_its_result_at_the_end(memory: Memory) -> None:
    other = replica(memory)

    async def scenario(client: Client) -> None:
        task_id = (await client.call(kind="waiting", steps="9"))["taskId"]
        record = await other.find(task_id, "", KEY)
        assert record is not None
        assert record.status == "working"
        assert await other.find(task_id, "bob", KEY) is None
        assert await other.find(task_id, "", b"another key") is None
        client.jobs.release.set()
        await client.ended(task_id)
        await client.server.aclose()
        record = await other.find(task_id, "", KEY)
        assert record is not None
        assert record.outcome["result"]["structuredContent"] == RESULT

    carried_out(memory, scenario)
    assert not any(b"rows" in value for value, _ in memory.kept), "nothing is readable without the key"


def test_a_task_is_answered_that_another_replica_follows(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(client: Client) -> None:
        task_id = (await client.call(kind="waiting", steps="9"))["taskId"]
        own = board.RECORDS
        monkeypatch.setattr(board, "RECORDS", TaskRecords())  # of a process that has not seen the task
        task = (await client.request("tasks/get", taskId=task_id))["result"]
        assert (task["taskId"], task["status"]) == (task_id, "working")
        monkeypatch.setattr(board, "RECORDS", own)
        client.jobs.release.set()
        await client.ended(task_id)

    carried_out(memory, scenario)


def test_a_replica_can_cancel_a_task(memory: Memory) -> None:
    async def scenario(client: Client) -> None:
        task_id = (await client.call(kind="status", steps="100000"))["taskId"]
        other = replica(memory)
        record = await other.find(task_id, "", KEY)
        assert record is not None
        await other.ask_to_cancel(record, KEY)
        assert (await client.ended(task_id))["status"] == "cancelled"

    assert carried_out(memory, scenario).seen[-1] == "DELETE /v1/jobs/status/100000"


def test_a_task_that_nobody_follows_is_forgotten_soon_and_one_that_has_ended_is_kept(memory: Memory) -> None:
    record = TaskRecord(owner="", seconds=3600, interval=10)
    write = replica(memory).write
    asyncio.run(write(record, KEY))
    asyncio.run(write(record.changed(status="completed", outcome={"result": {}}), KEY))
    asyncio.run(write(TaskRecord(owner="", seconds=-1), KEY))
    assert [round(seconds, -1) for _, seconds in memory.kept] == [10 + store.LEASE_SECONDS, 3600]


def test_without_the_store_a_call_waits_for_its_operation(memory: Memory) -> None:
    async def scenario(client: Client) -> None:
        memory.fails = True
        assert (await client.call(kind="location"))["structuredContent"] == RESULT
        response = await client.request("tasks/get", taskId="anything")
        assert response["error"]["code"] == -32603
        assert "Ask again" in response["error"]["message"]

    carried_out(memory, scenario)


def test_a_store_that_fails_is_left_alone_for_a_while(memory: Memory) -> None:
    memory.fails = True
    records = replica(memory)
    find = partial(records.find, "x", "", KEY)
    for _ in range(5):
        with pytest.raises(SharingError):
            asyncio.run(find())
    assert memory.questions == 1


@pytest.mark.parametrize("value", [None, 1, "x", [], {"id": "x"}, {"id": "x", "owner": "", "seconds": 1, "more": 2}])
def test_values_that_are_no_records_are_none(memory: Memory, value: Any) -> None:
    SealedStore(memory, KEY).put("task x", value, 60)
    assert asyncio.run(replica(memory).find("x", "", KEY)) is None
