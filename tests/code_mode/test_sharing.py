"""Programs share processes and computing: those that wait hold up nobody, and no client takes all places."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from openapi_mcp.code_mode import memory, process, sandbox
from openapi_mcp.code_mode.limits import CodeLimits
from openapi_mcp.code_mode.sandbox import ProgramResult, Sandbox
from openapi_mcp.runtime.upstream.shares import CALLER, Caller, Shares
from tests.command import command, serving_http
from tests.conftest import ROOT

pytestmark = pytest.mark.process

PETSTORE = ROOT / "specs" / "petstore.yaml"
LIMIT = 30.0
"""Seconds after which a test fails."""


async def nothing(*_: Any) -> None:
    """Answer any call."""


async def slow(_name: str, positional: list[Any], _named: dict[str, Any]) -> Any:
    await asyncio.sleep(0.6)
    return positional[0]


async def as_client(client: str, coroutine: Coroutine[Any, Any, ProgramResult]) -> ProgramResult:
    CALLER.set(Caller("", client))
    return await coroutine


async def end(tasks: list[asyncio.Task[ProgramResult]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("sleep", ["import time\ntime.sleep(20)", "import asyncio\nawait asyncio.sleep(20)", "echo(1)"])
def test_sixteen_programs_that_wait_hold_up_no_other(sleep: str) -> None:
    async def hang(*_: Any) -> None:
        await asyncio.sleep(LIMIT)

    async def run() -> tuple[list[Any], bool]:
        shared = Sandbox()
        waiting = [asyncio.create_task(shared.run(sleep, {"echo"}, hang)) for _ in range(16)]
        await asyncio.sleep(0.5)
        values = [(await shared.run("1 + 1", set(), nothing)).value for _ in range(3)]
        is_waiting = not any(task.done() for task in waiting)
        await end(waiting)
        return values, is_waiting

    assert asyncio.run(asyncio.wait_for(run(), LIMIT)) == ([2, 2, 2], True)


def test_many_programs_that_wait_need_few_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_PARK_SECONDS", 0.1)
    monkeypatch.setattr(sandbox, "_PARK_PROCESSES", 2)
    monkeypatch.setattr(sandbox, "MAX_PROCESSES", 8)
    program = """\
import asyncio, time
state = {"number": echo(%d)}
print("before")
time.sleep(0.6)
async def one(value):
    found = await echo(value)
    await asyncio.sleep(0.6)
    return found
