"""Workflows as a server offers them: rights, consent, several APIs, other descriptions, the command line, watching."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.main import app
from openapi_mcp.cli.serve.watcher import FileWatcher, changes
from openapi_mcp.config import Config
from openapi_mcp.elicitation.asker import NoConsent
from openapi_mcp.gateway.gateway import Gateway
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.server.grants import GRANT, Grant
from openapi_mcp.runtime.types import CallToolResult
from tests.workflows.api import TableApi, bridge, call, description, serving, text, tools_of, write
from tests.workflows.test_runs import SPEC, Folder, step


@pytest.fixture(scope="module")
def api() -> Iterator[TableApi]:
    with serving() as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path, api: TableApi) -> Folder:
    api.answers({"GET *": lambda _: {"id": 1}, "POST *": lambda _: {"id": 2}, "DELETE *": lambda _: None})
    return Folder(tmp_path, api)


ITEM = [{"name": "itemId", "in": "path", "value": 1}]
FLOW = {"workflowId": "flow", "steps": [step("one"), step("two", "deleteItem", parameters=ITEM)]}


def called(opened: Bridge, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
    """Call a tool as a client does, whose calls may need its user's consent."""

    async def run() -> CallToolResult:
        server = opened.server()
        try:
            tool = server.catalog.get(name)
            assert tool is not None
            return await server.calls.call(tool, arguments)
        finally:
            await server.aclose()

    return asyncio.run(run())


def test_a_token_needs_the_scopes_of_all_operations(folder: Folder) -> None:
    reads = {"workflowId": "reads", "steps": [step("one")]}
    hidden = {"workflowId": "hidden", "steps": [{"stepId": "one", "workflowId": "flow"}]}
    scopes = {"auth_scopes": ["method:get=read", "method:delete=erase|admin"], "auth_includes": ["all=*"]}
    opened = folder.open(FLOW, reads, hidden, options=scopes)
    flows = {"flow", "reads", "hidden"}

    def listed(*granted: str) -> set[str]:
        return {tool.name for tool in opened.rights.catalog(frozenset(granted)).tools} & flows

    assert listed() == set()
    assert listed("read") == {"reads"}
    assert listed("read", "erase") == listed("read", "admin") == listed("all") == flows
    assert opened.rights.catalog(frozenset({"read"})).get("flow") is None
    assert opened.rights.demanded("flow", frozenset({"read"})) in (("erase", "read"), ("admin", "read"))
    token = GRANT.set(Grant("somebody", frozenset({"read"})))
    try:
        assert opened.server().current_catalog().get("flow") is None
    finally:
        GRANT.reset(token)


def test_the_user_is_asked_once_and_before_the_first_step(folder: Folder) -> None:
    two = {"workflowId": "two", "steps": [step("a", "deleteItem", parameters=ITEM), *FLOW["steps"]]}
    reads = {"workflowId": "reads", "steps": [step("one")]}
    opened = folder.open(two, reads, options={"confirm": "destructive"})
    assert not called(opened, "reads", {}).is_error
    folder.api.sent.clear()
    refused = called(opened, "two", {})
    assert refused.is_error
    assert not folder.api.sent, "nothing is done before the user has agreed"
    assert "two (workflow DELETE /items/{itemId} → GET /items → DELETE /items/{itemId})" in text(refused)
    phrase = text(refused).partition('_confirm: "')[2].partition('"')[0]
    assert not called(opened, "two", {"_confirm": phrase}).is_error
    assert folder.api.lines == ["DELETE /items/1", "GET /items", "DELETE /items/1"]
    assert called(opened, "two", {"_confirm": phrase}).is_error, "an answer counts once"
    assert issubclass(NoConsent, Exception)


