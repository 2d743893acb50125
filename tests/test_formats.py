"""What is wrong with a file after a merge that was not wrong before."""

import sys
from pathlib import PurePosixPath

import pytest

from openapi_mcp.formats import UNREADABLE, defects, independent


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "def f():"),
        ("a.py", "x = '\0'"),
        ("a.py", "(" * sys.getrecursionlimit()),
        ("a.toml", "a = 1\na = 2\n"),
        ("a.json", '{"a": 1,}'),
        ("a.json", '{"a": {"b": 1, "b": 2}}'),
        ("a.json", "[" * 100_000),
    ],
)
def test_what_cannot_be_parsed(name: str, text: str) -> None:
    assert defects(PurePosixPath(name), text) == {UNREADABLE}


@pytest.mark.parametrize(
    ("name", "text"), [("a.py", "x = '\\d'"), ("a.json", '{"a": [1]}'), ("a.toml", "a = 1"), ("Dockerfile", "\0{(")]
)
def test_what_is_fine(name: str, text: str) -> None:
    assert defects(PurePosixPath(name), text) == frozenset()


def test_a_function_that_hides_another() -> None:
    text = "def f(): ...\nx = 1\nx = 2\nasync def f(): ...\n"
    assert defects(PurePosixPath("a.py"), text) == {"f is defined 2 times"}


@pytest.mark.parametrize(
    ("yours", "generated", "expected"),
    [
        ("def a(): ...", "def b(): ...", True),
        ("def a(): ...", "async def a(): ...", False),
        ("import a", "from b import c as d", True),
        ("import a", "from b import c as a", False),
        ("A = 1", "B: int = 1", True),
        ("A = 1", "A: int = 1", False),
        ("class A: ...", "print()", False),
        ("    a = 1", "    b = 1", False),
        ("def a():", "def b(): ...", False),
        ("", "def b(): ...", False),
    ],
)
def test_whether_two_insertions_can_both_stand(yours: str, generated: str, expected: bool) -> None:
    assert independent(yours.split("\n"), generated.split("\n")) is expected
