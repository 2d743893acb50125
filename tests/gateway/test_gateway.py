"""Several APIs behind one server: names, one list and search, and nothing of one API in the hands of another."""

import asyncio
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.serve import gateway_report
from openapi_mcp.cli.serve.http import _app
from openapi_mcp.cli.serve.reload import Reloader
from openapi_mcp.cli.settings import HttpSettings, Settings
from openapi_mcp.errors import BridgeError, UsageError
from openapi_mcp.gateway.gateway import Gateway
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.search.index_store import MIN_STORED_TOOLS
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.telemetry.records import CallRecord, Recorder
from tests.servers import running

CANARIES = {"shop": "canary-of-the-shop-5f2c", "books": "canary-of-the-books-91ab"}


class Api:
    """An API that keeps the requests it got, and answers with what a test wants."""

    def __init__(self) -> None:
        self.requests: list[Mapping[str, str]] = []
        self.answer: Any = {}
        self.app = Starlette(routes=[Route("/{path:path}", self.reply, methods=["GET", "POST", "DELETE"])])

    async def reply(self, request: Request) -> JSONResponse:
        self.requests.append(dict(request.headers))
        return JSONResponse(self.answer)


def document(title: str, operations: Mapping[str, str]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for name, request in operations.items():
        method, path = request.split()
        paths.setdefault(path, {})[method] = {
            "operationId": name,
            "summary": f"{name} of {title}",
            "security": [{"key": []}],
            "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {}}}}},
        }
    scheme = {"type": "apiKey", "in": "header", "name": "X-Key"}
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1", "description": f"All about {title}."},
        "paths": paths,
        "components": {"securitySchemes": {"key": scheme}},
    }


SHOP = document("Shop", {"listItems": "get /items", "removeItem": "delete /items"})
BOOKS = document("Books", {"listItems": "get /items", "find": "get /find"})


@pytest.fixture(scope="module")
def apis() -> Iterator[dict[str, tuple[Api, str]]]:
    with ExitStack() as stack:
        made = {name: Api() for name in CANARIES}
        yield {name: (api, stack.enter_context(running(api.app))) for name, api in made.items()}


@pytest.fixture
def folder(tmp_path: Path, apis: Mapping[str, tuple[Api, str]], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))
    for name, content in (("shop", SHOP), ("books", BOOKS)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
        apis[name][0].requests.clear()
        apis[name][0].answer = {}
    tables = [
        f'[apis.{name}]\nspec = "{name}.json"\nbase-url = "{apis[name][1]}"\nauth = {{key = "{canary}"}}\n'
        for name, canary in CANARIES.items()
    ]
    (tmp_path / "openapi-mcp.toml").write_text("\n".join(tables))
    return tmp_path


def settings(folder: Path, **options: Any) -> Settings:
    return Settings("", options, folder / "openapi-mcp.toml")


def opened(folder: Path, **options: Any) -> Gateway:
    gateway = settings(folder, **options).open()
    assert isinstance(gateway, Gateway)
    return gateway


def call(gateway: Gateway, name: str, arguments: Mapping[str, Any] = {}, **options: Any) -> CallToolResult:
    async def run() -> CallToolResult:
        server = gateway.server(**options)
        try:
            return await server.call(name, arguments)
        finally:
            await server.aclose()

    return asyncio.run(run())


def add(folder: Path, text: str, *, first: bool = False) -> None:
    path = folder / "openapi-mcp.toml"
    before = path.read_text()
    path.write_text(text + before if first else before + text)


def test_tools_of_all_apis_are_one_list_with_prefixes(folder: Path) -> None:
    gateway = opened(folder)
    names = ["shop_listItems", "shop_removeItem", "books_listItems", "books_find"]
    assert [tool.name for tool in gateway.catalog.tools] == names
    assert sum(gateway.sizes.values()) == sum(sum(bridge.sizes.values()) for bridge in gateway.bridges.values())


def test_each_api_gets_its_own_credential_alone(folder: Path, apis: Mapping[str, tuple[Api, str]]) -> None:
    gateway = opened(folder)
    for tool in gateway.tools:
        assert not call(gateway, tool.name).is_error
    for name, (api, _) in apis.items():
        [other] = CANARIES.keys() - {name}
        assert len(api.requests) == 2
        assert all(request["x-key"] == CANARIES[name] for request in api.requests)
        assert not any(CANARIES[other] in str(request) for request in api.requests)


def test_no_answer_of_one_api_shows_a_credential_of_another(folder: Path, apis: Mapping[str, tuple[Api, str]]) -> None:
    apis["books"][0].answer = {"echo": list(CANARIES.values())}
    result = call(opened(folder), "books_listItems")
    text = json.dumps([result.content, result.structured_content])
    assert "***" in text
    assert not any(canary in text for canary in CANARIES.values())


def test_a_variable_that_two_apis_would_read_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "books.json").write_text(json.dumps(BOOKS | {"info": SHOP["info"]}))
    text = (folder / "openapi-mcp.toml").read_text()
    (folder / "openapi-mcp.toml").write_text("\n".join(line for line in text.splitlines() if "auth" not in line))
    opened(folder)
    monkeypatch.setenv("API_SHOP_KEY", "of-one-of-them")
    with pytest.raises(UsageError, match="shop and books would both get the credential of API_SHOP_KEY") as caught:
        opened(folder)
    assert "[apis.shop.auth]" in caught.value.hint


