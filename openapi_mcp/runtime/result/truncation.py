"""Truncation of large values to a size limit, of the same kind and still valid: arrays and strings lose their end.

What is left out is noted with its path, so that a model knows that it has not seen everything. Sizes are bytes of
compact JSON in UTF-8.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from .. import jsontext
from ..types import MISSING, Missing
from .partial_json import PartialArray, PartialObject, PartialText

_MAX_NOTES: Final = 5
# With fewer bytes than this for each property, some complete properties say more than all of them cut to nothing.
_MIN_SHARE: Final = 200
# Bytes of `[]` and `{}`.
_EMPTY_SIZE: Final = 2
# Bytes: a shorter string says nothing.
_MIN_STRING_SIZE: Final = 16
_ELLIPSIS: Final = "…"

# Times that the JSON of a value may be longer than its text: `9e15` is written as `9000000000000000.0`, and a character
# takes at most four bytes.
_MAX_GROWTH: Final = 5
# Arrays and objects that can be written without a RecursionError even if each is within another.
_MAX_SAFE_CONTAINERS: Final = 100

Path = tuple[str | int, ...]


def truncate(value: Any, max_bytes: int, *, is_partial: bool = False) -> tuple[Any, list[str]]:
    """Return `value` in at most `max_bytes` of JSON, and notes on what was left out; without notes it is unchanged.

    If it `is_partial`, the parts that are missing already are noted too.
    """
    truncation = _Truncation(is_partial)
    truncated = truncation.fit(value, max_bytes, ())
    if truncated is MISSING:
        truncated, truncation.notes = None, ["all of it"]
    outermost_first = sorted(truncation.notes, key=lambda note: note.count(".") + note.count("["))
    return truncated, outermost_first[:_MAX_NOTES]


def surely_fits(text: str, max_bytes: int) -> bool:
    """Return whether the value of a JSON text takes at most `max_bytes` and can be written; False: unknown."""
    return _MAX_GROWTH * len(text) <= max_bytes and text.count("{") + text.count("[") <= _MAX_SAFE_CONTAINERS


def truncate_text(text: str, max_bytes: int) -> str:
    """Return the start of a text in at most `max_bytes` of UTF-8, up to a line end if one is in its last quarter."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return text
    start = data[:max_bytes].decode("utf-8", "ignore")
    line_end = start.rfind("\n")
    return start[:line_end] if line_end > len(start) * 3 // 4 else start


def size(value: Any) -> int:
    """Return the bytes of the compact JSON of `value`."""
    return len(jsontext.write_bytes(value))


@dataclass(slots=True)
class _Truncation:
    """The truncation of one value; `notes` says what was left out."""

    is_partial: bool
    notes: list[str] = field(default_factory=list)

    def fit(self, value: Any, budget: int, path: Path) -> Any | Missing:
        """Return `value` in at most `budget` bytes; MISSING if nothing of it fits."""
        if size(value) <= budget:
            if self.is_partial:
                self._note_partial(value, path)
            return value
        if budget < _EMPTY_SIZE:
            return MISSING
        if isinstance(value, str):
            return self._string(value, budget, path)
        if isinstance(value, list):
            return self._array(value, budget, path)
        return self._object(value, budget, path) if isinstance(value, dict) else MISSING

    def _string(self, value: str, budget: int, path: Path) -> str | Missing:
        if budget < _MIN_STRING_SIZE:
            return MISSING
        length = _largest(min(len(value), budget), lambda count: size(value[:count] + _ELLIPSIS) <= budget)
        self._note(path, f"{length} of {_total(value)} characters")
        return value[:length] + _ELLIPSIS

    def _array(self, value: list[Any], budget: int, path: Path) -> list[Any]:
        items: list[Any] = []
        remaining = budget - _EMPTY_SIZE
        for index, item in enumerate(value):
            cost = size(item) + 1
            if cost > remaining:
                if 2 * remaining > budget:  # this item alone takes more than half: truncate it too
                    truncated = self.fit(item, remaining - 1, (*path, index))
                    items += [] if truncated is MISSING else [truncated]
                break
            if self.is_partial:
                self._note_partial(item, (*path, index))
            items.append(item)
            remaining -= cost
        if len(items) < len(value) or isinstance(value, PartialArray):
            self._note(path, f"{len(items)} of {_total(value)} items")
        return items

    def _object(self, value: dict[str, Any], budget: int, path: Path) -> dict[str, Any]:
        costs = {name: size(name) + 2 for name in value}
        shares = _shares({name: costs[name] + size(item) for name, item in value.items()}, budget - _EMPTY_SIZE)
        properties: dict[str, Any] = {}
        for name, item in value.items():
            fitted = self.fit(item, shares.get(name, 0) - costs[name], (*path, name)) if name in shares else MISSING
            if fitted is not MISSING:
                properties[name] = fitted
        if len(properties) < len(value) or isinstance(value, PartialObject):
            self._note(path, f"{len(properties)} of {_total(value)} properties")
        return properties

    def _note_partial(self, value: Any, path: Path) -> None:
        """Note what was left out of a value that is kept as it is."""
        noun = next((noun for kind, noun in _PARTIAL.items() if isinstance(value, kind)), None)
        if noun is not None:
            self._note(path, f"{len(value)} of {value.total} {noun}")
        if isinstance(value, dict | list) and len(self.notes) < _MAX_NOTES:
            for step, item in value.items() if isinstance(value, dict) else enumerate(value):
                if isinstance(item, dict | list | PartialText):
                    self._note_partial(item, (*path, step))

    def _note(self, path: Path, text: str) -> None:
        location = jsontext.format_path(path)
        self.notes.append(f"`{location}`: {text}" if location else text)


_PARTIAL: Final = {PartialArray: "items", PartialObject: "properties", PartialText: "characters"}


def _total(value: Any) -> str:
    """Return how many items, properties or characters a value has, with those that it was read without."""
    return value.total if isinstance(value, PartialArray | PartialObject | PartialText) else str(len(value))


def _largest(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest count up to `limit` that fits, by bisection."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _shares(costs: dict[str, int], budget: int) -> dict[str, int]:
    """Return the bytes for each property: small ones get what they need, large ones equal shares of the rest.

    If the average share is below `_MIN_SHARE`, the first properties get what they need and the others nothing.
    """
    if budget < _MIN_SHARE * len(costs):
        return _shares_of_first(costs, budget)
    shares: dict[str, int] = {}
    for count, name in zip(range(len(costs), 0, -1), sorted(costs, key=costs.__getitem__), strict=True):
        shares[name] = min(costs[name], budget // count)
        budget -= shares[name]
    return shares


def _shares_of_first(costs: dict[str, int], budget: int) -> dict[str, int]:
    shares: dict[str, int] = {}
    for name, cost in costs.items():
        if cost > budget and shares:
            break
        shares[name] = min(cost, budget)
        budget -= shares[name]
    return shares
