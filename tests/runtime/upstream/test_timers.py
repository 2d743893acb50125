"""`Timers`: each function is called in its time, and none that was stopped. `TimeLimit` ends as `asyncio.timeout`."""

import asyncio

import pytest

from openapi_mcp.runtime.upstream.timers import TimeLimit, Timers


def test_functions_are_called_in_order_unless_they_were_stopped() -> None:
    async def called() -> list[str]:
        done = asyncio.Queue[str]()
        timers = Timers(0.01)
        timers.start(lambda: done.put_nowait("first"))
        stopped = timers.start(lambda: done.put_nowait("second"))
        await asyncio.sleep(0.005)
        timers.start(lambda: done.put_nowait("third"))
        timers.stop(stopped)
        names = [await done.get(), await done.get()]
        timers.start(lambda: done.put_nowait("fourth"))
        return [*names, await done.get()]

    assert asyncio.run(called()) == ["first", "third", "fourth"]


def test_thousands_of_timers_take_one_timer_of_the_event_loop() -> None:
    async def scheduled() -> int:
        loop = asyncio.get_running_loop()
        timers = Timers(60)
        for _ in range(5000):
            timers.stop(timers.start(print))
        return len(loop._scheduled)  # type: ignore[attr-defined]

    assert asyncio.run(scheduled()) == 1


def test_closed_timers_call_nothing() -> None:
    async def called() -> list[int]:
        done: list[int] = []
        timers = Timers(0.001)
        number = timers.start(lambda: done.append(1))
        timers.close()
        assert timers.end(number) is None
        await asyncio.sleep(0.01)
        return done

    assert asyncio.run(called()) == []


def test_a_time_limit_cancels_and_raises_timeout_error() -> None:
    async def limited() -> None:
        with pytest.raises(TimeoutError), TimeLimit(Timers(0.001)):
            await asyncio.sleep(60)
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()
        await asyncio.sleep(0)  # the task goes on

    asyncio.run(limited())


def test_work_in_time_is_not_cancelled_afterwards() -> None:
    async def limited() -> None:
        limit = TimeLimit(Timers(0.001))
        with limit:
            pass
        limit.stop()
        await asyncio.sleep(0.01)
        assert not limit.is_over

    asyncio.run(limited())


def test_who_cancels_a_late_task_too_is_obeyed() -> None:
    async def limited(started: asyncio.Event) -> None:
        with TimeLimit() as limit:
            limit.stop()
            started.set()
            await asyncio.sleep(60)

    async def cancelled() -> bool:
        started = asyncio.Event()
        task = asyncio.create_task(limited(started))
        await started.wait()
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert asyncio.run(cancelled())


def test_the_inner_of_two_limits_is_the_one_that_is_over() -> None:
    async def limited() -> tuple[bool, bool]:
        with TimeLimit(Timers(60)) as outer:
            with pytest.raises(TimeoutError), TimeLimit(Timers(0.001)) as inner:
                await asyncio.sleep(60)
            return outer.is_over, inner.is_over

    assert asyncio.run(limited()) == (False, True)
