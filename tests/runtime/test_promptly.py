"""A limit of time for what mostly needs none: `promptly.within`."""

import asyncio

import pytest

from openapi_mcp.runtime.promptly import within


async def at_once(value: int) -> int:
    return value


async def after(seconds: float, value: int) -> int:
    await asyncio.sleep(seconds)
    await asyncio.sleep(0)  # it may wait more than once
    return value


async def failing(seconds: float) -> int:
    if seconds:
        await asyncio.sleep(seconds)
    raise LookupError("it does")


def test_what_is_done_at_once_is_not_timed() -> None:
    coroutine = within(0, at_once(7))
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)  # there is no event loop, so a timer could not even be set
    assert done.value.value == 7


def test_what_waits_comes_to_its_result() -> None:
    assert asyncio.run(within(20, after(0.001, 7))) == 7


@pytest.mark.parametrize("seconds", [0, 0.001])
def test_what_fails_fails(seconds: float) -> None:
    with pytest.raises(LookupError, match="it does"):
        asyncio.run(within(20, failing(seconds)))


def test_what_waits_too_long_is_stopped() -> None:
    ended: list[str] = []

    async def lasting() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleaned up")

    with pytest.raises(TimeoutError):
        asyncio.run(within(0.01, lasting()))
    assert ended == ["cleaned up"]


def test_whoever_waits_for_it_can_be_cancelled() -> None:
    async def cancelled() -> str:
        task = asyncio.create_task(within(20, after(60, 7)))
        await asyncio.sleep(0)
        task.cancel("enough")
        try:
            await task
        except asyncio.CancelledError as error:
            return str(error)
        return "it was not"

    assert asyncio.run(cancelled()) == "enough"


def test_what_it_awaits_may_refuse_to_be_cancelled() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "done all the same"

    async def cancelled() -> str:
        task = asyncio.create_task(within(20, stubborn()))
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert asyncio.run(cancelled()) == "done all the same"