def test_an_option_of_one_api_is_none_of_the_command_line(folder: Path) -> None:
    with pytest.raises(UsageError, match="--header is an option of one API"):
        opened(folder, header=["Authorization: Bearer x"])
    assert [tool.name for tool in opened(folder, read_only=True).tools] == [
        "shop_listItems",
        "books_listItems",
        "books_find",
    ]


def test_an_api_that_cannot_be_loaded_does_not_stop_the_others(folder: Path) -> None:
    add(folder, '\n[apis.gone]\nspec = "gone.json"\n')
    gateway = opened(folder)
    [failure] = gateway.failures
    assert failure.name == "gone"
    assert len(gateway.tools) == 4
    line = gateway_report.failure_line(failure)
    assert line.startswith("could not be loaded, and is left out: the document cannot be read")
    with pytest.raises(BridgeError, match="the document cannot be read") as caught:
        opened(folder, strict=True)
    assert caught.value.where.startswith("[apis.gone] ")


def test_where_no_api_can_be_loaded_the_first_error_is_that_of_the_command(folder: Path) -> None:
    for name in CANARIES:
        (folder / f"{name}.json").unlink()
    with pytest.raises(BridgeError, match="the document cannot be read"):
        opened(folder)


def test_an_api_that_breaks_keeps_its_old_tools_on_a_reload(folder: Path) -> None:
    before = opened(folder)
    (folder / "books.json").write_text("{")
    (folder / "shop.json").write_text(json.dumps(document("Shop", {"countItems": "get /count"})))
    after = settings(folder).open(previous=before)
    assert isinstance(after, Gateway)
    assert [tool.name for tool in after.tools] == ["shop_countItems", "books_listItems", "books_find"]
    lines = list(gateway_report.reloaded(before, after))
    assert lines[0] == "reloaded shop: 1 tool, 1 new, 0 changed, 2 removed"
    assert lines[1].startswith("books could not be loaded, the old tools stay: ")


def test_names_that_two_apis_share_are_told_apart(folder: Path) -> None:
    text = (folder / "openapi-mcp.toml").read_text().replace("spec =", 'prefix = ""\nspec =')
    (folder / "openapi-mcp.toml").write_text(text)
    names = [tool.name for tool in opened(folder).tools]
    assert names == ["shop_listItems", "removeItem", "books_listItems", "find"]


def test_apis_with_the_same_prefix_are_told_apart_by_their_names(folder: Path) -> None:
    text = (folder / "openapi-mcp.toml").read_text().replace("spec =", 'prefix = "my"\nspec =')
    (folder / "openapi-mcp.toml").write_text(text)
    names = [tool.name for tool in opened(folder).tools]
    assert names == ["shop_my_listItems", "my_removeItem", "books_my_listItems", "my_find"]


def test_names_fit_with_the_prefixes_of_clients(folder: Path) -> None:
    long = {f"{'readTheVeryLongNameOfThe' * 2}{index}": f"get /{index}" for index in range(3)}
    (folder / "shop.json").write_text(json.dumps(document("Shop", long)))
    gateway = opened(folder, client="claude")
    prefix = f"mcp__{gateway.implementation.name}__"
    names = [tool.name for tool in gateway.tools]
    assert len(set(names)) == len(names)
    assert max(len(prefix + name) for name in names) <= 64
    assert all(name.startswith(("shop_", "books_")) for name in names)
    assert call(gateway, names[0]).is_error is False


