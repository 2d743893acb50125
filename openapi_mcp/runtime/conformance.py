"""A value made to conform to a schema by leaving out what does not fit; used for structuredContent, never for requests.

APIs drift from their documents. An answer is never an error because of that: a property that does not fit is left out,
an item too, and where nothing fits an empty object or array remains. The schemas of outputs have no `required`, so
leaving out never breaks what is left.
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

from . import validation
from .types import MISSING, Missing, Schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Path = tuple[str | int, ...]

# Leaving something out can make something else fail (positions in an array, a union); it settles in very few rounds.
_ROUNDS: Final = 16


def conformed(schema: Schema, value: Any) -> Any:
    """The largest part of `value`, by simple means, that conforms to `schema`; `{}` or `[]` where none does."""
    if validation.accepts(schema, value):
        return value
    validator = validation.compiled(schema)
    try:
        for _ in range(_ROUNDS):
            misfits = {path for error in validation.errors(validator, value) for path in _misfits(error)}
            if not misfits:
                return value
            value = _without(value, (), _innermost(misfits))
            if value is MISSING:
                break
    except RecursionError:
        pass
    return empty(schema)


def empty(schema: Schema) -> Any:
    """The least that conforms to an output schema, whose root is an object or an array."""
    return [] if schema.get("type") == "array" else {}


def _misfits(error: "ValidationError") -> Iterator[Path]:
    """The places to leave out because of one failure."""
    here = tuple(error.absolute_path)
    branch = _nearest_branch(error)
    if branch:
        for inner in branch:
            yield from _misfits(inner)
    elif error.validator in {"additionalProperties", "unevaluatedProperties"} and isinstance(error.instance, dict):
        yield from ((*here, name) for name in validation.unknown_names(error))
    else:
        yield here


def _nearest_branch(error: "ValidationError") -> "list[ValidationError]":
    """Of a union, the branch that fails only further down, in the fewest places: it was meant, and it drifted."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    deeper = [branch for branch in branches.values() if all(inner.relative_path for inner in branch)]
    return min(deeper, key=len, default=[])


def _innermost(misfits: set[Path]) -> set[Path]:
    """Without the places around others: an array may be too long only for the items that go."""
    around = {path[:depth] for path in misfits for depth in range(len(path))}
    return misfits - around


def _without(value: Any, here: Path, misfits: Collection[Path]) -> Any | Missing:
    if here in misfits:
        return MISSING
    if isinstance(value, dict):
        members = {key: _without(item, (*here, key), misfits) for key, item in value.items()}
        return {key: item for key, item in members.items() if item is not MISSING}
    if isinstance(value, list):
        items = [_without(item, (*here, index), misfits) for index, item in enumerate(value)]
        return [item for item in items if item is not MISSING]
    return value
