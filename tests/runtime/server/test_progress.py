"""Progress: each entry of a streamed response reaches the client before the next one is sent, over every transport."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters

from openapi_mcp.runtime.http.app import create_app
from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, Session
from openapi_mcp.runtime.server import notifications
from openapi_mcp.runtime.server.server import MAX_STREAMED_BYTES, Server
from openapi_mcp.runtime.stdio import StdioSession
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.news import ENTRIES, STREAMS, VALUES, NewsApi, news_server
from tests.runtime.test_stdio import INITIALIZE, Pipes
from tests.servers import running

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
STREAM = "text/event-stream"
BOTH = f"application/json, {STREAM}"
HANDSHAKE_HEADERS = {"MCP-Protocol-Version": "2025-11-25"}
STATELESS_HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "events"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
def api() -> Iterator[tuple[NewsApi, str]]:
    """An API that sends each entry when the test lets it proceed."""
    news = NewsApi()
    with running(news.app) as url:
        try:
            yield news, url
        finally:
            news.release_all()


@contextmanager
def run_server(base_url: str, **options: Any) -> Iterator[str]:
    with running(create_app(news_server(base_url), **options)) as url:
        yield f"{url}/mcp"


def call(name: str = "events", *, envelope: dict[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
    params = {"name": name, "_meta": {**(envelope or {}), **meta}}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


async def watch(target: Any, mode: Any, news: NewsApi, name: str) -> None:
    """Call a tool, letting each entry come only once the one before was reported."""
    reported: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append((progress, total, message))
        news.proceed(len(reported))

    async with Client(target, mode=mode, read_timeout_seconds=20) as client:
        news.proceed(0)
        result = await client.call_tool(name, {}, progress_callback=on_progress)
        assert reported == [(number, None, entry) for number, entry in enumerate(ENTRIES, 1)]
        assert result.structured_content == ({"result": VALUES} if mode == "legacy" else VALUES)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("name", STREAMS)
def test_official_client_gets_each_entry_before_the_next_over_http(
    api: tuple[NewsApi, str], name: str, mode: str
) -> None:
    news, base_url = api
    with run_server(base_url) as url:
        anyio.run(watch, url, mode, news, name)


@pytest.mark.process
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_official_client_gets_each_entry_before_the_next_over_stdio(api: tuple[NewsApi, str], mode: str) -> None:
    news, base_url = api
    target = StdioServerParameters(command=sys.executable, args=["-m", "tests.runtime.news", base_url], cwd=ROOT)
    anyio.run(watch, target, mode, news, "events")


@pytest.mark.parametrize(
    ("meta", "accept"),
    [({}, BOTH), ({"progressToken": 1}, "application/json")],
    ids=["no token", "no streams accepted"],
)
@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_client_without_progress_token_or_stream_gets_json(
    api: tuple[NewsApi, str], era: str, meta: dict[str, Any], accept: str
) -> None:
    news, base_url = api
    news.release_all()
    envelope, headers = (ENVELOPE, STATELESS_HEADERS) if era == "stateless" else ({}, HANDSHAKE_HEADERS)
    with run_server(base_url) as url:
        response = httpx.post(url, json=call(envelope=envelope, **meta), headers={**headers, "accept": accept})
    assert response.headers["content-type"] == "application/json"
    assert json.loads(response.json()["result"]["content"][0]["text"].split("data: ")[1].split("\r\n")[0]) == {"n": 1}


def test_stream_has_notifications_before_the_response(api: tuple[NewsApi, str]) -> None:
    news, base_url = api
    news.release_all()
    with run_server(base_url) as url:
        response = httpx.post(url, json=call(progressToken="t"), headers={**HANDSHAKE_HEADERS, "accept": BOTH})
    headers = {name: response.headers[name] for name in ("content-type", "cache-control", "x-accel-buffering")}
    assert headers == {"content-type": STREAM, "cache-control": "no-cache", "x-accel-buffering": "no"}
    events = [event.split("\n") for event in response.text.removesuffix("\n\n").split("\n\n")]
    assert {kind for kind, _ in events} == {"event: message"}
    *notifications, answer = [json.loads(data.removeprefix("data: ")) for _, data in events]
    assert notifications == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": "t", "progress": number, "message": entry},
        }
        for number, entry in enumerate(ENTRIES, 1)
    ]
    assert (answer["id"], answer["result"]["structuredContent"]) == (7, {"result": VALUES})


def test_silent_stream_sends_keep_alive_comments_after_its_start(api: tuple[NewsApi, str]) -> None:
    news, base_url = api
    news.proceed(0)
    with (
        run_server(base_url, keep_alive=0.01) as url,
        httpx.stream("POST", url, json=call(progressToken=1), headers={"accept": BOTH}) as response,
    ):
        lines = response.iter_lines()
        assert next(lines) == "event: message"
        assert next(line for line in lines if line.startswith(":")) == ": keep-alive"
        news.release_all()
        assert json.loads([line for line in lines if line.startswith("data: ")][-1][6:])["id"] == 7


def test_silent_call_without_a_token_begins_its_stream_with_a_comment(
    api: tuple[NewsApi, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "KEEP_ALIVE_INTERVAL", 0.05)
    news, base_url = api
    with (
        run_server(base_url, keep_alive=0.05) as url,
        httpx.stream("POST", url, json=call(), headers={"accept": BOTH}) as response,
    ):
        lines = response.iter_lines()
        assert [next(lines) for _ in range(4)] == [": keep-alive", ""] * 2
        news.release_all()
        assert json.loads([line for line in lines if line.startswith("data: ")][-1][6:])["id"] == 7


def test_quick_call_without_a_token_is_answered_in_json(api: tuple[NewsApi, str]) -> None:
    news, base_url = api
    news.release_all()
    with run_server(base_url) as url:
        response = httpx.post(url, json=call(), headers={"accept": BOTH})
        assert response.headers["content-type"] == "application/json"


def leave_after_the_first_event(url: str, message: dict[str, Any], headers: dict[str, str]) -> None:
    with httpx.stream("POST", url, json=message, headers={**headers, "accept": BOTH}) as response:
        assert next(response.iter_lines()) == "event: message"


def test_disconnecting_in_the_stateless_era_cancels_the_call(api: tuple[NewsApi, str]) -> None:
    news, base_url = api
    news.proceed(0)
    with run_server(base_url) as url:
        leave_after_the_first_event(url, call(envelope=ENVELOPE, progressToken=1), STATELESS_HEADERS)
        assert news.disconnected.wait(10)


def test_disconnecting_in_the_handshake_era_cancels_nothing() -> None:
    ended = threading.Event()

    class Ending(NewsApi):
        async def _entries(self, written: str) -> AsyncIterator[str]:
            async for entry in super()._entries(written):
                yield entry
            ended.set()

    news = Ending()
    with running(news.app) as base_url, run_server(base_url) as url:
        news.proceed(0)
        leave_after_the_first_event(url, call(progressToken=1), HANDSHAKE_HEADERS)
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for _ in range(3):
            assert httpx.post(url, json=ping).status_code == 200  # by now the server has noticed the disconnection
        assert not news.disconnected.is_set()
        news.release_all()
        assert ended.wait(10)


@pytest.mark.slow
def test_stopping_the_server_ends_its_streams(api: tuple[NewsApi, str]) -> None:
    news, base_url = api
    started = threading.Event()
    messages: list[str] = []

    def listen(url: str) -> None:
        with httpx.stream("POST", url, json=call(progressToken=1), headers={"accept": BOTH}, timeout=20) as response:
            for line in response.iter_lines():
                started.set()
                messages.append(line)

    news.proceed(0)
    with run_server(base_url) as url:
        client = threading.Thread(target=listen, args=[url])
        client.start()
        assert started.wait(10)
    client.join(10)
    assert "The server is stopping." in [line for line in messages if line.startswith("data: ")][-1]


def test_cancelled_call_over_stdio_sends_nothing_more(api: tuple[NewsApi, str]) -> None:
    news, base_url = api
    progress_sent = threading.Event()

    class ProgressPipes(Pipes):
        def write(self, data: bytes) -> None:
            super().write(data)
            if self.messages[-1].get("method") == "notifications/progress":
                progress_sent.set()

    pipes = ProgressPipes()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}

    def drive() -> None:
        assert progress_sent.wait(10)
        pipes.send(cancel)
        assert news.disconnected.wait(10)
        news.release_all()
        pipes.send({"jsonrpc": "2.0", "id": 8, "method": "ping"})
        pipes.end()

    async def converse() -> None:
        server = news_server(base_url)
        driving = asyncio.create_task(asyncio.to_thread(drive))
        await StdioSession(server, pipes.read, pipes.write).run()
        await driving
        await server.aclose()

    news.proceed(0)
    pipes.send(INITIALIZE, call(progressToken=1))
    asyncio.run(converse())
    assert [message.get("id", message.get("method")) for message in pipes.messages] == [0, "notifications/progress", 8]


class Body(httpx.AsyncByteStream):
    """A body in pieces; `sent` counts those that were read."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces
        self.sent = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            self.sent += 1
            yield piece


