"""Messages, plain answers and the ends of connections without ASGI's events: what is received is the same."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from openapi_mcp.runtime.http import hosting
from openapi_mcp.runtime.http.app import create_app
from openapi_mcp.runtime.http.direct import DirectRequest
from openapi_mcp.runtime.http.heads import MAX_KNOWN_BYTES, MAX_KNOWN_HEADS, KnownHead, KnownHeads
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.http.test_cancellation import STATELESS_WAIT, WAIT_HEADERS, Api
from tests.runtime.http.test_sessions_of_clients import message
from tests.runtime.pets import pet_server

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
GET_PET = message("tools/call", {"name": "getPet", "arguments": {"petId": 7}}, 7)


@dataclass
class Served:
    """A server of the pets; `direct` has a value for each request: whether its answer bypassed ASGI."""

    port: int
    direct: list[bool]

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)


def packet(body: Any, headers: dict[str, str] | None = None) -> bytes:
    data = json.dumps(body).encode()
    fields = {
        "Host": "localhost",
        "Content-Type": "application/json",
        "Content-Length": str(len(data)),
        **(headers or {}),
    }
    return "".join(["POST /mcp HTTP/1.1\r\n", *(f"{n}: {v}\r\n" for n, v in fields.items()), "\r\n"]).encode() + data


async def answer(reader: asyncio.StreamReader) -> tuple[bytes, Any]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length"))
    return head, json.loads(await reader.readexactly(length))


def serve(
    transport: httpx.AsyncBaseTransport,
    body: Callable[[Served], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
    wrap: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> None:
    direct: list[bool] = []
    original = DirectRequest.answer

    def noted(self: DirectRequest, data: bytes) -> bool:
        direct.append(original(self, data))
        return direct[-1]

    monkeypatch.setattr(DirectRequest, "answer", noted)

    async def once() -> None:
        server = uvicorn.Server(
            hosting.server_config(wrap(create_app(pet_server("http://api.test", Upstream(transport=transport)))))
        )
        with socket.create_server(("127.0.0.1", 0)) as listener:
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                async with asyncio.timeout(20):
                    await body(Served(listener.getsockname()[1], direct))
            finally:
                server.should_exit = True
                await serving

    with suppress(KeyboardInterrupt):
        asyncio.run(once())


PETS = httpx.MockTransport(lambda _: httpx.Response(200, json={"name": "Minka"}))


def test_answer_is_that_of_asgi_in_one_packet_or_several(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(served: Served) -> None:
        reader, writer = await served.connect()
        request = packet(GET_PET)
        answers = []
        for cuts in ((len(request),), (3, len(request) - 5, len(request))):
            start = 0
            for end in cuts:
                writer.write(request[start:end])
                await writer.drain()
                await asyncio.sleep(0.02)
                start = end
            answers.append(await answer(reader))
        writer.write(packet(GET_PET, {"Origin": "http://localhost"}))
        answers.append(await answer(reader))
        writer.close()
        assert answers[0][1] == answers[1][1] == answers[2][1]
        assert answers[0][1]["result"]["content"][0]["text"] == '{"name":"Minka"}'
        names = [{line.partition(b":")[0] for line in head.split(b"\r\n")} for head, _ in answers]
        assert names[0] == names[1] < names[2]  # the last one has the fields of CORS, so that it is not plain
        assert served.direct == [True, True]

    serve(PETS, body, monkeypatch)


def test_pipelined_requests_are_answered_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(served: Served) -> None:
        reader, writer = await served.connect()
        writer.write(b"".join(packet({**GET_PET, "id": number}) for number in range(10)))
        assert [(await answer(reader))[1]["id"] for _ in range(10)] == list(range(10))
        writer.close()

    serve(PETS, body, monkeypatch)


def test_application_within_another_one_answers_through_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrap(app: ASGIApp) -> ASGIApp:
        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            async def marked(event: Any) -> None:
                if event["type"] == "http.response.start":
                    event["headers"] = [*event["headers"], (b"x-mark", b"1")]
                await send(event)

            await app(scope, receive, marked)

        return wrapped

    async def body(served: Served) -> None:
        reader, writer = await served.connect()
        writer.write(packet(GET_PET))
        head, _ = await answer(reader)
        writer.close()
        assert b"x-mark: 1" in head
        assert served.direct == []

    serve(PETS, body, monkeypatch, wrap)


def test_request_with_a_known_head_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []
    original = HttpToolsProtocol.on_url

    def noted(self: HttpToolsProtocol, url: bytes) -> None:
        parsed.append(url)
        original(self, url)

    monkeypatch.setattr(HttpToolsProtocol, "on_url", noted)

    async def body(served: Served) -> None:
        reader, writer = await served.connect()
        other, other_writer = await served.connect()
        requests = [packet({**GET_PET, "id": number}) for number in (1, 2, 3, 44, 5)]  # of 44, the head is another one
        for number, request in enumerate(requests):
            (writer if number != 2 else other_writer).write(request)
            head, result = await answer(reader if number != 2 else other)
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
            assert result["id"] == (1, 2, 3, 44, 5)[number]
        assert len(parsed) == 2
        writer.write(requests[0][:-4])  # in two parts
        await asyncio.sleep(0.02)
        writer.write(requests[0][-4:])
        assert (await answer(reader))[1]["id"] == 1
        writer.write(requests[1] + requests[2])  # pipelined
        assert [(await answer(reader))[1]["id"] for _ in range(2)] == [2, 3]
        assert len(parsed) == 5
        writer.write(requests[1])
        assert (await answer(reader))[1]["id"] == 2
        assert len(parsed) == 5
        writer.close()
        other_writer.close()

    serve(PETS, body, monkeypatch)


def test_known_head_is_judged_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(served: Served) -> None:
        reader, writer = await served.connect()
        refused = {"Host": "evil.example"}
        for headers, status in [(refused, b"421")] * 2 + [({"Accept": "image/png"}, b"406")] * 2:
            writer.write(packet(GET_PET, headers))
            assert (await answer(reader))[0].split()[1] == status
        writer.write(packet(message("initialize", INITIALIZE, 1)))
        head, _ = await answer(reader)
        session = next(line[16:] for line in head.decode().split("\r\n") if line.startswith("mcp-session-id: "))
        for _ in range(2):
            writer.write(packet(GET_PET, {"Mcp-Session-Id": session}))
            assert (await answer(reader))[0].split()[1] == b"200"
        writer.write(f"DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).split()[1] == b"204"
        writer.write(packet(GET_PET, {"Mcp-Session-Id": session}))
        assert (await answer(reader))[0].split()[1] == b"404"
        writer.close()

    serve(PETS, body, monkeypatch)


def test_application_around_sees_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def wrap(app: ASGIApp) -> ASGIApp:
        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            seen.append(scope["type"])
            await app(scope, receive, send)

        return wrapped

    async def body(served: Served) -> None:
        reader, writer = await served.connect()
        for _ in range(3):
            writer.write(packet(GET_PET))
            await answer(reader)
        writer.close()
        assert seen.count("http") == 3

    serve(PETS, body, monkeypatch, wrap)


def test_known_head_that_ends_its_connection_ends_it_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(served: Served) -> None:
        for _ in range(3):
            reader, writer = await served.connect()
            writer.write(packet(GET_PET, {"Connection": "close"}))
            await answer(reader)
            assert await reader.read() == b""
            writer.close()

    serve(PETS, body, monkeypatch)


def test_only_the_newest_heads_of_usual_length_are_known() -> None:
    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise NotImplementedError

    heads, known = KnownHeads(), KnownHead({}, 1, app)
    heads.remember(b"x" * (MAX_KNOWN_BYTES + 1), known)
    for number in range(MAX_KNOWN_HEADS + 1):
        heads.remember(b"%d" % number, known)
    assert heads.get(b"x" * (MAX_KNOWN_BYTES + 1)) is None
    assert heads.get(b"0") is None
    assert heads.get(b"1") is known


def test_client_that_leaves_cancels_its_stateless_call(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api()

    async def body(served: Served) -> None:
        _, writer = await served.connect()
        writer.write(packet(STATELESS_WAIT, WAIT_HEADERS))
        await api.asked.wait()
        writer.close()
        await api.left.wait()

    serve(api, body, monkeypatch)
