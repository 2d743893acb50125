"""Rows of hostile programs in code mode: what they compute, hold, print and call while another client pings."""

import asyncio
from collections import Counter
from typing import Final

from tests.faults import calling
from tests.faults.answers import check
from tests.faults.rows import Row, Target, UnexpectedResult

LONG: Final = frozenset(
    {
        *("a loop without end", "eight loops without end", "output without end", "calls that hang"),
        "20 calls of what is large",
        "a value that is loaded without end",
        "missing keys without end",
        "saved values without end",
    }
)
"""Rows that take seconds, which `make test` leaves to `make faults`."""


def row(description: str, program: str, expected: str, *, times: int = 1) -> Row:
    """Return the row of a program, run `times` at once, whose results begin with one of some words."""

    async def run(target: Target) -> str:
        calls = (calling.call(target, "run_code", {"code": program}) for _ in range(times))
        outcomes = Counter[str]()
        for result in await asyncio.gather(*calls):
            check(result)
            outcomes[calling.sentence(result)] += 1
        if not all(outcome.startswith(tuple(expected.split())) for outcome in outcomes):
            raise UnexpectedResult(f"expected {expected}, got: {'; '.join(outcomes)}")
        return "; ".join(f"{count} times {text}" if times > 1 else text for text, count in outcomes.most_common(2))

    return Row("programs", description, run, short=description not in LONG)


async def sleepers(target: Target) -> str:
    """Run sixteen programs that sleep and, meanwhile, one that adds."""
    loop = asyncio.get_running_loop()
    sleeping = [
        asyncio.create_task(calling.call(target, "run_code", {"code": "import asyncio\nawait asyncio.sleep(3)\n1"}))
        for _ in range(16)
    ]
    await asyncio.sleep(1)
    started = loop.time()
    outcome = calling.sentence(await calling.call(target, "run_code", {"code": "1 + 1"}))
    seconds = loop.time() - started
    await asyncio.gather(*sleeping)
    if seconds > 1 or not outcome.startswith("result: 2"):
        raise UnexpectedResult(f"1 + 1 is {outcome} after {seconds:.1f} s")
    return f"1 + 1 is {outcome.removeprefix('result: ')}, in less than a second"


OPTIONS: Final = ("--mode", "code", "--code-timeout", "5")
"""Of the server that runs them."""

LOOP: Final = "n = 0\nwhile True:\n    n += 1\n"
HOLD: Final = "import asyncio\na = ['x' * 1000 + str(n) for n in range(43000)]\nawait asyncio.sleep(1)\nlen(a)"
ROWS: Final = [
    row("a loop without end", LOOP, "error:"),
    row("eight loops without end", LOOP, "error:", times=8),
    Row("programs", "sixteen programs that sleep", sleepers),
    row("a list that grows without end", "a = []\nwhile True:\n    a.append('x' * 1000)\n", "error:"),
    row("twelve programs of 45 MiB at once", HOLD, "error: result:", times=12),
    row("a text that doubles", "s = 'x'\nwhile True:\n    s += s\n", "error:"),
    row("a number of a billion digits", "10 ** 1000000000", "error:"),
    row("a shift by a trillion", "1 << 1000000000000", "error:"),
    row("a list of a billion items", "[0] * 1000000000", "error:"),
    row("recursion without end", "def f(n):\n    return f(n + 1)\nf(0)", "error:"),
    row("100,000 brackets", "(" * 9000 + ")" * 9000, "error:"),
    row("output without end", "while True:\n    print('x' * 1000)\n", "error: result:"),
    row("a result of 100 MB", "['x' * 1000] * 100000", "error:"),
    row("control characters in a result", "'\\x1b]0;owned\\x07'", "result: error:"),
    row("a file", "open('/etc/passwd').read()", "error:"),
    row("the operating system", "import os\nos.system('id')", "error:"),
    row("a socket", "import socket", "error:"),
    row("the interpreter", "().__class__.__base__.__subclasses__()", "error:"),
    row("1,000 calls", "for n in range(1000):\n    await getFault(name='fine')\n", "error:"),
    row("20 calls of what is large", "for n in range(20):\n    await getFault(name='json-60mb')\n", "error: result:"),
    row("saved values without end", "n = 0\nwhile True:\n    save(str(n), 'x' * 1000)\n    n += 1\n", "error:"),
    row("a saved value that is too large", "save('a', ['x' * 1000] * 1000)", "error:"),
    row(
        "a value that is loaded without end", "name = save('a', 'x' * 250000)\nwhile True:\n    load(name)\n", "error:"
    ),
    row("pages of what is no list", "paginate(getFault, {'name': 'fine'})", "error:"),
    row("pages of pages", "for n in range(1000):\n    paginate(getFault, name='fine')\n", "error:"),
    row(
        "missing keys without end",
        "while True:\n    try:\n        {}.a\n    except AttributeError:\n        pass\n",
        "error:",
    ),
    row("attributes of attributes", "x" + ".a" * 5000, "error:"),
    row("f-strings of f-strings", "f'{x}\" + " * 1000 + 'f"{' * 2000, "error:"),
    row("calls that hang", "await getFault(name='hang')", "error:", times=8),
]
"""Programs that may cost the server more than they cost who wrote them."""
