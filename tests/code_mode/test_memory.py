"""The memory of all programs together is limited, at the cost of the client whose programs hold the most."""

import asyncio
import os
import sys
from dataclasses import dataclass, field

import pytest

from openapi_mcp.code_mode.memory import MemoryWatch, largest, private_bytes

LIMIT = 10.0
"""Seconds after which a test fails."""


@dataclass(eq=False)
class Program:
    """A program that runs in this process."""

    client: str
    pid: int | None = field(default_factory=os.getpid)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def end_for_memory(self) -> None:
        self.ended.set()


def test_the_largest_program_of_the_client_that_holds_the_most_is_ended() -> None:
    first, second, other = Program("greedy"), Program("greedy"), Program("other")
    assert largest({first: 30, second: 31, other: 50}) is second
    assert largest({first: 30, second: 10, other: 50}) is other


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_programs_are_ended_above_the_limit_only() -> None:
    async def run() -> list[bool]:
        small, large = Program("a"), Program("b")
        generous, strict = MemoryWatch(2**40), MemoryWatch(1)
        generous.add(small)
        strict.add(large)
        await asyncio.wait_for(large.ended.wait(), LIMIT)
        strict.remove(large)
        late = Program("c")
        strict.add(late)
        await asyncio.wait_for(late.ended.wait(), LIMIT)
        for watch, program in ((generous, small), (strict, late)):
            watch.remove(program)
            watch.remove(program)
        return [small.ended.is_set(), len(asyncio.all_tasks()) > 1]

    assert asyncio.run(run())[0] is False
    assert private_bytes(os.getpid()) > 2**20


def test_memory_of_no_process_is_unknown() -> None:
    assert private_bytes(None) == private_bytes(2**22 + 1) == 0
