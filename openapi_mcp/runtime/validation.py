"""JSON Schema 2020-12 validators, one for each schema, that never fetch a reference.

`format` is not asserted (JSON Schema 2020-12 Validation §7.2.1). A reference that leads nowhere judges nothing: the
value passes, for the schema is the document's defect and not the value's. jsonschema is only imported when it
is needed: values that `accepts` lets pass never need it.
"""

from typing import TYPE_CHECKING, Any, Final

from . import checks
from .kept import Kept
from .types import Schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


def _validator(schema: Schema) -> "Validator":
    from jsonschema import Draft202012Validator
    from referencing import Registry

    nothing_to_fetch: Registry[Any] = Registry()
    return Draft202012Validator(schema, registry=nothing_to_fetch)


def compiled(schema: Schema) -> "Validator":
    """The validator of a schema, made once. The schema must not change afterwards."""
    return _VALIDATORS.of(schema)


_VALIDATORS: "Final[Kept[Validator]]" = Kept(_validator)
_CHECKS: "Final[Kept[checks.Check | None]]" = Kept(checks.compiled)


def accepts(schema: Schema, value: Any) -> bool:
    """Whether a value certainly fits, found out as fast as can be; False only says that it must be looked at."""
    check = _CHECKS.of(schema)
    try:
        return check is not None and check(value)
    except RecursionError:
        return False


def errors(validator: "Validator", value: Any) -> "list[ValidationError]":
    """All failures at once, the shallowest first. Raises RecursionError for a value nested beyond judging."""
    from referencing.exceptions import Unresolvable

    try:
        return sorted(validator.iter_errors(value), key=lambda error: len(error.absolute_path))
    except Unresolvable:
        return []


def fits(validator: "Validator", value: Any) -> bool:
    """Whether there is no failure."""
    from referencing.exceptions import Unresolvable

    try:
        return validator.is_valid(value)
    except Unresolvable:
        return True


def within(validator: "Validator", error: "ValidationError") -> "Validator":
    """A validator of the part of the schema that an error comes from; references still start at the whole."""
    return validator.evolve(schema=error.schema)


def missing_name(error: "ValidationError") -> str:
    """The property that a failed `required` misses: one failure for each, named in jsonschema's message only."""
    names: list[str] = list(error.validator_value)  # type: ignore[arg-type]  # jsonschema types it as perhaps unset
    return next((name for name in names if error.message.startswith(repr(name))), names[0])


def unknown_names(error: "ValidationError") -> list[str]:
    """The properties that a failed `additionalProperties` or `unevaluatedProperties` does not allow, found likewise."""
    names: list[str] = list(error.instance)  # type: ignore[arg-type]  # jsonschema types it as perhaps unset
    return [name for name in names if repr(name) in error.message] or names
