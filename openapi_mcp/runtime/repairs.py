"""Strings that hold the JSON a schema wants, taken as that JSON; only where the string does not fit and the JSON does.

Models and clients send objects, arrays, numbers and booleans as text. A string that the schema allows stays a string,
and nothing else is ever changed.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import jsontext, validation
from .types import MISSING, Missing

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


def mend(validator: "Validator", value: Any) -> Any:
    """`value` with each misplaced string replaced by the JSON in it; the same object where there is none."""
    for error in validation.errors(validator, value):
        fixed = _fix(validator, error)
        if fixed is not MISSING:
            value = _put(value, list(error.absolute_path), fixed)
    return value


def _fix(validator: "Validator", error: "ValidationError") -> Any | Missing:
    """A value that fits where this error is, or MISSING."""
    here = validation.within(validator, error)
    if isinstance(error.instance, str):
        parsed = _parsed(error.instance)
        candidates = [] if parsed is MISSING else [mend(here, parsed)]
    else:
        candidates = [_mended_branch(validator, error, errors) for errors in _branches(error)]
    return next((candidate for candidate in candidates if validation.fits(here, candidate)), MISSING)


def _branches(error: "ValidationError") -> "list[list[ValidationError]]":
    """The failures inside anyOf, oneOf and their like, by branch."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    return list(branches.values())


def _mended_branch(validator: "Validator", error: "ValidationError", errors: "list[ValidationError]") -> Any:
    value = error.instance
    for inner in errors:
        fixed = _fix(validator, inner)
        if fixed is not MISSING:
            value = _put(value, list(inner.relative_path), fixed)
    return value


def _put(value: Any, path: Sequence[str | int], new: Any) -> Any:
    """A copy of `value` with `new` at `path`; what is not on the way is shared."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _put(value[path[0]], path[1:], new)
    return copy


def _parsed(text: str) -> Any | Missing:
    """The JSON in a string; MISSING where there is none, or where it is a string again."""
    try:
        value = jsontext.read_strictly(text)
    except (ValueError, RecursionError):
        return MISSING
    return MISSING if isinstance(value, str) else value
