"""What the search knows of a tool: the terms of its texts, names and answers, by the place they stand in.

Everything comes from the Tool alone, so that a package without its document can search as well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from .models import Tool
from .synonyms import SUBJECTS
from .terms import terms

WEIGHTS: Final = {
    "name": 1.0,
    "path": 1.0,
    "title": 1.0,
    "tags": 0.5,
    "subjects": 0.4,
    "description": 0.3,
    "arguments": 0.3,
    "answer": 0.3,
}
"""The fields, and what a term counts in each. FTS5 sums them before it saturates, so that ratios are what matters."""

_DESCRIBED: Final = 400
"""Characters of a description: what a tool is for stands at its beginning, and BM25 makes long texts count for less."""

_ARGUMENTS: Final = 40
_PROPERTIES: Final = 60
"""Names that are looked at, for the same reason."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool in terms. `fields` has the text of each of `WEIGHTS`.

    `head` has the term of what the path ends in (`note` for `/credit_notes/{id}`), `core` all by which the tool is
    named, `rest` the others; subjects stand beside the terms that have them.
    """

    fields: tuple[str, ...]
    head: frozenset[str]
    core: frozenset[str]
    rest: frozenset[str]


def entry(tool: Tool) -> Entry:
    """A tool in terms."""
    found = {
        "name": terms(tool.name),
        "path": terms(tool.path),
        "title": terms(tool.title or ""),
        "tags": terms(" ".join(tool.tags)),
        "description": terms(tool.description[:_DESCRIBED]),
        "arguments": list(_of_names(argument.name for argument in tool.arguments[:_ARGUMENTS])),
        "answer": list(_of_names(islice(_properties(tool.output_schema), _PROPERTIES))),
    }
    core = dict.fromkeys(term for field in ("name", "path", "title", "tags") for term in found[field])
    found["subjects"] = list(_subjects(core))
    fixed = [segment for segment in tool.path.partition("#")[0].split("/") if segment and "{" not in segment]
    head = terms(fixed[-1])[-1:] if fixed else []
    return Entry(
        tuple(" ".join(found[field]) for field in WEIGHTS),
        frozenset([*head, *_subjects(head)]),
        frozenset([*core, *found["subjects"]]),
        frozenset(term for field in ("description", "arguments", "answer") for term in found[field]),
    )


def _of_names(names: Iterable[str]) -> Iterable[str]:
    """The terms of all these names, each once."""
    return dict.fromkeys(term for name in dict.fromkeys(names) for term in terms(name))


def _subjects(found: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(subject for term in found for subject in SUBJECTS.get(term, ()))


def _properties(schema: Any) -> Iterator[str]:
    """The names of the properties of a schema, those that lie higher first."""
    level = [schema] if schema else []
    while level:
        below: list[Any] = []
        for part in level:
            properties = part.get("properties") if isinstance(part, dict) else None
            if isinstance(properties, dict):
                yield from properties
            below += part.values() if isinstance(part, dict) else part
        level = [part for part in below if isinstance(part, dict | list)]
