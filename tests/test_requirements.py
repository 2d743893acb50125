"""The manifest of requirements against the tests there are, in both directions: no gap, and no name that is none."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.requirement import ALL, Requirement
from tests.requirements import REQUIREMENTS

ROOT = Path(__file__).parents[1]
TRANSCRIPTS = "tests/conversations/*/*.jsonl"
SPECIFIC = ["tests/runtime/protocol/test_*.py", "tests/test_clients.py", "tests/test_fuzz_*.py"]
"""Tests of nothing but the protocol: each of them shows that some requirement is met."""


@cache
def there_is(path: str) -> frozenset[str]:
    """The tests of a file, or the headings of a transcript."""
    text = (ROOT / path).read_text("utf-8")
    if path.endswith(".jsonl"):
        return frozenset(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def shown_by(requirement: Requirement) -> Iterator[tuple[str, str]]:
    """The path and the name of everything that shows a requirement."""
    for test in requirement.tests:
        path, _, name = test.partition("::")
        for revision in requirement.revisions if "{revision}" in path else ("",):
            yield path.format(revision=revision), name


def named() -> set[tuple[str, str]]:
    return {each for requirement in REQUIREMENTS for each in shown_by(requirement)}


def paths(*patterns: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern))


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: requirement.id)
def test_every_requirement_is_shown_by_tests_that_are_there(requirement: Requirement) -> None:
    assert requirement.tests, "nothing shows it"
    assert requirement.sentence
    assert requirement.section
    assert set(requirement.revisions) <= set(ALL)
    assert [f"{path}::{name}" for path, name in shown_by(requirement) if name not in there_is(path)] == []


def test_no_two_requirements_have_one_id() -> None:
    assert [name for name, count in Counter(each.id for each in REQUIREMENTS).items() if count > 1] == []


def test_every_test_of_the_protocol_shows_a_requirement() -> None:
    known = named()
    assert [
        f"{path}::{name}" for path in paths(*SPECIFIC) for name in there_is(path) if (path, name) not in known
    ] == []


def test_every_transcript_shows_a_requirement() -> None:
    known = {path for path, _ in named()}
    assert [path for path in paths(TRANSCRIPTS) if path not in known] == []
