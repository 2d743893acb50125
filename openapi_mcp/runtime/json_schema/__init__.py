"""JSON Schema 2020-12: whether a value conforms, why it does not, and its undeclared properties.

`verdict` asks jsonschema-rs, which is quick and says nothing more. `Judge` finds the failures, in a bounded number of
steps; it is in `judge`, which is imported at the first value that it has to judge. Both agree, see `quick`. `format`
is not asserted, and references are never fetched.
"""

from typing import Any

from ..types import Schema
from .patterns import undecided_patterns
from .quick import QuickValidator, accepts, verdict
from .undeclared_names import MAX_SEARCHED, UndeclaredNames, is_flat_and_declared, undeclared_names

__all__ = [
    "MAX_SEARCHED",
    "QuickValidator",
    "UndeclaredNames",
    "accepts",
    "is_flat_and_declared",
    "is_valid",
    "undecided_patterns",
    "undeclared_names",
    "verdict",
]


def is_valid(schema: Schema, value: Any) -> bool:
    """Return whether a value conforms to a schema. Raises BudgetSpent, and RecursionError for a deep value."""
    known = verdict(schema, value)
    if known is not None:
        return known
    from .judge import Judge

    return Judge(schema).fits(schema, value)
