"""Queries into JSON, in bounded time: JSONPath (RFC 9535) and JSON pointers (RFC 6901), for criteria and selectors.

The work of a query is estimated before it is done, from its text and the size of the value: a filter may go through the
whole value for each of its parts.
"""

from typing import Any, Final

from ...overlay.paths import InvalidQuery, Location, node_at
from ...overlay.paths import select as select_any
from ...runtime.types import MISSING
from .expressions import ExpressionError, pointer_tokens
from .scope import walk

MAX_QUERY: Final = 1_000
"""Characters of a query."""

MAX_STEPS: Final = 2_000_000
"""Visits of parts of a value by one query, estimated: a few seconds."""

MAX_SELECTED: Final = 10_000
"""Values that a selector returns: more are no value that a step works with."""


def select(query: str, value: Any) -> list[Location]:
    """Return the locations that a JSONPath query selects. Raises InvalidQuery."""
    if len(query) > MAX_QUERY:
        raise InvalidQuery(f"has more than {MAX_QUERY:,} characters")
    power = _power(query)
    parts = _count(value, int(MAX_STEPS ** (1 / power)) + 1)
    if parts**power > MAX_STEPS:
        raise InvalidQuery(f"would take too long: it goes {power} times through more than {parts:,} values")
    return select_any(query, value)


def check_query(query: str) -> None:
    """Raise InvalidQuery for a text that is no JSONPath query."""
    select(query, {})


def selected(query: str, kind: str, value: Any) -> Any:
    """Return what a selector selects: the value of the only place, a list of several, MISSING of none.

    Raises InvalidQuery.
    """
    if kind == "jsonpointer":
        try:
            return walk(value, pointer_tokens(query))
        except ExpressionError as error:
            raise InvalidQuery(str(error)) from None
    if value is MISSING:
        return MISSING
    locations = select(query, value)
    if len(locations) > MAX_SELECTED:
        raise InvalidQuery(f"selects more than {MAX_SELECTED:,} values")
    values = [node_at(value, location) for location in locations]
    return values if len(values) > 1 else values[0] if values else MISSING


def _power(query: str) -> int:
    """Return how often a query may go through a value for each part of it: descents, queries in filters, unions."""
    return max(1, query.count("..") + query.count("$") - 1 + query.count(","))


def _count(value: Any, most: int) -> int:
    """Return the number of values in a value, up to `most`."""
    pending, count = [value], 0
    while pending and count < most:
        part = pending.pop()
        count += 1
        if isinstance(part, dict | list):
            pending += part.values() if isinstance(part, dict) else part
    return count
