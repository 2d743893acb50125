"""The quick verdict of jsonschema-rs, which says only whether a value conforms to a schema.

It is imported at the first value, so that a start does not wait for it. Its call cannot be interrupted and lets no
other thread run, so it is not asked for more than some hundredths of a second: `verdict` estimates the time before.

- References are never fetched; a schema with one that leads nowhere has no quick verdict.
- Where jsonschema-rs and `Judge` may differ, there is none either: see `KEYWORDS_LEFT_TO_THE_JUDGE`, `MAX_NUMBER`,
  `MAX_DEPTH`, `MAX_REPETITION`.

Specification: JSON Schema 2020-12 Core §8 and §10, Validation §6 and §7.2.1.
"""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from ..background import exceeds
from ..types import IdentityCache, Schema
from . import patterns
from .repetition import repetition

MAX_DEPTH: Final = 256
"""Levels of arrays and objects in a value, or in a schema, that jsonschema-rs is given. It has no limit of its own and
overflows the stack at some thousand levels; `Judge` raises RecursionError at about 300."""

MAX_NUMBER: Final = 2**63
"""Numbers in schemas from here on, in magnitude, are left to `Judge`: jsonschema-rs compares some of them with floats
by their decimal digits, Python by their binary value."""

MAX_REPETITION: Final = 20_000
"""Times that the schemas of one value may be applied to it, see `repetition`: jsonschema-rs remembers only what it
judged by schemas that contain themselves, so that a chain of definitions can double its time with each."""

MAX_UNITS: Final = 3_000_000
"""Applications of a schema to a part of a value in one verdict: about 30 ms."""

KEYWORDS_LEFT_TO_THE_JUDGE: Final = frozenset({
    "$anchor", "$dynamicAnchor", "$dynamicRef", "$id",  # two of one name, or one that leads nowhere, lead elsewhere
    "$recursiveRef",  # of draft 2019-09; jsonschema-rs follows it for unevaluatedItems
    "dependencies",  # of draft 7; jsonschema-rs still asserts it
    "patternProperties",  # jsonschema-rs would match with its own regular expressions
})  # fmt: skip
"""Keywords that the two read differently. A schema with one of them anywhere has no quick verdict."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = re.compile(r"#|#/\$defs/[^/~%]+")
_SAME_VALUE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})


def verdict(schema: Schema, value: Any, max_units: int = MAX_UNITS) -> bool | None:
    """Return whether `value` conforms to `schema`; None if that is unknown, or takes more than `max_units`.

    The schema must not change afterwards.
    """
    quick = _QUICK_VALIDATORS.get(schema)
    if quick is None or exceeds(value, max_units // quick.repetition):
        return None
    try:
        return quick.accepts(value)
    except (ValueError, RecursionError):  # not a JSON value: another type, a key that is no string, a lone surrogate
        return None
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # of Rust, and no Exception
            return None
        raise


def accepts(schema: Schema, value: Any) -> bool:
    """Return whether a value certainly conforms to a schema."""
    return verdict(schema, value) is True


class QuickValidator:
    """A schema compiled by jsonschema-rs. Raises ValueError where that refuses it, or might judge differently."""

    def __init__(self, schema: Schema) -> None:
        from jsonschema_rs import Draft202012Validator

        if not _is_shallow(schema, MAX_DEPTH) or not _is_read_alike(schema) or _has_loop(schema, same_value=True):
            raise ValueError("jsonschema-rs may judge the values of this schema differently")
        self.repetition = repetition(schema)
        if self.repetition > MAX_REPETITION:
            raise ValueError("jsonschema-rs may take long for the values of this schema")
        self.is_valid = Draft202012Validator(
            schema, validate_formats=False, retriever=_refuse_retrieval, keywords={"pattern": _Pattern}
        ).is_valid
        self._may_descend_far = _may_descend_far(schema)

    def accepts(self, value: Any) -> bool | None:
        """Return whether `value` conforms; None if it is nested too deeply. Raises ValueError if it is not JSON."""
        return None if self._may_descend_far and not _is_shallow(value, MAX_DEPTH) else self.is_valid(value)


def _quick_validator(schema: Schema) -> QuickValidator | None:
    try:
        return QuickValidator(schema)
    except (ValueError, TypeError, AttributeError, RecursionError):  # also an invalid schema, or a broken reference
        return None


class _Pattern:
    """The keyword `pattern` as `Judge` reads it; jsonschema-rs has its own regular expressions."""

    def __init__(self, _schema: dict[str, Any], pattern: str, _path: list[str | int]) -> None:
        re.compile(pattern)
        self._pattern = pattern

    def validate(self, value: Any) -> None:
        """Raise ValueError if `value` is a string that does not match."""
        if isinstance(value, str) and not patterns.search(self._pattern, value):
            raise ValueError


def _is_shallow(value: Any, levels: int) -> bool:
    """Return whether `value` has at most so many levels of arrays and objects."""
    if not isinstance(value, _CONTAINERS):
        return True
    if not levels:
        return False
    for item in value.values() if isinstance(value, dict) else value:  # all() takes twice as long
        if isinstance(item, _CONTAINERS) and not _is_shallow(item, levels - 1):
            return False
    return True


_CONTAINERS: Final = (dict, list, tuple)  # what jsonschema-rs descends into


def _is_read_alike(schema: Any) -> bool:
    """Return whether `Judge` and jsonschema-rs agree on every keyword and number of a schema."""
    if isinstance(schema, dict):
        if schema.keys() & KEYWORDS_LEFT_TO_THE_JUDGE or schema.get("$schema", _DIALECT) != _DIALECT:
            return False
        if not _REFERENCE.fullmatch(str(schema.get("$ref", "#"))):
            return False
        return all(_is_read_alike(part) for part in _parts(schema))
    if isinstance(schema, list):
        return all(_is_read_alike(part) for part in schema)
    return not isinstance(schema, int | float) or abs(schema) < MAX_NUMBER


def _parts(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the values of a schema's keywords; of `properties` each schema, since its names are no keywords."""
    for keyword, value in schema.items():
        if keyword == "properties" and isinstance(value, dict):
            yield from value.values()
        else:
            yield value


