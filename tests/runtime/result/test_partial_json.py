"""The beginning of large JSON: what is read equals what Python's reader reads, and what is left out is counted."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.runtime.result import partial_json
from openapi_mcp.runtime.result.partial_json import PartialArray, PartialObject, read_beginning

pytestmark = pytest.mark.slow

STRINGS = st.sampled_from(["", "a", 'x,y]{"\\', "é😀", "\\", "\n"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | STRINGS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(STRINGS, inner, max_size=6),
    max_leaves=60,
)
LAYOUTS: Any = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])


def read(data: bytes) -> Any:
    return read_beginning(data, json.loads, 10**9)


@pytest.fixture(params=[1, 7, 100])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make pieces so small that short texts have many."""
    monkeypatch.setattr(partial_json, "PIECE", request.param)


@pytest.mark.usefixtures("piece")
@given(VALUES, LAYOUTS)
@settings(max_examples=150)
def test_value_that_fits_is_read_as_a_whole(value: Any, layout: dict[str, Any]) -> None:
    assert read(json.dumps(value, **layout).encode()) == value


@pytest.mark.usefixtures("piece")
@given(VALUES, st.integers(0, 200), st.sampled_from([b"", b",", b":", b"[", b"]", b"{", b"}", b'"', b" ", b"1", b"\\"]))
@settings(max_examples=300)
def test_text_that_is_no_json_is_refused(value: Any, place: int, inserted: bytes) -> None:
    data = json.dumps(value).encode()
    place %= len(data)
    damaged = data[:place] + inserted + data[place + (not inserted) :]
    try:
        expected = json.loads(damaged)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  any
            read(damaged)
    else:
        assert read(damaged) == expected


def partials(value: Any) -> dict[str, tuple[int, str]]:
    """The partial parts of an object: how much is there of how much."""
    return {
        name: (len(item), item.total) for name, item in value.items() if isinstance(item, PartialArray | PartialObject)
    }


def test_large_parts_share_what_small_ones_leave() -> None:
    value = {
        "first": [{"id": number} for number in range(100_000)],
        "next": "cursor",
        "second": {str(number): [number] for number in range(50_000)},
        "count": 7,
    }
    actual = read_beginning(json.dumps(value).encode(), json.loads, 500_000)
    assert list(actual) == ["first", "next", "second", "count"]
    assert (actual["next"], actual["count"]) == ("cursor", 7)
    found = partials(actual)
    assert [total for _, total in found.values()] == ["100000", "50000"]
    assert all(5_000 < length < 50_000 for length, _ in found.values())
    assert list(actual["first"]) == value["first"][: len(actual["first"])]  # type: ignore[index]


@pytest.mark.parametrize("item", ["1", '"x"', "[]", "[[[[]]]]", '{"a": {"b": []}}', "null"])
def test_beginning_of_an_array(item: str) -> None:
    data = f"[{','.join([item] * 100_000)}]".encode()
    actual = read_beginning(data, json.loads, 100_000)
    assert isinstance(actual, PartialArray)
    assert actual.total == "100000"
    assert set(map(str, actual)) == {str(json.loads(item))}
    assert 1000 < len(actual) < 200_000


def test_text_behind_what_is_outlined_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_json, "MAX_TOKENS", 20_000)
    data = b'{"a": [' + b'{"b": 1},' * 100_000 + b"this is no JSON"
    actual = read_beginning(data, json.loads, 100_000)
    assert actual.total == "at least 1"
    assert actual["a"].total.startswith("at least 19")
    assert actual["a"][0] == {"b": 1}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ['"' + '\\"' * 500_000, '["' * 300_000, "[" * 200_000, '{"a":' * 200_000, "[" * 99_999]
)
def test_text_without_end_is_refused_in_little_time(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        read_beginning(text.encode(), json.loads, 500_000)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_deep_nesting_is_refused_before_it_takes_memory(opening: bytes, closing: bytes) -> None:
    data = opening * 500_000 + b"1" + closing * 500_000
    tracemalloc.start()
    try:
        with pytest.raises(RecursionError):
            read_beginning(data, json.loads, 500_000)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
