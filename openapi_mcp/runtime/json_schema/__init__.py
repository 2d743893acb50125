"""JSON Schema 2020-12: whether a value conforms, why it does not, and its undeclared properties.

`verdict` asks jsonschema-rs, which is quick and says nothing more. `Judge` finds the failures, in a bounded number of
steps. Both agree, see `quick`. `format` is not asserted, and references are never fetched.
"""

from typing import Any

from ..types import Schema
from .judge import MAX_FAILURES, MAX_STEPS, BudgetSpent, Failure, Judge, Path
from .place import RefusedPart, refused_part
from .quick import QuickValidator, accepts, exceeds, verdict
from .undeclared import MAX_SEARCHED, UndeclaredNames, undeclared_names

__all__ = [
    "MAX_FAILURES",
    "MAX_SEARCHED",
    "MAX_STEPS",
    "BudgetSpent",
    "Failure",
    "Judge",
    "Path",
    "QuickValidator",
    "RefusedPart",
    "UndeclaredNames",
    "accepts",
    "exceeds",
    "is_valid",
    "refused_part",
    "undeclared_names",
    "verdict",
]


def is_valid(schema: Schema, value: Any) -> bool:
    """Return whether a value conforms to a schema. Raises BudgetSpent, and RecursionError for a deep value."""
    known = verdict(schema, value)
    return Judge(schema).fits(schema, value) if known is None else known
