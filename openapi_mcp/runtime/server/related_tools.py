"""`RelatedByPath`: the tools that help after an error, found by the paths of one API.

The pets of `/pets/{petId}` are listed by `/pets`, or found by `/pets/search`; values of other arguments by the
collection that their name says: `movie_id` by `/movies`. `/pets/{petId}` is read by its GET. Nothing else is evidence.
"""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final

from ..tool import Argument, Tool, words

_VARIABLE: Final = re.compile(r"\{[^{}]*\}")
_SEARCHES: Final = ("search", "list", "find", "query", "filter")
_ID_WORDS: Final = frozenset({"id", "uuid", "guid", "key", "number", "slug", "name", "code", "sid", "identifier"})
"""Last words of an argument that names a thing by one of its properties."""


class RelatedByPath:
    """Finders and readers among some tools, which are indexed at the first error that needs one."""

    def __init__(self, tools: Callable[[], Iterable[Tool]]) -> None:
        self._tools = tools

    def finder(self, tool: Tool, argument: Argument) -> Tool | None:
        """Return a tool that lists or searches what a path argument names; None without evidence."""
        before = _before(tool.path, argument.wire_name or argument.name)
        if before is None:
            return None
        for path in (before, *(f"{before}/{word}" for word in _SEARCHES)):
            if (found := self._lists.get(path)) is not None and found.name != tool.name:
                return found
        *_, collection = ["", *(_singular(segment) for segment in before.split("/") if "{" not in segment)]
        for noun in dict.fromkeys((_noun(argument.name), collection)):
            found = self._by_noun.get(noun) if noun else None
            if found is not None and found.name != tool.name:
                return found
        return None

    def reader(self, tool: Tool) -> Tool | None:
        """Return the GET of the tool's path, else that of its collection, or of the resource that an action is of."""
        path = _normal(tool.path)
        is_resource = path.endswith("}")
        parent = path.rpartition("/")[0]
        while not is_resource and parent and not parent.endswith("}"):
            parent = parent.rpartition("/")[0]
        for each in (path, parent):
            found = self._readers.get(each)
            if found is not None and found.name != tool.name:
                return found
        return None

    @cached_property
    def _readers(self) -> dict[str, Tool]:
        return {_normal(tool.path): tool for tool in reversed(list(self._tools())) if tool.method == "GET"}

    @cached_property
    def _lists(self) -> dict[str, Tool]:
        """The tools that list or search, by their paths; a GET has precedence."""
        searches = {
            path: tool
            for tool in self._tools()
            if tool.method in {"POST", "QUERY"} and (path := _normal(tool.path)).rpartition("/")[2] in _SEARCHES
        }
        return searches | {path: tool for path, tool in self._readers.items() if not path.endswith("}")}

    @cached_property
    def _by_noun(self) -> dict[str, Tool]:
        """The tools that list without any path argument, by the singular of their last segment; short paths first."""
        paths = sorted((path for path in self._lists if "{" not in path), key=lambda path: (-path.count("/"), path))
        return {_singular(path.rpartition("/")[2]): self._lists[path] for path in paths}


def _normal(path: str) -> str:
    """Return a path without its query, and without the names of its variables."""
    return _VARIABLE.sub("{}", path.partition("#")[0].partition("?")[0]).rstrip("/")


def _before(path: str, name: str) -> str | None:
    """Return the path before the segment with a variable."""
    segments = path.partition("#")[0].partition("?")[0].split("/")
    place = next((index for index, segment in enumerate(segments) if f"{{{name}}}" in segment), None)
    return None if place is None else _normal("/".join(segments[:place]))


def _noun(name: str) -> str:
    """Return what an argument names: `movie` of `movieId`, nothing of `id`."""
    parts = words(name)
    while parts and parts[-1] in _ID_WORDS:
        parts.pop()
    return _singular("".join(parts))


def _singular(segment: str) -> str:
    noun = "".join(words(segment))
    if noun.endswith("ies") and len(noun) > 4:
        return f"{noun[:-3]}y"
    return noun.removesuffix("s") if not noun.endswith("ss") else noun
