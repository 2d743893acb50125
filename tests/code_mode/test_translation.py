"""Programs are translated to the sandbox's Python with the lines they had; what cannot be translated is left alone."""

import ast
import gc
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from openapi_mcp.code_mode.lacks import lacks
from openapi_mcp.code_mode.prelude import ASYNCIO_NAMES, PRELUDE
from openapi_mcp.code_mode.translation import (
    Translation,
    UnsupportedProgramError,
    awaits,
    prelude_awaited,
    translate,
    without_f_strings,
)

TOOLS = {"get"}
STDLIB = Path(sysconfig.get_paths()["stdlib"])
MAX_BYTES = 20_000


def programs() -> list[Path]:
    """Return some programs that nobody wrote for the sandbox."""
    return sorted(path for path in STDLIB.glob("*.py") if path.stat().st_size < MAX_BYTES)[::3]


def translated(program: str) -> str:
    return translate(program, TOOLS).source


@pytest.mark.parametrize(
    ("program", "source"),
    [
        ("x = get(id=1)", "x = get(id=1)"),
        ("await get(id=1)", "await _sandbox_finish(await get(id=1))"),
        ("import asyncio, json", "import json"),
        ("import asyncio as aio", "pass\naio = asyncio"),
        ("from asyncio import gather as g", "g = asyncio.gather"),
        ("json.dumps(1)", "import json\njson.dumps(1)"),
        ("import json\njson.dumps(1, default=str)", "import json\n_sandbox_dumps(1, default=str)"),
        ("json = get(id=1)\njson['x']", "json = get(id=1)\n_sandbox_item(json, 'x')"),
        ("sorted(x, key=lambda i: i[0])", "sorted(x, key=lambda i: i[0])"),
        ("sorted(x, key=lambda i: get(id=i))", "_sandbox_sorted(x, key=lambda i: get(id=i))"),
        ("map(str, x)", "map(str, x)"),
        ("map(get, x)", "_sandbox_map(get, x)"),
        ("x.sort(key=get)", "x[:] = _sandbox_sorted(x, key=get)"),
        ("x.sort(key=len)", "x.sort(key=len)"),
        ("del x[1], y[2:], z", "x.pop(1)\ny[2:] = []\nz = None"),
        ("class A(object):\n    pass", "class A:\n    pass"),
        ("from typing import Any\nx: Any = 1", "pass\nx: Any = 1"),
        ("x.name + x['a'].b.c", "_sandbox_attribute(x, 'name') + "),
        ("x.items()", "x.items()"),
        ("match x:\n    case A.RED if x.y:\n        x.z", "match x:\n    case A.RED if _sandbox_attribute(x, 'y'):"),
        ('f"{x.name}\'s"', "f\"{_sandbox_attribute(x, 'name')}'s\""),
        ("x.items[0]", "_sandbox_method(x, 'items', lambda *_sandbox_values: x.items(*_sandbox_values))[0]"),
        ("x.y.items[0]", "_sandbox_attribute(_sandbox_attribute(x, 'y'), 'items')[0]"),
        ("x.owner.login.upper()", "_sandbox_attribute(_sandbox_attribute(x, 'owner'), 'login').upper()"),
        ("map(str.lower, x)", "map(lambda _sandbox_value, *_sandbox_values: _sandbox_value.lower(*_sandbox_values)"),
        ("x.name = 1", "_sandbox_setattr(x, 'name', 1)"),
        ("x.n += 1", "_sandbox_setattr(x, 'n', _sandbox_attribute(x, 'n') + 1)"),
        ("f().n += 1", "f().n += 1"),
        ("self.name = x['a']['b']", "self.name = _sandbox_item(_sandbox_item(x, 'a'), 'b')"),
        ("x['a'] = 1\nx['a'] += 1", "x['a'] = 1\nx['a'] += 1"),
        ("def f(x: list['Pet']):\n    pass", "def f(x: list['Pet']):"),
        ("getattr(x, 'a', None)", "_sandbox_getattr(x, 'a', None)"),
        ("x.__class__", "x.__class__"),
        ("if __name__ == '__main__':\n    get(id=1)", "get(id=1)"),
    ],
)
def test_a_program_is_translated(program: str, source: str) -> None:
    assert translated(program).startswith(source)


def test_async_with_enters_and_exits() -> None:
    source = translated("async def f():\n    async with a() as x, b():\n        return x")
    assert source.index("= a()") < source.index("= b()") < source.index("return x")
    assert source.count("__aenter__()") == source.count("finally:") == 2


def test_lines_are_those_of_the_program() -> None:
    function = "async def f():\n    async with g():\n        return x[\n            9\n        ]"
    program = f"import asyncio\n\nx = [\n    1,\n]\n\n\n{function}\n\nawait f()\n"
    translation = translate(program, TOOLS)
    lines = translation.source.splitlines()
    returned = next(number for number, line in enumerate(lines, 1) if "return" in line)
    assert translation.line(returned) == 10
    assert translation.text(10) == "return x["
    assert translation.line(len(lines)) == 14
    assert translation.line(1000) == 1000
    assert translation.text(1000) == ""


def test_places_of_awaited_calls_are_in_bytes() -> None:
    translation = translate("x = 'größe'; y = ['ü', await get(id=1)]\nget(id=2)", TOOLS)
    assert translation.awaited is not None
    places = [translation.source.encode()[start:end].decode() for start, end in translation.awaited]
    assert "get(id=1)" in places
    assert "get(id=2)" not in places
    [start] = [start for start, end in translation.awaited if translation.source.encode()[start:end] == b"get(id=1)"]
    assert translation.line_at(start) == 1


