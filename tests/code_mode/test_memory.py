"""The memory of all programs together is limited, at the cost of the client whose programs hold the most."""

import os
import sys
import threading
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
    ended: threading.Event = field(default_factory=threading.Event)

    def end_for_memory(self) -> None:
        self.ended.set()


def test_the_largest_program_of_the_client_that_holds_the_most_is_ended() -> None:
    first, second, other = Program("greedy"), Program("greedy"), Program("other")
    assert largest({first: 30, second: 31, other: 50}) is second
    assert largest({first: 30, second: 10, other: 50}) is other


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_programs_are_ended_above_the_limit_only() -> None:
    small, large, late = Program("a"), Program("b"), Program("c")
    generous, strict = MemoryWatch(2**40), MemoryWatch(1)
    generous.add(small)
    with generous.computing(small):
        for program in (large, late):
            strict.add(program)
            with strict.computing(program):
                assert program.ended.wait(LIMIT)
            strict.remove(program)
            strict.remove(program)
    assert not small.ended.is_set()
    assert generous.programs == [small]
    assert private_bytes(os.getpid()) > 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_program_that_waits_counts_with_what_it_held() -> None:
    held = private_bytes(os.getpid())
    waiting, computing = Program("a"), Program("a")
    watch = MemoryWatch(held * 3 // 2)
    for program in (waiting, computing):
        watch.add(program)
        assert not waiting.ended.is_set()
        with watch.computing(program):
            pass
    assert waiting.ended.is_set() or computing.ended.is_set()


def test_memory_of_no_process_is_unknown() -> None:
    assert private_bytes(None) == private_bytes(2**22 + 1) == 0
