"""What a client is told of its call: events by level, bytes sent and received; and what it is never told."""

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from openapi_mcp.runtime.calls import Findings
from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.models import Tool
from openapi_mcp.runtime.progress import Progress
from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, LogLevel, Session, ToolCall
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.retries import Retries
from openapi_mcp.runtime.server import MAX_STREAMED_BYTES, Server
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.echo import Echo, Recorded, answer, echoing
from tests.runtime.making import parameter, tool, with_body
from tests.runtime.pets import DESCRIPTION
from tests.runtime.wire import ENVELOPE, call

MEGABYTE = 1_000_000


@pytest.fixture
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


async def no_sleep(_seconds: float) -> None:
    """Waits are told, and not made."""


def told(
    made: Tool,
    base_url: str,
    arguments: Any = None,
    *,
    level: LogLevel | None = None,
    revision: str = "2025-11-25",
    meta: Any = None,
    streamed: int | None = MAX_STREAMED_BYTES,
    **server: Any,
) -> tuple[list[Any], Any]:
    """What was said before the answer (of each message its params), and the result."""
    said: list[Any] = []

    async def notify(message: bytes) -> None:
        said.append(json.loads(message)["params"])

    async def once() -> Any:
        upstream = Upstream(retries=Retries(sleep=no_sleep, chance=lambda: 0.0))
        serving = Server(
            Catalog([replace(made, base_url=base_url)]), DESCRIPTION, upstream, options=RequestOptions(), **server
        )
        step = serving.receive(call(7, "x", arguments, **meta or {}), Session(revision, log_level=level))
        try:
            return json.loads((await serving.perform(step, notify, max_streamed_bytes=streamed)).body or b"")["result"]
        finally:
            await serving.aclose()

    result = asyncio.run(once())
    return said, result


def answering(*replies: bytes) -> Callable[[Recorded], bytes | Iterator[bytes]]:
    left = iter(replies)
    return lambda _: next(left)


BUSY = answer(b"busy", status="503 Service Unavailable")
DONE = answer(b"done", "Content-Type: text/plain")


def test_a_retry_is_a_warning_to_who_never_set_a_level(echo: Echo) -> None:
    echo.respond = answering(BUSY, DONE)
    (said,), result = told(tool("/x"), echo.url)
    assert (said["level"], said["logger"], said["data"]["tool"]) == ("warning", "openapi-mcp", "x")
    assert (said["data"]["why"], said["data"]["attempt"], said["data"]["wait_seconds"]) == ("503", 1, 0.5)
    assert result["content"][0]["text"] == "done"


@pytest.mark.parametrize("level", ["error", "emergency"])
def test_who_wants_to_hear_of_failures_only_hears_of_no_retry(echo: Echo, level: LogLevel) -> None:
    echo.respond = answering(BUSY, DONE)
    assert told(tool("/x"), echo.url, level=level)[0] == []


def test_the_stateless_era_hears_of_no_events(echo: Echo) -> None:
    echo.respond = answering(BUSY, DONE)
    meta = {**ENVELOPE, "io.modelcontextprotocol/logLevel": "debug"}
    assert told(tool("/x"), echo.url, meta=meta, revision=STATELESS[next(iter(STATELESS))].name)[0] == []


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_what_goes_well_is_told_to_who_asked(echo: Echo, revision: str) -> None:
    echo.respond = lambda _: DONE
    assert told(tool("/x"), echo.url, revision=revision)[0] == []
    sent, got = told(tool("/x"), echo.url, level="debug", revision=revision)[0]
    assert (sent["level"], sent["data"]["method"], sent["data"]["url"]) == ("debug", "GET", f"{echo.url}/x")
    assert (got["level"], got["data"]["status"], got["data"]["bytes"]) == ("info", 200, 4)
    assert got["data"]["seconds"] >= 0


