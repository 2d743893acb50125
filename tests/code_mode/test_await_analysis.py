"""Calls of tools make coroutines where the program awaits them, and values everywhere else."""

import ast

import pytest

from openapi_mcp.code_mode.await_analysis import Awaited

TOOLS = {"a", "b", "c", "wait"}


def awaited_calls(program: str) -> set[str]:
    """Return the calls of tools that make coroutines."""
    calls = Awaited(ast.parse(program), TOOLS).calls
    return {ast.unparse(call) for call in calls if isinstance(call.func, ast.Name) and call.func.id in TOOLS}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a(1)", set()),
        ("await a(1)", {"a(1)"}),
        ("await a(1); b(2)", {"a(1)"}),
        ("(await a(1))['x'] + b(2)['x']", {"a(1)"}),
        ("x = a(1)\nawait x", {"a(1)"}),
        ("x = a(1)\nprint(x)\ny = b(2)\nawait y", {"b(2)"}),
        ("x = y = a(1)\nawait y", {"a(1)"}),
        ("x, y = a(1), b(2)\nawait x", {"a(1)"}),
        ("await (a(1) if b(2) else c(3))", {"a(1)", "c(3)"}),
        ("await (x := a(1))", {"a(1)"}),
        ("await gather(a(1), *[b(i) for i in c(3)])", {"a(1)", "b(i)"}),
        ("await asyncio.gather(*(a(i['id']) for i in b(2)))", {"a(i['id'])"}),
        ("calls = []\nfor i in c(3):\n    calls.append(a(i))\nawait gather(*calls)", {"a(i)"}),
        ("calls = [a(1)]\ncalls += [b(2)]\ncalls.extend([c(3)])\nawait gather(*calls)", {"a(1)", "b(2)", "c(3)"}),
        ("calls = {}\ncalls['x'] = a(1)\nfor name, call in calls.items():\n    await call", {"a(1)"}),
        ("calls = {'x': a(1)}\nawait gather(*calls.values())", {"a(1)"}),
        ("calls = [a(i) for i in range(9)]\nfor n in range(3):\n    await gather(*calls[n:])", {"a(i)"}),
        ("calls = [(1, a(1))]\nfor n, call in calls:\n    await call", {"a(1)"}),
        ("[await f for f in [a(1), b(2)]]", {"a(1)", "b(2)"}),
        ("task = asyncio.create_task(a(1))", {"a(1)"}),
        ("group.create_task(a(b(2)['id']))", {"a(b(2)['id'])"}),
        ("asyncio.run(a(1))", {"a(1)"}),
        ("await asyncio.wait_for(a(1), timeout=b(2))", {"a(1)"}),
        ("await wait(a(1))", {"wait(a(1))"}),
        ("wait(a(1))", set()),
        ("def one(i):\n    return a(i)\nawait one(1)", {"a(i)"}),
        ("def one(i):\n    return a(i)\none(1)['x']", set()),
        ("one = lambda i: a(i)\nawait gather(one(1), one(2))", {"a(i)"}),
        ("await gather(*map(lambda i: a(i), [1]))", {"a(i)"}),
        ("async def one(i):\n    return a(i)\nawait one(1)", set()),
        ("async def one(i):\n    return await a(i)\nawait one(b(2))", {"a(i)"}),
        ("async def run_all(calls):\n    return await gather(*calls)\nawait run_all([a(1), b(2)])", {"a(1)", "b(2)"}),
        ("async def run_all(*calls):\n    return await gather(*calls)\nawait run_all(a(1), b(2))", {"a(1)", "b(2)"}),
        ("async def late(call, n=1):\n    return await call\nawait late(n=b(2), call=a(1))", {"a(1)"}),
        ("async def late(n, call):\n    return await call\nawait late(b(2), a(1))", {"a(1)"}),
        ("items = a(1)\nfound = await gather(*[b(i) for i in items])\nfor f in found:\n    c(f)", {"b(i)"}),
        ("self.calls = []\nself.calls.append(a(1))\nawait gather(*self.calls)", {"a(1)"}),
        ("pages = list(a(n) for n in (1, 2))\nawait gather(*pages)", {"a(n)"}),
        ("await gather(*[x for x in sorted([a(1)])])", {"a(1)"}),
        ("await a(1)[0]", set()),
        ("await gather(*a(1))", set()),
    ],
)
def test_calls_whose_values_are_awaited_make_coroutines(program: str, expected: set[str]) -> None:
    assert awaited_calls(program) == expected


def test_names_that_refer_to_each_other_end() -> None:
    assert awaited_calls("x = y\ny = x\nx = a(1)\nawait x") == {"a(1)"}
    assert awaited_calls("def f(x):\n    return f(x)\nawait f(a(1))") == set()
