"""Notifications of a call: log messages by level, bytes sent and received, and no secrets."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, LogLevel, Session, ToolCall
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server import notifications
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.hooks import Findings
from openapi_mcp.runtime.server.notifications import PROGRESS_BYTES, PROGRESS_SECONDS, Progress
from openapi_mcp.runtime.server.server import MAX_STREAMED_BYTES, Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.retries import Retries
from tests.runtime.echo import Echo, Recorded, answer, echoing
from tests.runtime.making import parameter, tool, with_body
from tests.runtime.pets import DESCRIPTION
from tests.runtime.wire import ENVELOPE, call

pytestmark = pytest.mark.slow

MEGABYTE = 1_000_000


@pytest.fixture
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


async def no_sleep(_seconds: float) -> None:
    """Return at once."""


def notified_call(
    api_tool: Tool,
    base_url: str,
    arguments: Any = None,
    *,
    level: LogLevel | None = None,
    revision: str = "2025-11-25",
    meta: Any = None,
    streamed: int | None = MAX_STREAMED_BYTES,
    **server: Any,
) -> tuple[list[Any], Any]:
    """Call a tool; return the params of the messages before the reply, and the result."""
    messages: list[Any] = []

    async def notify(message: bytes) -> None:
        messages.append(json.loads(message)["params"])

    async def once() -> Any:
        upstream = Upstream(retries=Retries(sleep=no_sleep, jitter=lambda: 0.0))
        serving = Server(
            Catalog([replace(api_tool, base_url=base_url)]), DESCRIPTION, upstream, options=RequestOptions(), **server
        )
        step = serving.receive(call(7, "x", arguments, **meta or {}), Session(revision, log_level=level))
        try:
            return json.loads((await serving.perform(step, notify, max_streamed_bytes=streamed)).body or b"")["result"]
        finally:
            await serving.aclose()

    result = asyncio.run(once())
    return messages, result


def answering(*replies: bytes) -> Callable[[Recorded], bytes | Iterator[bytes]]:
    remaining = iter(replies)
    return lambda _: next(remaining)


BUSY = answer(b"busy", status="503 Service Unavailable")
DONE = answer(b"done", "Content-Type: text/plain")


def test_retry_is_a_warning_at_the_default_level(echo: Echo) -> None:
    echo.respond = answering(BUSY, DONE)
    (message,), result = notified_call(tool("/x"), echo.url)
    assert (message["level"], message["logger"], message["data"]["tool"]) == ("warning", "openapi-mcp", "x")
    assert (message["data"]["why"], message["data"]["attempt"], message["data"]["wait_seconds"]) == ("503", 1, 0.5)
    assert result["content"][0]["text"] == "done"


@pytest.mark.parametrize("level", ["error", "emergency"])
def test_retry_is_not_logged_at_higher_levels(echo: Echo, level: LogLevel) -> None:
    echo.respond = answering(BUSY, DONE)
    assert notified_call(tool("/x"), echo.url, level=level)[0] == []


def test_stateless_era_gets_no_log_messages(echo: Echo) -> None:
    echo.respond = answering(BUSY, DONE)
    meta = {**ENVELOPE, "io.modelcontextprotocol/logLevel": "debug"}
    assert notified_call(tool("/x"), echo.url, meta=meta, revision=STATELESS[next(iter(STATELESS))].name)[0] == []


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_success_is_logged_at_lower_levels(echo: Echo, revision: str) -> None:
    echo.respond = lambda _: DONE
    assert notified_call(tool("/x"), echo.url, revision=revision)[0] == []
    request_log, response_log = notified_call(tool("/x"), echo.url, level="debug", revision=revision)[0]
    assert (request_log["level"], request_log["data"]["method"], request_log["data"]["url"]) == (
        "debug",
        "GET",
        f"{echo.url}/x",
    )
    assert (response_log["level"], response_log["data"]["status"], response_log["data"]["bytes"]) == ("info", 200, 4)
    assert response_log["data"]["seconds"] >= 0


def test_log_messages_have_no_credentials_and_no_query_values(echo: Echo) -> None:
    echo.respond = lambda _: DONE
    api_tool = tool("/x", parameter({"name": "key", "in": "query"}), parameter({"name": "q", "in": "query"}))
    url = echo.url.replace("//", "//user:secret@")
    messages, _ = notified_call(api_tool, url, {"query.key": "secret", "query.q": "secret"}, level="debug")
    assert messages[0]["data"]["url"] == f"{echo.url}/x?key=…&q=…"
    assert "secret" not in json.dumps(messages)


def test_truncation_is_a_notice(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"x" * 1000, "Content-Type: text/plain")
    assert notified_call(tool("/x"), echo.url, max_result_bytes=100)[0] == []
    (message,), result = notified_call(tool("/x"), echo.url, level="notice", max_result_bytes=100)
    assert (message["level"], message["data"]["message"]) == ("notice", result["content"][0]["text"])


def finding(*sentences: str) -> Callable[..., Findings]:
    findings: Findings = Future()
    if sentences:
        findings.set_result(sentences)
    return lambda *_: findings


def test_timely_findings_are_notices(echo: Echo) -> None:
    echo.respond = lambda _: DONE
    observer = finding("The answer is odd.", "So is the request.")
    messages, _ = notified_call(tool("/x"), echo.url, level="notice", observer=observer)
    assert [message_params["data"]["message"] for message_params in messages] == [
        "The answer is odd.",
        "So is the request.",
    ]
    assert notified_call(tool("/x"), echo.url, observer=observer)[0] == []


def test_late_findings_are_not_waited_for(echo: Echo) -> None:
    echo.respond = lambda _: DONE
    messages, result = notified_call(tool("/x"), echo.url, level="notice", observer=finding())
    assert (messages, result["isError"]) == ([], False)


@pytest.mark.parametrize("cancelled", [False, True])
def test_failing_findings_do_not_fail_the_call(echo: Echo, cancelled: bool) -> None:
    echo.respond = lambda _: DONE
    findings: Findings = Future()
    findings.cancel() if cancelled else findings.set_exception(ZeroDivisionError())
    messages, result = notified_call(tool("/x"), echo.url, level="notice", observer=lambda *_: findings)
    assert (messages, result["isError"]) == ([], False)


def check_progress(messages: list[Any]) -> None:
    numbers = [message_params["progress"] for message_params in messages]
    assert numbers == sorted(set(numbers))
    assert all(
        message_params["progress"] <= message_params["total"]
        for message_params in messages
        if "total" in message_params
    )


UPLOAD = with_body("text/plain")


def test_large_request_body_has_progress(echo: Echo) -> None:
    echo.respond = lambda _: DONE
    messages, _ = notified_call(UPLOAD, echo.url, {"body": "x" * 10 * MEGABYTE}, meta={"progressToken": "t"})
    check_progress(messages)
    assert [message_params["message"] for message_params in messages] == [
        f"sent {n * 1024 * 1024 / MEGABYTE:.1f} of 10.0 MB" for n in range(1, 10)
    ] + ["sent 10.0 of 10.0 MB"]
    assert {message_params["total"] for message_params in messages} == {10 * MEGABYTE}
    assert {message_params["progressToken"] for message_params in messages} == {"t"}
    assert (len(echo.last().body), echo.last().one("content-length")) == (10 * MEGABYTE, str(10 * MEGABYTE))


def test_retried_body_is_complete_and_progress_grows(echo: Echo) -> None:
    echo.respond = answering(answer(b"later", "Retry-After: 0", status="503 Service Unavailable"), DONE)
    messages, _ = notified_call(
        UPLOAD, echo.url, {"body": "x" * 2 * MEGABYTE}, level="error", meta={"progressToken": 1}
    )
    check_progress(messages)
    assert [message_params["message"] for message_params in messages] == [
        "sent 1.0 of 2.0 MB",
        "sent 2.0 of 2.0 MB",
    ] * 2
    assert [len(request.body) for request in echo.requests] == [2 * MEGABYTE] * 2


def test_redirected_body_is_complete(echo: Echo) -> None:
    echo.respond = answering(answer(b"", "Location: /there", status="307 Temporary Redirect"), DONE)
    messages, _ = notified_call(UPLOAD, echo.url, {"body": "x" * 2 * MEGABYTE}, meta={"progressToken": 1})
    check_progress(messages)
    assert [len(request.body) for request in echo.requests] == [2 * MEGABYTE] * 2


def test_large_response_has_progress(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"x" * 3 * MEGABYTE, "Content-Type: text/plain")
    messages, result = notified_call(tool("/x"), echo.url, meta={"progressToken": 1})
    check_progress(messages)
    assert messages[-1]["message"] == "received 3.0 of 3.0 MB"
    assert {message_params["total"] for message_params in messages} == {3 * MEGABYTE}
    assert not result["isError"]


def test_response_of_unknown_length_has_no_total(echo: Echo) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    echo.respond = lambda _: iter([head, piece, piece, piece, b"0\r\n\r\n"])
    messages, _ = notified_call(tool("/x"), echo.url, meta={"progressToken": 1})
    check_progress(messages)
    assert len(messages) in {2, 3}  # depending on the pieces in which the body arrives
    assert all("total" not in message_params for message_params in messages)
    assert messages[-1]["message"].removeprefix("received ")[-3:] == " MB"


def test_received_bytes_continue_the_count_of_sent_bytes(echo: Echo) -> None:
    echo.respond = lambda request: answer(request.body, "Content-Type: text/plain")
    messages, _ = notified_call(UPLOAD, echo.url, {"body": "x" * 2 * MEGABYTE}, meta={"progressToken": 1})
    check_progress(messages)
    assert [message_params["message"].split()[0] for message_params in messages] == [
        "sent",
        "sent",
        "received",
        "received",
    ]
    assert (messages[-1]["progress"], messages[-1]["total"]) == (4 * MEGABYTE, 4 * MEGABYTE)


def test_entries_continue_the_count_of_sent_bytes(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"data: a\n\ndata: b\n\n", "Content-Type: text/event-stream")
    messages, _ = notified_call(UPLOAD, echo.url, {"body": "x" * 2 * MEGABYTE}, meta={"progressToken": 1})
    check_progress(messages)
    assert [message_params["message"] for message_params in messages[-2:]] == ["a", "b"]
    assert [message_params["progress"] for message_params in messages[-2:]] == [2 * MEGABYTE + 1, 2 * MEGABYTE + 2]


def test_image_that_fits_the_result_has_no_progress(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"x" * 2 * MEGABYTE, "Content-Type: image/png")
    messages, result = notified_call(tool("/x"), echo.url, meta={"progressToken": 1})
    assert (messages, result["content"][0]["type"]) == ([], "image")
    messages, result = notified_call(tool("/x"), echo.url, meta={"progressToken": 1}, streamed=None)
    assert (len(messages), result["content"][0]["type"]) == (2, "image")


def test_small_and_quick_bodies_have_no_progress(echo: Echo) -> None:
    echo.respond = lambda request: answer(request.body, "Content-Type: text/plain")
    assert notified_call(UPLOAD, echo.url, {"body": "x" * MEGABYTE}, meta={"progressToken": 1})[0] == []


def test_call_without_token_has_no_progress(echo: Echo) -> None:
    echo.respond = lambda request: answer(request.body, "Content-Type: text/plain")
    assert notified_call(UPLOAD, echo.url, {"body": "x" * 3 * MEGABYTE}, level="error")[0] == []


def test_slow_body_has_progress_at_any_size() -> None:
    messages: list[Any] = []
    now = iter([0.0, 0.5, 1.5, 1.6, 3.0, 3.1])

    async def notify(message: bytes) -> None:
        messages.append(json.loads(message)["params"])

    async def once() -> None:
        tool_call = ToolCall(request_id=1, revision=HANDSHAKE["2025-11-25"], name="x", arguments={}, progress_token=1)
        progress = Progress(tool_call, notify, lambda: next(now))
        progress.begin("sent", 50)
        for count in (10, 20, 25, 30, 50):
            await progress.advance(count)

    asyncio.run(once())
    assert [message_params["progress"] for message_params in messages] == [20, 30, 50]


def test_values_grow_where_a_step_comes_between_the_bytes_of_a_body() -> None:
    messages: list[int] = []

    async def notify(message: bytes) -> None:
        messages.append(json.loads(message)["params"]["progress"])

    async def once() -> None:
        tool_call = ToolCall(request_id=1, revision=HANDSHAKE["2025-11-25"], name="x", arguments={}, progress_token=1)
        progress = Progress(tool_call, notify)
        progress.begin("received", None)
        await progress.advance(PROGRESS_BYTES)
        await progress.entry("1 call made")
        await progress.entry("2 calls made")
        progress._transfer.notified_at -= 2 * PROGRESS_SECONDS  # type: ignore[union-attr]  # as if it took seconds
        await progress.advance(PROGRESS_BYTES + 1)

    asyncio.run(once())
    assert messages == sorted(set(messages))
    assert len(messages) == 4


INTERVAL = 0.1


@pytest.fixture
def fast_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROGRESS_INTERVAL", "KEEP_ALIVE_INTERVAL", "BINARY_DELAY"):
        monkeypatch.setattr(notifications, name, INTERVAL)
    monkeypatch.setattr(notifications, "_TIMER_TOLERANCE", 0.0)


def slow(reply: bytes, seconds: float = 5 * INTERVAL) -> Callable[[Recorded], bytes | Iterator[bytes]]:
    """Return a responder that sends a reply after some seconds."""

    def respond(_: Recorded) -> bytes:
        time.sleep(seconds)
        return reply

    return respond


@pytest.mark.usefixtures("fast_heartbeat")
@pytest.mark.parametrize("streamed", [None, MAX_STREAMED_BYTES], ids=["stdio", "http"])
@pytest.mark.parametrize("revision", [*HANDSHAKE, *STATELESS])
def test_silent_call_has_progress_at_intervals(echo: Echo, revision: str, streamed: int | None) -> None:
    echo.respond = slow(DONE)
    meta = {**(ENVELOPE if revision in STATELESS else {}), "progressToken": 1}
    messages, result = notified_call(tool("/x"), echo.url, revision=revision, meta=meta, streamed=streamed)
    assert len(messages) >= 3
    check_progress(messages)
    assert result["content"][0]["text"] == "done"


def test_progress_of_a_silent_call_is_its_elapsed_seconds() -> None:
    messages: list[Any] = []

    async def notify(message: bytes) -> None:
        messages.append(json.loads(message)["params"])

    async def once() -> None:
        tool_call = ToolCall(request_id=1, revision=HANDSHAKE["2025-11-25"], name="x", arguments={}, progress_token=1)
        progress = Progress(tool_call, notify)
        await progress.beat(5.01)
        await progress.beat(10.02)
        progress.begin("received", 3 * PROGRESS_BYTES)
        await progress.advance(PROGRESS_BYTES)
        await progress.beat(15.0)
        await progress.advance(2 * PROGRESS_BYTES)
        await progress.entry("{}")

    asyncio.run(once())
    assert [(params["progress"], params.get("total")) for params in messages] == [
        (5, None),
        (10, None),
        (10 + PROGRESS_BYTES, 10 + 3 * PROGRESS_BYTES),
        (15 + PROGRESS_BYTES, None),
        (15 + 2 * PROGRESS_BYTES, 15 + 3 * PROGRESS_BYTES),
        (16 + 2 * PROGRESS_BYTES, None),
    ]
    assert [messages[number]["message"] for number in (0, 3)] == ["still running after 5 s", "still running after 15 s"]


@pytest.mark.usefixtures("fast_heartbeat")
def test_silent_call_without_a_token_sends_a_sign_of_life_over_http_only(echo: Echo) -> None:
    sent: list[bytes] = []

    async def notify(message: bytes) -> None:
        sent.append(message)

    async def once(streamed: int | None) -> None:
        serving = Server(
            Catalog([replace(tool("/x"), base_url=echo.url)]), DESCRIPTION, Upstream(), options=RequestOptions()
        )
        step = serving.receive(call(7, "x"), Session("2025-11-25"))
        await serving.perform(step, notify, max_streamed_bytes=streamed)
        await serving.aclose()

    echo.respond = slow(DONE)
    asyncio.run(once(None))
    assert sent == []
    asyncio.run(once(MAX_STREAMED_BYTES))
    assert len(sent) >= 3
    assert set(sent) == {b""}


@pytest.mark.usefixtures("fast_heartbeat")
def test_sign_of_life_of_a_binary_answer_comes_later_over_http(echo: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "BINARY_DELAY", 10.0)
    echo.respond = slow(answer(b"x" * 3 * MEGABYTE, "Content-Type: image/png"))
    messages, result = notified_call(tool("/x", accept="image/png"), echo.url, meta={"progressToken": 1})
    assert messages == []
    assert result["content"][0]["type"] == "image"


@pytest.mark.usefixtures("fast_heartbeat")
def test_nothing_is_sent_after_the_result_of_a_slow_call(echo: Echo) -> None:
    async def once() -> None:
        sent: list[bytes] = []

        async def notify(message: bytes) -> None:
            sent.append(message)

        serving = Server(
            Catalog([replace(tool("/x"), base_url=echo.url)]), DESCRIPTION, Upstream(), options=RequestOptions()
        )
        await serving.perform(serving.receive(call(7, "x", progressToken=1), Session("2025-11-25")), notify)
        count = len(sent)
        assert count
        await asyncio.sleep(3 * INTERVAL)
        assert len(sent) == count
        await serving.aclose()

    echo.respond = slow(DONE)
    asyncio.run(once())