def test_one_search_finds_tools_of_all_apis(folder: Path, apis: Mapping[str, tuple[Api, str]]) -> None:
    gateway = opened(folder, mode="search")
    result = call(gateway, "search_tools", {"query": "list items"})
    text = json.dumps(result.content)
    assert "shop_listItems" in text
    assert "books_listItems" in text
    assert not call(gateway, "call_tool", {"name": "books_find", "arguments": {}}).is_error
    assert [len(api.requests) for api, _ in apis.values()] == [0, 1]


def test_the_index_of_a_search_among_all_apis_is_kept_until_a_document_changes(folder: Path) -> None:
    many = document("Shop", {f"list{number}": f"get /items/{number}" for number in range(MIN_STORED_TOOLS)})
    (folder / "shop.json").write_text(json.dumps(many))

    def kept() -> bool:
        offer = opened(folder, mode="search").offer
        assert offer.store is not None
        return offer.store.load(offer.tools) is not None

    assert not kept()
    for _ in range(2):
        found = call(opened(folder, mode="search"), "search_tools", {"query": "books"})
        assert "books_find" in json.dumps(found.content)
        assert kept()
    many["info"]["description"] = "Changed."
    (folder / "shop.json").write_text(json.dumps(many))
    assert not kept()
    assert opened(folder, mode="search", confirm="changing").offer.store is None, "the index is one of other texts"


def test_each_api_is_a_topic_of_the_search(folder: Path) -> None:
    gateway = opened(folder, mode="search")
    text = json.dumps(call(gateway, "search_tools", {"topic": "books"}).content)
    assert "books_find" in text
    assert "shop_" not in text


def test_a_program_calls_tools_of_all_apis(folder: Path, apis: Mapping[str, tuple[Api, str]]) -> None:
    pytest.importorskip("pydantic_monty")
    apis["shop"][0].answer = [{"id": 7}]
    apis["books"][0].answer = {"echo": CANARIES["shop"]}
    code = "[await shop_listItems(), await books_find()]"
    result = call(opened(folder, mode="code"), "run_code", {"code": code})
    text = json.dumps(result.content)
    assert not result.is_error, text
    assert "7" in text
    assert CANARIES["shop"] not in text
    assert [api.requests[0]["x-key"] for api, _ in apis.values()] == list(CANARIES.values())


def test_workflows_of_an_api_are_tools_that_call_it(folder: Path, apis: Mapping[str, tuple[Api, str]]) -> None:
    steps = [{"stepId": "list", "operationId": "listItems"}, {"stepId": "find", "operationId": "find"}]
    source = {"name": "books", "url": "books.json", "type": "openapi"}
    workflow = {"workflowId": "look", "summary": "Look for a book.", "steps": steps}
    arazzo = {"arazzo": "1.0.1", "info": {"title": "W", "version": "1"}, "sourceDescriptions": [source]}
    (folder / "look.json").write_text(json.dumps({**arazzo, "workflows": [workflow]}))
    add(folder, 'workflow = ["look.json"]\n')
    gateway = opened(folder)
    assert gateway.catalog.tools[0].name == "books_look"
    result = call(gateway, "books_look")
    assert not result.is_error, result.content
    assert [len(api.requests) for api, _ in apis.values()] == [0, 2]
    assert apis["books"][0].requests[0]["x-key"] == CANARIES["books"]


def test_scopes_of_callers_are_for_the_names_that_they_see(folder: Path) -> None:
    gateway = opened(folder, auth_scopes=["shop_*=shop", "tag:books=books"])
    names = [tool.name for tool in gateway.rights.catalog(frozenset({"shop"})).tools]
    assert names == ["shop_listItems", "shop_removeItem"]
    assert gateway.rights.offered == ("books", "shop")
    with pytest.raises(UsageError, match="no tool matches"):
        opened(folder, auth_scopes=["listItems=shop"])


def test_calls_that_destroy_are_confirmed(folder: Path, apis: Mapping[str, tuple[Api, str]]) -> None:
    async def run() -> list[CallToolResult]:
        server = opened(folder, confirm="destructive").server()
        refused = await server.call("shop_removeItem", {})
        [phrase] = re.findall(r'_confirm: "(.*?)"', refused.content[0]["text"])
        agreed = await server.call("shop_removeItem", {"_confirm": phrase})
        await server.aclose()
        return [refused, agreed]

    refused, agreed = asyncio.run(run())
    assert refused.is_error
    assert not agreed.is_error
    assert [len(api.requests) for api, _ in apis.values()] == [1, 0]


