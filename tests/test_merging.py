"""Three-way merges lose no line, agree with both sides where those do not touch, and are found again by git."""

import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.merging import MARKERS, Merged, changes, merge

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "d", "    return x", ")", "def f():"]), max_size=14)
"""Few different lines, so that they repeat and the pairing has choices."""


def merged(base: str, yours: str, generated: str) -> Merged:
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
def test_changes_in_different_places_are_both_made(base: str, yours: str, generated: str, expected: str) -> None:
    assert merged(base, yours, generated) == Merged(tuple(expected.split()))


def test_changes_in_the_same_place_are_both_marked() -> None:
    result = merge(["a", "b", "c"], ["a", "mine", "c"], ["a", "theirs", "c"])
    assert result == Merged(("a", MARKERS[0], "mine", MARKERS[1], "theirs", MARKERS[2], "c"), (2,))


def test_what_both_sides_of_a_conflict_share_is_not_marked() -> None:
    result = merge([], ["x", "mine", "z"], ["x", "theirs", "z"])
    assert result == Merged(("x", MARKERS[0], "mine", MARKERS[1], "theirs", MARKERS[2], "z"), (2,))


def test_an_edit_of_what_the_other_side_deleted_is_marked() -> None:
    result = merge(["a", "b", "c"], ["a", "mine", "c"], ["a", "c"])
    assert result == Merged(("a", MARKERS[0], "mine", MARKERS[1], MARKERS[2], "c"), (2,))


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
def test_neighbouring_changes_are_both_made(yours: str, generated: str, expected: str) -> None:
    assert merged("a b c d", yours, generated) == Merged(tuple(expected.split()))


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
def test_neighbouring_changes_that_may_have_to_do_with_each_other_are_marked(yours: str, generated: str) -> None:
    assert merged("a b c d", yours, generated).conflicts


def test_a_format_may_settle_what_lines_cannot() -> None:
    result = merge(["a"], ["a", "mine"], ["a", "theirs"], settle=lambda _, left, right: [*left, *right])
    assert result == Merged(("a", "mine", "theirs"))


def test_a_format_may_say_what_belongs_together() -> None:
    """Cut into two parts at `-`, named by their first lines: x is deleted and z is new, though their rest is equal."""

    def cut(lines: Sequence[str]) -> list[tuple[str, int]]:
        place = lines.index("-")
        return [(lines[0], place), (lines[place + 1], len(lines))]

    base, side = ["x", "same", "-", "y", "1", "2"], ["z", "same", "-", "y", "1", "3"]
    assert [change.lines for change in changes(base, side)] == [("z",), ("3",)]
    assert [change.lines for change in changes(base, side, cut)] == [("z", "same"), ("3",)]


def test_functions_are_paired_with_themselves() -> None:
    """A function put between two that look like it is one change, not a piece of each."""
    base = ["def a():", "    x", "", "def c():", "    x"]
    assert [change.lines for change in changes(base, [*base[:3], "def b():", "    x", "", *base[3:]])] == [
        ("def b():", "    x", "")
    ]


def test_large_files_of_equal_lines_are_merged_at_once() -> None:
    base = ["x", "y"] * 5000
    result = merge(base, ["x", *base], [*base, "y"])
    assert Counter(result.lines) == Counter([*base, "x", "y"])


@given(LINES, LINES)
def test_changes_lead_from_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    result: list[str] = []
    position = 0
    for change in changes(old, new):
        result += [*old[position : change.start], *change.lines]
        position = change.end
    assert result + old[position:] == new


@given(LINES, LINES, LINES)
@settings(max_examples=500)
def test_no_line_that_a_side_added_is_lost(base: list[str], yours: list[str], generated: list[str]) -> None:
    result = merge(base, yours, generated)
    for side in (yours, generated):
        added = Counter(line for change in changes(base, side) for line in change.lines)
        assert added <= Counter(result.lines)


@given(LINES, LINES)
def test_a_side_that_changed_nothing_has_no_say(base: list[str], other: list[str]) -> None:
    assert merge(base, base, other) == merge(base, other, base) == merge(base, other, other) == Merged(tuple(other))


@given(LINES, LINES, LINES)
def test_the_two_sides_are_alike(base: list[str], left: list[str], right: list[str]) -> None:
    assert merge(base, left, right).conflicts == merge(base, right, left).conflicts


@given(st.data())
def test_disjoint_edits_are_both_applied(data: st.DataObject) -> None:
    """Each side replaces some of the lines, also next to those of the other."""
    base = [f"line {n}" for n in range(12)]
    expected, sides = list(base), (list(base), list(base))
    for place in data.draw(st.lists(st.integers(0, 11), unique=True)):
        replacement = data.draw(st.sampled_from(["one", "one\ntwo"])) + f" for {place}"
        for text in (expected, sides[data.draw(st.integers(0, 1))]):
            text[place] = replacement
    assert merge(base, *sides) == Merged(tuple(expected))


@pytest.mark.parametrize("side", [0, 1])
@given(data=st.data())
def test_either_side_of_every_conflict_can_be_taken(side: int, data: st.DataObject) -> None:
    """What is between the marks is the sides themselves: with one of them put in, nothing of it is missing."""
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


@given(data=st.data())
@settings(max_examples=30)
def test_git_merges_the_same(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """With lines that do not repeat there is one way to pair them, and `git merge-file` is the oracle.

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
