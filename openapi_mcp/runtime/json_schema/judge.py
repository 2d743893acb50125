"""`Judge`: why a value does not conform to a JSON Schema, found in a bounded number of steps.

Verdicts at a reference are remembered, so that a union which contains itself takes time in proportion to the value; the
search ends at the first failures. A keyword that cannot be read, and a reference that leads nowhere, judge nothing: the
defect is the schema's and not the value's. `format` is not asserted.

Specification: JSON Schema 2020-12 Core §10 and §11, Validation §6.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from ..types import MISSING, Schema
from . import patterns
from .assertions import ASSERTIONS
from .references import references_of

MAX_STEPS: Final = 2_000_000
"""Steps of one judge, each a keyword or an item: about two seconds, between which other threads run. A model's
arguments take some hundred."""

MAX_FAILURES: Final = 50
"""Failures after which a search ends; a refusal lists fewer."""

_MAX_BRANCH_FAILURES: Final = 10
"""Failures of each branch of a union. The branch with the fewest is the nearest one."""

_MAX_REMEMBERED: Final = 50_000
"""Judgements that are remembered, the newest: about 20 MB."""

_MAX_NAMES: Final = 100
"""Names of undeclared properties in one failure."""

Path: TypeAlias = tuple[str | int, ...]


class Failure(NamedTuple):
    """A keyword that refuses a value: the keyword and its value, the refused value, and the schema of the keyword.

    `path` leads from the value that is judged to the refused one. `branches` are the failures in each branch of a
    union, with paths from the refused value; a `oneOf` without any has several branches that fit. `names` are the
    properties that are missing, or not allowed. The keyword `false` is that of the schema `false`.
    """

    keyword: str
    expected: Any
    value: Any
    schema: Any
    path: Path = ()
    branches: "tuple[tuple[Failure, ...], ...]" = ()
    names: tuple[str, ...] = ()


class BudgetSpent(Exception):
    """The steps of a judge did not suffice."""


_Found: TypeAlias = list[Failure]
_Applicator: TypeAlias = Callable[["Judge", Any, Any, Schema, int], _Found]


class Judge:
    """A judge of values by one schema, which must not change. `steps` bound all of its judgements together."""

    def __init__(self, root: Schema, steps: int = MAX_STEPS) -> None:
        self._references = references_of(root)
        self._left = steps
        self._remembered: dict[tuple[int, int, int], tuple[Any, Any]] = {}

    def fits(self, schema: Any, value: Any) -> bool:
        """Return whether a value conforms to a schema. Raises BudgetSpent, and RecursionError for a deep value."""
        return not self.failures(schema, value, 1)

    def failures(self, schema: Any, value: Any, limit: int = MAX_FAILURES) -> _Found:
        """Return the first failures of a value, at most `limit`. Raises as `fits`."""
        if schema is False:
            return [Failure("false", False, value, schema)]
        if not isinstance(schema, dict):
            return []
        self.spend(len(schema) + 1)
        found: _Found = []
        for keyword, expected in schema.items():
            try:
                found += self._failures_of(keyword, expected, value, schema, limit)
            except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, re.error):
                continue  # the keyword's value is none that it can have
            if len(found) >= limit:
                return found[:limit]
        return found

    def spend(self, steps: int) -> None:
        """Count steps. Raises BudgetSpent."""
        self._left -= steps
        if self._left < 0:
            raise BudgetSpent

    def _failures_of(self, keyword: str, expected: Any, value: Any, schema: Schema, limit: int) -> _Found:
        if keyword in ASSERTIONS:
            fits = ASSERTIONS[keyword](expected, value, self.spend)
            return [] if fits else [Failure(keyword, expected, value, schema)]
        if keyword in self._APPLICATORS:
            return self._APPLICATORS[keyword](self, expected, value, schema, limit)
        if isinstance(value, dict) and keyword in self._OF_OBJECTS:
            return self._OF_OBJECTS[keyword](self, expected, value, schema, limit)
        if isinstance(value, list) and keyword in self._OF_ARRAYS:
            return self._OF_ARRAYS[keyword](self, expected, value, schema, limit)
        return []

    def _within(self, parts: Iterable[tuple[Any, Any, Path]], limit: int) -> _Found:
        """Return the failures of several values, each with its schema and its path."""
        found: _Found = []
        for schema, value, path in parts:
            self.spend(1)
            inner = self.failures(schema, value, limit)
            found += [failure._replace(path=(*path, *failure.path)) for failure in inner] if path else inner
            if len(found) >= limit:
                break
        return found

    def _remember(self, kind: int, target: Any, value: Any, judge: Callable[[], Any]) -> Any:
        """Return what `judge` returns for the target of a reference and a value, judged once."""
        key = (kind, id(target), id(value))
        entry = self._remembered.get(key)
        if entry is None:
            # The value is remembered too: while it is, no other object has its identity.
            entry = self._remembered[key] = (value, judge())
            if len(self._remembered) > _MAX_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
        return entry[1]

    def _reference(self, reference: Any, value: Any, _schema: Schema, limit: int) -> _Found:
        target = self._references.target(reference)
        if target is MISSING:
            return []
        found: _Found = self._remember(limit, target, value, lambda: self.failures(target, value, limit))
        return found

    def _all_of(self, branches: list[Any], value: Any, _schema: Schema, limit: int) -> _Found:
        return self._within(((branch, value, ()) for branch in branches), limit)

    def _any_of(self, branches: list[Any], value: Any, schema: Schema, limit: int) -> _Found:
        failed = self._failed_branches(branches, value, limit)
        return [Failure("anyOf", branches, value, schema, branches=failed)] if len(failed) == len(branches) else []

    def _one_of(self, branches: list[Any], value: Any, schema: Schema, limit: int) -> _Found:
        failed = self._failed_branches(branches, value, limit)
        if len(failed) == len(branches):
            return [Failure("oneOf", branches, value, schema, branches=failed)]
        others = branches[len(failed) + 1 :]
        return [Failure("oneOf", branches, value, schema)] if any(self.fits(each, value) for each in others) else []

    def _failed_branches(self, branches: list[Any], value: Any, limit: int) -> tuple[tuple[Failure, ...], ...]:
        """Return the failures of the branches before the first one that fits."""
        failed: list[tuple[Failure, ...]] = []
        for branch in branches:
            found = self.failures(branch, value, min(limit, _MAX_BRANCH_FAILURES))
            if not found:
                break
            failed.append(tuple(found))
        return tuple(failed)

    def _not(self, negated: Any, value: Any, schema: Schema, _limit: int) -> _Found:
        return [Failure("not", negated, value, schema)] if self.fits(negated, value) else []

    def _if(self, condition: Any, value: Any, schema: Schema, limit: int) -> _Found:
        return self.failures(schema.get("then" if self.fits(condition, value) else "else", True), value, limit)

    def _dependent_schemas(self, schemas: Mapping[str, Any], value: Any, _schema: Schema, limit: int) -> _Found:
        return self._within(((each, value, ()) for name, each in schemas.items() if name in value), limit)

    def _properties(self, schemas: Mapping[str, Any], value: Any, _schema: Schema, limit: int) -> _Found:
        self.spend(len(schemas))
        return self._within(((each, value[name], (name,)) for name, each in schemas.items() if name in value), limit)

    def _pattern_properties(self, schemas: Mapping[str, Any], value: Any, _schema: Schema, limit: int) -> _Found:
        parts = (
            (each, item, (name,))
            for pattern, each in schemas.items()
            for name, item in value.items()
            if self._matches(pattern, name)
        )
        return self._within(parts, limit)

    def _matches(self, pattern: str, name: str) -> bool:
        self.spend(1 + len(name) // 64)
        return patterns.search(pattern, name)

    def _additional_properties(self, allowed: Any, value: Any, schema: Schema, limit: int) -> _Found:
        names = self._additional_names(value, schema)
        if allowed is False:
            return _unknown("additionalProperties", value, schema, names)
        return self._within(((allowed, value[name], (name,)) for name in names), limit)

    def _additional_names(self, value: Any, schema: Schema) -> Iterator[str]:
        """Yield the properties that neither `properties` nor `patternProperties` of a schema declares."""
        declared, by_pattern = schema.get("properties", {}), schema.get("patternProperties", {})
        for name in value:
            self.spend(1)
            if name not in declared and not any(self._matches(pattern, name) for pattern in by_pattern):
                yield name

    def _property_names(self, allowed: Any, value: Any, _schema: Schema, limit: int) -> _Found:
        return self._within(((allowed, name, ()) for name in value), limit)

    def _required(self, names: list[str], value: Any, schema: Schema, _limit: int) -> _Found:
        self.spend(len(names))
        return [Failure("required", names, value, schema, names=(name,)) for name in names if name not in value]

    def _dependent_required(self, names: Mapping[str, list[str]], value: Any, schema: Schema, _limit: int) -> _Found:
        missing = [each for name, others in names.items() if name in value for each in others if each not in value]
        return [Failure("dependentRequired", names, value, schema, names=(name,)) for name in missing]

    def _unevaluated_properties(self, allowed: Any, value: Any, schema: Schema, limit: int) -> _Found:
        evaluated = self._evaluated_names({**schema, "unevaluatedProperties": None}, value)
        names = (name for name in value if name not in evaluated)
        if allowed is False:
            return _unknown("unevaluatedProperties", value, schema, names)
        return self._within(((allowed, value[name], (name,)) for name in names), limit)

    def _evaluated_names(self, schema: Any, value: Any) -> set[str]:
        """Return the properties that a schema evaluates which accepts their object (Core §11)."""
        if not isinstance(schema, dict):
            return set()
        self.spend(len(schema) + len(value))
        if schema.get("unevaluatedProperties") is not None:
            return set(value)
        names: set[str] = value.keys() & schema.get("properties", {}).keys()
        by_pattern = schema.get("patternProperties", {})
        names |= {name for name in value for pattern in by_pattern if self._matches(pattern, name)}
        if "additionalProperties" in schema:
            names.update(self._additional_names(value, schema))
        for each in self._applied(schema, value):
            names |= each if isinstance(each, set) else self._evaluated_names(each, value)
        return names

    def _applied(self, schema: Schema, value: Any) -> Iterator[Any]:
        """Yield the schemas that a schema applies to a value and that accept it; of a reference what it evaluates."""
        evaluated = self._evaluated_names if isinstance(value, dict) else self._evaluated_indexes
        for keyword in ("$ref", "$dynamicRef"):
            target = self._references.target(schema[keyword]) if keyword in schema else MISSING
            if target is not MISSING:
                yield self._remember(-1, target, value, lambda target=target: evaluated(target, value))  # type: ignore[misc]
        for keyword in ("allOf", "anyOf", "oneOf"):
            yield from (branch for branch in schema.get(keyword, ()) if self.fits(branch, value))
        if "if" in schema:
            fits = self.fits(schema["if"], value)
            yield from (schema["if"], schema.get("then")) if fits else (schema.get("else"),)
        if isinstance(value, dict):
            yield from (each for name, each in schema.get("dependentSchemas", {}).items() if name in value)

    def _items(self, schema_of_item: Any, value: Any, schema: Schema, limit: int) -> _Found:
        first = len(schema.get("prefixItems", ()))
        if schema_of_item is False:
            return [Failure("items", first, value, schema)] if len(value) > first else []
        return self._within(((schema_of_item, value[index], (index,)) for index in range(first, len(value))), limit)

    def _prefix_items(self, schemas: list[Any], value: Any, _schema: Schema, limit: int) -> _Found:
        parts = ((each, item, (index,)) for index, (each, item) in enumerate(zip(schemas, value, strict=False)))
        return self._within(parts, limit)

    def _contains(self, wanted: Any, value: Any, schema: Schema, _limit: int) -> _Found:
        least, most = schema.get("minContains", 1), schema.get("maxContains", len(value))
        count = 0
        for item in value:
            self.spend(1)
            count += self.fits(wanted, item)
            if count > most:
                return [Failure("maxContains", most, value, schema)]
        if count >= least:
            return []
        return [Failure("minContains" if count else "contains", least if count else wanted, value, schema)]

    def _unevaluated_items(self, allowed: Any, value: Any, schema: Schema, _limit: int) -> _Found:
        evaluated = self._evaluated_indexes({**schema, "unevaluatedItems": None}, value)
        others = (item for index, item in enumerate(value) if index not in evaluated)
        fits = all(self.fits(allowed, item) for item in others)
        return [] if fits else [Failure("unevaluatedItems", allowed, value, schema)]

    def _evaluated_indexes(self, schema: Any, value: Any) -> set[int]:
        """Return the items that a schema evaluates which accepts their array (Core §11)."""
        if not isinstance(schema, dict):
            return set()
        self.spend(len(schema) + len(value))
        if "items" in schema or schema.get("unevaluatedItems") is not None:
            return set(range(len(value)))
        indexes = set(range(len(schema.get("prefixItems", ()))))
        if "contains" in schema:
            indexes |= {index for index, item in enumerate(value) if self.fits(schema["contains"], item)}
        for each in self._applied(schema, value):
            indexes |= each if isinstance(each, set) else self._evaluated_indexes(each, value)
        return indexes

    _APPLICATORS: ClassVar[Mapping[str, _Applicator]] = {
        "$ref": _reference,
        "$dynamicRef": _reference,
        "allOf": _all_of,
        "anyOf": _any_of,
        "oneOf": _one_of,
        "not": _not,
        "if": _if,
    }
    """Keywords that apply schemas to the value itself."""

    _OF_OBJECTS: ClassVar[Mapping[str, _Applicator]] = {
        "properties": _properties,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "propertyNames": _property_names,
        "required": _required,
        "dependentRequired": _dependent_required,
        "dependentSchemas": _dependent_schemas,
        "unevaluatedProperties": _unevaluated_properties,
    }

    _OF_ARRAYS: ClassVar[Mapping[str, _Applicator]] = {
        "items": _items,
        "prefixItems": _prefix_items,
        "contains": _contains,
        "unevaluatedItems": _unevaluated_items,
    }


def _unknown(keyword: str, value: Any, schema: Schema, names: Iterable[str]) -> _Found:
    listed = tuple(islice(names, _MAX_NAMES))
    return [Failure(keyword, False, value, schema, names=listed)] if listed else []
