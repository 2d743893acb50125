"""Hooks, transports and signatures of a program: what they change, and what they cannot."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from openapi_mcp import Bridge, CallFailed, CallToolResult, Config, DocumentError, Hooks, Tool, UnknownTool, UsageError
from openapi_mcp.runtime.server.catalog import BuiltinTool
from tests.conftest import ROOT

ITEM = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
ANSWERS = {"200": {"description": "OK"}}
DOCUMENT: Mapping[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Items", "version": "1"},
    "servers": [{"url": "https://items.example"}],
    "security": [{"key": []}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "paths": {
        "/items": {"get": {"operationId": "listItems", "tags": ["read"], "responses": ANSWERS}},
        "/items/{id}": {
            "get": {"operationId": "getItem", "tags": ["read"], "parameters": [ITEM], "responses": ANSWERS},
            "delete": {"operationId": "deleteItem", "parameters": [ITEM], "responses": ANSWERS},
        },
    },
}


class Api(httpx.AsyncBaseTransport):
    """The API as a transport: it keeps the requests, and answers with what `answer` makes of each."""

    def __init__(self, answer: Callable[[httpx.Request], httpx.Response] | None = None) -> None:
        self.requests: list[httpx.Request] = []
        self.is_closed = False
        self._answer = answer or (lambda request: httpx.Response(200, json={"path": request.url.path}))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self._answer(request)

    async def aclose(self) -> None:
        self.is_closed = True


def opened(api: Api | None = None, **options: Any) -> Bridge:
    return Bridge.open(DOCUMENT, transport=api or Api(), **{"auth": {"key": "secret-key"}, **options})


def called(bridge: Bridge, name: str = "getItem", **arguments: Any) -> CallToolResult:
    return asyncio.run(bridge.call(name, arguments or {"id": 1}))


def test_a_document_in_memory_is_called_through_the_transport_of_the_program() -> None:
    api = Api()
    bridge = opened(api)
    assert [called(bridge).structured_content, called(bridge, id=2).structured_content] == [
        {"path": "/items/1"},
        {"path": "/items/2"},
    ]
    assert [request.headers["x-key"] for request in api.requests] == ["secret-key"] * 2
    assert not api.is_closed, "whoever made it closes it"
    assert bridge.document.root["info"]["title"] == "Items"


def test_options_are_those_of_the_command_line(tmp_path: Path) -> None:
    bridge = opened(include="tag:read", prefix="my", header=["X-Team: a"], base_url="https://other.example")
    assert [tool.name for tool in bridge.tools] == ["my_listItems", "my_getItem"]
    assert bridge.config.base_url == "https://other.example"
    assert Bridge.open(ROOT / "specs" / "petstore.yaml", no_cache=True, client_cert=None).tools
    with pytest.raises(UsageError, match="unknown option: base_ulr") as unknown:
        opened(base_ulr="https://other.example")
    assert "base_url" in unknown.value.hint
    with pytest.raises(UsageError, match="timeout must be a number"):
        opened(timeout="5")
    with pytest.raises(UsageError, match="a Config holds its options"):
        Bridge.open(Config(source=str(tmp_path)), read_only=True)
    with pytest.raises(DocumentError, match="cannot be written as JSON"):
        Bridge.open({"openapi": "3.1.0", "self": (loop := dict[str, Any]()) | {"loop": loop}, "x": {(1, 2): 3}})


def test_tool_hooks_rename_edit_and_drop() -> None:
    def change(tool: Tool) -> Tool | None:
        return None if tool.method == "DELETE" else replace(tool, name=f"x_{tool.name}", description="Edited.")

    bridge = opened(hooks=Hooks(tool=change))
    assert [(tool.name, tool.description) for tool in bridge.tools] == [
        ("x_listItems", "Edited."),
        ("x_getItem", "Edited."),
    ]
    made = bridge.compilation
    assert made.operations == len(made.tools) + made.lost_operations + made.excluded
    assert bridge.sizes.keys() == {"x_listItems", "x_getItem"}
    listed, _ = bridge.server().catalog.page()
    assert [tool.name for tool in listed] == ["x_listItems", "x_getItem"]
    assert called(bridge, "x_getItem").structured_content == {"path": "/items/1"}
    with pytest.raises(UnknownTool):
        called(bridge, "deleteItem")


def test_searched_tools_are_those_of_the_hooks() -> None:
    bridge = opened(hooks=Hooks(tool=lambda tool: replace(tool, name=f"x_{tool.name}")), mode="search")
    server = bridge.server()
    (finder,) = [tool for tool in server.catalog.tools if tool.name == "search_tools"]
    assert isinstance(finder, BuiltinTool)
    found = asyncio.run(server.call("search_tools", {"query": "delete an item"}))
    assert "x_deleteItem" in str(found.content)
    assert called(bridge, "x_deleteItem").structured_content == {"path": "/items/1"}


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        (lambda tool: replace(tool, name="same"), "gave two tools the name same"),
        (lambda tool: replace(tool, name="no spaces"), "made the name 'no spaces'"),
        (lambda tool: tool.name, "returned str"),
        (lambda tool: tool.nonsense, "a tool hook failed: AttributeError"),
    ],
)
def test_a_tool_that_cannot_be_is_refused_when_the_bridge_is_opened(hook: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(hooks=Hooks(tool=hook))


def test_request_and_result_hooks_know_the_tool_and_run_in_order() -> None:
    async def tag(tool: Tool, request: httpx.Request) -> None:
        request.headers["X-Tool"] = tool.name

    def move(_: Tool, request: httpx.Request) -> httpx.Request:
        return httpx.Request(request.method, f"{request.url}?via={request.headers['X-Tool']}", headers=request.headers)

    async def note(tool: Tool, result: CallToolResult) -> CallToolResult:
        return replace(result, content=(*result.content, {"type": "text", "text": f"from {tool.path}"}))

    api, seen = Api(), list[str]()
    hooks = [Hooks(request=tag, result=note), Hooks(request=move, result=lambda tool, _: seen.append(tool.name))]
    result = called(opened(api, hooks=hooks))
    assert str(api.requests[0].url) == "https://items.example/items/1?via=getItem"
    assert result.content[-1]["text"] == "from /items/{id}"
    assert seen == ["getItem"]


def test_a_hook_refuses_a_call_with_a_message_for_the_model() -> None:
    def refuse(*_: Any) -> None:
        raise CallFailed("Not on Sundays.")

    for hooks, sent in ((Hooks(request=refuse), 0), (Hooks(result=refuse), 1)):
        api = Api()
        result = called(opened(api, hooks=hooks))
        assert (result.is_error, result.content[0]["text"], len(api.requests)) == (True, "Not on Sundays.", sent)


def test_a_hook_that_fails_tells_the_log_and_not_the_model(caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("the secret reason")

    result = called(opened(hooks=Hooks(request=fail)))
    assert result.is_error
    assert "secret reason" not in str(result.content)
    assert "the secret reason" in caplog.text


def test_a_signature_replaces_the_security_schemes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_ITEMS_KEY", "of-another")
    challenge = {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth"'}

    def answer(request: httpx.Request) -> httpx.Response:
        known = "authorization" in request.headers
        return httpx.Response(200, json={}) if known else httpx.Response(401, headers=challenge)

    api = Api(answer)
    assert not called(opened(api, auth=httpx.DigestAuth("user", "password"))).is_error
    first, second = api.requests
    assert second.headers["authorization"].startswith('Digest username="user"')
    assert "x-key" not in first.headers

    def sign(request: httpx.Request) -> httpx.Request:
        request.headers["X-Signed"] = request.method
        return request

    api = Api()
    assert not called(opened(api, auth=sign)).is_error
    assert api.requests[0].headers["x-signed"] == "GET"


def test_a_signature_is_sent_to_no_other_host() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        elsewhere = {"Location": "https://other.example/items"}
        return (
            httpx.Response(200, json={})
            if request.url.host == "other.example"
            else httpx.Response(302, headers=elsewhere)
        )

    api = Api(answer)
    options = {"auth": httpx.BasicAuth("user", "password"), "follow_redirects_to": "other.example"}
    assert not called(opened(api, **options)).is_error
    first, second = api.requests
    assert "authorization" in first.headers
    assert (second.url.host, "authorization" in second.headers) == ("other.example", False)
