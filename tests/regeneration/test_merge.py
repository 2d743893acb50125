"""Three-way merges drop no line, apply independent changes of both sides, and equal those of git."""

import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.regeneration.merge import MARKERS, MergeResult, changes, merge

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "d", "    return x", ")", "def f():"]), max_size=14)
"""Few different lines, so that lines repeat and can be paired in several ways."""


def merged(base: str, yours: str, generated: str) -> MergeResult:
    return merge(base.split(), yours.split(), generated.split())


@pytest.mark.parametrize(
    ("base", "yours", "generated", "expected"),
    [
        ("a b c d e", "a B c d e", "a b c D e", "a B c D e"),
        ("a b c", "a b c", "a x b c", "a x b c"),
        ("a b c", "x a b c", "a b c y", "x a b c y"),
        ("a b c", "a c", "a c", "a c"),
        ("a b c", "a B c", "a B c", "a B c"),
        ("a b c d", "b c d", "a b c", "b c"),
        ("", "", "x", "x"),
    ],
)
def test_distant_changes_are_both_applied(base: str, yours: str, generated: str, expected: str) -> None:
    assert merged(base, yours, generated) == MergeResult(tuple(expected.split()))


def test_overlapping_changes_are_a_conflict() -> None:
    result = merge(["a", "b", "c"], ["a", "mine", "c"], ["a", "theirs", "c"])
    assert result == MergeResult(("a", MARKERS[0], "mine", MARKERS[1], "theirs", MARKERS[2], "c"), (2,))


def test_common_lines_of_a_conflict_are_outside_the_markers() -> None:
    result = merge([], ["x", "mine", "z"], ["x", "theirs", "z"])
    assert result == MergeResult(("x", MARKERS[0], "mine", MARKERS[1], "theirs", MARKERS[2], "z"), (2,))


def test_edit_of_deleted_lines_is_a_conflict() -> None:
    result = merge(["a", "b", "c"], ["a", "mine", "c"], ["a", "c"])
    assert result == MergeResult(("a", MARKERS[0], "mine", MARKERS[1], MARKERS[2], "c"), (2,))


@pytest.mark.parametrize(
    ("yours", "generated", "expected"),
    [
        ("a B c d", "a b C d", "a B C d"),
        ("a b C d", "a B c d", "a B C d"),
        ("a b x c d", "a B c d", "a B x c d"),
        ("a b x c d", "a b C d", "a b x C d"),
        ("a B x c d", "a b C y d", "a B x C y d"),
    ],
)
def test_adjacent_changes_are_both_applied(yours: str, generated: str, expected: str) -> None:
    assert merged("a b c d", yours, generated) == MergeResult(tuple(expected.split()))


@pytest.mark.parametrize(
    ("yours", "generated"),
    [
        ("a c d", "a b C d"),  # the line that was changed may have belonged to the one that was deleted
        ("a b C d", "a c d"),
        ("a b c x", "a b c d x"),
        ("a b x c d", "a b y c d"),  # nobody knows which comes first
        ("a b x c d", "a B x c d"),  # it would be there twice
    ],
)
def test_adjacent_changes_that_may_depend_on_each_other_are_a_conflict(yours: str, generated: str) -> None:
    assert merged("a b c d", yours, generated).conflicts


def test_resolve_merges_a_conflict() -> None:
    result = merge(["a"], ["a", "mine"], ["a", "theirs"], resolve=lambda _, left, right: [*left, *right])
    assert result == MergeResult(("a", "mine", "theirs"))


def test_split_pairs_sections() -> None:
    """Sections are split at `-` and named by their first lines: x is deleted and z is new, with equal rest."""

    def cut(lines: Sequence[str]) -> list[tuple[str, int]]:
        index = lines.index("-")
        return [(lines[0], index), (lines[index + 1], len(lines))]

    base, side = ["x", "same", "-", "y", "1", "2"], ["z", "same", "-", "y", "1", "3"]
    assert [change.lines for change in changes(base, side)] == [("z",), ("3",)]
    assert [change.lines for change in changes(base, side, cut)] == [("z", "same"), ("3",)]


