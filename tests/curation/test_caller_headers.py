"""`header:NAME`: a value from the HTTP request of the client that calls, which no model sees or sets."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from openapi_mcp import Bridge, Config
from openapi_mcp.cli.call import request_text
from openapi_mcp.curation.keys import NEVER_PASSED_ON
from openapi_mcp.errors import UsageError
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.http.app import create_app
from tests.compiling import compiled_operation
from tests.servers import running


def document(base_url: str, **extension: Any) -> dict[str, Any]:
    tenant = {"name": "tenant", "in": "query", "required": True, "schema": {"type": "string"}}
    number = {"name": "shard", "in": "query", "schema": {"type": "integer"}}
    operation = {"operationId": "list_orders", "parameters": [tenant | extension, number]}
    paths = {"/orders": {"get": operation}}
    info = {"title": "Orders", "version": "1"}
    return {"openapi": "3.0.3", "info": info, "servers": [{"url": base_url}], "paths": paths}


FIXED = {"x-mcp": {"fixed": "header:X-Tenant"}}


async def echo(request: Any) -> JSONResponse:
    return JSONResponse(dict(request.query_params))


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    with running(Starlette(routes=[Route("/orders", echo)])) as url:
        yield url


@contextmanager
def served(folder: Path, root: dict[str, Any], **options: Any) -> Iterator[str]:
    (folder / "orders.json").write_text(json.dumps(root))
    config = Config.from_options(str(folder / "orders.json"), {"no_cache": True, **options})
    server = Bridge.open(config).server()
    with running(create_app(server, path="/mcp")) as url:
        yield f"{url}/mcp"


def call(url: str, /, name: str = "list_orders", arguments: Any = None, **headers: Any) -> Any:
    """Call a tool by the revision without a session; return its result."""
    meta: dict[str, Any] = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    meta |= {"io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}
    meta |= {"io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": name, "arguments": arguments or {}, "_meta": meta}
    own = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}
    own |= {"Mcp-Method": "tools/call", "Mcp-Name": name}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return httpx.post(url, json=message, headers={**own, **headers}).json()["result"]


def test_the_value_is_that_of_each_clients_request(tmp_path: Path, api: str) -> None:
    with served(tmp_path, document(api, **FIXED)) as url:
        answers = [call(url, **{"X-Tenant": tenant}) for tenant in ("acme", "a&b=c")]
        missing = call(url)
    assert answers[0]["structuredContent"] == {"tenant": "acme"}
    assert answers[1]["structuredContent"] == {"tenant": "a&b=c"}
    assert missing["isError"]
    assert "has no header `X-Tenant`" in missing["content"][0]["text"]


def test_it_is_read_in_a_search_too(tmp_path: Path, api: str) -> None:
    with served(tmp_path, document(api, **FIXED), mode="search") as url:
        result = call(url, "call_tool", {"name": "list_orders", "tenant": "evil"}, **{"X-Tenant": "acme"})
    assert result["isError"] or result["structuredContent"] == {"tenant": "acme"}


def test_settings_name_headers_too(tmp_path: Path, api: str) -> None:
    options = {"set": ["tenant=header:X-Api-Key", "shard=header:X-Shard"]}
    with served(tmp_path, document(api), **options) as url:
        result = call(url, **{"X-Api-Key": "k", "X-Shard": "3"})
        refused = call(url, **{"X-Api-Key": "k", "X-Shard": "three"})
    assert result["structuredContent"] == {"tenant": "k", "shard": "3"}
    assert "`X-Shard` of the client's request is not JSON" in refused["content"][0]["text"]


def test_without_http_it_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "orders.json").write_text(json.dumps(document("http://127.0.0.1:9", **FIXED)))
    bridge = Bridge.open(Config(source=str(tmp_path / "orders.json"), no_cache=True, mode=Mode.ALL))
    (tool,) = bridge.tools
    assert list(tool.input_schema["properties"]) == ["shard"]

    async def answer() -> Any:
        server = bridge.server()
        try:
            return await server.call("list_orders", {})
        finally:
            await server.aclose()

    import asyncio

    text = asyncio.run(answer()).content[0]["text"]
    assert "is the header `X-Tenant` of the client's HTTP request; serve over HTTP" in text
    assert "tenant=***" in request_text(bridge, tool, {})[0]


@pytest.mark.parametrize(
    ("header", "reason"), [("Authorization", "not sent to the API"), ("mcp-session-id", "not sent to the API"),
                           ("X-Api-Key", "may hold a credential"), ("X-Amz-Security-Token", "may hold a credential")]
)  # fmt: skip
def test_a_document_cannot_have_credentials_sent_on(header: str, reason: str) -> None:
    parameter = {"name": "t", "in": "query", "schema": {"type": "string"}, "x-mcp": {"fixed": f"header:{header}"}}
    result = compiled_operation({"parameters": [parameter]})
    assert reason in result.problems[0].message
    assert list(result.tools[0].input_schema["properties"]) == ["t"]


def test_an_overlay_may_name_other_headers_than_a_document(tmp_path: Path) -> None:
    overlay = tmp_path / "curated.yaml"
    overlay.write_text(
        "overlay: 1.0.0\ninfo: {title: C, version: '1'}\nactions:\n- target: $.paths['/orders'].get.parameters[0]\n"
        "  update: {x-mcp: {fixed: 'header:X-Api-Key'}}\n"
    )
    (tmp_path / "orders.json").write_text(json.dumps(document("http://127.0.0.1:9")))
    config = Config(source=str(tmp_path / "orders.json"), overlays=(str(overlay),), no_cache=True)
    (tool,) = Bridge.open(config).tools
    assert [preset.header for preset in tool.presets] == ["X-Api-Key"]


def test_headers_of_this_server_are_refused_in_settings_too(tmp_path: Path) -> None:
    (tmp_path / "orders.json").write_text(json.dumps(document("http://127.0.0.1:9")))
    config = Config.from_options(
        str(tmp_path / "orders.json"), {"no_cache": True, "set": ["tenant=header:Authorization"]}
    )
    with pytest.raises(UsageError, match="not sent to the API"):
        _ = Bridge.open(config).tools
    assert NEVER_PASSED_ON.fullmatch("proxy-authorization")