def test_a_client_with_forms_repeats_the_workflow_with_the_answer_before_anything_is_done(folder: Folder) -> None:
    """2026-07-28: the call ends with the question, and is made again; no step may have run by then."""
    opened = folder.open(FLOW, options={"confirm": "destructive"})
    prefix = "io.modelcontextprotocol/"
    envelope = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {"elicitation": {}}}
    server = opened.server()

    async def ask(**more: Any) -> dict[str, Any]:
        params = {"name": "flow", "arguments": {}, "_meta": envelope, **more}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        reply = await server.perform(server.receive(request, Session()))
        answer: dict[str, Any] = json.loads(reply.body or b"")
        return answer["result"]  # type: ignore[no-any-return]

    async def run() -> tuple[dict[str, Any], list[str], dict[str, Any]]:
        try:
            asked = await ask()
            before = list(folder.api.lines)
            agreed = {"question": {"action": "accept", "content": {"confirm": True}}}
            return asked, before, await ask(inputResponses=agreed, requestState=asked["requestState"])
        finally:
            await server.aclose()

    asked, before, made = asyncio.run(run())
    assert asked["resultType"] == "input_required"
    assert "flow" in json.dumps(asked["inputRequests"])
    assert before == []
    assert made["structuredContent"] == {}, made
    assert folder.api.lines == ["GET /items", "DELETE /items/1"]


def test_workflows_of_another_description_are_called_and_not_listed(folder: Folder, tmp_path: Path) -> None:
    sub = {"workflowId": "sub", "steps": [step("one", outputs={"id": "$response.body#/id"})],
           "outputs": {"id": "$steps.one.outputs.id"}}  # fmt: skip
    write(tmp_path, description(sub), "sub.yaml")
    sources = [{"name": "api", "url": "api.yaml"}, {"name": "lib", "url": "sub.yaml", "type": "arazzo"}]
    main = {
        "workflowId": "main",
        "steps": [{"stepId": "one", "workflowId": "$sourceDescriptions.lib.sub", "outputs": {"id": "$outputs.id"}}],
        "outputs": {"id": "$steps.one.outputs.id"},
    }
    opened = folder.open(main, sourceDescriptions=sources)
    assert [tool.name for tool in tools_of(opened)] == ["main"]
    assert call(opened, "main").structured_content == {"id": 1}
    assert {Path(uri).name for uri in opened.workflows.digests} == {"sub.yaml", "test.arazzo.yaml"}  # type: ignore[union-attr]


def test_a_description_is_found_by_its_identity(folder: Folder, tmp_path: Path) -> None:
    """`$self` names a document, wherever it was read from; nothing is requested from that address."""
    base = "https://workflows.example.com/flows"
    sub = {"workflowId": "sub", "steps": [step("one")], "outputs": {}}
    lib = write(tmp_path, description(sub, **{"$self": f"{base}/lib.yaml"}), "any-name.yaml")
    sources = [{"name": "api", "url": "api.yaml"}, {"name": "lib", "url": "lib.yaml", "type": "arazzo"}]
    main = {
        "workflowId": "main",
        "steps": [{"stepId": "one", "workflowId": "$sourceDescriptions.lib.sub"}],
        "outputs": {"self": "$self"},
    }
    file = write(tmp_path, description(main, sourceDescriptions=sources, **{"$self": f"{base}/main.yaml"}))
    opened = bridge(folder.spec, lib, file, url=folder.api.url)
    assert [tool.name for tool in tools_of(opened)] == ["sub", "main"]
    assert call(opened, "main").structured_content == {"self": f"{base}/main.yaml"}


def test_each_api_of_a_server_has_its_workflows(folder: Folder, tmp_path: Path) -> None:
    file = write(tmp_path, description(FLOW))
    shared = {"no_cache": True, "base_url": folder.api.url, "workflow": [str(file)]}
    spec = str(folder.spec)
    apis = {
        name: Config.from_options(spec, {**shared, **own})
        for name, own in {"first": {}, "second": {"prefix": "second"}, "third": {"prefix": ""}}.items()
    }
    gateway = Gateway.open(Config.from_options("gateway", {}), apis)
    names = [tool.name for tool in gateway.catalog.tools][:3]
    assert names == ["flow", "second_flow", "third_flow"]

    async def run() -> list[CallToolResult]:
        server = gateway.server()
        try:
            return [await server.call(name, {}) for name in names]
        finally:
            await server.aclose()

    for result in asyncio.run(run()):
        assert not result.is_error, text(result)
    assert folder.api.lines == ["GET /items", "DELETE /items/1"] * 3


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "120"})


