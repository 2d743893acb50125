"""Dependencies among tools: the consumers of a value, and the producers that find it.

`/movies/{movie_id}/credits` consumes the id of a movie; `/movies`, `/movies/popular` and `/search/movie` list movies
and so produce it. Dependencies are read from paths, arguments and results alone; without evidence there is none.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..tool import Tool
from .vocabulary import terms

_ID_TERMS: Final = frozenset(terms("id uuid guid key number slug name code sha identifier handle login"))
"""The last term of an argument that names a thing by one of its properties: `movie_id` needs a movie."""

_SEARCH_TERMS: Final = frozenset(terms("search query find lookup"))
_TEXT_ARGUMENT_TERMS: Final = frozenset(terms("q query search term text keyword filter name title"))
"""Arguments that take the name of a thing in a person's words, so that the thing can be found by it."""

ANY_NOUN: Final = "*"
"""The noun of a search that does not name what it finds: `/search`."""

_MAX_PRODUCERS: Final = 24
"""Producers of one noun that are compared, those with the fewest dependencies of their own: a request needs one."""

_MAX_DEPTH: Final = 12
"""Levels of a result's schema that are searched for a list."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """An argument whose value another tool has to find, by the stems of the nouns that name it.

    `collection` is the path under which an API would list such things; None for an argument that is not in the path.
    """

    argument: str
    nouns: frozenset[str]
    collection: str | None


@dataclass(frozen=True, slots=True)
class Producer:
    """A tool (by its index) that finds a value. `by_text`: it searches by name. `fit` is 1 at best."""

    index: int
    fit: float
    by_text: bool


class Dependencies:
    """The dependencies of some tools, and their producers."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._dependencies = [tuple(dependencies_of(tool)) for tool in tools]
        self._by_text = [searches_by_name(tool) and bool(listed_nouns(tool)) for tool in tools]
        self._by_path: dict[str, list[int]] = {}
        self._by_noun: dict[str, list[int]] = {}
        paths = [_path(tool) for tool in tools]
        for index in sorted(range(len(tools)), key=lambda index: (len(self._dependencies[index]), len(paths[index]))):
            nouns = listed_nouns(tools[index])
            if nouns:
                self._by_path.setdefault("/".join(paths[index]), []).append(index)
            for noun in nouns:
                self._by_noun.setdefault(noun, []).append(index)
        self._producers: dict[int, tuple[tuple[Dependency, tuple[Producer, ...]], ...]] = {}

    def name_searches(self) -> list[int]:
        """Return the tools that search by name and have no dependencies."""
        return [index for index, takes in enumerate(self._by_text) if takes and not self._dependencies[index]]

    def producers(self, index: int) -> tuple[tuple[Dependency, tuple[Producer, ...]], ...]:
        """Return the dependencies of a tool, the most specific (the last of its path) first, with their producers."""
        if index not in self._producers:
            self._producers[index] = self._find_producers(index)
        return self._producers[index]

    def _find_producers(self, index: int) -> tuple[tuple[Dependency, tuple[Producer, ...]], ...]:
        dependencies = self._dependencies[index]
        nouns = frozenset(noun for dependency in dependencies for noun in dependency.nouns)
        pairs = [(each, tuple(self._producers_of(index, each, nouns))) for each in reversed(dependencies)]
        return tuple((dependency, producers) for dependency, producers in pairs if producers)

    def _producers_of(self, consumer: int, dependency: Dependency, nouns: frozenset[str]) -> Iterator[Producer]:
        """Yield the producers of one value. `nouns` are those that the consumer itself depends on."""
        producers = {producer.index: producer for producer in self._lists_of(dependency, nouns)}
        if dependency.collection is not None and not any(producer.by_text for producer in producers.values()):
            for index in self._by_noun.get(ANY_NOUN, ())[:_MAX_PRODUCERS]:
                if self._by_text[index] and not self._dependencies[index]:
                    producers.setdefault(index, Producer(index, 0.8, True))
        producers.pop(consumer, None)
        yield from producers.values()

    def _lists_of(self, dependency: Dependency, nouns: frozenset[str]) -> Iterator[Producer]:
        """Yield the tools that list what a dependency names, unless they depend on the same thing themselves.

        A tool that depends on more than the consumer (`nouns`) fits less.
        """
        at_path = self._by_path.get(dependency.collection or "", [])
        lists = [index for noun in sorted(dependency.nouns) for index in self._by_noun.get(noun, ())[:_MAX_PRODUCERS]]
        for index in dict.fromkeys([*at_path, *lists]):
            own = self._dependencies[index]
            if any(other.nouns & dependency.nouns for other in own):
                continue
            more = sum(not other.nouns & nouns for other in own)
            best = index in at_path or (self._by_text[index] and not own)
            yield Producer(index, 1.0 if best else 0.5 / more if more else 0.75, self._by_text[index])


