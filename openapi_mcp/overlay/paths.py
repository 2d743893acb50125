"""JSONPath (RFC 9535): the nodes that a query selects in a document, and normalized paths.

The package jsonpath-rfc9535 reads and evaluates queries.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

Location: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead from the root of a document to a node."""

MAX_NODES: Final = 500_000
"""Nodes that one query selects: twice the values of the largest document known."""

MAX_DESCENTS: Final = 3
"""Descendant segments (`..`) of one query: each may multiply the steps by the size of the document."""

_MAX_DEPTH: Final = 300
"""Nested objects and arrays; documents have at most 256."""


class InvalidQuery(ValueError):
    """A query that is no JSONPath, or that would take too long; the text says which."""


def select(query: str, root: Any) -> list[Location]:
    """Return the locations of the nodes that a query selects, in the order of the document. Raises InvalidQuery."""
    from jsonpath_rfc9535 import JSONPathEnvironment
    from jsonpath_rfc9535.exceptions import JSONPathError

    if query.count("..") > MAX_DESCENTS:
        raise InvalidQuery(f"has more than {MAX_DESCENTS} descendant segments (..)")
    environment = JSONPathEnvironment()
    environment.max_recursion_depth = _MAX_DEPTH
    locations: list[Location] = []
    try:
        for node in environment.finditer(query, root):
            locations.append(tuple(node.location))
            if len(locations) > MAX_NODES:
                raise InvalidQuery(f"selects more than {MAX_NODES:,} nodes")
    except JSONPathError as error:
        raise InvalidQuery(f"is not a JSONPath query (RFC 9535): {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise InvalidQuery("is nested too deeply") from None
    return locations


def node_at(root: Any, location: Iterable[str | int]) -> Any:
    """Return the node at a location. Raises LookupError if it is gone."""
    for key in location:
        root = root[key]
    return root


def normalized(location: Sequence[str | int]) -> str:
    """Return the normalized path of a location (RFC 9535 §2.7): `$['paths']['/pets']['get']`."""
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f"['{_escaped(key)}']" for key in location)


_ESCAPES: Final = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "'": "\\'", "\\": "\\\\"}


def _escaped(name: str) -> str:
    return "".join(
        _ESCAPES.get(character) or (f"\\u{ord(character):04x}" if ord(character) < 0x20 else character)
        for character in name
    )