def test_neither_credentials_nor_values_of_a_query_are_told(echo: Echo) -> None:
    echo.respond = lambda _: DONE
    made = tool("/x", parameter({"name": "key", "in": "query"}), parameter({"name": "q", "in": "query"}))
    url = echo.url.replace("//", "//user:secret@")
    said, _ = told(made, url, {"query.key": "secret", "query.q": "secret"}, level="debug")
    assert said[0]["data"]["url"] == f"{echo.url}/x?key=…&q=…"
    assert "secret" not in json.dumps(said)


def test_what_is_cut_is_a_notice_of_what_the_result_says_too(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"x" * 1000, "Content-Type: text/plain")
    assert told(tool("/x"), echo.url, max_result_bytes=100)[0] == []
    (said,), result = told(tool("/x"), echo.url, level="notice", max_result_bytes=100)
    assert (said["level"], said["data"]["message"]) == ("notice", result["content"][-1]["text"])


def finding(*sentences: str) -> Callable[..., Findings]:
    found: Findings = Future()
    if sentences:
        found.set_result(sentences)
    return lambda *_: found


def test_what_is_found_out_in_time_is_a_notice(echo: Echo) -> None:
    echo.respond = lambda _: DONE
    observer = finding("The answer is odd.", "So is the request.")
    said, _ = told(tool("/x"), echo.url, level="notice", observer=observer)
    assert [one["data"]["message"] for one in said] == ["The answer is odd.", "So is the request."]
    assert told(tool("/x"), echo.url, observer=observer)[0] == []


def test_what_is_not_found_out_in_time_is_not_waited_for(echo: Echo) -> None:
    echo.respond = lambda _: DONE
    said, result = told(tool("/x"), echo.url, level="notice", observer=finding())
    assert (said, result["isError"]) == ([], False)


@pytest.mark.parametrize("cancelled", [False, True])
def test_findings_that_fail_fail_no_call(echo: Echo, cancelled: bool) -> None:
    echo.respond = lambda _: DONE
    found: Findings = Future()
    found.cancel() if cancelled else found.set_exception(ZeroDivisionError())
    said, result = told(tool("/x"), echo.url, level="notice", observer=lambda *_: found)
    assert (said, result["isError"]) == ([], False)


def check_progress(said: list[Any]) -> None:
    numbers = [one["progress"] for one in said]
    assert numbers == sorted(set(numbers))
    assert all(one["progress"] <= one["total"] for one in said if "total" in one)


UPLOAD = with_body("text/plain")


def test_a_large_body_is_told_of_while_it_is_sent(echo: Echo) -> None:
    echo.respond = lambda _: DONE
    said, _ = told(UPLOAD, echo.url, {"body": "x" * 10 * MEGABYTE}, meta={"progressToken": "t"})
    check_progress(said)
    assert [one["message"] for one in said] == [
        f"sent {n * 1024 * 1024 / MEGABYTE:.1f} of 10.0 MB" for n in range(1, 10)
    ] + ["sent 10.0 of 10.0 MB"]
    assert {one["total"] for one in said} == {10 * MEGABYTE}
    assert {one["progressToken"] for one in said} == {"t"}
    assert (len(echo.last().body), echo.last().one("content-length")) == (10 * MEGABYTE, str(10 * MEGABYTE))


def test_a_body_that_is_sent_again_is_sent_whole_and_progress_goes_on(echo: Echo) -> None:
    echo.respond = answering(BUSY, DONE)
    said, _ = told(UPLOAD, echo.url, {"body": "x" * 2 * MEGABYTE}, level="error", meta={"progressToken": 1})
    check_progress(said)
    assert [one["message"] for one in said] == ["sent 1.0 of 2.0 MB", "sent 2.0 of 2.0 MB"] * 2
    assert [len(request.body) for request in echo.requests] == [2 * MEGABYTE] * 2


def test_a_body_is_redirected_whole(echo: Echo) -> None:
    echo.respond = answering(answer(b"", "Location: /there", status="307 Temporary Redirect"), DONE)
    said, _ = told(UPLOAD, echo.url, {"body": "x" * 2 * MEGABYTE}, meta={"progressToken": 1})
    check_progress(said)
    assert [len(request.body) for request in echo.requests] == [2 * MEGABYTE] * 2


