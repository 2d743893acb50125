"""Which tools find what others need: the search that gives a `movie_id`, the list in which an issue's number stands.

Read from paths, arguments and answers alone: `/movies/{movie_id}/credits` needs a movie; `/movies`, `/movies/popular`
and `/search/movie` list some. Where nothing tells, nothing is claimed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .models import Tool
from .terms import terms

_KEYS: Final = frozenset(terms("id uuid guid key number slug name code sha identifier handle login"))
"""What the name of an argument ends in when it names a thing by one of its properties: `movie_id` needs a movie."""

_SEARCHES: Final = frozenset(terms("search query find lookup"))
_TEXTS: Final = frozenset(terms("q query search term text keyword filter name title"))
"""Arguments that take what a person calls a thing, so that it can be found by that."""

ANYTHING: Final = "*"
"""What a search finds that does not say what: `/search`."""

_CONSIDERED: Final = 24
"""Sources of one thing that are compared, those with the fewest needs of their own: a request wants one of them."""

_DEEPEST: Final = 12
"""Levels of an answer's schema in which a list is looked for."""


@dataclass(frozen=True, slots=True)
class Need:
    """An argument whose value has to be found first: the stems of what it may be called, and where such things lie.

    `collection` is the path that lists them if anything does; None for an argument that is not in the path.
    """

    argument: str
    nouns: frozenset[str]
    collection: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """A tool (by its index) that finds what is needed, `by_text`: by what it is called. `fit` is 1 at best."""

    index: int
    fit: float
    by_text: bool


class Chains:
    """The needs of some tools and their sources."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._needs = [tuple(needs(tool)) for tool in tools]
        self._by_text = [takes_text(tool) and bool(listed(tool)) for tool in tools]
        self._at: dict[str, list[int]] = {}
        self._listing: dict[str, list[int]] = {}
        paths = [_path(tool) for tool in tools]
        for index in sorted(range(len(tools)), key=lambda index: (len(self._needs[index]), len(paths[index]))):
            nouns = listed(tools[index])
            if nouns:
                self._at.setdefault("/".join(paths[index]), []).append(index)
            for noun in nouns:
                self._listing.setdefault(noun, []).append(index)
        self._known: dict[int, tuple[tuple[Need, tuple[Source, ...]], ...]] = {}

    def searches(self) -> list[int]:
        """The tools that find things by what they are called and need nothing to be found before."""
        return [index for index, takes in enumerate(self._by_text) if takes and not self._needs[index]]

    def sources(self, index: int) -> tuple[tuple[Need, tuple[Source, ...]], ...]:
        """What a tool needs and where that is found; the last part of its path, the most particular one, first."""
        if index not in self._known:
            self._known[index] = self._found(index)
        return self._known[index]

    def _found(self, index: int) -> tuple[tuple[Need, tuple[Source, ...]], ...]:
        mine = self._needs[index]
        given = frozenset(noun for need in mine for noun in need.nouns)
        found = [(need, tuple(self._of(index, need, given))) for need in reversed(mine)]
        return tuple((need, sources) for need, sources in found if sources)

    def _of(self, consumer: int, need: Need, given: frozenset[str]) -> Iterator[Source]:
        sources = {source.index: source for source in self._that_list(need, given)}
        if need.collection is not None and not any(source.by_text for source in sources.values()):
            for index in self._listing.get(ANYTHING, ())[:_CONSIDERED]:
                if self._by_text[index] and not self._needs[index]:
                    sources.setdefault(index, Source(index, 0.8, True))
        sources.pop(consumer, None)
        yield from sources.values()

    def _that_list(self, need: Need, given: frozenset[str]) -> Iterator[Source]:
        at = self._at.get(need.collection or "", [])
        listing = [index for noun in sorted(need.nouns) for index in self._listing.get(noun, ())[:_CONSIDERED]]
        for index in dict.fromkeys([*at, *listing]):
            theirs = self._needs[index]
            if any(other.nouns & need.nouns for other in theirs):
                continue  # it needs such a thing itself
            more = sum(not other.nouns & given for other in theirs)
            best = index in at or (self._by_text[index] and not theirs)
            yield Source(index, 1.0 if best else 0.5 / more if more else 0.75, self._by_text[index])


def needs(tool: Tool) -> Iterator[Need]:
    """What has to be found before a tool can be called: what its path names, and required arguments like `user_id`."""
    path = _path(tool)
    in_path = [argument for argument in tool.arguments if argument.location == "path"]
    for place, segment in enumerate(path):
        for argument in in_path:
            if "{" + (argument.wire_name or argument.name) + "}" in segment:
                before = path[place - 1 : place] if place else []
                nouns = {
                    *_noun(argument.name),
                    *(terms(word)[-1] for word in before if "{" not in word and terms(word)),
                }
                yield Need(argument.name, frozenset(nouns), "/".join(path[:place]))
    required = frozenset(tool.input_schema.get("required", ()))
    for argument in tool.arguments:
        if argument.location != "path" and argument.name in required and terms(argument.name)[-1:] != ["name"]:
            words = terms(argument.name)
            if (len(words) > 1 and words[-1] in _KEYS) or (len(words) == 1 and words[0] not in _TEXTS | _KEYS):
                yield Need(argument.name, frozenset(_noun(argument.name)), None)


def _noun(name: str) -> list[str]:
    """The last word of an argument's name that says what it names: `movie` of `movie_id`, none of `id`."""
    words = terms(name)
    while words and words[-1] in _KEYS:
        words.pop()
    return words[-1:]


def listed(tool: Tool) -> tuple[str, ...]:
    """The stems of the things of which a tool may list several; nothing if it changes something or lists nothing."""
    path = _path(tool)
    if not path or "{" in path[-1] or not _reads(tool, path):
        return ()
    if tool.output_schema is not None and not _has_list(tool.output_schema):
        return ()
    nouns = [noun for segment in _tail(path) for noun in _nouns(segment)]
    return (ANYTHING,) if nouns and set(nouns) <= _SEARCHES else tuple(dict.fromkeys(nouns))


def takes_text(tool: Tool) -> bool:
    """Whether things can be found by what they are called."""
    arguments = [argument for argument in tool.arguments if argument.location in {"query", "body"}]
    return any(not _TEXTS.isdisjoint(terms(argument.name)) for argument in arguments)


def _reads(tool: Tool, path: Sequence[str]) -> bool:
    return tool.method in {"GET", "QUERY"} or (tool.method == "POST" and not _SEARCHES.isdisjoint(terms(path[-1])))


def _tail(path: Sequence[str]) -> Iterable[str]:
    """The segments after the last one with a variable, from the end."""
    for segment in reversed(path):
        if "{" in segment:
            return
        yield segment


def _nouns(segment: str) -> list[str]:
    """What a segment names: its last word, and of `movieSearch` or `users.list` what comes before that as well."""
    words = terms(segment)
    return words[-2:][::-1] if words and (words[-1] in _SEARCHES or "." in segment) else words[-1:]


def _path(tool: Tool) -> list[str]:
    return [segment for segment in tool.path.partition("#")[0].partition("?")[0].split("/") if segment]


def _has_list(schema: Any, depth: int = 0) -> bool:
    """Whether an answer of this schema may hold a list; where it is not known, it may."""
    if depth > _DEEPEST or schema is True or schema == {}:
        return True
    if isinstance(schema, list):
        return any(_has_list(each, depth + 1) for each in schema if isinstance(each, dict | list))
    if schema.get("type") == "array" or "items" in schema:
        return True
    return any(_has_list(each, depth + 1) for each in schema.values() if isinstance(each, dict | list))
