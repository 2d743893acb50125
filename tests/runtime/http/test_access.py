"""Access control over HTTP: bearer token, CORS, limits, the responses to refused requests, and the order of checks."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.http.app import create_app
from openapi_mcp.runtime.http.sessions import Sessions
from tests.runtime.echo import answer, echoing
from tests.runtime.http.test_app import PING_BYTES, send
from tests.runtime.http.test_sessions_of_clients import ENVELOPE, HELLO, message
from tests.runtime.pets import pet_server

TOKEN = "open-sesame"
PAGE = "http://localhost:8000"
PREFLIGHT = {"origin": PAGE, "access-control-request-method": "POST"}


@pytest.mark.parametrize(
    ("authorization", "status", "challenge"),
    [
        (None, 401, "Bearer"),
        ("", 401, "Bearer"),
        ("Basic b3Blbi1zZXNhbWU=", 401, "Bearer"),
        (TOKEN, 401, "Bearer"),
        ("Bearer", 400, 'Bearer error="invalid_request"'),
        ("Bearer ", 400, 'Bearer error="invalid_request"'),
        (f"Bearer {TOKEN} {TOKEN}", 400, 'Bearer error="invalid_request"'),
        (f"Bearer {TOKEN}, Bearer {TOKEN}", 400, 'Bearer error="invalid_request"'),
        ("Bearer open", 401, 'Bearer error="invalid_token"'),
        (f"Bearer {TOKEN.upper()}", 401, 'Bearer error="invalid_token"'),
        (f"Bearer {TOKEN}", 200, None),
        (f"bearer  {TOKEN}", 200, None),
    ],
)
def test_missing_or_wrong_bearer_token_is_401_and_malformed_400(
    authorization: str | None, status: int, challenge: str | None
) -> None:
    headers = {} if authorization is None else {"authorization": authorization}
    response = send(headers=headers, auth_token=TOKEN)
    assert (response.status_code, response.headers.get("www-authenticate")) == (status, challenge)
    assert ("error" in response.json()) == (status != 200)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_every_method_needs_the_token_but_health_does_not(method: str) -> None:
    assert send(method, auth_token=TOKEN).status_code == 401
    assert send("GET", "/health", auth_token=TOKEN).text == "ok\n"


def test_address_and_token_are_checked_before_method_and_body() -> None:
    evil = {"host": "evil.example", "content-type": "text/plain"}
    assert send(headers=evil, auth_token=TOKEN).status_code == 421
    assert send(headers={"origin": "null", "content-type": "text/plain"}, auth_token=TOKEN).status_code == 403
    assert send(headers={"content-type": "text/plain"}, auth_token=TOKEN).status_code == 401
    authorized = {"authorization": f"Bearer {TOKEN}", "content-type": "text/plain"}
    assert send("PUT", headers=authorized, auth_token=TOKEN).status_code == 405
    assert send(headers=authorized, content=b"{", auth_token=TOKEN).status_code == 415


def test_preflight_request_needs_no_token() -> None:
    requested = "content-type, authorization, mcp-session-id, mcp-protocol-version, mcp-param-region, x-other"
    response = send("OPTIONS", headers=PREFLIGHT | {"access-control-request-headers": requested}, auth_token=TOKEN)
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["access-control-allow-origin"] == PAGE
    assert response.headers["access-control-allow-methods"] == "POST, GET, DELETE"
    assert response.headers["access-control-allow-headers"] == requested.removesuffix(", x-other")
    assert response.headers["vary"] == "Origin"


def test_page_of_an_allowed_origin_can_read_responses_and_errors() -> None:
    for response in (send(headers={"origin": PAGE}), send(headers={"origin": PAGE}, auth_token=TOKEN)):
        assert response.headers["access-control-allow-origin"] == PAGE
        assert "Mcp-Session-Id" in response.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in response.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_page_of_another_origin_gets_403_without_cors_headers(origin: str) -> None:
    for response in (send("OPTIONS", headers=PREFLIGHT | {"origin": origin}), send(headers={"origin": origin})):
        assert response.status_code == 403
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_request_without_origin_gets_no_cors_headers() -> None:
    assert not [name for name in send().headers if name.startswith(("access-control", "vary"))]


@pytest.mark.parametrize(
    "headers", [[(f"x-{number}", "x") for number in range(101)], [("x-long", "x" * 64 * 1024)], [("x", "y")] * 101]
)
def test_too_many_or_too_long_headers_are_431(headers: list[tuple[str, str]]) -> None:
    assert send(headers=headers).status_code == 431


def test_body_that_announces_too_many_bytes_is_not_read() -> None:
    read: list[bool] = []

    async def much() -> AsyncIterator[bytes]:
        read.append(True)
        yield b" " * 101

    assert send(content=much(), headers={"content-length": "101"}, max_body_bytes=100).status_code == 413
    assert not read


def test_message_that_does_not_arrive_in_time_is_408() -> None:
    async def once() -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []

        async def receive() -> Any:
            return await asyncio.get_running_loop().create_future()

        async def collect(part: Any) -> None:
            sent.append(part)

        app = create_app(pet_server("http://api.test"), receive_timeout=0.01)
        await app(scope(), receive, collect)
        return sent

    start, body = asyncio.run(once())
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]
    assert json.loads(body["body"])["error"]["code"] == -32600


def scope() -> dict[str, Any]:
    """Return the ASGI scope of a POST of JSON to `localhost`."""
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    kind = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http"}
    return {**kind, "path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "root_path": "", "headers": headers}


def test_messages_beyond_max_concurrency_are_503() -> None:
    async def once() -> list[httpx.Response]:
        reading, enough = asyncio.Event(), asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            reading.set()
            await enough.wait()
            yield PING_BYTES

        transport = httpx.ASGITransport(create_app(pet_server("http://api.test"), max_concurrency=1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            kind = {"content-type": "application/json"}
            first = asyncio.create_task(client.post("/mcp", content=slowly(), headers=kind))
            await reading.wait()
            second = await client.post("/mcp", content=PING_BYTES, headers=kind)
            enough.set()
            third = await first
            return [second, third, await client.post("/mcp", content=PING_BYTES, headers=kind)]

    refused, *served = asyncio.run(once())
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["error"]["code"] == -32603
    assert [response.status_code for response in served] == [200, 200]


def test_session_of_another_token_is_404() -> None:
    async def once() -> list[int]:
        statuses = []
        session: dict[str, str] = {}
        for token in ("ann", "ann", "bob"):
            app = create_app(pet_server("http://api.test"), auth_token=token, sessions=Sessions(b"one secret"))
            headers = {"authorization": f"Bearer {token}"} | session
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
                content = message("ping") if session else message("initialize", HELLO)
                response = await client.post("/mcp", json=content, headers=headers)
                session = session or {"mcp-session-id": response.headers["mcp-session-id"]}
                statuses.append(response.status_code)
        return statuses

    assert asyncio.run(once()) == [200, 200, 404]


def test_headers_of_a_client_do_not_reach_the_api() -> None:
    sent_headers = {
        "authorization": f"Bearer {TOKEN}",
        "cookie": "a=secret",
        "host": "localhost:1234",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "getPet",
        "mcp-param-x": "secret",
        "mcp-session-id": "secret",
        "x-forwarded-for": "secret",
        "x-secret": "secret",
    }
    call = message("tools/call", {"name": "getPet", "arguments": {"petId": 1}, "_meta": ENVELOPE})

    async def once(url: str) -> httpx.Response:
        server = pet_server(url)
        transport = httpx.ASGITransport(create_app(server, auth_token=TOKEN))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            response = await client.post("/mcp", json=call, headers=sent_headers)
        await server.aclose()
        return response

    with echoing() as api:
        api.respond = lambda _: answer(b'{"name":"Minka"}', "Content-Type: application/json")
        response = asyncio.run(once(api.url))
        assert response.json()["result"]["structuredContent"] == {"name": "Minka"}
        (request,) = api.requests
    assert request.one("host") == api.url.removeprefix("http://")
    received = {name: value.decode() for name, value in request.headers}
    assert not {name for name in received if name in {"authorization", "cookie"} or name.startswith(("mcp-", "x-"))}
    assert not [value for value in received.values() if "secret" in value or TOKEN in value]