@pytest.mark.parametrize(
    "program",
    [
        "-" * 19_990 + "1",
        "not " * 4_990 + "1",
        "(" * 9_000 + ")" * 9_000,
        "a" + ".a" * 9_990,
        "1+" * 9_990 + "1",
        "lambda:" * 2_850 + "1",
        "1 if 1 else " * 1_600 + "1",
        "if 1:0\n" + "elif 1:0\n" * 2_000,
        "a" + "()" * 9_990,
        "x = = 1",
        "\0",
        'f"{x["a"]}"[',
        "await " * 3_000,
    ],
)
def test_what_cannot_be_translated_is_left_to_the_sandbox(program: str) -> None:
    assert translate(program, TOOLS) == Translation(program, program)


@pytest.mark.parametrize("path", programs(), ids=lambda path: path.name)
def test_any_program_is_translated_or_refused(path: Path) -> None:
    program = path.read_text(errors="replace")
    if lacks(ast.parse(program)):
        with pytest.raises(UnsupportedProgramError, match=r"^(Line \d+: |Programs can import )"):
            translate(program, TOOLS)
        return
    translation = translate(program, TOOLS)
    assert translation.awaited is not None
    ast.parse(translation.source)


def test_lacks_are_reported_once_with_their_lines() -> None:
    tree = ast.parse(
        "import requests\nclass A(B):\n    @property\n    def x(self): yield 1\nawait_ = requests.get('x')"
    )
    told = lacks(tree)
    assert [line.partition(":")[0] for line in told[1:]] == ["Line 1", "Line 2", "Line 4", "Line 4"]
    assert told[0].startswith("Programs can import")


def test_asyncio_has_the_names_that_programs_may_use() -> None:
    defined = {line.split("=")[0].strip().removeprefix("asyncio.") for line in PRELUDE.splitlines()}
    methods = {line.split("(")[0].removeprefix("    def ") for line in PRELUDE.splitlines()}
    assert not ASYNCIO_NAMES - defined - methods
    assert b"function(*values)" in {PRELUDE.encode()[slice(*place)] for place in prelude_awaited()}


@pytest.mark.parametrize(
    ("source", "contains_await"),
    [("await f()", True), ("# await f()", False), ("x = 'await'", False), ("awaited = 1", False), ("'''\n(", False)],
)
def test_await_is_recognised(source: str, contains_await: bool) -> None:
    assert awaits(source) is contains_await


@pytest.mark.parametrize(
    ("program", "written"),
    [
        ('f"{item["name"]} costs {item.price:.2f}"', '"{} costs {:.2f}".format((item["name"]), (item.price))'),
        ("f'{a!r:>{w}} {{x}} {b!=c}'", "'{!r:>{}} {{x}} {}'.format((a), (w), (b!=c))"),
        ("f'{total=} {total=:.2f} {x:%H:%M}'", "'total={!r} total={:.2f} {:%H:%M}'.format((total), (total), (x))"),
        ('f"{f"{f"{1+1}"}"}"', '"{}".format(("{}".format(("{}".format((1+1))))))'),
        ('rf"\\d{x}" + "f{"  # f"{', 'r"\\d{}".format((x)) + "f{"  # f"{'),
        ('f"""a\n{b["x"]}"""', '"""a\n{}""".format((b["x"]))'),
        ('print("{" f"{x["a"]}"\n  f"b")', 'print(("{" + "{}".format((x["a"]))\n  + "b".format()))'),
        ('x = f"{a["b"]}"\ny = "c" "d"\n"e"', 'x = "{}".format((a["b"]))\ny = "c" "d"\n"e"'),
        ("'plain' + b\"bytes\"", "'plain' + b\"bytes\""),
    ],
)
def test_f_strings_of_a_newer_python_are_calls_of_format(program: str, written: str) -> None:
    assert without_f_strings(program) == written


@pytest.mark.parametrize("program", ['f"{', "f'{x", '"' * 9999, 'f"{x!', 'f"{x:', 'f"{"', 'f"""{x}'])
def test_f_strings_that_do_not_end_are_left_to_the_sandbox(program: str) -> None:
    with pytest.raises(ValueError, match="does not end"):
        without_f_strings(program)
    assert translate(program, TOOLS).source == program


@pytest.mark.parametrize(
    "program",
    ['f"{' * 4000 + '}"' * 4000, 'f"{' * 18 + "1" + '}"' * 18, 'f"{x["a"]}"' * 1800, "f'{a:" * 4000, '{f"' * 5000],
)
def test_hostile_f_strings_take_no_time(program: str) -> None:
    started = time.monotonic()
    translate(program, TOOLS)
    assert time.monotonic() - started < 5


def test_programs_are_parsed_in_several_threads_at_once() -> None:
    def yield_to_others(_phase: str, _info: dict[str, int]) -> None:
        time.sleep(0)

    thresholds = gc.get_threshold()
    program = "\n".join(f"x{number} = [pets({{'k': (1, [2, 3])}}) for a in range({number})]" for number in range(20))
    gc.callbacks.append(yield_to_others)
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(4) as threads:
            translations = list(threads.map(lambda _: translate(program, TOOLS), range(16)))
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(yield_to_others)
    assert len({each.source for each in translations}) == 1
