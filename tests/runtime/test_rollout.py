"""Changes reach listeners when all processes have them; three of them here, in one event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from openapi_mcp.runtime.peers import Peers, private_folder
from openapi_mcp.runtime.rollout import Rollout
from tests.runtime.test_peers import until


@dataclass
class Process:
    """One process, and how often its listeners were told."""

    peers: Peers
    rollout: Rollout
    told: int = 0
    heard: int = 0

    def hear(self, message: bytes) -> None:
        self.heard += 1
        self.rollout.hear(message)

    async def listen(self) -> None:
        async for _ in self.rollout.listen():
            self.told += 1


def run(body: Callable[[list[Process]], Awaitable[None]], patience: float = 60) -> None:
    async def once() -> None:
        with private_folder() as folder:
            each = [Peers(folder) for _ in range(3)]
            processes = [Process(peers, Rollout(peers, patience)) for peers in each]
            for process in processes:
                process.peers.open(process.hear)
            listening = [asyncio.create_task(process.listen()) for process in processes]
            await asyncio.sleep(0)  # they begin
            await body(processes)
            for process in processes:
                process.rollout.end()
                process.peers.close()
            await asyncio.gather(*listening)

    asyncio.run(once())


def told(processes: list[Process]) -> list[int]:
    return [process.told for process in processes]


def test_nobody_is_told_before_everybody_has_it() -> None:
    async def body(processes: list[Process]) -> None:
        for number, process in enumerate(processes):
            assert told(processes) == [0, 0, 0]
            process.rollout.announce()
            await until(lambda: sum(each.heard for each in processes) == 2 * (number + 1))  # noqa: B023
        await until(lambda: told(processes) == [1, 1, 1])

    run(body)


def test_who_is_late_is_not_waited_for_but_heard_of() -> None:
    async def body(processes: list[Process]) -> None:
        processes[0].rollout.announce()
        processes[1].rollout.announce()
        await until(lambda: told(processes) == [1, 1, 0])
        processes[2].rollout.announce()
        await until(lambda: told(processes) == [2, 2, 1])

    run(body, patience=0.01)


def test_who_died_is_not_waited_for() -> None:
    async def body(processes: list[Process]) -> None:
        processes[2].peers.close()
        processes[0].rollout.announce()
        processes[1].rollout.announce()
        await until(lambda: told(processes) == [1, 1, 0])

    run(body)


def test_alone_one_is_told_at_once() -> None:
    async def body(_processes: list[Process]) -> None:
        alone = Process(Peers(), Rollout(Peers()))
        listening = asyncio.create_task(alone.listen())
        await asyncio.sleep(0)
        alone.rollout.announce()
        await until(lambda: alone.told == 1)
        alone.rollout.end()
        await listening

    run(body)
