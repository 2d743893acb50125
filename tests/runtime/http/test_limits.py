"""`MessageReader`: a message arrives in time and in size, or is refused."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from openapi_mcp.runtime.http.limits import MessageReader
from openapi_mcp.runtime.http.responses import HTTPError

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
BODY = json.dumps(PING).encode()
Receive = Callable[[], Awaitable[dict[str, Any]]]


def chunks(*parts: bytes, seconds: float | None = None) -> Receive:
    """An ASGI `receive` that delivers a body in parts, each after some time; None is at once."""
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    messages[-1]["more_body"] = False
    remaining = iter(messages)

    async def receive() -> dict[str, Any]:
        if seconds is not None:
            await asyncio.sleep(seconds)
        return next(remaining)

    return receive


def read(receive: Receive, headers: dict[str, str] | None = None, *, seconds: float = 20, max_bytes: int = 1000) -> Any:
    return asyncio.run(MessageReader(max_bytes, seconds).read(receive, headers or {}))


@pytest.mark.parametrize("seconds", [None, 0, 0.001])
def test_message_is_read_however_it_arrives(seconds: float | None) -> None:
    assert read(chunks(BODY, seconds=seconds)) == PING
    assert read(chunks(BODY[:5], BODY[5:], b"", seconds=seconds)) == PING


def test_message_that_arrives_too_slowly_is_408() -> None:
    with pytest.raises(HTTPError, match=r"did not arrive within 0\.01 seconds") as refusal:
        read(chunks(BODY, seconds=60), seconds=0.01)
    assert refusal.value.response.status == 408
    assert refusal.value.response.headers == {"Connection": "close"}


def test_receiver_is_cancelled_when_the_time_is_over() -> None:
    events: list[str] = []

    async def receive() -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        finally:
            events.append("cleaned up")
        return {}

    with pytest.raises(HTTPError):
        read(receive, seconds=0.01)
    assert events == ["cleaned up"]


@pytest.mark.parametrize("headers", [{}, {"content-length": "51"}])
def test_message_beyond_the_limit_is_413(headers: dict[str, str]) -> None:
    with pytest.raises(HTTPError) as refusal:
        read(chunks(b"1" * 30, b"1" * 21), headers, max_bytes=50)
    assert refusal.value.response.status == 413


def test_client_that_leaves_is_reported() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(ClientDisconnect):
        read(receive)


@pytest.mark.parametrize("seconds", [0, 0.001])
def test_error_of_the_receiver_is_passed_on(seconds: float) -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.sleep(seconds)
        raise LookupError("of the receiver")

    with pytest.raises(LookupError, match="of the receiver"):
        read(receive)


def test_reading_can_be_cancelled() -> None:
    async def cancelled() -> str:
        task = asyncio.create_task(MessageReader(1000, 20).read(chunks(BODY, seconds=60), {}))
        await asyncio.sleep(0)
        task.cancel("enough")
        try:
            await task
        except asyncio.CancelledError as error:
            return str(error)
        return "was not cancelled"

    assert asyncio.run(cancelled()) == "enough"


def test_receiver_may_ignore_its_cancellation() -> None:
    async def receive() -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return {"type": "http.request", "body": BODY}

    async def cancelled() -> Any:
        task = asyncio.create_task(MessageReader(1000, 20).read(receive, {}))
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert asyncio.run(cancelled()) == PING
