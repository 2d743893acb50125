"""Large values made small enough, still of the same kind: arrays and strings lose their end, the rest stays whole.

What was left out is said, place by place, so that a model knows that it has not seen everything. Sizes are bytes of
compact JSON in UTF-8.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from . import jsontext
from .types import MISSING, Missing

_SHOWN_NOTES: Final = 5
# Below this many bytes for each, properties are worth more whole and fewer than all and cut to nothing.
_LEAST_SHARE: Final = 200
# `[]` and `{}`.
_LEAST: Final = 2
# A string that would be shorter than this says nothing.
_LEAST_STRING: Final = 16
_ELLIPSIS: Final = "…"

# Times that a value may be longer than its text: `9e15` is written as `9000000000000000.0`, and any character in four
# bytes at most. Arrays and objects, be they all within each other, that can be written whatever else is on the stack.
_GROWTH: Final = 5
_SHALLOW: Final = 100

Path = tuple[str | int, ...]


@dataclass(slots=True)
class _Cutter:
    """One run over a value; `notes` collects what was left out."""

    notes: list[str] = field(default_factory=list)

    def fit(self, value: Any, budget: int, path: Path) -> Any | Missing:
        """`value` in at most `budget` bytes; MISSING where nothing of it fits."""
        if size(value) <= budget:
            return value
        if budget < _LEAST:
            return MISSING
        if isinstance(value, str):
            return self._string(value, budget, path)
        if isinstance(value, list):
            return self._array(value, budget, path)
        return self._object(value, budget, path) if isinstance(value, dict) else MISSING

    def _string(self, value: str, budget: int, path: Path) -> str | Missing:
        if budget < _LEAST_STRING:
            return MISSING
        length = _longest(min(len(value), budget), lambda count: size(value[:count] + _ELLIPSIS) <= budget)
        self._note(path, f"{length} of {len(value)} characters")
        return value[:length] + _ELLIPSIS

    def _array(self, value: list[Any], budget: int, path: Path) -> list[Any]:
        kept: list[Any] = []
        left = budget - 2
        for index, item in enumerate(value):
            cost = size(item) + 1
            if cost > left:
                if 2 * left > budget:  # the item itself is what is too large
                    cut = self.fit(item, left - 1, (*path, index))
                    kept += [] if cut is MISSING else [cut]
                break
            kept.append(item)
            left -= cost
        if len(kept) < len(value):
            self._note(path, f"{len(kept)} of {len(value)} items")
        return kept

    def _object(self, value: dict[str, Any], budget: int, path: Path) -> dict[str, Any]:
        costs = {name: size(name) + 2 for name in value}
        shares = _shares({name: costs[name] + size(item) for name, item in value.items()}, budget - 2)
        kept: dict[str, Any] = {}
        for name, item in value.items():
            cut = self.fit(item, shares.get(name, 0) - costs[name], (*path, name)) if name in shares else MISSING
            if cut is not MISSING:
                kept[name] = cut
        if len(kept) < len(value):
            self._note(path, f"{len(kept)} of {len(value)} properties")
        return kept

    def _note(self, path: Path, what: str) -> None:
        self.notes.append(f"{_place(path)}{what}")


def surely_fits(text: str, max_bytes: int) -> bool:
    """Whether the value of a JSON text is in at most `max_bytes` of JSON, and can be written, without measuring it."""
    return _GROWTH * len(text) <= max_bytes and text.count("{") + text.count("[") <= _SHALLOW


def fit(value: Any, max_bytes: int) -> tuple[Any, list[str]]:
    """`value` in at most `max_bytes` of JSON, and what was left out of it; the same value and nothing where it fits."""
    cutter = _Cutter()
    cut = cutter.fit(value, max_bytes, ())
    if cut is MISSING:
        cut, cutter.notes = None, ["all of it"]
    outermost_first = sorted(cutter.notes, key=lambda note: note.count(".") + note.count("["))
    return cut, outermost_first[:_SHOWN_NOTES]


def fit_text(text: str, max_bytes: int) -> str:
    """The beginning of a text in at most `max_bytes` of UTF-8, ending with a line where one ends near."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return text
    kept = data[:max_bytes].decode("utf-8", "ignore")
    line_end = kept.rfind("\n")
    return kept[:line_end] if line_end > len(kept) * 3 // 4 else kept


def size(value: Any) -> int:
    """Bytes of the compact JSON of `value`."""
    return len(jsontext.write_bytes(value))


def _longest(limit: int, fits: Callable[[int], bool]) -> int:
    """The largest count up to `limit` that fits, by bisection."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _shares(costs: dict[str, int], budget: int) -> dict[str, int]:
    """How many bytes each property gets: small ones what they need, large ones equal parts of what is left.

    Where that would be next to nothing, the first properties get what they need and the others none.
    """
    if budget < _LEAST_SHARE * len(costs):
        return _first(costs, budget)
    shares: dict[str, int] = {}
    for count, name in zip(range(len(costs), 0, -1), sorted(costs, key=costs.__getitem__), strict=True):
        shares[name] = min(costs[name], budget // count)
        budget -= shares[name]
    return shares


def _first(costs: dict[str, int], budget: int) -> dict[str, int]:
    shares: dict[str, int] = {}
    for name, cost in costs.items():
        if cost > budget and shares:
            break
        shares[name] = min(cost, budget)
        budget -= shares[name]
    return shares


def _place(path: Path) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return f"`{text}`: " if text else ""
