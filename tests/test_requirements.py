"""The manifest of requirements against the existing tests, in both directions."""

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
SPECIFIC = ["tests/runtime/protocol/test_*.py", "tests/test_clients.py", "tests/fuzz/test_*.py"]
"""Tests of the protocol alone: each of them proves a requirement."""


@cache
def names_in(path: str) -> frozenset[str]:
    """Return the tests of a file, or the headings of a transcript."""
    text = (ROOT / path).read_text("utf-8")
    if path.endswith(".jsonl"):
        return frozenset(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def iter_tests(requirement: Requirement) -> Iterator[tuple[str, str]]:
    """Yield the path and the name of each test of a requirement."""
    for test in requirement.tests:
        path, _, name = test.partition("::")
        for revision in requirement.revisions if "{revision}" in path else ("",):
            yield path.format(revision=revision), name


def bound_tests() -> set[tuple[str, str]]:
    return {each for requirement in REQUIREMENTS for each in iter_tests(requirement)}


def paths(*patterns: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern))


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: requirement.id)
def test_requirement_has_existing_tests(requirement: Requirement) -> None:
    assert bool(requirement.tests) != bool(requirement.reason), "it has neither a test nor a reason, or both"
    assert requirement.sentence
    assert requirement.section
    assert set(requirement.revisions) <= set(ALL)
    assert [f"{path}::{name}" for path, name in iter_tests(requirement) if name not in names_in(path)] == []


def test_requirement_ids_are_unique() -> None:
    assert [name for name, count in Counter(each.id for each in REQUIREMENTS).items() if count > 1] == []


def test_protocol_tests_prove_a_requirement() -> None:
    bound = bound_tests()
    assert [
        f"{path}::{name}" for path in paths(*SPECIFIC) for name in names_in(path) if (path, name) not in bound
    ] == []


def test_transcripts_prove_a_requirement() -> None:
    bound = {path for path, _ in bound_tests()}
    assert [path for path in paths(TRANSCRIPTS) if path not in bound] == []
