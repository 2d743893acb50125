"""Tasks of a server of several APIs: each API is asked with its own credentials, by the names that clients know."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from openapi_mcp.config import Config
from openapi_mcp.gateway.gateway import Gateway
from openapi_mcp.tasks import polling
from tests.servers import running
from tests.tasks.jobs import KEY, RESULT, Jobs, document
from tests.tasks.test_board import Client
from tests.workflows.api import description, write
from tests.workflows.test_runs import step


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "MIN_INTERVAL", 0.0)
    monkeypatch.setattr(polling, "FIRST_INTERVAL", 0.0)


@pytest.fixture(scope="module")
def apis() -> Iterator[dict[str, tuple[Jobs, str]]]:
    with ExitStack() as stack:
        made = {"north": Jobs(), "south": Jobs()}
        yield {name: (jobs, stack.enter_context(running(jobs.app()))) for name, jobs in made.items()}


@pytest.fixture
def gateway(apis: dict[str, tuple[Jobs, str]], tmp_path: Path) -> Gateway:
    spec = tmp_path / "jobs.json"
    spec.write_text(json.dumps(document()))
    configs = {}
    for name, (jobs, url) in apis.items():
        jobs.seen.clear()
        jobs.questions.clear()
        options = {"base_url": f"{url}/v1", "auth": {"key": KEY}, "prefix": f"{name}_", "no_cache": True}
        configs[name] = Config.from_options(str(spec), options)
    return Gateway.open(Config.from_options("", {"total_timeout": 10}), configs)


def run(gateway: Gateway, scenario: Callable[[Client], Awaitable[None]], jobs: Jobs) -> None:
    async def with_client() -> None:
        server = gateway.server()
        try:
            await scenario(Client(server, jobs))
        finally:
            await server.aclose()

    asyncio.run(with_client())


def test_calls_of_both_apis_become_tasks(gateway: Gateway, apis: dict[str, tuple[Jobs, str]]) -> None:
    async def scenario(client: Client) -> None:
        for name in ("north", "south"):
            created = await client.call(f"{name}_startJob", kind="status")
            assert created["resultType"] == "task"
            task = await client.ended(created["taskId"])
            assert task["result"]["structuredContent"] == RESULT

    run(gateway, scenario, apis["north"][0])
    for jobs, _ in apis.values():
        assert jobs.seen[0] == "POST /v1/jobs/status"
        assert jobs.seen[-1] == "GET /v1/results/2"


def test_a_task_is_cancelled_at_its_own_api(gateway: Gateway, apis: dict[str, tuple[Jobs, str]]) -> None:
    async def scenario(client: Client) -> None:
        task_id = (await client.call("south_startJob", kind="status", steps="100000"))["taskId"]
        await client.request("tasks/cancel", taskId=task_id)
        assert (await client.ended(task_id))["status"] == "cancelled"

    run(gateway, scenario, apis["north"][0])
    assert "DELETE /v1/jobs/status/100000" in apis["south"][0].seen
    assert apis["north"][0].seen == []


def test_a_note_names_the_tool_as_the_client_knows_it(gateway: Gateway, apis: dict[str, tuple[Jobs, str]]) -> None:
    async def scenario(client: Client) -> None:
        result = await client.call("south_startJob", has_tasks=False, kind="slow")
        assert "call south_getJob with" in result["content"][0]["text"]

    run(gateway, scenario, apis["north"][0])


def test_an_api_may_have_no_tasks(gateway: Gateway, apis: dict[str, tuple[Jobs, str]]) -> None:
    bridges = dict(gateway.bridges)
    bridges["south"] = replace(bridges["south"], config=replace(bridges["south"].config, task_timeout=0))

    async def scenario(client: Client) -> None:
        assert (await client.call("south_startJob", kind="status"))["resultType"] == "complete"
        assert (await client.call("north_startJob", kind="status"))["resultType"] == "task"

    run(replace(gateway, bridges=bridges), scenario, apis["north"][0])


def test_a_workflow_that_waits_for_another_api_is_a_task_that_ends(
    apis: dict[str, tuple[Jobs, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, (jobs, url) in apis.items():
        jobs.seen.clear()
        jobs.questions.clear()
        spec = {**document(), "servers": [{"url": f"{url}/v1"}], "info": {"title": name, "version": "1"}}
        (tmp_path / f"{name}.json").write_text(json.dumps(spec))
    monkeypatch.setenv("API_SOUTH_KEY", KEY)
    kind = [{"name": "kind", "in": "path", "value": "status"}]
    start = step(
        "start", "$sourceDescriptions.south.startJob", parameters=kind, outputs={"rows": "$response.body#/rows"}
    )
    flow = {"workflowId": "flow", "steps": [start], "outputs": {"rows": "$steps.start.outputs.rows"}}
    sources = [{"name": name, "url": f"{name}.json", "type": "openapi"} for name in apis]
    file = write(tmp_path, description(flow, sourceDescriptions=sources))
    options = {"workflow": [str(file)], "auth": {"key": KEY}, "no_cache": True}
    gateway = Gateway.open(
        Config.from_options("", {}), {"north": Config.from_options(str(tmp_path / "north.json"), options)}
    )

    async def scenario(client: Client) -> None:
        created = await client.call("flow")
        assert created["resultType"] == "task", created
        assert (await client.ended(created["taskId"]))["result"]["structuredContent"] == {"rows": 3}

    run(gateway, scenario, apis["north"][0])


@pytest.mark.parametrize("has_tasks", [True, False])
def test_a_workflow_fails_with_the_operation_that_one_of_its_steps_began(
    apis: dict[str, tuple[Jobs, str]], tmp_path: Path, has_tasks: bool
) -> None:
    spec = tmp_path / "jobs.json"
    spec.write_text(json.dumps(document()))
    kind = [{"name": "kind", "in": "path", "value": "failing"}]
    flow = {
        "workflowId": "flow",
        "steps": [step("start", "startJob", parameters=kind), step("next", "readJobs", parameters=kind)],
    }
    file = write(tmp_path, description(flow, sourceDescriptions=[{"name": "jobs", "url": "jobs.json"}]))
    options = {"base_url": f"{apis['north'][1]}/v1", "workflow": [str(file)], "auth": {"key": KEY}, "no_cache": True}
    gateway = Gateway.open(Config.from_options("", {}), {"north": Config.from_options(str(spec), options)})
    apis["north"][0].questions.clear()

    async def scenario(client: Client) -> None:
        result = await client.call("flow", has_tasks=has_tasks)
        if has_tasks:
            result = (await client.ended(result["taskId"]))["result"]
        assert result["isError"]
        assert "The disk is full" in result["content"][0]["text"]

    run(gateway, scenario, apis["north"][0])