def test_commands_show_and_run_workflows(folder: Folder, tmp_path: Path) -> None:
    inputs = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    query = [{"name": "q", "in": "query", "value": "$inputs.q"}]
    flow = {"workflowId": "flow", "summary": "A flow", "inputs": inputs, "steps": [step("one", parameters=query)]}
    broken = {"workflowId": "broken", "steps": [step("one", "nothing")]}
    file = write(tmp_path, description(flow, broken))
    words = [str(folder.spec), "--workflow", str(file), "--no-cache"]
    listing = run("inspect", *words, "--no-validate", "--format", "text").stdout
    assert "workflow flow: 1 step" in listing
    assert "there is no operation nothing" in listing
    assert "1 workflow" in listing.splitlines()[-1]
    shown = json.loads(run("inspect", *words, "--no-validate", "--json").stdout)
    assert [each["name"] for each in shown["workflows"]] == ["flow"]
    assert shown["workflows"][0]["steps"] == [{"id": "one", "calls": "listItems, GET /items"}]
    assert "step 1: one: listItems, GET /items" in run("inspect", words[0], "flow", *words[1:]).stdout
    plan = run("call", words[0], "flow", "q=a b", *words[1:], "--dry-run").stdout
    assert "1. one: listItems, GET /items" in plan
    assert not folder.api.sent
    made = run("call", words[0], "flow", "q=a b", *words[1:], "--base-url", folder.api.url)
    assert made.exit_code == 0, made.output
    assert folder.api.sent[0].query == {"q": "a b"}
    failed = run("call", words[0], "flow", *words[1:], "--base-url", folder.api.url)
    assert failed.exit_code == 5
    generated = run("generate", words[0], str(tmp_path / "out"), *words[1:])
    assert "workflows are not written into packages: flow" in generated.output


def test_files_of_workflows_are_watched(folder: Folder, tmp_path: Path) -> None:
    file = write(tmp_path, description(FLOW))
    opened = bridge(folder.spec, file, url=folder.api.url, watch=True)
    watcher = FileWatcher({Path(file): next(iter(opened.workflows.digests.values()))})  # type: ignore[union-attr]
    assert not watcher._check(), "the digest is that of the file as it was read"
    write(tmp_path, description(FLOW, {"workflowId": "new", "steps": [step("one")]}))
    assert watcher._check()
    waits = changes(opened)
    assert Path(file).resolve() in {path.resolve() for path in waits[0].__self__._digests}  # type: ignore[attr-defined]
    again = bridge(folder.spec, file, url=folder.api.url)
    assert len(tools_of(again)) == 2


def test_a_client_that_asks_for_it_gets_the_progress_of_each_step(folder: Folder) -> None:
    opened = folder.open(FLOW)
    messages: list[dict[str, Any]] = []

    async def notify(message: bytes) -> None:
        messages.extend([json.loads(message)] if message else [])

    async def run() -> dict[str, Any]:
        server = opened.server()
        params = {"name": "flow", "arguments": {}, "_meta": {"progressToken": "t"}}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        try:
            reply = await server.perform(server.receive(request, Session("2025-11-25")), notify)
        finally:
            await server.aclose()
        answer: dict[str, Any] = json.loads(reply.body or b"")
        return answer

    result = asyncio.run(run())["result"]
    assert result["structuredContent"] == {}
    steps = [each["params"]["message"] for each in messages if each["method"] == "notifications/progress"]
    assert steps == ["step 1 of 2, one: 200", "step 2 of 2, two: 200"]


def test_what_nobody_switched_on_is_not_there(folder: Folder) -> None:
    opened = Bridge.open(Config.from_options(str(folder.spec), {"no_cache": True}))
    assert opened.workflows is None
    assert yaml.safe_load(folder.spec.read_text()) == SPEC
