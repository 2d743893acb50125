"""`Server`: from a message to bytes through the real parts, and from every failure to a reply."""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.errors import UnknownToolError
from openapi_mcp.runtime.protocol import MAX_BATCH, Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.server import MAX_BATCH_BYTES, Reply, Server
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.retries import Retries
from tests.runtime.pets import DESCRIPTION, TOOLS, pet_server

SESSION = Session("2025-11-25")
Respond = Callable[[httpx.Request], httpx.Response]


def answering(respond: Respond) -> Server:
    """Return a server of the pet tools whose API answers with `respond`."""
    upstream = Upstream(transport=httpx.MockTransport(respond), retries=Retries(attempts=1))
    return pet_server("http://api.test", upstream)


def minka(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"name": "Minka"})


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def handle(server: Server, message: Any, session: Session = SESSION) -> Reply:
    async def once() -> Reply:
        try:
            return await server.handle(message, session)
        finally:
            await server.aclose()

    return asyncio.run(once())


def reply_json(answer: Reply) -> Any:
    assert answer.body is not None
    return json.loads(answer.body)


def call(server: Server, name: str, **arguments: Any) -> CallToolResult:
    async def once() -> CallToolResult:
        try:
            return await server.call(name, arguments)
        finally:
            await server.aclose()

    return asyncio.run(once())


def test_call_returns_the_response_of_the_api() -> None:
    requests: list[httpx.Request] = []

    def respond(sent: httpx.Request) -> httpx.Response:
        requests.append(sent)
        return minka(sent)

    answer = handle(answering(respond), request("tools/call", name="getPet", arguments={"petId": 7}))
    assert (requests[0].method, str(requests[0].url)) == ("GET", "http://api.test/pets/7")
    assert (answer.status, answer.session) == (200, SESSION)
    assert reply_json(answer)["id"] == 7
    assert reply_json(answer)["result"]["structuredContent"] == {"name": "Minka"}
    assert reply_json(answer)["result"]["isError"] is False


def test_invalid_argument_is_described_to_the_model() -> None:
    answer = reply_json(handle(answering(minka), request("tools/call", name="getPet", arguments={"petId": "many"})))
    assert answer["result"]["isError"] is True
    assert "petId" in answer["result"]["content"][0]["text"]


