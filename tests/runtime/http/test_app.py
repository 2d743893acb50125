"""Streamable HTTP: allowed requests and their responses, the official client, and clients that disconnect."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client

from openapi_mcp.runtime.http.app import create_app
from tests.runtime.pets import PetApi, pet_server
from tests.servers import running

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PING_BYTES = json.dumps(PING).encode()
WAIT = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
STATELESS_WAIT = {**WAIT, "params": {"name": "wait", "_meta": ENVELOPE}}
STATELESS_HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "wait"}


def send(
    method: str = "POST",
    path: str = "/mcp",
    *,
    content: bytes | AsyncIterator[bytes] = PING_BYTES,
    headers: dict[str, str] | list[tuple[str, str]] | None = None,
    **options: Any,
) -> httpx.Response:
    """Send one request to a new application, as if it listened on localhost:8000."""
    fields = httpx.Headers(headers or {}).multi_items()
    named = {name for name, _ in fields}
    combined = fields if "content-type" in named else [("content-type", "application/json"), *fields]

    async def once() -> httpx.Response:
        app = create_app(pet_server("http://api.test"), **options)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8000") as client:
            return await client.request(method, path, content=content, headers=combined)

    return asyncio.run(once())


def test_request_is_answered_in_json() -> None:
    response = send()
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert "mcp-session-id" not in response.headers


def test_notification_is_202_without_a_body() -> None:
    response = send(content=b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert (response.status_code, response.content) == (202, b"")
    assert "content-type" not in response.headers


def test_health_is_ok_on_any_host() -> None:
    assert send("GET", "/health", headers={"host": "10.0.0.7:8000"}).text == "ok\n"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_only_post_is_served(method: str) -> None:
    response = send(method)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_endpoint_is_served_at_the_configured_path() -> None:
    async def once() -> list[int]:
        transport = httpx.ASGITransport(create_app(pet_server("http://api.test"), path="/here"))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [(await client.post(path, json=PING)).status_code for path in ("/here", "/mcp")]

    assert asyncio.run(once()) == [200, 404]


ADDRESSES: list[tuple[dict[str, Any], dict[str, str], int]] = [
    ({}, {"host": "localhost"}, 200),
    ({}, {"host": "LOCALHOST:9"}, 200),
    ({}, {"host": "127.0.0.1:8000"}, 200),
    ({}, {"host": "[::1]"}, 200),
    ({}, {"host": "[::1]:8000"}, 200),
    ({}, {"host": "evil.example"}, 421),
    ({}, {"host": "evil.example:8000"}, 421),
    ({}, {"host": "localhost.evil.example"}, 421),
    ({}, {"host": "localhost:x@evil.example"}, 421),
    ({}, {"host": ""}, 421),
    ({}, {"origin": "http://localhost:8000"}, 200),
    ({}, {"origin": "https://127.0.0.1:8000"}, 200),
    ({}, {"origin": "http://[::1]:8000"}, 200),
    ({}, {"origin": "http://localhost", "host": "localhost"}, 200),
    ({}, {"origin": "http://localhost:9000", "host": "127.0.0.1:9000"}, 200),
    ({}, {"origin": "http://localhost:5173"}, 403),
    ({}, {"origin": "https://127.0.0.1"}, 403),
    ({}, {"origin": "http://[::1]:5173"}, 403),
    ({}, {"origin": "http://[::1]"}, 403),
    ({}, {"origin": "http://localhost:8000", "host": "localhost"}, 200),
    ({}, {"origin": "https://localhost", "host": "localhost"}, 403),
    ({}, {"origin": "ftp://localhost:8000"}, 403),
    ({"allowed_origins": ["http://localhost:5173"]}, {"origin": "http://localhost:5173"}, 200),
    ({"allowed_origins": ["http://localhost:5173"]}, {"origin": "http://localhost:8000"}, 200),
    ({"allowed_origins": ["localhost"]}, {"origin": "http://localhost:5173"}, 200),
    ({}, {"origin": "http://evil.example"}, 403),
    ({}, {"origin": "http://localhost.evil.example:8000"}, 403),
    ({}, {"origin": "null"}, 403),
    ({}, {"origin": ""}, 403),
    ({}, {"origin": "localhost"}, 403),
    ({}, {"origin": "file://localhost"}, 403),
    ({}, {"host": "evil.example", "origin": "http://evil.example"}, 421),
    ({"allowed_hosts": ["api.example:443"]}, {"host": "api.example:443"}, 200),
    ({"allowed_hosts": ["api.example:443"]}, {"host": "api.example:80"}, 421),
    ({"allowed_hosts": None}, {"host": "anything"}, 200),
    ({"allowed_hosts": None}, {"host": "anything", "origin": "http://anything"}, 403),
    ({"allowed_origins": ["https://app.example"]}, {"origin": "https://app.example"}, 200),
    ({"allowed_origins": ["https://app.example"]}, {"origin": "http://app.example"}, 403),
    ({"allowed_origins": ["app.example"]}, {"origin": "http://app.example:99"}, 200),
    ({"allowed_origins": None}, {"origin": "null"}, 200),
]


@pytest.mark.parametrize(("options", "headers", "status"), ADDRESSES)
def test_only_local_and_configured_hosts_and_origins_are_allowed(
    options: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    response = send(headers=headers, **options)
    assert response.status_code == status
    assert ("error" in response.json()) == (status != 200)
    assert "id" not in response.json() or status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json; charset=utf-8"}, 200),
        ({"content-type": "Application/JSON"}, 200),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": ""}, 415),
        ({"accept": "application/json, text/event-stream"}, 200),
        ({"accept": "application/json"}, 200),
        ({"accept": "text/event-stream"}, 200),
        ({"accept": "text/html, */*;q=0.1"}, 200),
        ({"accept": "application/*"}, 200),
        ({"accept": "text/html"}, 406),
        ({"accept": "application/json;q=0, text/event-stream;q=0"}, 406),
        ({"accept": "application/json; q=0.0, text/event-stream;q=0.000, */*"}, 406),
        ({"accept": "*/*;q=0"}, 406),
        ({"accept": "*/*;q=0, application/*"}, 200),
        ({"accept": "application/json;q=x"}, 200),
    ],
)
def test_media_types_other_than_json_are_415_or_406(headers: dict[str, str], status: int) -> None:
    assert send(headers=headers).status_code == status


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/json, text/event-stream", "application/json"),
        ("text/event-stream;q=0, */*", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("application/json;q=0, */*", "text/event-stream"),
        ("text/*", "text/event-stream"),
    ],
)
def test_response_has_an_acceptable_media_type(accept: str, media_type: str) -> None:
    response = send(headers={"accept": accept})
    assert response.status_code == 200
    assert response.headers["content-type"] == media_type
    assert json.loads(response.text.rpartition("data: ")[2])["result"] == {}


@pytest.mark.parametrize("hosts", [[], ["localhost", "localhost"], ["localhost", "evil.example"]])
@pytest.mark.parametrize("allowed", [None, ("localhost",)])
def test_missing_or_doubled_host_is_400(hosts: list[str], allowed: tuple[str, ...] | None) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": PING_BYTES}

    async def note(message: Any) -> None:
        sent.append(message)

    async def once() -> None:
        headers = [(b"content-type", b"application/json"), *((b"Host", host.encode()) for host in hosts)]
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "client": ("127.0.0.1", 1)}
        await create_app(pet_server("http://api.test"), allowed_hosts=allowed)(scope, receive, note)

    asyncio.run(once())
    assert sent[0]["status"] == 400
    assert "exactly one Host header" in json.loads(sent[1]["body"])["error"]["message"]


def test_parse_error_has_the_id_that_can_be_read() -> None:
    response = send(content=b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}')
    assert (response.status_code, response.json()["id"], response.json()["error"]["code"]) == (400, 7, -32700)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"NaN"])
def test_invalid_json_is_a_parse_error_without_an_id(content: bytes) -> None:
    response = send(content=content)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32700
    assert "id" not in response.json()


def test_body_beyond_the_limit_is_413_with_and_without_content_length() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b" " * 50

    assert send(content=b" " * 101, max_body_bytes=100).status_code == 413
    assert send(content=chunks(), max_body_bytes=100).status_code == 413
    assert send(content=PING_BYTES.ljust(100), max_body_bytes=100).status_code == 200


def test_address_is_checked_before_method_and_method_before_message() -> None:
    assert send("GET", headers={"host": "evil.example"}).status_code == 421
    assert send("PUT", headers={"content-type": "text/plain"}).status_code == 405
    assert send(content=b"{", headers={"content-type": "text/plain"}).status_code == 415


def test_header_that_is_sent_twice_is_400() -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}}
    once = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")]
    content = json.dumps(listing).encode()
    assert send(content=content, headers=once).status_code == 200
    twice = send(content=content, headers=[*once, ("Mcp-Method", "tools/list")])
    assert (twice.status_code, twice.json()["error"]["code"]) == (400, -32020)


@pytest.fixture(scope="module")
def api() -> Iterator[tuple[PetApi, str]]:
    pets = PetApi()
    with running(pets.app) as url:
        yield pets, url


@pytest.fixture(scope="module")
def url(api: tuple[PetApi, str]) -> Iterator[str]:
    with running(create_app(pet_server(api[1]))) as base:
        yield f"{base}/mcp"


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_official_client_lists_and_calls(url: str, mode: Any) -> None:
    async def drive() -> None:
        async with Client(url, mode=mode, read_timeout_seconds=20) as client:
            assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == ["getPet", "listPets", "sing", "wait"]
            pet = await client.call_tool("getPet", {"petId": 1})
            assert pet.structured_content == {"name": "Minka"}
            pets = await client.call_tool("listPets", {})
            expected = [{"name": "Minka"}]
            assert pets.structured_content == ({"result": expected} if mode == "legacy" else expected)
            assert (await client.call_tool("getPet", {"petId": 404})).is_error
            assert (await client.call_tool("getPet", {"petId": "x"})).is_error

    anyio.run(drive)


def leave(url: str, message: dict[str, Any], headers: dict[str, str], api: PetApi) -> None:
    """Send a message over a new connection, and close it when the API has the call."""
    address = httpx.URL(url)
    body = json.dumps(message)
    fields = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    api.reset()
    with closing(socket.create_connection((address.host, address.port or 80))) as client:
        client.sendall(f"POST {address.path} HTTP/1.1\r\n{lines}\r\n{body}".encode())
        assert api.waiting.wait(10)


def test_stateless_client_that_disconnects_cancels_its_call(api: tuple[PetApi, str], url: str) -> None:
    leave(url, STATELESS_WAIT, STATELESS_HEADERS, api[0])
    assert api[0].disconnected.wait(10)


def test_handshake_client_that_disconnects_cancels_nothing(api: tuple[PetApi, str], url: str) -> None:
    pets, _ = api
    leave(url, WAIT, {"MCP-Protocol-Version": "2025-11-25"}, pets)
    for _ in range(3):
        assert httpx.post(url, json=PING).status_code == 200  # by now the server knows that the client left
    pets.may_answer.set()
    assert pets.served.wait(10)
    assert not pets.disconnected.is_set()


@pytest.mark.slow
def test_stopping_server_answers_unfinished_calls_with_503(api: tuple[PetApi, str]) -> None:
    pets, base = api
    pets.reset()
    answers: list[httpx.Response] = []

    def wait(url: str) -> None:
        answers.append(httpx.post(url, json=WAIT, timeout=20))

    with running(create_app(pet_server(base))) as one:
        client = threading.Thread(target=wait, args=[f"{one}/mcp"])
        client.start()
        assert pets.waiting.wait(10)
    client.join(10)
    assert pets.disconnected.wait(10)
    assert [answer.status_code for answer in answers] == [503]
    assert "error" in answers[0].json()