def test_results_keep_to_the_limit_of_the_client(folder: Path) -> None:
    add(folder, "max-result-tokens = 90000\n", first=True)
    limits = [bridge.config.result_tokens for bridge in opened(folder, client="claude").bridges.values()]
    assert limits == [25_000, 25_000]


def test_instructions_name_each_api_within_the_limit(folder: Path) -> None:
    text = opened(folder).instructions()
    assert text.splitlines()[0] == "4 tools of 2 APIs:"
    assert "- Shop (2 tools, names begin with shop): All about Shop." in text
    assert "- Books (2 tools" in text
    assert len(opened(folder, max_instructions=60).instructions()) <= 60


def test_limits_above_the_tables_are_those_of_each_api(folder: Path) -> None:
    add(folder, "timeout = 3\nretries = 0\n", first=True)
    add(folder, "timeout = 7\n")
    gateway = opened(folder, retries=1)
    assert [bridge.config.timeout for bridge in gateway.bridges.values()] == [3, 7]
    assert [bridge.config.retries for bridge in gateway.bridges.values()] == [1, 1]


def test_records_of_calls_name_the_api(folder: Path) -> None:
    from functools import partial

    from openapi_mcp.telemetry.call_log import as_json
    from openapi_mcp.telemetry.monitoring import observe

    records: list[CallRecord] = []
    monitor = partial(observe, Recorder([records.append]))
    gateway = opened(folder)
    call(gateway, "books_find", monitor=monitor)
    assert [(each.api, each.tool) for each in records] == [("books", "books_find")]
    assert as_json(records[0])["api"] == "books"


def over_http(folder: Path, *requests: httpx.Request) -> list[httpx.Response]:
    """The responses of a server of the folder's APIs, in one event loop."""
    reloader = Reloader(settings(folder), opened(folder))
    transport = httpx.ASGITransport(_app(reloader, HttpSettings(), None, None, local=True))

    async def run() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=transport) as client:
            responses = [await client.send(request) for request in requests]
        await reloader.live.aclose()
        return responses

    return asyncio.run(run())


def test_readiness_names_the_apis(folder: Path) -> None:
    add(folder, '\n[apis.gone]\nspec = "gone.json"\n')
    paths = ("/readyz", "/health")
    ready, alive = over_http(folder, *(httpx.Request("GET", f"http://127.0.0.1:8000{path}") for path in paths))
    assert (ready.status_code, ready.text) == (200, "ok\nshop: ok\nbooks: ok\ngone: failed\n")
    assert alive.text == "ok\n"


def test_a_client_calls_over_http(folder: Path, apis: Mapping[str, tuple[Api, str]]) -> None:
    apis["shop"][0].answer = [{"id": 1}]
    headers = {"Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "shop_listItems"}}
    [answer] = over_http(folder, httpx.Request("POST", "http://127.0.0.1:8000/mcp", json=body, headers=headers))
    assert json.loads(answer.json()["result"]["content"][0]["text"]) == [{"id": 1}]


def test_one_api_of_the_file_is_opened_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    alone = Settings.find("books", {})
    bridge = alone.open()
    assert isinstance(bridge, Bridge)
    assert [tool.name for tool in bridge.tools] == ["listItems", "find"]
    assert bridge.config.credentials == {"key": CANARIES["books"]}
    assert isinstance(Settings.find(None, {}).open(), Gateway)
    with pytest.raises(UsageError, match="describes several APIs"):
        Settings.find(None, {}).bridge()


def test_a_document_that_is_named_gets_nothing_of_the_file_of_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    bridge = Settings.find("books.json", {}).open()
    assert isinstance(bridge, Bridge)
    assert not bridge.config.credentials
    assert bridge.config.base_url is None


def test_the_session_of_a_gateway_names_all_apis(folder: Path) -> None:
    async def run() -> Any:
        server = opened(folder).server()
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        reply = await server.handle(message, Session())
        await server.aclose()
        return json.loads(reply.body or b"")["result"]

    result = asyncio.run(run())
    assert result["serverInfo"]["name"] == "shop-books"
    assert result["serverInfo"]["title"] == "Shop, Books"
    assert "names begin with books" in result["instructions"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="settings of workers are pickled elsewhere too")
def test_settings_can_be_sent_to_a_worker(folder: Path) -> None:
    import pickle

    assert isinstance(pickle.loads(pickle.dumps(settings(folder))).open(), Gateway)  # noqa: S301  # written here
