"""Draw documents with one value replaced by another that resembles OpenAPI, so that it gets past the first checks."""

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

KEYS = (
    "$ref",
    "$id",
    "in",
    "name",
    "type",
    "schema",
    "items",
    "properties",
    "parameters",
    "discriminator",
    "x-a",
    "get",
)
TEXTS = (
    "",
    "#",
    "#/paths",
    "#/x/y",
    "#anchor",
    "array",
    "file",
    "b.yaml",
    "b.yaml#/B",
    "http://[",
    "file:///etc/hostname",
    "\x00",
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside `value`."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from paths(inner, (*path, key))


@st.composite
def damaged(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """Draw a copy of a document with one value replaced."""
    copied = copy.deepcopy(document)
    holder: Any = copied
    *outer, last = draw(st.sampled_from(list(paths(document))))
    for key in outer:
        holder = holder[key]
    holder[last] = draw(ANYTHING)
    return copied