def answering(body: Body, status: int = 200, content_type: str = STREAM, **options: Any) -> Server:
    def respond(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers={"content-type": content_type}, stream=body)

    return news_server("http://api.test", Upstream(transport=httpx.MockTransport(respond)), **options)


def perform(server: Server, message: Any, session: Session) -> tuple[list[Any], Any]:
    """Perform a message; return the messages before the reply, and the reply."""
    messages: list[Any] = []

    async def notify(message: bytes) -> None:
        messages.append(json.loads(message))

    async def once() -> Any:
        try:
            answer = await server.perform(server.receive(message, session), notify)
            return json.loads(answer.body or b"null")
        finally:
            await server.aclose()

    return messages, asyncio.run(once())


@pytest.mark.parametrize("revision", [*HANDSHAKE, *STATELESS])
@pytest.mark.parametrize("token", ["t", "", 0, 7, 7.0, -1])
def test_progress_has_the_form_of_the_revision(revision: str, token: Any) -> None:
    envelope = ENVELOPE if revision in STATELESS else {}
    server = answering(Body(b"data: " + b"x" * 200 + b"\n\ndata: " + b"x" * 201 + b"\n\n"))
    messages, answer = perform(server, call(envelope=envelope, progressToken=token), Session(revision))
    expected = [{}, {}] if revision == "2024-11-05" else [{"message": "x" * 200}, {"message": "x" * 199 + "…"}]
    assert [
        {key: one["params"][key] for key in one["params"].keys() & {"message", "total"}} for one in messages
    ] == expected
    assert [one["params"]["progress"] for one in messages] == [1, 2]
    assert {json.dumps(one["params"]["progressToken"]) for one in messages} == {json.dumps(token)}
    assert not answer["result"]["isError"]


