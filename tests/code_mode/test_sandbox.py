"""The sandbox: values and calls of programs, isolation from the host, and limits of time and memory."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.code_mode.limits import CodeLimits
from openapi_mcp.code_mode.process import ProgramError
from openapi_mcp.code_mode.sandbox import ProgramResult, Sandbox

pytestmark = pytest.mark.process

SHORT = CodeLimits(seconds=20, compute_seconds=0.3, memory_bytes=16 * 1024 * 1024, output_characters=100)
HOST = ("site-packages", str(Path(__file__).parents[2]), "openapi_mcp", "site.py", "/usr/lib", "root:")
"""Texts that would reveal something of the host."""


async def echo(name: str, positional: list[Any], named: dict[str, Any]) -> Any:
    if name == "fail":
        raise ProgramError("RuntimeError", "404 Not Found")
    return [*positional, named] if named else positional


def run(source: str, limits: CodeLimits = SHORT, ask: Callable[..., Awaitable[Any]] = echo) -> ProgramResult:
    return asyncio.run(Sandbox(limits).run(source, {"echo", "fail"}, ask))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 1", 2),
        ("echo(1, b=2)", [1, {"b": 2}]),
        ("[echo(n)[0] for n in range(3)]", [0, 1, 2]),
        ("sum(echo(n)[0] for n in range(3))", 3),
        ("function = echo\nfunction(3)", [3]),
        ("try:\n    fail()\nexcept RuntimeError as error:\n    said = str(error)\nsaid", "404 Not Found"),
        ("import asyncio\nawait asyncio.gather(*[echo(n) for n in range(3)])", [[0], [1], [2]]),
        ("import asyncio\nasync def main():\n    return await echo(1)\nasyncio.run(main())", [1]),
        ("import time\ntime.sleep(0.01)\n'slept'", "slept"),
        ("import asyncio\nawait asyncio.sleep(0.01)\n'slept'", "slept"),
        ("return {1: (2, 3)}", {"1": [2, 3]}),
        ("x = 1", None),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(1)", {"x": 1}),
    ],
)
def test_program_returns_its_value(source: str, value: Any) -> None:
    assert run(source) == ProgramResult(value)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("open('/etc/passwd').read()", "PermissionError"),
        ("open('/tmp/written', 'w').write('x')", "PermissionError"),
        ("from pathlib import Path\nPath('/etc/passwd').read_text()", "PermissionError"),
        ("from pathlib import Path\nlist(Path('/').iterdir())", "PermissionError"),
        ("import os\nos.listdir('/')", "PermissionError"),
        ("import os\nos.environ['PATH']", "RuntimeError"),
        ("import os\nos.getenv('PATH')", "RuntimeError"),
        ("import os\nos.system('id')", "AttributeError"),
        ("__import__('os')", "NameError"),
        ("__import__('os').system('id')", "NameError"),
        ("().__class__.__bases__[0].__subclasses__()", "AttributeError"),
        ("(lambda: 0).__globals__", "AttributeError"),
        ("echo.__globals__", "AttributeError"),
        ("print.__self__", "AttributeError"),
        ("import socket", "ModuleNotFoundError"),
        ("import subprocess", "ModuleNotFoundError"),
        ("import ctypes", "ModuleNotFoundError"),
        ("import httpx", "ModuleNotFoundError"),
        ("import builtins\nbuiltins.open = echo", "ModuleNotFoundError"),
        ("import sys\nsys.modules['os']", "AttributeError"),
        ("import sys\nsys._getframe()", "AttributeError"),
        ("eval('open(\"/etc/passwd\")')", "PermissionError"),
        ("exec('import socket')", "ModuleNotFoundError"),
        ("globals()", "NameError"),
        ("input()", "NameError"),
        ("breakpoint()", "NameError"),
        ("echo(print)", "TypeError"),
        ("echo(lambda: 0)\n1/0", "ZeroDivisionError"),
        ("raise SystemExit", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_host_is_not_accessible(source: str, error: str) -> None:
    outcome = run(source)
    assert error in outcome.error.splitlines()[-1]
    assert outcome.value is None
    assert not any(secret in outcome.error for secret in HOST)


def test_programs_are_isolated_from_each_other() -> None:
    async def both() -> list[ProgramResult]:
        sandbox = Sandbox(SHORT)
        first = (
            "import json\nprint = None\nlen = 1\nleft = 2\ntry:\n    json.dumps = 3\nexcept Exception:\n    pass\nlen"
        )
        return [await sandbox.run(source, set(), echo) for source in (first, "len('ab')", "left")]

    first, second, third = asyncio.run(both())
    assert (first.value, second.value) == (1, 2)
    assert "name 'left' is not defined" in third.error


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("while True: pass", "TimeoutError: the program computed for more than 0.3 seconds"),
        ("try:\n    while True: pass\nexcept BaseException:\n    pass\n1", "TimeoutError"),
        ("while True:\n    try:\n        1 / 0\n    except Exception:\n        pass", "TimeoutError"),
        ("exec('while True: pass')", "TimeoutError"),
        ("x = 1\nfor _ in range(10**9): x = x * x + 1", "Error"),
        ("sum(range(10**12))", "TimeoutError"),
        ("'a' * 10**10", "MemoryError"),
        ("10**10**8", "MemoryError"),
        ("x = []\nwhile True: x.append('x' * 1000)", "MemoryError"),
        ("x = 'x'\nwhile True: x += x", "MemoryError"),
        ("x = {}\nn = 0\nwhile True:\n    n += 1\n    x[n] = [n]", "Error"),
        ("list(range(10**9))", "MemoryError"),
        ("def f(n): return f(n + 1)\nf(0)", "RecursionError"),
        ("(" * 5000 + ")" * 5000, "SyntaxError"),
        ("1+" * 9000 + "1", "SyntaxError"),
        ("a = [[None] * 1000] * 1000\n[a] * 1000", "too large"),
        ("a = [None] * 1000\nb = [a] * 1000\necho([b] * 1000)", "too large"),
        ("a = []\na.append(a)\nfor n in range(200): a = [a]\na", "nested more than 100 deep"),
        ("raise ValueError('x' * 10**6)", "ValueError"),
        ("[[0] * 1000] * 600", "too large"),
    ],
)
def test_excessive_programs_end_with_an_error(source: str, error: str) -> None:
    outcome = run(source)
    assert error in outcome.error
    assert len(outcome.error) < 5000


def test_waiting_program_times_out() -> None:
    async def ask(*_: Any) -> Any:
        await asyncio.sleep(1000)

    outcome = run("echo()", CodeLimits(seconds=0.3), ask)
    assert outcome.error == "TimeoutError: the program took more than 0.3 seconds, its calls included"


def test_other_programs_run_while_one_computes() -> None:
    async def both() -> tuple[int, ProgramResult, bool]:
        sandbox = Sandbox(CodeLimits())
        endless = asyncio.create_task(sandbox.run("while True: pass", set(), echo))
        others = [await sandbox.run(f"{number}", set(), echo) for number in range(5)]
        running = not endless.done()
        endless.cancel()
        await asyncio.wait([endless])
        return len(others), others[-1], running and endless.cancelled()

    assert asyncio.run(both()) == (5, ProgramResult(4), True)


def test_gathered_calls_are_concurrent() -> None:
    async def main() -> ProgramResult:
        barrier = asyncio.Barrier(5)

        async def ask(_name: str, positional: list[Any], _named: dict[str, Any]) -> Any:
            await barrier.wait()
            return positional[0]

        source = "import asyncio\nasync def one(n):\n    return await echo(n)\n"
        return await Sandbox(SHORT).run(source + "await asyncio.gather(*[one(n) for n in range(5)])", {"echo"}, ask)

    assert asyncio.run(main()) == ProgramResult([0, 1, 2, 3, 4])


def test_pending_calls_are_cancelled_with_the_program() -> None:
    ended: list[str] = []

    async def ask(name: str, _positional: list[Any], _named: dict[str, Any]) -> Any:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append(name)

    assert "took more than 0.3" in run("await echo(1)", CodeLimits(seconds=0.3), ask).error
    assert "ZeroDivisionError" in run("import asyncio\ncall = asyncio.create_task(echo(1))\n1 / 0", SHORT, ask).error
    assert ended == ["echo", "echo"]


@pytest.mark.parametrize(
    ("statement", "outcome"),
    [
        ("await asyncio.wait_for(echo(9), 0.2)", ["cancelled"]),
        ("await asyncio.wait_for(slow(), 0.2)", ["cancelled"]),
        ("await asyncio.gather(asyncio.wait_for(slow(), 0.2), echo(0.5))", ["cancelled", "made"]),
        ("await asyncio.gather(echo(0.5), late())", ["made"]),
        ("later = echo(1)\n    await asyncio.wait_for(slow(), 0.2)\n    await later", ["cancelled", "made"]),
        ("await asyncio.wait_for(echo(0), 9)", ["made"]),
    ],
)
def test_time_limit_ends_the_calls_that_it_is_for(statement: str, outcome: list[str]) -> None:
    ended: list[str] = []

    async def answer(_: str, positional: list[Any], __: dict[str, Any]) -> Any:
        try:
            await asyncio.sleep(positional[0])
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        ended.append("made")

    source = (
        "import asyncio\n"
        "async def slow():\n    await echo(9)\n    await echo(9)\n"
        "async def late():\n    raise TimeoutError('of the program')\n"
        f"try:\n    {statement}\n    end = 'in time'\nexcept TimeoutError:\n    end = 'late'\n"
        "await asyncio.sleep(0.1)\n"
        "end"
    )
    limits = CodeLimits(seconds=8)
    result = run(source, limits, answer)
    assert result == ProgramResult("in time" if "9)" in statement and "echo(0)" in statement else "late")
    assert sorted(ended) == outcome


def test_printed_output_is_limited() -> None:
    outcome = run("for n in range(100): print('x' * 9)\n'end'")
    assert outcome.value == "end"
    assert outcome.output == ("x" * 9 + "\n") * 10
    assert outcome.omitted_characters == 900


def test_an_error_names_the_lines_of_the_program() -> None:
    outcome = run("def f(x):\n    return x['name']\n\nprint('so far')\nf({})")
    assert "Line 5" in outcome.error
    assert "Line 2, in f" in outcome.error
    assert outcome.error.endswith("KeyError: name; it has no properties")
    assert outcome.output == "so far\n"
    assert "Line 2" in run("x = 1\nx = = 2").error
