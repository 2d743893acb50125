"""The memory of all programs together is limited, at the cost of the client whose programs hold the most."""

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from pydantic_monty import MontyCrashedError

from openapi_mcp.code_mode.limits import CodeLimits
from openapi_mcp.code_mode.memory import MemoryWatch, largest, private_bytes
from openapi_mcp.code_mode.process import SandboxProcess, computing_thread

T = TypeVar("T")

LIMIT = 10.0
"""Seconds after which a test fails."""


@dataclass(eq=False)
class Program:
    """A program that runs in this process."""

    client: str
    pid: int | None = field(default_factory=os.getpid)
    ended: threading.Event = field(default_factory=threading.Event)
    paused: threading.Event = field(default_factory=threading.Event)
    gone_on: threading.Event = field(default_factory=threading.Event)

    def end_for_memory(self) -> None:
        self.ended.set()

    def pause(self) -> None:
        self.paused.set()

    def go_on(self) -> None:
        self.gone_on.set()


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


def watched() -> tuple[MemoryWatch, Program, Program]:
    """Return a watch that ends the first of two programs, and both."""
    watch, large, small = MemoryWatch(1), Program("a"), Program("a", pid=None)
    watch.add(large)
    watch.add(small)
    return watch, large, small


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_others_are_paused_until_the_memory_of_an_ended_program_is_back() -> None:
    watch, ended, other = watched()
    with watch.computing(ended), watch.computing(other):
        assert ended.ended.wait(LIMIT)
        assert other.paused.wait(LIMIT)
        assert not other.gone_on.is_set()
        ended.pid = None  # its process has gone
        assert other.gone_on.wait(LIMIT)
    assert not other.ended.is_set()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_program_that_has_computed_is_not_left_paused() -> None:
    watch, ended, other = watched()
    with watch.computing(ended), watch.computing(other):
        assert other.paused.wait(LIMIT)
    assert other.gone_on.is_set()


@pytest.mark.skipif(sys.platform != "linux", reason="states of threads are read from /proc")
def test_what_computes_for_a_program_is_nicer_than_the_server_and_can_be_paused() -> None:
    process = SandboxProcess(CodeLimits(seconds=LIMIT, compute_seconds=LIMIT))
    computing = threading.Thread(target=ends_with_its_process, args=(process,))
    computing.start()
    try:
        thread = until(lambda: computing_thread(process.pid))
        assert thread
        assert thread != process.pid
        assert until(lambda: os.getpriority(os.PRIO_PROCESS, thread) == min(19, os.nice(0) + 5))
        assert until(lambda: state(process, thread) == "R")
        process.pause()
        assert until(lambda: state(process, thread) == "T")
        process.go_on()
        assert until(lambda: state(process, thread) == "R")
    finally:
        process.kill()
        computing.join()
        process.close()


def ends_with_its_process(process: SandboxProcess) -> None:
    with pytest.raises(MontyCrashedError):
        process.start("while True: pass", set())


def until(condition: Callable[[], T]) -> T:
    """Return the result of a condition as soon as it holds; fails after LIMIT seconds."""
    end = time.monotonic() + LIMIT
    while not (result := condition()):
        assert time.monotonic() < end
        time.sleep(0.005)
    return result


def state(process: SandboxProcess, thread: int | None) -> str:
    """Return the state of a thread: R (running), S (sleeping), T (stopped)."""
    return Path(f"/proc/{process.pid}/task/{thread}/stat").read_text().rpartition(")")[2].split()[0]


def test_memory_of_no_process_is_unknown() -> None:
    assert private_bytes(None) == private_bytes(2**22 + 1) == 0
