"""From the text of one file to plain values: JSON or YAML, told apart by content and never by the name of the file.

What comes out can always be written as JSON: keys are strings, numbers are finite, nothing is nested deeper than the
limit. What could not be kept is a Problem with its place. Specification: RFC 8259; YAML 1.2.2; OpenAPI 3.2 section
4.2.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from . import yaml_syntax
from .document import DEFAULT_LIMITS, Limits, join
from .errors import DocumentError, Problem
from .runtime.types import JsonObject
from .surrogates import has_lone, joined
from .written import Written

_DROPPED: Final = object()
"""Stands for a number that JSON cannot hold until it is taken out."""

_LOOKS_LIKE_JSON: Final = re.compile(r"\s*[{\[]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The value of one file. `written` tells how its scalars were spelt where it is YAML."""

    value: Any
    problems: tuple[Problem, ...] = ()
    written: Written | None = None


def parse(text: str, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """The value that `text` writes. Raises DocumentError with the line and column."""
    if _LOOKS_LIKE_JSON.match(text):
        try:
            return _parse_json(text, limits)
        except json.JSONDecodeError as error:
            return _parse_what_looks_like_json(text, limits, error)
    return Parsed(*yaml_syntax.parse(text, limits))


def _parse_what_looks_like_json(text: str, limits: Limits, error: json.JSONDecodeError) -> Parsed:
    """Try YAML, whose flow style looks like JSON. Where that fails too, the first error is the one to tell."""
    try:
        return Parsed(*yaml_syntax.parse(text, limits))
    except DocumentError as other:
        if other.__cause__ is None:  # it is YAML, but refused
            raise
        where = f"line {error.lineno}, column {error.colno}"
        raise DocumentError(f"this is neither JSON nor YAML: {error.msg}", where=where) from error


def _parse_json(text: str, limits: Limits) -> Parsed:
    repeated: list[tuple[JsonObject, str]] = []
    dropped: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> JsonObject:
        value = dict(items)
        if len(value) != len(items):
            keys = [key for key, _ in items]
            repeated.extend((value, key) for key in value if keys.count(key) > 1)
        return value

    def number(literal: str) -> Any:
        value = float(literal)
        return value if math.isfinite(value) else drop(literal)

    def drop(literal: str) -> Any:
        dropped.append(literal)
        return _DROPPED

    if has_lone(text):
        text = joined(text)
    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_float=number, parse_constant=drop)
    except RecursionError as error:
        raise _too_deep(limits) from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # an integer of more digits than Python converts (4,300)
        raise DocumentError(f"this JSON cannot be read: {error}") from error
    if _depth(value) > limits.depth:
        raise _too_deep(limits)
    problems = [*_repeated_keys(value, repeated), *(_without_dropped(value) if dropped else ())]
    return Parsed(value, tuple(problems))


def _too_deep(limits: Limits) -> DocumentError:
    return DocumentError(f"objects and arrays are nested deeper than {limits.depth} levels")


def _depth(value: Any) -> int:
    """How deep objects and arrays are nested in a JSON value."""
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer if type(outer) is list else ())
            if type(inner) is dict or type(inner) is list
        ]
    return depth


def _repeated_keys(value: Any, repeated: list[tuple[JsonObject, str]]) -> Iterator[Problem]:
    """Find where the objects with repeated keys are; the parser cannot tell."""
    if not repeated:
        return
    keys: dict[int, list[str]] = {}
    for mapping, key in repeated:
        keys.setdefault(id(mapping), []).append(key)
    for container, pointer in _containers(value):
        for key in keys.get(id(container), ()):
            message = f"the key {key!r} is written more than once; the last one counts"
            yield Problem(pointer=join(pointer, key), kind="syntax", message=message)


def _without_dropped(value: Any) -> Iterator[Problem]:
    """Take the numbers that are not finite out of `value`, and say where they were."""
    for container, pointer in _containers(value):
        keys = list(container) if isinstance(container, dict) else range(len(container) - 1, -1, -1)
        for key in [key for key in keys if container[key] is _DROPPED]:
            yield yaml_syntax.not_finite(join(pointer, key))
            del container[key]


def _containers(value: Any) -> Iterator[tuple[Any, str]]:
    """Every object and array of a JSON value, with its pointer, in the order they are written."""
    stack = [(value, "#")]
    while stack:
        container, pointer = stack.pop()
        if isinstance(container, dict | list):
            yield container, pointer
            items = container.items() if isinstance(container, dict) else enumerate(container)
            stack.extend(reversed([(inner, join(pointer, key)) for key, inner in items]))