@pytest.mark.parametrize("token", [None, True, 1.5, [], {}, "\ud800"])
def test_invalid_progress_token_is_ignored(token: Any) -> None:
    messages, answer = perform(answering(Body(b"data: 1\n\n")), call(progressToken=token), Session("2025-11-25"))
    assert (messages, answer["result"]["structuredContent"]) == ([], {"result": [1]})


@pytest.mark.parametrize("meta", [None, [], "progressToken"])
def test_meta_that_is_no_object_is_ignored(meta: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "events", "_meta": meta}}
    messages, answer = perform(answering(Body(b"data: 1\n\n")), message, Session("2025-11-25"))
    assert (messages, answer["result"]["structuredContent"]) == ([], {"result": [1]})


@pytest.mark.parametrize(("status", "content_type"), [(500, STREAM), (200, "text/plain")])
def test_failed_stream_has_no_progress(status: int, content_type: str) -> None:
    server = answering(Body(b"data: 1\n\n"), status, content_type)
    messages, answer = perform(server, call(progressToken=1), Session("2025-11-25"))
    assert messages == []
    assert "data: 1" in answer["result"]["content"][0]["text"]


def test_batch_has_no_notifications() -> None:
    messages, answers = perform(answering(Body(b"data: 1\n\n")), [call(progressToken=1)], Session("2025-03-26"))
    assert (messages, [answer["id"] for answer in answers]) == ([], [7])


@pytest.mark.parametrize("filler", [b"x", b"\x01", b'\\"'], ids=["plain", "control characters", "escaped"])
def test_result_after_notifications_is_truncated_to_one_event(filler: bytes) -> None:
    event = b'data: "' + filler * 400_000 + b'"\n\n'
    server = answering(Body(event, event), max_result_bytes=64 * 1024 * 1024)
    messages, answer = perform(server, call(progressToken=1), Session("2025-11-25"))
    assert len(messages) == 2
    assert len(json.dumps(answer, ensure_ascii=False).encode()) < MAX_STREAMED_BYTES + 1024
    assert answer["result"]["content"][0]["text"].startswith("This is a part of the answer. It was cut to ")
    assert answer["result"]["_meta"]["openapi-mcp/cut"]["leftOut"]


def test_result_without_notifications_has_only_the_configured_limit() -> None:
    server = answering(Body(b'data: "' + b"x" * 1_500_000 + b'"\n\n'), max_result_bytes=4 * 1024 * 1024)
    _, answer = perform(server, call(), Session("2025-11-25"))
    assert len(answer["result"]["content"][0]["text"]) > 1_500_000


def test_slow_client_slows_the_reading_of_the_api() -> None:
    body = Body(*(b"data: 1\n\n" for _ in range(100)))
    server = answering(body)

    async def once() -> tuple[list[int], Any]:
        sent: list[int] = []
        messages, read = asyncio.Semaphore(0), asyncio.Semaphore(0)

        async def notify(_message: bytes) -> None:
            messages.release()
            await read.acquire()

        step = server.receive(call(progressToken=1), Session("2025-11-25"))
        performing = asyncio.create_task(server.perform(step, notify))
        for _ in range(100):
            await messages.acquire()
            sent.append(body.sent)
            read.release()
        return sent, json.loads((await performing).body or b"null")

    sent, answer = asyncio.run(once())
    assert sent == list(range(1, 101))
    assert answer["result"]["structuredContent"] == {"result": [1] * 100}