both = await asyncio.gather(one("a"), one("b"), asyncio.sleep(0.5))
print("after")
[state["number"], *both, echo("end")]
"""
    processes: list[int] = []

    async def run() -> list[ProgramResult]:
        shared = Sandbox()
        tasks = [asyncio.create_task(shared.run(program % number, {"echo"}, slow)) for number in range(16)]
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0.05)
            processes.append(shared._places.running_processes)
        return [task.result() for task in tasks]

    for number, result in enumerate(asyncio.run(asyncio.wait_for(run(), 2 * LIMIT))):
        assert result == ProgramResult([number, "a", "b", None, "end"], output="before\nafter\n")
    assert max(processes) <= 8
    assert min(processes[:-1]) <= 3


def test_a_program_that_was_put_away_keeps_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_PARK_SECONDS", 0.05)
    monkeypatch.setattr(sandbox, "_PARK_PROCESSES", 0)
    opened: list[float] = []
    open_process = process.SandboxProcess._open

    def counted(worker: process.SandboxProcess) -> Any:
        opened.append(worker._remaining_seconds)
        return open_process(worker)

    monkeypatch.setattr(process.SandboxProcess, "_open", counted)
    limits = CodeLimits(seconds=LIMIT, compute_seconds=2, memory_bytes=16 * 1024 * 1024)
    computing = "import time\nstart = time.monotonic()\nwhile time.monotonic() - start < 0.5: pass\ntime.sleep(0.3)\n"
    endless = asyncio.run(Sandbox(limits).run(computing + "while True: pass", set(), nothing))
    assert "TimeoutError" in endless.error
    assert opened[0] == 2
    assert opened[1] <= 1.6
    large = asyncio.run(Sandbox(limits).run("import time\ntime.sleep(0.3)\n'x' * 10**9", set(), nothing))
    assert "MemoryError" in large.error
    assert "Line 3" in large.error


def test_a_program_with_much_data_keeps_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_PARK_SECONDS", 0.05)
    monkeypatch.setattr(sandbox, "_PARK_PROCESSES", 0)
    program = "import time\ndata = ['x' * 100 for n in range(20000)]\ntime.sleep(0.3)\nlen(data)"
    assert asyncio.run(Sandbox().run(program, set(), nothing)) == ProgramResult(20000)


def test_a_client_whose_programs_compute_leaves_places_to_others() -> None:
    async def run() -> tuple[ProgramResult, bool]:
        shared = Sandbox(CodeLimits(seconds=LIMIT, compute_seconds=LIMIT))
        endless = [
            asyncio.create_task(as_client("greedy", shared.run("while True: pass", set(), nothing))) for _ in range(12)
        ]
        await asyncio.sleep(1)
        result = await as_client("other", shared.run("1 + 1", set(), nothing))
        is_running = not any(task.done() for task in endless)
        await end(endless)
        return result, is_running

    assert asyncio.run(asyncio.wait_for(run(), LIMIT)) == (ProgramResult(2), True)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("rest", ["while True: pass", "import time\ntime.sleep(20)"])
def test_programs_hold_little_memory_together(rest: str) -> None:
    peaks: list[int] = []

    async def watched(shared: Sandbox) -> None:
        while True:
            peaks.append(sum(memory.private_bytes(program.pid) for program in shared._places.memory.programs))
            await asyncio.sleep(0.01)

    async def run() -> tuple[list[ProgramResult], ProgramResult]:
        shared = Sandbox(CodeLimits(seconds=3, compute_seconds=2))
        watcher = asyncio.create_task(watched(shared))
        greedy = f"data = ['x' * 1000 + str(n) for n in range(45000)]\n{rest}"
        tasks = [asyncio.create_task(as_client("greedy", shared.run(greedy, set(), nothing))) for _ in range(8)]
        await asyncio.sleep(0.5)
        small = await as_client("other", shared.run("1 + 1", set(), nothing))
        results = await asyncio.gather(*tasks)
        watcher.cancel()
        return results, small

    results, small = asyncio.run(asyncio.wait_for(run(), LIMIT))
    assert small == ProgramResult(2)
    assert all("TimeoutError" in result.error or "128 MiB together" in result.error for result in results)
    assert max(peaks) < 1.5 * memory.MAX_BYTES


def test_one_program_too_many_is_refused() -> None:
    async def run() -> tuple[str, Any]:
        shared = Sandbox()
        shared._places.programs = Shares(4, sandbox._RATIOS, tuple)
        waiting = [asyncio.create_task(shared.run("import time\ntime.sleep(20)", set(), nothing)) for _ in range(4)]
        await asyncio.sleep(0.5)
        refused = await shared.run("1 + 1", set(), nothing)
        await end(waiting)
        return refused.error, (await shared.run("1 + 1", set(), nothing)).value

    error, value = asyncio.run(asyncio.wait_for(run(), LIMIT))
    assert error == "RuntimeError: too many programs are running. Try again when one has ended."
    assert value == 2


def test_a_program_that_gets_no_place_says_so() -> None:
    async def run() -> ProgramResult:
        shared = Sandbox(CodeLimits(seconds=0.5))
        for number in range(sandbox.MAX_COMPUTING):
            await shared._places.computing.acquire(Caller("", str(number)), None)
        return await shared.run("1 + 1", set(), nothing)

    late = "TimeoutError: the program was not run: others took all places for 0.5 seconds. Try again."
    assert asyncio.run(run()).error == late


def text(result: Any) -> Any:
    return result.content[0].text


def test_sleeping_programs_and_computing_ones_leave_a_server_to_others() -> None:
    async def run(url: str) -> tuple[list[str], str, bool]:
        async with Client(url, read_timeout_seconds=LIMIT) as greedy, Client(url, read_timeout_seconds=LIMIT) as other:
            sleep = {"code": "import time\ntime.sleep(20)"}
            sleeping = [asyncio.create_task(greedy.call_tool("run_code", sleep)) for _ in range(16)]
            endless = asyncio.create_task(greedy.call_tool("run_code", {"code": "while True: pass"}))
            await asyncio.sleep(1)
            texts = [text(await client.call_tool("run_code", {"code": "1 + 1"})) for client in (other, greedy)]
            is_waiting = not any(task.done() for task in sleeping)
            stopped = text(await endless)
            for task in sleeping:
                task.cancel()
            await asyncio.gather(*sleeping, return_exceptions=True)
            return texts, stopped, is_waiting

    options = ["--mode", "code", "--request-timeout", "4"]
    with serving_http(command(Path(PETSTORE), "http://127.0.0.1:9", *options)) as url:
        texts, stopped, is_waiting = asyncio.run(asyncio.wait_for(run(url), LIMIT))
    assert texts == ["2", "2"]
    assert is_waiting
    assert stopped == "The call took longer than 4 seconds and was stopped."
