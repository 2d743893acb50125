"""`ListChangedBroadcast`: listeners are notified when all processes have a change; here three in one event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from openapi_mcp.runtime.http.workers import ListChangedBroadcast, WorkerChannel, private_folder
from tests.runtime.http.test_workers import until


@dataclass
class Process:
    """One process, with the numbers of its notifications and of messages from siblings."""

    channel: WorkerChannel
    changes: ListChangedBroadcast
    notified: int = 0
    received: int = 0

    def receive(self, message: bytes) -> None:
        self.received += 1
        self.changes.receive(message)

    async def listen(self) -> None:
        async for _ in self.changes.listen():
            self.notified += 1


def run(body: Callable[[list[Process]], Awaitable[None]], timeout: float = 60) -> None:
    async def once() -> None:
        with private_folder() as folder:
            channels = [WorkerChannel(folder) for _ in range(3)]
            processes = [Process(channel, ListChangedBroadcast(channel, timeout)) for channel in channels]
            for process in processes:
                process.channel.open(process.receive)
            listening = [asyncio.create_task(process.listen()) for process in processes]
            await asyncio.sleep(0)  # let them start
            await body(processes)
            for process in processes:
                process.changes.end()
                process.channel.close()
            await asyncio.gather(*listening)

    asyncio.run(once())


def notifications(processes: list[Process]) -> list[int]:
    return [process.notified for process in processes]


def test_listeners_are_notified_once_all_processes_have_the_change() -> None:
    async def body(processes: list[Process]) -> None:
        for number, process in enumerate(processes):
            assert notifications(processes) == [0, 0, 0]
            process.changes.announce()
            await until(lambda: sum(each.received for each in processes) == 2 * (number + 1))  # noqa: B023
        await until(lambda: notifications(processes) == [1, 1, 1])

    run(body)


def test_late_process_is_not_awaited_and_causes_another_notification() -> None:
    async def body(processes: list[Process]) -> None:
        processes[0].changes.announce()
        processes[1].changes.announce()
        await until(lambda: notifications(processes) == [1, 1, 0])
        processes[2].changes.announce()
        await until(lambda: notifications(processes) == [2, 2, 1])

    run(body, timeout=0.01)


def test_dead_process_is_not_awaited() -> None:
    async def body(processes: list[Process]) -> None:
        processes[2].channel.close()
        processes[0].changes.announce()
        processes[1].changes.announce()
        await until(lambda: notifications(processes) == [1, 1, 0])

    run(body)


def test_single_process_is_notified_at_once() -> None:
    async def body(_processes: list[Process]) -> None:
        alone = Process(WorkerChannel(), ListChangedBroadcast(WorkerChannel()))
        listening = asyncio.create_task(alone.listen())
        await asyncio.sleep(0)
        alone.changes.announce()
        await until(lambda: alone.notified == 1)
        alone.changes.end()
        await listening

    run(body)
