"""What leaves a sandbox: JSON of its own, and never more than there is room for."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from openapi_mcp.plain_values import NotPlain, plain


class Instance:
    """As a sandbox hands over an object of a class of the program."""

    name = "Pet"

    def __init__(self, **attributes: object) -> None:
        self.attributes = attributes


@pytest.mark.parametrize(
    ("value", "made"),
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
def test_a_value_becomes_json(value: Any, made: Any) -> None:
    assert plain(value) == made


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(NotPlain, match="object is no data"):
        plain(object())
    with pytest.raises(NotPlain, match="digits"):
        plain(10**5000)


def test_a_small_program_can_hold_a_huge_value_which_is_refused_at_once() -> None:
    value: Any = "x"
    for _ in range(9):
        value = [value] * 1000
    with pytest.raises(NotPlain, match="too large"):
        plain(value)
    with pytest.raises(NotPlain, match="too large"):
        plain({(("x" * 1000,) * 1000,) * 1000: 1})
    with pytest.raises(NotPlain, match="too large"):
        plain("x" * 101, 100)


def test_what_holds_itself_ends() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotPlain, match="100 deep"):
        plain(value)
