"""The index entry of a tool: the terms of its names, texts and results, by field.

Everything is read from the Tool alone, so that a generated package, which has no document, can search as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from ..tool import Tool
from .vocabulary import SYNONYM_SETS, compounds, stem, terms, words

FIELD_WEIGHTS: Final = {
    "name": 1.0,
    "path": 1.0,
    "title": 1.0,
    "tags": 0.5,
    "synonyms": 0.4,
    "description": 0.3,
    "arguments": 0.3,
    "answer": 0.3,
}
"""The fields, and the weight of a term in each. FTS5 adds them before it saturates, so only their ratios matter."""

_MAX_DESCRIPTION: Final = 400
"""Characters of a description: its beginning tells the purpose of a tool, and BM25 lowers the weight of long texts."""

_MAX_ARGUMENTS: Final = 40
"""Argument names that are indexed, for the same reason."""
_MAX_PROPERTIES: Final = 60
"""Property names of a result that are indexed, for the same reason."""


@dataclass(frozen=True, slots=True)
class IndexedTool:
    """A tool in terms. `fields` has the text of each of `FIELD_WEIGHTS`.

    `head` has the term of the last fixed path segment (`note` for `/credit_notes/{id}`), `core` all terms of names,
    path, title and tags, `rest` the terms of the other texts. `head` and `core` also have the synonym sets of their
    terms.
    """

    fields: tuple[str, ...]
    head: frozenset[str]
    core: frozenset[str]
    rest: frozenset[str]


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
        path=[word for segment in path for word in words(segment)],
        end=words(path[-1]) if path else (),
        tags=words(" ".join(tool.tags)),
        description=words(tool.description[:_MAX_DESCRIPTION]),
        arguments=[word for argument in tool.arguments[:_MAX_ARGUMENTS] for word in words(argument.name)],
    )


def index_tool(tool: Tool, texts: ToolWords) -> IndexedTool:
    """Return the index entry of a tool with these words."""
    title, tags = tool.title or "", " ".join(tool.tags)
    by_field = {
        "name": terms(tool.name),
        "path": terms(tool.path),
        "title": [*terms(title), *compounds(title)],
        "tags": [*terms(tags), *compounds(tags)],
        "description": list(map(stem, texts.description)),
        "arguments": list(dict.fromkeys(map(stem, texts.arguments))),
        "answer": list(_terms_of_names(islice(_properties(tool.output_schema), _MAX_PROPERTIES))),
    }
    core = dict.fromkeys(term for field in ("name", "path", "title", "tags") for term in by_field[field])
    by_field["synonyms"] = list(_synonyms(core))
    head = [stem(texts.end[-1])] if texts.end else []
    return IndexedTool(
        tuple(" ".join(by_field[field]) for field in FIELD_WEIGHTS),
        frozenset([*head, *_synonyms(head)]),
        frozenset([*core, *by_field["synonyms"]]),
        frozenset(term for field in ("description", "arguments", "answer") for term in by_field[field]),
    )


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