def test_functions_are_paired_by_name() -> None:
    """A function inserted between two similar ones is one change, not a piece of each."""
    base = ["def a():", "    x", "", "def c():", "    x"]
    assert [change.lines for change in changes(base, [*base[:3], "def b():", "    x", "", *base[3:]])] == [
        ("def b():", "    x", "")
    ]


def test_large_files_of_equal_lines_are_merged_quickly() -> None:
    base = ["x", "y"] * 5000
    result = merge(base, ["x", *base], [*base, "y"])
    assert Counter(result.lines) == Counter([*base, "x", "y"])


@given(LINES, LINES)
def test_changes_turn_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    result: list[str] = []
    position = 0
    for change in changes(old, new):
        result += [*old[position : change.start], *change.lines]
        position = change.end
    assert result + old[position:] == new


@pytest.mark.slow
@given(LINES, LINES, LINES)
@settings(max_examples=500)
def test_added_lines_are_never_dropped(base: list[str], yours: list[str], generated: list[str]) -> None:
    result = merge(base, yours, generated)
    for side in (yours, generated):
        added = Counter(line for change in changes(base, side) for line in change.lines)
        assert added <= Counter(result.lines)


@given(LINES, LINES)
def test_unchanged_side_has_no_effect(base: list[str], other: list[str]) -> None:
    assert (
        merge(base, base, other) == merge(base, other, base) == merge(base, other, other) == MergeResult(tuple(other))
    )


@given(LINES, LINES, LINES)
def test_merge_is_symmetric(base: list[str], left: list[str], right: list[str]) -> None:
    assert merge(base, left, right).conflicts == merge(base, right, left).conflicts


@given(st.data())
def test_disjoint_edits_are_both_applied(data: st.DataObject) -> None:
    """Replacements of both sides, also adjacent ones, are applied."""
    base = [f"line {n}" for n in range(12)]
    expected, sides = list(base), (list(base), list(base))
    for index in data.draw(st.lists(st.integers(0, 11), unique=True)):
        replacement = data.draw(st.sampled_from(["one", "one\ntwo"])) + f" for {index}"
        for text in (expected, sides[data.draw(st.integers(0, 1))]):
            text[index] = replacement
    assert merge(base, *sides) == MergeResult(tuple(expected))


@pytest.mark.parametrize("side", [0, 1])
@given(data=st.data())
def test_conflicts_hold_both_sides_completely(side: int, data: st.DataObject) -> None:
    """Replacing each conflict by one of its sides gives that side without a missing line."""
    base, *sides = (data.draw(LINES) for _ in range(3))
    taken = _resolved(merge(base, sides[0], sides[1]).lines, side)
    added = Counter(line for change in changes(base, sides[side]) for line in change.lines)
    assert added <= Counter(taken)


def _resolved(lines: tuple[str, ...], side: int) -> list[str]:
    taken: list[str] = []
    where = -1
    for line in lines:
        if line in MARKERS:
            where = {MARKERS[0]: 0, MARKERS[1]: 1, MARKERS[2]: -1}[line]
        elif where in {-1, side}:
            taken.append(line)
    return taken


@pytest.mark.process
@given(data=st.data())
@settings(max_examples=30)
def test_merge_equals_git_merge_file(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Unique lines can be paired in one way only, so `git merge-file` is the oracle.

    What it calls a conflict may be merged here, if the two sides are neighbours; never the other way round.
    """
    base = [f"line {n}" for n in range(12)]
    sides = [
        [
            line
            for n, line in enumerate(base)
            for line in data.draw(st.sampled_from([[line]] * 6 + [[], [f"{side}{n}"]]))
        ]
        for side in ("yours", "generated")
    ]
    folder = tmp_path_factory.mktemp("git")
    paths = [
        _written(folder / name, text)
        for name, text in zip(("yours", "base", "generated"), (sides[0], base, sides[1]), strict=True)
    ]
    git = subprocess.run(["git", "merge-file", "-p", *paths], capture_output=True, text=True, check=False)
    result = merge(base, *sides)
    assert git.returncode or not result.conflicts
    if not git.returncode:
        assert git.stdout.split("\n")[:-1] == list(result.lines)


def _written(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)
