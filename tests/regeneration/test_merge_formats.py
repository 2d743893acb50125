"""Defects of files by format."""

import sys
from pathlib import PurePosixPath

import pytest

from openapi_mcp.regeneration.merge import UNREADABLE, defects


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
def test_unparsable_files_have_a_defect(name: str, text: str) -> None:
    assert defects(PurePosixPath(name), text) == {UNREADABLE}


@pytest.mark.parametrize(
    ("name", "text"), [("a.py", "x = '\\d'"), ("a.json", '{"a": [1]}'), ("a.toml", "a = 1"), ("Dockerfile", "\0{(")]
)
def test_valid_files_have_no_defect(name: str, text: str) -> None:
    assert defects(PurePosixPath(name), text) == frozenset()


def test_duplicate_function_is_a_defect() -> None:
    text = "def f(): ...\nx = 1\nx = 2\nasync def f(): ...\n"
    assert defects(PurePosixPath("a.py"), text) == {"f is defined 2 times"}
