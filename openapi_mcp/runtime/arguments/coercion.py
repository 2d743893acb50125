"""Values that do not fit their schema, replaced by what was meant where that is certain.

A string that the schema refuses is replaced by the JSON that it holds, and a scalar instead of an array by an
array with it, if the schema accepts that.
"""

from collections.abc import Iterator
from typing import Any, Final

from .. import jsontext
from ..json_schema.judge import MAX_FAILURES, Failure, Judge, Path
from ..types import MISSING, Missing

_MAX_REPLACED: Final = 25_600
"""Values of one object or array that are replaced; each search for them finds eight times as many as the one before."""


_MAX_PARSED: Final = 256 * 1024
"""Characters of a string that is read as JSON: some milliseconds, in which no other thread runs."""


class Coercion:
    """The coercion of values by the schemas of one judge. What was found out for a failure is remembered."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._fixes: dict[tuple[str, int, int, bool], tuple[Failure, Any | Missing]] = {}

    def coerce(self, schema: Any, value: Any, *, wrap: bool = True, known: list[Failure] | None = None) -> Any:
        """Return `value` with misplaced strings and scalars replaced; the same object if there is none.

        `wrap` allows an array of the value itself; `known` are its first `MAX_FAILURES`. Raises BudgetSpent and
        RecursionError.
        """
        limit = MAX_FAILURES
        while True:
            copy, count = _Copy(value), 0
            failures = self._judge.failures(schema, value, limit) if known is None else known
            known = None
            for failure in sorted(failures, key=lambda failure: len(failure.path)):
                fixed = self._fix(failure, wrap=wrap or bool(failure.path))
                count += fixed is not MISSING and copy.replace(failure.path, fixed)
            value = copy.value
            if not count or len(failures) < limit or limit >= _MAX_REPLACED:
                return value
            limit *= 8

    def _fix(self, failure: Failure, *, wrap: bool) -> Any | Missing:
        """Return a value that the schema accepts instead of a failure, or MISSING."""
        key = (failure.keyword, id(failure.schema), id(failure.value), wrap)
        entry = self._fixes.get(key)
        if entry is None:
            fitting = (each for each in self._candidates(failure, wrap=wrap) if self._judge.fits(failure.schema, each))
            # The failure is remembered too: while it is, no other value has the identity of its value.
            entry = self._fixes[key] = (failure, next(fitting, MISSING))
        return entry[1]

    def _candidates(self, failure: Failure, *, wrap: bool) -> Iterator[Any]:
        value = failure.value
        if not isinstance(value, str):
            branches = failure.expected if failure.branches else ()
            yield from (self.coerce(branch, value, wrap=False) for branch in branches)
        elif (parsed := _parse(value)) is not MISSING:
            yield self.coerce(failure.schema, parsed)
        if wrap and isinstance(value, str | int | float) and _expected_types(failure) - {"null"} == {"array"}:
            yield [value]
            yield self.coerce(failure.schema, [value])


class _Copy:
    """A value of which parts are replaced: what contains such a part is copied once, the rest is shared."""

    def __init__(self, value: Any) -> None:
        self._holder = [value]
        self._copied: dict[int, Any] = {}

    @property
    def value(self) -> Any:
        """The value with what was replaced so far."""
        return self._holder[0]

    def replace(self, path: Path, new: Any) -> bool:
        """Put `new` at a path; return False if there is no such place, since what contained it was replaced."""
        holder: Any = self._holder
        key: str | int = 0
        try:
            for step in path:
                if id(holder[key]) not in self._copied:
                    copy = holder[key] = holder[key].copy()
                    self._copied[id(copy)] = copy
                holder, key = holder[key], step
            holder[key] = new
        except (AttributeError, LookupError, TypeError):
            return False
        return True


def _parse(text: str) -> Any | Missing:
    """Return the JSON value in a string; MISSING if it holds none, or a string again, or is very long."""
    if len(text) > _MAX_PARSED:
        return MISSING
    try:
        value = jsontext.read_strictly(text)
    except (ValueError, RecursionError):
        return MISSING
    return MISSING if isinstance(value, str) else value


def _expected_types(failure: Failure) -> set[str]:
    """Return the types that the schema of a failed value accepts; an empty set if it failed for another reason."""
    if failure.branches:
        first = [branch[0] for branch in failure.branches]
        types = [set() if inner.path else _expected_types(inner) for inner in first]
        return set().union(*types) if all(types) else set()
    if failure.keyword != "type":
        return set()
    return {failure.expected} if isinstance(failure.expected, str) else set(failure.expected)
