"""The keywords of JSON Schema that assert something of one value, without applying other schemas to it.

Each is a function of the keyword's value, the judged value, and a function that is told the steps taken; it returns
whether the value conforms. A keyword for another type than the value's says nothing. Numbers are equal by value (`1`
and `1.0`), `true` is not 1.

Specification: JSON Schema 2020-12 Core §4.2.2, Validation §6.
"""

from collections.abc import Callable, Mapping, Sized
from fractions import Fraction
from typing import Any, Final, TypeAlias

from . import patterns

Spend: TypeAlias = Callable[[int], None]
"""A function that is told the steps which are taken."""

_MAX_PLAIN: Final = 2**53
"""Numbers from here on are hashed by their digits: Python's own hash of large integers is predictable, so that a caller
could send thousands with one hash."""

_CHARACTERS_PER_STEP: Final = 64
"""Characters of a text that are searched in about the time of another step."""


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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}


def _type(names: Any, value: Any, _spend: Spend) -> bool:
    return any(_TYPES[name](value) for name in ([names] if isinstance(names, str) else names))


def _enum(choices: list[Any], value: Any, spend: Spend) -> bool:
    return any(equal(choice, value, spend) for choice in choices)


def _multiple_of(step: float, value: Any, _spend: Spend) -> bool:
    """Compare decimal numbers: 0.3 is a multiple of 0.1, and 19.99 one of 0.01."""
    return not _is_number(value) or (Fraction(str(value)) / Fraction(str(step))).denominator == 1


def _pattern(pattern: str, value: Any, spend: Spend) -> bool:
    if not isinstance(value, str):
        return True
    spend(len(value) // _CHARACTERS_PER_STEP)
    return patterns.search(pattern, value)


def _bound(kind: type[Sized], is_within: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Spend], bool]:
    """Return the function of a keyword that bounds the length of values of a type."""
    return lambda limit, value, _spend: not isinstance(value, kind) or is_within(len(value), limit)


def _limit(is_within: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Spend], bool]:
    """Return the function of a keyword that bounds numbers."""
    return lambda limit, value, _spend: not _is_number(value) or is_within(value, limit)


ASSERTIONS: Final[Mapping[str, Callable[[Any, Any, Spend], bool]]] = {
    "type": _type,
    "enum": _enum,
    "const": equal,
    "multipleOf": _multiple_of,
    "maximum": _limit(lambda value, limit: value <= limit),
    "exclusiveMaximum": _limit(lambda value, limit: value < limit),
    "minimum": _limit(lambda value, limit: value >= limit),
    "exclusiveMinimum": _limit(lambda value, limit: value > limit),
    "maxLength": _bound(str, lambda size, limit: size <= limit),
    "minLength": _bound(str, lambda size, limit: size >= limit),
    "pattern": _pattern,
    "maxItems": _bound(list, lambda size, limit: size <= limit),
    "minItems": _bound(list, lambda size, limit: size >= limit),
    "uniqueItems": lambda unique, value, spend: not (unique and isinstance(value, list) and repeats(value, spend)),
    "maxProperties": _bound(dict, lambda size, limit: size <= limit),
    "minProperties": _bound(dict, lambda size, limit: size >= limit),
}
"""By keyword."""