def test_a_large_answer_is_told_of_while_it_comes(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"x" * 3 * MEGABYTE, "Content-Type: text/plain")
    said, result = told(tool("/x"), echo.url, meta={"progressToken": 1})
    check_progress(said)
    assert said[-1]["message"] == "received 3.0 of 3.0 MB"
    assert {one["total"] for one in said} == {3 * MEGABYTE}
    assert not result["isError"]


def test_an_answer_of_unknown_length_has_no_total(echo: Echo) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    echo.respond = lambda _: iter([head, piece, piece, piece, b"0\r\n\r\n"])
    said, _ = told(tool("/x"), echo.url, meta={"progressToken": 1})
    check_progress(said)
    assert len(said) in {2, 3}  # as the megabytes fall together with the pieces in which they come
    assert all("total" not in one for one in said)
    assert said[-1]["message"].removeprefix("received ")[-3:] == " MB"


def test_what_is_received_counts_on_from_what_was_sent(echo: Echo) -> None:
    echo.respond = lambda request: answer(request.body, "Content-Type: text/plain")
    said, _ = told(UPLOAD, echo.url, {"body": "x" * 2 * MEGABYTE}, meta={"progressToken": 1})
    check_progress(said)
    assert [one["message"].split()[0] for one in said] == ["sent", "sent", "received", "received"]
    assert (said[-1]["progress"], said[-1]["total"]) == (4 * MEGABYTE, 4 * MEGABYTE)


def test_entries_count_on_from_what_was_sent(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"data: a\n\ndata: b\n\n", "Content-Type: text/event-stream")
    said, _ = told(UPLOAD, echo.url, {"body": "x" * 2 * MEGABYTE}, meta={"progressToken": 1})
    check_progress(said)
    assert [one["message"] for one in said[-2:]] == ["a", "b"]
    assert [one["progress"] for one in said[-2:]] == [2 * MEGABYTE + 1, 2 * MEGABYTE + 2]


def test_a_picture_that_the_result_holds_is_not_lost_to_progress(echo: Echo) -> None:
    echo.respond = lambda _: answer(b"x" * 2 * MEGABYTE, "Content-Type: image/png")
    said, result = told(tool("/x"), echo.url, meta={"progressToken": 1})
    assert (said, result["content"][0]["type"]) == ([], "image")
    said, result = told(tool("/x"), echo.url, meta={"progressToken": 1}, streamed=None)
    assert (len(said), result["content"][0]["type"]) == (2, "image")


def test_small_and_quick_bodies_are_not_told_of(echo: Echo) -> None:
    echo.respond = lambda request: answer(request.body, "Content-Type: text/plain")
    assert told(UPLOAD, echo.url, {"body": "x" * MEGABYTE}, meta={"progressToken": 1})[0] == []


def test_without_a_token_there_is_no_progress(echo: Echo) -> None:
    echo.respond = lambda request: answer(request.body, "Content-Type: text/plain")
    assert told(UPLOAD, echo.url, {"body": "x" * 3 * MEGABYTE}, level="error")[0] == []


def test_what_is_slow_is_told_of_however_little_it_is() -> None:
    said: list[Any] = []
    now = iter([0.0, 0.5, 1.5, 1.6, 3.0, 3.1])

    async def notify(message: bytes) -> None:
        said.append(json.loads(message)["params"])

    async def once() -> None:
        asking = ToolCall(request_id=1, revision=HANDSHAKE["2025-11-25"], name="x", arguments={}, progress_token=1)
        progress = Progress(asking, notify, lambda: next(now))
        progress.begin("sent", 50)
        for count in (10, 20, 25, 30, 50):
            await progress.move(count)

    asyncio.run(once())
    assert [one["progress"] for one in said] == [20, 30, 50]
