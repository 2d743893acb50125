"""Equality of JSON values, and arrays that repeat an item.

Numbers are equal by value (`1` and `1.0`), `true` is not 1. Specification: JSON Schema 2020-12 Core §4.2.2, Validation
§6.4.3.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

Spend: TypeAlias = Callable[[int], None]
"""A function that is told the steps which are taken."""

_MAX_PLAIN: Final = 2**53
"""Numbers from here on are hashed by their digits: Python's own hash of large integers is predictable, so that a caller
could send thousands with one hash."""


def equal(one: Any, other: Any, spend: Spend) -> bool:
    """Return whether two JSON values are equal."""
    spend(1)
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and len(one) == len(other)
            and all(name in other and equal(item, other[name], spend) for name, item in one.items())
        )
    if isinstance(one, list):
        return (
            isinstance(other, list)
            and len(one) == len(other)
            and all(equal(first, second, spend) for first, second in zip(one, other, strict=True))
        )
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def repeats(items: list[Any], spend: Spend) -> bool:
    """Return whether two items of an array are equal; only items with the same hash are compared."""
    seen: dict[int, list[Any]] = {}
    for item in items:
        others = seen.setdefault(_hash(item, spend), [])
        if any(equal(item, other, spend) for other in others):
            return True
        others.append(item)
    return False


def _hash(value: Any, spend: Spend) -> int:
    spend(1)
    if isinstance(value, dict):
        return hash(frozenset((name, _hash(item, spend)) for name, item in value.items()))
    if isinstance(value, list):
        return hash(tuple(_hash(item, spend) for item in value))
    if isinstance(value, bool) or value is None:
        return hash(str(value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return hash(str(value)) if isinstance(value, int) and abs(value) >= _MAX_PLAIN else hash(value)