def test_unreachable_api_is_described_to_the_model() -> None:
    def refuse(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    result = call(answering(refuse), "getPet", petId=7)
    assert result.is_error
    assert "api.test" in result.content[0]["text"]


def test_unexpected_failure_is_logged_and_its_details_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    def explode(_request: httpx.Request) -> httpx.Response:
        raise ZeroDivisionError("secret")

    with caplog.at_level(logging.ERROR, "openapi_mcp"):
        answer = reply_json(handle(answering(explode), request("tools/call", name="getPet", arguments={"petId": 7})))
    assert answer["result"]["isError"] is True
    assert "secret" not in json.dumps(answer)
    assert "ZeroDivisionError: secret" in caplog.text


def test_unknown_tool_is_a_request_error() -> None:
    answer = reply_json(handle(answering(minka), request("tools/call", name="noSuchTool")))
    assert (answer["id"], answer["error"]["code"]) == (7, -32602)
    with pytest.raises(UnknownToolError):
        call(answering(minka), "noSuchTool")


def test_unknown_cursor_is_a_request_error() -> None:
    answer = reply_json(handle(answering(minka), request("tools/list", cursor="made up")))
    assert (answer["id"], answer["error"]["code"]) == (7, -32602)


@pytest.mark.parametrize("position", [0, 7, -1])
def test_cursor_is_valid_in_another_process_and_an_altered_one_is_not(position: int) -> None:
    def listed(**params: Any) -> Any:
        server = Server(Catalog(TOOLS, page_size=2), DESCRIPTION, Upstream(), options=RequestOptions())
        return reply_json(handle(server, request("tools/list", **params)))

    first = listed()["result"]
    cursor = first["nextCursor"]
    second = listed(cursor=cursor)["result"]
    assert [tool["name"] for tool in first["tools"] + second["tools"]] == [tool.name for tool in TOOLS]
    assert "nextCursor" not in second
    altered = [*cursor]
    altered[position] = "0" if altered[position] != "0" else "1"
    for bad in ("".join(altered), cursor.upper(), cursor + "0", cursor[:-1], ""):
        assert listed(cursor=bad)["error"]["code"] == -32602


def test_list_is_rendered_once_for_each_revision() -> None:
    server = answering(minka)
    older = Session("2024-11-05")

    async def lists() -> list[Any]:
        answers = [await server.handle(request("tools/list"), session) for session in (SESSION, older, SESSION)]
        await server.aclose()
        return [reply_json(answer)["result"]["tools"] for answer in answers]

    newest, oldest, again = asyncio.run(lists())
    assert newest == again
    assert "title" in newest[0]
    assert "title" not in oldest[0]
    assert len(server._pages[server.catalog]) == 2


def test_encoded_list_is_reused_for_every_id() -> None:
    server = answering(minka)

    async def bodies() -> list[bytes]:
        answers = [await server.handle(request("tools/list") | {"id": each}, SESSION) for each in (1, "two", "\u1234")]
        await server.aclose()
        return [answer.body or b"" for answer in answers]

    first, *others = asyncio.run(bodies())
    _, _, result = first.partition(b'"result":')
    assert [json.loads(body)["id"] for body in (first, *others)] == [1, "two", "\u1234"]
    assert all(body.endswith(b'"result":' + result) for body in others)


def test_notification_has_no_reply() -> None:
    answer = handle(answering(minka), {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answer.body, answer.status) == (None, 202)


def test_initialize_sets_the_session() -> None:
    answer = handle(answering(minka), request("initialize", protocolVersion="2025-06-18"), Session())
    assert answer.session == Session("2025-06-18")


def test_replies_of_a_batch_are_one_array() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    batch = [ping, {"jsonrpc": "2.0", "method": "x"}, request("tools/call", name="getPet", arguments={"petId": 7})]
    answer = handle(answering(minka), batch, Session("2025-03-26"))
    assert [reply["id"] for reply in reply_json(answer)] == [1, 7]
    silent = handle(answering(minka), [{"jsonrpc": "2.0", "method": "x"}], Session("2025-03-26"))
    assert silent.body is None


def test_batch_of_very_many_messages_is_refused() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    most = handle(answering(minka), [ping] * MAX_BATCH, Session("2025-03-26"))
    assert len(reply_json(most)) == MAX_BATCH
    refused = handle(answering(minka), [ping] * (MAX_BATCH + 1), Session("2025-03-26"))
    assert (refused.status, reply_json(refused)["error"]["code"]) == (400, -32600)


def test_replies_to_a_batch_are_errors_where_they_get_long() -> None:
    tools = [replace(tool, description="x" * 1_000_000) for tool in TOOLS]
    options = RequestOptions(base_url="http://api.test")
    server = Server(Catalog(tools), DESCRIPTION, Upstream(transport=httpx.MockTransport(minka)), options=options)
    batch = [request("tools/list") | {"id": number} for number in range(20)]
    answer = handle(server, batch, Session("2025-03-26"))
    kinds = ["result" if "result" in reply else reply["error"]["code"] for reply in reply_json(answer)]
    listed = kinds.index(-32603)
    assert kinds == ["result"] * listed + [-32603] * (20 - listed)
    assert MAX_BATCH_BYTES < len(answer.body or b"") < MAX_BATCH_BYTES + 4_000_000


def test_reply_that_is_not_json_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    server = answering(minka)
    step = server.receive({"jsonrpc": "2.0", "id": 7, "method": "ping"}, SESSION)
    assert step.reply is not None
    step.reply["result"]["deep"] = deep

    answer = asyncio.run(server.perform(step))
    assert (reply_json(answer)["id"], reply_json(answer)["error"]["code"]) == (7, -32603)
    assert "RecursionError" in caplog.text
    while deep:
        deep = deep.pop()  # a list of that depth cannot be released recursively
