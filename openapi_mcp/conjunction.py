"""Two JSON Schemas that hold at once as one, for the keywords that a value is made from.

It may come out wider than both, since whoever makes a value of it checks that value; it never comes out as an error.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from .runtime.types import Schema


def joined(left: Schema, right: Schema) -> Schema:
    """One schema for both; of keywords that are not joined, the right one stays. Neither has `$ref` or `allOf`."""
    both = dict(left)
    for keyword, value in right.items():
        join = _JOINS.get(keyword)
        both[keyword] = join(left[keyword], value) if join and keyword in left else value
    return both


def _all_of(left: Any, right: Any) -> Schema:
    return {"allOf": [left, right]}


def _properties(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return left | {name: _all_of(left[name], value) if name in left else value for name, value in right.items()}


def _types(left: Any, right: Any) -> list[str]:
    one, other = ([value] if isinstance(value, str) else value for value in (left, right))
    wide = [*one, *(["integer"] if "number" in one else [])]
    return [kind for kind in wide if kind in other or (kind == "integer" and "number" in other)]


def _choices(left: list[Any], right: list[Any]) -> list[Any]:
    return [_all_of(one, other) for one in left for other in right]


def _others(left: Any, right: Any) -> Any:
    return left if right in (True, {}) else right if left in (True, {}) else _all_of(left, right)


_JOINS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "type": _types,
    "enum": lambda left, right: [value for value in left if value in right],
    "properties": _properties,
    "required": lambda left, right: list(dict.fromkeys([*left, *right])),
    "additionalProperties": _others,
    "items": _all_of,
    "anyOf": _choices,
    "oneOf": _choices,
    **dict.fromkeys(("minimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "maxLength", "maxItems", "maxProperties"), min),
}
