"""Modules are merged by statements, imports by names, anything else by lines."""

import ast
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.regeneration.merge import MARKERS, MergeResult, changes, merge
from openapi_mcp.regeneration.python_merge import resolver, statements
from tests.packages import module


def merged(base: str, yours: str, generated: str) -> MergeResult:
    lines = base.split("\n"), yours.split("\n"), generated.split("\n")
    return merge(*lines, split=statements, resolve=resolver(lines[0], lines[1]))


def text(base: str, yours: str, generated: str) -> str:
    result = merged(base, yours, generated)
    assert not result.conflicts
    return "\n".join(result.lines)


@pytest.mark.parametrize(
    ("base", "yours", "generated", "expected"),
    [
        ("from a import b, d", "from a import B, b, d", "from a import b, c", "from a import B, b, c"),
        ("from .a import B", "from .a import B, C", "from .a import A, B", "from .a import A, B, C"),
        ("from a import b", "from a import b as c", "from a import d", "from a import b as c, d"),
        (
            "from a import b",
            "import re\nfrom a import b",
            "import json\nfrom a import b",
            "import re\nimport json\nfrom a import b",
        ),
        ("import a", "import a", "import b", "import b"),
        ("from a import b", "x = b", "from a import b, c", None),
        ("from a import b  # why", "from a import b, c  # why", "from a import a, b  # why", None),
    ],
)
def test_imports_are_merged_as_sets(base: str, yours: str, generated: str, expected: str | None) -> None:
    result = merged(base, yours, generated)
    assert (None if result.conflicts else "\n".join(result.lines)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = b.c", "from a import b, c"),
        ("x = 'about'", "from a import c"),
        ("from b import c", "from a import c"),
    ],
)
def test_names_that_the_owner_uses_stay_imported(line: str, expected: str) -> None:
    """The generated code no longer needs `b`, and its owner did not edit the import."""
    result = text(
        "from a import b, c\n\n\ny = 1\n", f"from a import b, c\n\n\ny = 1\n{line}\n", "from a import c\n\n\ny = 1\n"
    )
    assert result.split("\n")[0] == expected
    assert line in result


def test_long_imports_have_the_layout_of_ruff() -> None:
    names = [f"Name{n:02}" for n in range(16)]
    base = f"from .a import {', '.join(names[2:])}"
    result = text(base, base.replace("import ", "import Name00, "), base.replace("import ", "import Name01, "))
    assert result == "from .a import (\n" + "".join(f"    {name},\n" for name in names) + ")"


@pytest.mark.parametrize(
    ("yours", "generated", "both"),
    [
        ("def a(): ...", "def b(): ...", True),
        ("def a(): ...", "async def a(): ...", False),
        ("import a", "from b import c as d", True),
        ("A = 1", "B: int = 1", True),
        ("A = 1", "A: int = 1", False),
        ("class A: ...", "print()", False),
        ("    a = 1", "    b = 1", False),
        ("    a.b,", "    c.d,", True),
        ("    a.b,", "    a.b,\n    c.d,", False),
        ("    a.b,", "    c.d", False),
        ("def a():", "def b(): ...", False),
    ],
)
def test_independent_insertions_are_both_applied(yours: str, generated: str, both: bool) -> None:
    resolve = resolver([], [])
    assert resolve([], yours.split("\n"), generated.split("\n")) == (
        [*yours.split("\n"), *generated.split("\n")] if both else None
    )


def test_function_is_deleted_or_kept_completely() -> None:
    """Lines of a function are not paired with those of the function that takes its position."""
    base, generated = (module("pet", {"get_pet": "Get", name: "Do it"}).decode() for name in ("put_photo", "feed_pet"))
    result = merged(base, base.replace('call("put_photo"', 'checked("put_photo"'), generated)
    lines = list(result.lines)
    yours = lines[lines.index(MARKERS[0]) + 1 : lines.index(MARKERS[1])]
    rest = lines[: lines.index(MARKERS[0])]
    resolved = "\n".join([*rest, *yours, *lines[lines.index(MARKERS[2]) + 1 :]])
    names = [node.name for node in ast.parse(resolved).body if isinstance(node, ast.AsyncFunctionDef)]
    assert names == ["get_pet", "put_photo"]
    assert 'checked("put_photo"' in resolved


def test_renamed_function_is_recognised() -> None:
    base = module("pet", {"get_pet": "Find a pet", "add_pet": "Add a pet"}).decode()
    generated = module("pet", {"get_pet": "Find a cat", "add_pet": "Add a pet"}).decode()
    result = text(base, base.replace("def get_pet", "def fetch"), generated)
    assert result == generated.replace("def get_pet", "def fetch")


@pytest.mark.parametrize("broken", ["def f(:\n    x\n", "x = 1\ry = 2\n", "\0\n", "x = 1; y = 2\n"])
def test_invalid_python_is_merged_by_lines(broken: str) -> None:
    assert text(broken, broken + "mine\n", "theirs\n" + broken) == "theirs\n" + broken + "mine\n"


SOURCES = st.lists(
    st.sampled_from(
        [
            "import a",
            "from a import b",
            "from a import c, b",
            "x = 1",
            "y = 2",
            "# why",
            "",
            "def f():\n    return 1",
            "@d\ndef g(): ...",
            "x = (",
            "'''",
        ]
    ),
    max_size=8,
).map("\n".join)


@given(SOURCES, SOURCES)
def test_unchanged_side_has_no_effect(base: str, other: str) -> None:
    assert text(base, other, base) == text(base, base, other) == other
    assert text(base, other, other) == other


@given(SOURCES)
def test_sections_cover_the_module(source: str) -> None:
    lines = source.split("\n")
    keys, ends = zip(*statements(lines), strict=True)
    assert len(set(keys)) == len(keys)
    assert list(ends) == sorted(ends)
    assert ends[-1] == len(lines)


@given(SOURCES, SOURCES)
def test_unchanged_line_separates_changes(base: str, other: str) -> None:
    result = changes(base.split("\n"), other.split("\n"), statements)
    assert all(above.end < below.start for above, below in pairwise(result))


@given(SOURCES, SOURCES, SOURCES)
def test_no_definition_is_lost(base: str, yours: str, generated: str) -> None:
    """A statement that the owner added is in the result, at least between conflict markers."""
    result = merged(base, yours, generated)
    added = set(yours.split("\n")) - set(base.split("\n"))
    assert {line for line in added if not line.startswith(("from", "import"))} <= set(result.lines)
