"""The index entry of a tool: the terms of its names, texts and results, by field.

Everything is read from the Tool alone, so that a generated package, which has no document, can search as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from ..tool import Tool
from .full_text import FIELD_WEIGHTS
from .vocabulary import SYNONYM_SETS, compounds, stem, terms, words

_MAX_DESCRIPTION: Final = 400
"""Characters of a description: its beginning tells the purpose of a tool, and BM25 lowers the weight of long texts."""

_MAX_ARGUMENTS: Final = 40
"""Argument names that are indexed, for the same reason."""
_MAX_PROPERTIES: Final = 60
"""Property names of a result that are indexed, for the same reason."""


class IndexedTool:
    """A tool in terms. `fields` has the text of each of `FIELD_WEIGHTS`, `end` the last fixed segment of its path."""

    def __init__(self, fields: tuple[str, ...], end: str) -> None:
        self.fields = fields
        self.end = end

    @cached_property
    def head(self) -> frozenset[str]:
        """The term of the end of the path (`note` for `/credit_notes/{id}`), with its synonym sets."""
        head = [self.end] if self.end else []
        return frozenset([*head, *_synonyms(head)])

    @cached_property
    def core(self) -> frozenset[str]:
        """The terms of names, path, title and tags, with their synonym sets."""
        return frozenset(term for index in _CORE for term in self.fields[index].split())

    @cached_property
    def rest(self) -> frozenset[str]:
        """The terms of the other texts."""
        return frozenset(term for index in _REST for term in self.fields[index].split())


_REST_FIELDS: Final = frozenset({"description", "arguments", "answer"})
_CORE: Final = [index for index, field in enumerate(FIELD_WEIGHTS) if field not in _REST_FIELDS]
_REST: Final = [index for index, field in enumerate(FIELD_WEIGHTS) if field in _REST_FIELDS]


class ToolWords(NamedTuple):
    """The words of the texts of a tool; `end` are those of the last fixed segment of its path."""

    name: Sequence[str]
    path: Sequence[str]
    end: Sequence[str]
    tags: Sequence[str]
    description: Sequence[str]
    arguments: Sequence[str]


def words_of(tool: Tool) -> ToolWords:
    """Return the words of a tool; its name is one with its title."""
    path = [part for part in tool.path.partition("#")[0].partition("?")[0].split("/") if part and "{" not in part]
    return ToolWords(
        name=(*words(tool.title or ""), *words(tool.name)),
        path=tuple([word for segment in path for word in words(segment)]),
        end=tuple(words(path[-1])) if path else (),
        tags=tuple(words(" ".join(tool.tags))),
        description=tuple(words(tool.description[:_MAX_DESCRIPTION])),
        arguments=tuple([word for argument in tool.arguments[:_MAX_ARGUMENTS] for word in words(argument.name)]),
    )


def index_tool(tool: Tool, texts: ToolWords) -> IndexedTool:
    """Return the index entry of a tool with these words."""
    return Indexer().entry(tool, texts)


class Indexer:
    """A maker of index entries. What tools share, such as output schemas, is read once."""

    def __init__(self) -> None:
        self._answers: dict[int, tuple[Any, str]] = {}  # by the id of an output schema, which is kept
        self._arguments: dict[Sequence[str], str] = {}

    def entry(self, tool: Tool, texts: ToolWords) -> IndexedTool:
        """Return the index entry of a tool with these words."""
        title, tags = tool.title or "", " ".join(tool.tags)
        by_field = {
            "name": terms(tool.name),
            "path": terms(tool.path),
            "title": [*terms(title), *compounds(title)],
            "tags": [*terms(tags), *compounds(tags)],
        }
        core = dict.fromkeys(chain.from_iterable(by_field.values()))
        text = {field: " ".join(of_field) for field, of_field in by_field.items()}
        text["synonyms"] = " ".join(_synonyms(core))
        text["description"] = " ".join(map(stem, texts.description))
        text["arguments"] = self._argument_terms(texts.arguments)
        text["answer"] = self._answer_terms(tool.output_schema)
        return IndexedTool(tuple([text[field] for field in FIELD_WEIGHTS]), stem(texts.end[-1]) if texts.end else "")

    def _argument_terms(self, written: Sequence[str]) -> str:
        if written not in self._arguments:
            self._arguments[written] = " ".join(dict.fromkeys(map(stem, written)))
        return self._arguments[written]

    def _answer_terms(self, schema: Any) -> str:
        if id(schema) not in self._answers:
            text = " ".join(_terms_of_names(islice(_properties(schema), _MAX_PROPERTIES)))
            self._answers[id(schema)] = schema, text
        return self._answers[id(schema)][1]


def _terms_of_names(names: Iterable[str]) -> Iterable[str]:
    """Return the terms of all these names, each once."""
    return dict.fromkeys(term for name in dict.fromkeys(names) for term in terms(name))


def _synonyms(of: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(synonyms for term in of for synonyms in SYNONYM_SETS.get(term, ()))


def _properties(schema: Any) -> Iterator[str]:
    """Yield the names of the properties of a schema, level by level."""
    level = [schema] if schema else []
    while level:
        below: list[Any] = []
        for part in level:
            properties = part.get("properties") if isinstance(part, dict) else None
            if isinstance(properties, dict):
                yield from properties
            below += part.values() if isinstance(part, dict) else part
        level = [part for part in below if isinstance(part, dict | list)]