def dependencies_of(tool: Tool) -> Iterator[Dependency]:
    """Yield the dependencies of a tool: the variables of its path, and required arguments like `user_id`."""
    yield from _path_dependencies(tool)
    required = frozenset(tool.input_schema.get("required", ()))
    for argument in tool.arguments:
        if argument.location != "path" and argument.name in required and _is_reference(argument.name):
            yield Dependency(argument.name, frozenset(_noun(argument.name)), None)


def _path_dependencies(tool: Tool) -> Iterator[Dependency]:
    path = _path(tool)
    in_path = [argument for argument in tool.arguments if argument.location == "path"]
    for position, segment in enumerate(path):
        for argument in in_path:
            if "{" + (argument.wire_name or argument.name) + "}" in segment:
                before = [terms(word) for word in path[position - 1 : position] if "{" not in word] if position else []
                nouns = {*_noun(argument.name), *(words[-1] for words in before if words)}
                yield Dependency(argument.name, frozenset(nouns), "/".join(path[:position]))


def _is_reference(name: str) -> bool:
    """Return whether an argument outside of the path names another thing, as `user_id` and `owner` do."""
    words = terms(name)
    if len(words) == 1:
        return words[0] not in _TEXT_ARGUMENT_TERMS | _ID_TERMS
    return len(words) > 1 and words[-1] in _ID_TERMS


def _noun(name: str) -> list[str]:
    """Return the last term of an argument's name that names a thing: `movie` of `movie_id`, none of `id`."""
    words = terms(name)
    while words and words[-1] in _ID_TERMS:
        words.pop()
    return words[-1:]


def listed_nouns(tool: Tool) -> tuple[str, ...]:
    """Return the stems of the things that a tool may list; none if it changes something or lists nothing."""
    path = _path(tool)
    if not path or "{" in path[-1] or not _is_read_only(tool, path):
        return ()
    if tool.output_schema is not None and not _has_list(tool.output_schema):
        return ()
    nouns = [noun for segment in _tail(path) for noun in _nouns(segment)]
    return (ANY_NOUN,) if nouns and set(nouns) <= _SEARCH_TERMS else tuple(dict.fromkeys(nouns))


def searches_by_name(tool: Tool) -> bool:
    """Return whether a tool takes a name in words to search for."""
    arguments = [argument for argument in tool.arguments if argument.location in {"query", "body"}]
    return any(not _TEXT_ARGUMENT_TERMS.isdisjoint(terms(argument.name)) for argument in arguments)


def _is_read_only(tool: Tool, path: Sequence[str]) -> bool:
    return tool.method in {"GET", "QUERY"} or (tool.method == "POST" and not _SEARCH_TERMS.isdisjoint(terms(path[-1])))


def _tail(path: Sequence[str]) -> Iterable[str]:
    """Yield the segments after the last one with a variable, from the end."""
    for segment in reversed(path):
        if "{" in segment:
            return
        yield segment


def _nouns(segment: str) -> list[str]:
    """Return the nouns of a segment: its last term; of `movieSearch` or `users.list` also the one before."""
    words = terms(segment)
    return words[-2:][::-1] if words and (words[-1] in _SEARCH_TERMS or "." in segment) else words[-1:]


def _path(tool: Tool) -> list[str]:
    return [segment for segment in tool.path.partition("#")[0].partition("?")[0].split("/") if segment]


def _has_list(schema: Any, depth: int = 0) -> bool:
    """Return whether a result of this schema may contain a list; an unknown schema may."""
    if depth > _MAX_DEPTH or schema is True or schema == {}:
        return True
    if isinstance(schema, list):
        return any(_has_list(each, depth + 1) for each in schema if isinstance(each, dict | list))
    if schema.get("type") == "array" or "items" in schema:
        return True
    return any(_has_list(each, depth + 1) for each in schema.values() if isinstance(each, dict | list))