def _may_descend_far(schema: Schema) -> bool:
    """Return whether jsonschema-rs may descend deeper into a value than the schema is written.

    It does for `uniqueItems`, which compares whole items, and for a definition that contains itself. Otherwise each
    level of a value takes another array or object of the schema, of which there may be many in a chain of definitions.
    """
    text = repr(schema)
    return (
        text.count("{") + text.count("[") > MAX_DEPTH * 4
        or "uniqueItems" in text
        or _has_loop(schema, same_value=False)
    )


def _has_loop(root: Any, *, same_value: bool) -> bool:
    """Return whether a definition refers to itself.

    With `same_value`, whether it applies itself to the same value (Core §10.2), not to its items or properties:
    judging it never ends.
    """
    definitions = {f"#/$defs/{name}": schema for name, schema in root.get("$defs", {}).items()}
    schemas = {"#": root, **definitions}
    graph = {target: set(_references(schema, same_value=same_value)) for target, schema in schemas.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _references(schema: Any, *, same_value: bool) -> Iterator[str]:
    """Yield the references within a schema; with `same_value` only those that apply to the value of the schema."""
    if isinstance(schema, list):
        for part in schema:
            yield from _references(part, same_value=same_value)
    elif isinstance(schema, dict):
        if isinstance(target := schema.get("$ref"), str):
            yield target
        for keyword, value in schema.items():
            if keyword == "dependentSchemas":
                yield from _references(list(value.values()), same_value=same_value)
            elif keyword in _SAME_VALUE or not (same_value or keyword == "$defs"):
                yield from _references(value, same_value=same_value)


def _refuse_retrieval(uri: str) -> Any:
    raise LookupError(uri)


_QUICK_VALIDATORS: Final[IdentityCache[QuickValidator | None]] = IdentityCache(_quick_validator)
