"""Values that leave a sandbox are copied into JSON of a limited size."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from openapi_mcp.code_mode.values import NotSerializableError, is_small_value, json_value


class Instance:
    """An object of a class of the program, as the sandbox returns it."""

    name = "Pet"

    def __init__(self, **attributes: object) -> None:
        self.attributes = attributes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, None, True, "x"]}, {"a": [1, None, True, "x"]}),
        ((1, {2}, frozenset({3})), [1, [2], [3]]),
        ({1: 1, None: 2, False: 3, (1, "a"): 4}, {"1": 1, "null": 2, "false": 3, '[1, "a"]': 4}),
        ([float("nan"), float("inf"), 0.5], ["nan", "inf", 0.5]),
        (b"\xff\x00", "/wA="),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), "2026-01-02T03:04:00+00:00"),
        ([dt.date(2026, 1, 2), dt.time(3, 4), Decimal("1.50")], ["2026-01-02", "03:04:00", "1.50"]),
        (dt.timedelta(hours=1), "1:00:00"),
        (Instance(name="Minka", tags=("a",)), {"name": "Minka", "tags": ["a"]}),
        (10**4000, 10**4000),
    ],
)
def test_a_value_becomes_json(value: Any, expected: Any) -> None:
    assert json_value(value) == expected


def test_values_without_json_are_refused() -> None:
    with pytest.raises(NotSerializableError, match="object is not data"):
        json_value(object())
    with pytest.raises(NotSerializableError, match="digits"):
        json_value(10**5000)


def test_exponentially_large_value_is_refused_at_once() -> None:
    value: Any = "x"
    for _ in range(9):
        value = [value] * 1000
    with pytest.raises(NotSerializableError, match="too large"):
        json_value(value)
    with pytest.raises(NotSerializableError, match="too large"):
        json_value({(("x" * 1000,) * 1000,) * 1000: 1})
    with pytest.raises(NotSerializableError, match="too large"):
        json_value("x" * 101, 100)


def test_recursive_value_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotSerializableError, match="100 deep"):
        json_value(value)


@pytest.mark.parametrize(
    ("value", "is_small"),
    [
        (None, True),
        ({"a": [1, "x"], "b": {}}, True),
        ("x" * 70_000, False),
        ([1] * 1001, False),
        ([[1] * 100] * 100, False),
        ({"a": ["x" * 40_000, "x" * 40_000]}, False),
    ],
)
def test_small_values_are_told_from_large_ones(value: Any, is_small: bool) -> None:
    assert is_small_value(value) is is_small


def test_exceptions_become_texts() -> None:
    assert json_value([ValueError("no"), KeyError()]) == ["ValueError: no", "KeyError: "]
