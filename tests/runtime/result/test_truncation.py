"""`truncation`: within the limit, of the same kind, with notes on what was left out."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime import jsontext
from openapi_mcp.runtime.result import truncation

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=40,
)


@pytest.mark.parametrize(
    ("value", "limit", "truncated", "notes"),
    [
        ([1, 2, 3], 100, [1, 2, 3], []),
        (list(range(100)), 20, [0, 1, 2, 3, 4, 5, 6, 7, 8], ["9 of 100 items"]),
        ({"items": list(range(1000)), "total": 9}, 440, {"items": list(range(131)), "total": 9}, [
            "`items`: 131 of 1000 items"
        ]),
        ("x" * 100, 20, "x" * 15 + "…", ["15 of 100 characters"]),
        ("é" * 100, 20, "é" * 7 + "…", ["7 of 100 characters"]),
        ([{"a": "x" * 100}], 40, [{"a": "x" * 25 + "…"}], ["`[0].a`: 25 of 100 characters"]),
        ({"a": 1, "b": "x" * 1000, "c": [2]}, 640, {"a": 1, "b": "x" * 614 + "…", "c": [2]}, [
            "`b`: 614 of 1000 characters"
        ]),
        ({f"k{n}": n for n in range(100)}, 30, {"k0": 0, "k1": 1, "k2": 2, "k3": 3}, ["4 of 100 properties"]),
        (10**50, 10, None, ["all of it"]),
    ],
)  # fmt: skip
def test_value_is_truncated_where_it_is_large(value: Any, limit: int, truncated: Any, notes: list[str]) -> None:
    assert truncation.truncate(value, limit) == (truncated, notes)


@pytest.mark.slow
@given(JSON, st.integers(min_value=4, max_value=400))
def test_truncated_value_fits_and_is_of_the_same_kind(value: Any, limit: int) -> None:
    truncated, notes = truncation.truncate(value, limit)
    assert truncation.size(truncated) <= limit
    assert bool(notes) == (truncated != value)
    assert truncated is None or isinstance(truncated, type(value))
    json.dumps(truncated, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "limit", "start"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc"),
        ("ééé", 5, "éé"),
        ("line one\nline two\nthree", 20, "line one\nline two"),
        ("a\n" + "b" * 50, 20, "a\n" + "b" * 18),
    ],
)
def test_text_is_truncated_between_lines_or_characters(text: str, limit: int, start: str) -> None:
    assert truncation.truncate_text(text, limit) == start


_NUMBERS = st.integers(-20, 20).map(lambda power: f"[9e{power},-1E{power},1.5e{power}]")


@pytest.mark.slow
@given(text=_NUMBERS | JSON.map(json.dumps) | JSON.map(lambda value: json.dumps(value, ensure_ascii=False)))
def test_surely_fits_is_never_wrong(text: str) -> None:
    value = jsontext.read(text)
    limit = truncation.size(value)
    assert not truncation.surely_fits(text, limit - 1)
    assert truncation.surely_fits(text, 5 * len(text)) == (text.count("[") + text.count("{") <= 100)
    assert limit <= 5 * max(len(text), 1)


def test_deeply_nested_value_does_not_surely_fit() -> None:
    assert not truncation.surely_fits("[" * 101 + "]" * 101, 10**6)
