"""JSONPath (RFC 9535): the nodes that a query selects in a document, and normalized paths.

The package jsonpath-rfc9535 reads and evaluates queries.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

Location: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead from the root of a document to a node."""

MAX_NODES: Final = 500_000
"""Nodes that one query selects: twice the values of the largest document known."""

MAX_DESCENTS: Final = 3
"""Descendant segments (`..`) of one query: each may multiply the steps by the size of the document."""

_MAX_DEPTH: Final = 300
"""Nested objects and arrays; documents have at most 256."""


_MAX_PATTERN_SECONDS: Final = 0.2
"""Seconds for one pattern and one text; the first that takes longer ends the query."""


class InvalidQuery(ValueError):
    """A query that is no JSONPath, or that would take too long; the text says which."""


def select(query: str, root: Any) -> list[Location]:
    """Return the locations of the nodes that a query selects, in the order of the document. Raises InvalidQuery."""
    from jsonpath_rfc9535.exceptions import JSONPathError

    if query.count("..") > MAX_DESCENTS:
        raise InvalidQuery(f"has more than {MAX_DESCENTS} descendant segments (..)")
    environment = _environment()
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


@cache
def _environment() -> Any:
    """Return the reader of queries, whose patterns (`match`, `search`) are matched in bounded time."""
    from jsonpath_rfc9535 import JSONPathEnvironment

    environment = JSONPathEnvironment()
    environment.max_recursion_depth = _MAX_DEPTH
    functions = environment.function_extensions
    functions["match"] = _timed(type(functions["match"]), "fullmatch")()
    functions["search"] = _timed(type(functions["search"]), "search")()
    return environment


def _timed(kind: type[Any], name: str) -> type[Any]:
    """Return a filter function that matches as `kind` does, with the function `name` of `regex`, for a limited time."""
    import regex
    from iregexp_check import check
    from jsonpath_rfc9535.function_extensions._pattern import map_re

    class _Timed(kind):  # type: ignore[misc]  # its base is a variable
        def __call__(self, text: Any, pattern: Any) -> bool:
            if not isinstance(text, str) or not isinstance(pattern, str) or not check(pattern):
                return False
            try:
                return getattr(regex, name)(map_re(pattern), text, timeout=_MAX_PATTERN_SECONDS) is not None
            except regex.error:
                return False
            except TimeoutError:
                raise InvalidQuery("has a pattern that takes too long") from None

    return _Timed


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
