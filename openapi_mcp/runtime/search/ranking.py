"""`Search`: find the tools for a request in plain words, with the tools that find their arguments' values.

- The request becomes a `Query`: its terms, its intents, and whether it contains a name. It is read as English, the
  language of most APIs; a request in another language matches by the words that it shares with the tools.
- SQLite's FTS5 finds candidates by BM25, in memory.
- `Ranking` selects tools one by one. A tool that matches terms which no selected tool matched is preferred, since a
  request often needs several different ones; and each tool brings along the producer of a value that it needs.

No model is used: the same request has the same answer every time.
"""

import math
import re
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from ..errors import SearchUnavailable
from ..tool import Tool
from .dependencies import Dependencies, Producer
from .index import FIELD_WEIGHTS, IndexedTool, index_tool
from .vocabulary import INTENTS, METHOD_INTENTS, SYNONYM_SETS, stem, terms

_STOP_WORDS: Final = """
a an the of to in on for with and or but by from at as it its this that these those there here
i me my mine we us our you your he him his she her they them their who whom whose which what when where why how
is are was were am be been do does did has have had can could would should will may might must shall let
please want need give tell show find get some any all each every much many more most less least few both
about into out up down back over under than then so just also only not no one thing something like
through during after before again
"""
STOP_TERMS: Final = frozenset(terms(_STOP_WORDS))
"""The terms that do not tell which tool is meant; those among them that are verbs still express an intent."""

_HEAD, _CORE, _HEAD_SYNONYM, _CORE_SYNONYM, _REST = 1.0, 0.7, 0.6, 0.5, 0.3
"""How well a tool matches a term: by the end of its path, by its names, by a synonym of these, by its other texts."""

_VERB_WEIGHT: Final = 0.6
"""The weight of the verb of a request beside its other terms: the method of a tool expresses it too."""

_PERSON_WEIGHT: Final = 0.6
"""The weight of the term `person` for a request that implies one, by `by Somebody` or `Somebody's`."""

_AUTHOR: Final = re.compile("\\bby [A-Z]|\\b[A-Z]\\w*['\u2019]s\\b")
_NAME: Final = re.compile("(?<=[\\w,;:] )[\"'\u201c]?[A-Z]|[\"\u201c][^\"\u201d]+[\"\u201d]|\\s'[^']+'")
"""A capital letter that does not begin a sentence, or a text in quotes."""


_CLAUSE_END: Final = re.compile(r"\b(?:and|then)\b|[,;.]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word of a request: its stem, its synonym sets, and its weight beside the other words."""

    term: str
    synonyms: tuple[str, ...]
    weight: float = 1.0

    def relevance(self, tool: IndexedTool) -> float:
        """Return how well a tool matches the term, 0 to 1."""
        if self.term in tool.head:
            return _HEAD
        if self.term in tool.core:
            return _CORE
        if not tool.head.isdisjoint(self.synonyms):
            return _HEAD_SYNONYM
        if not tool.core.isdisjoint(self.synonyms):
            return _CORE_SYNONYM
        return _REST if self.term in tool.rest else 0.0


@dataclass(frozen=True, slots=True)
class Query:
    """A request: its terms, its intents (keys of `VERBS`), and whether it seems to contain a name."""

    terms: tuple[QueryTerm, ...]
    intents: frozenset[str]
    has_name: bool


def parse_query(text: str) -> Query:
    """Return the query of a request."""
    stems = list(dict.fromkeys(terms(text)))
    return Query(tuple(_query_terms(stems, text)), frozenset(_intents(text)), bool(_NAME.search(text)))


def _intents(text: str) -> Iterator[str]:
    """Yield the intents of the first verb, and of each verb that begins a clause: `change this and delete that`."""
    first, *others = [terms(clause) for clause in _CLAUSE_END.split(text)]
    yield from next((INTENTS[term] for term in first if term in INTENTS), ())
    yield from (intent for clause in others for intent in INTENTS.get(clause[0] if clause else "", ()))


def _query_terms(stems: Sequence[str], text: str) -> Iterator[QueryTerm]:
    significant = [term for term in stems if term not in STOP_TERMS and not term.isdigit()]
    verb = next((term for term in significant if term in INTENTS), None)
    for term in significant:
        yield QueryTerm(term, SYNONYM_SETS.get(term, ()), _VERB_WEIGHT if term == verb else 1.0)
    if _AUTHOR.search(text):
        person = stem("person")
        yield QueryTerm(person, SYNONYM_SETS.get(person, ()), _PERSON_WEIGHT)


_BM25_SHARE: Final = 0.05
"""The share of BM25's own score, which decides between tools that are equal otherwise."""

_INTENT_MATCH, _INTENT_MISMATCH = 1.4, 0.75
"""Factors for a tool whose method serves the request's intent, or another one."""

_DEPTH_PENALTY: Final = 0.02
"""The penalty for each segment of a path: of two equal matches, the one nearer to the root is meant more often."""

_REMAINING_WEIGHT: Final = 0.75
"""The share of a term's weight that remains after a selected tool matched it fully."""

_PRODUCER_THRESHOLD: Final = 0.35
"""The share of the best score that a tool needs to bring along its producers."""

_MAX_CHAIN: Final = 2
"""The length of a chain of dependencies: a producer may itself need a value that another one finds."""

_PRODUCER_FIT: Final[Mapping[tuple[bool, bool], float]] = {
    (True, True): 1.0,
    (True, False): 0.75,
    (False, True): 0.65,
    (False, False): 1.0,
}
"""How well a producer fits, by whether it searches for text and whether the request has a name to search for."""

_OWN_SCORE_SHARE: Final = 0.4
"""The share of a producer's own score for the request, beside its fit."""


@dataclass(frozen=True, slots=True)
class ToolIndex:
    """The tools of an index, their entries, and the dependencies among them."""

    tools: Sequence[Tool]
    entries: Sequence[IndexedTool]
    dependencies: Dependencies


class Ranking:
    """The ranking of tools for one query.

    `weights` are those of its terms; `ranks` are the BM25 scores of the candidates by their index, relative to the
    best.
    """

    def __init__(self, index: ToolIndex, query: Query, weights: Sequence[float], ranks: Mapping[int, float]) -> None:
        self._query = query
        self._weights = list(weights)
        self._total_weight = sum(weights)
        self._ranks = ranks
        self._dependencies = index.dependencies
        self._relevances = {each: [term.relevance(index.entries[each]) for term in query.terms] for each in ranks}
        self._factors = {each: self._factor(index.tools[each]) for each in ranks}
        self._selected: dict[int, str | None] = {}

    def select(self, limit: int) -> list[tuple[int, str | None]]:
        """Return at most `limit` tools by index, the best first.

        A producer comes with the name of the argument that it finds a value for.
        """
        best = 0.0
        while len(self._selected) < limit:
            candidates = [index for index in self._ranks if index not in self._selected]
            if not candidates:
                break
            index = max(candidates, key=self._score)
            score = self._score(index)
            best = max(best, score)
            self._select(index)
            if score >= _PRODUCER_THRESHOLD * best:
                self._select_producer(index, _MAX_CHAIN)
        return list(self._selected.items())[:limit]

    def _factor(self, tool: Tool) -> float:
        intents = self._query.intents
        is_match = METHOD_INTENTS.get(tool.method, "create") in intents
        factor = 1.0 if not intents else _INTENT_MATCH if is_match else _INTENT_MISMATCH
        return factor / (1 + _DEPTH_PENALTY * tool.path.count("/"))

    def _score(self, index: int) -> float:
        """Return how well a tool matches the terms by their remaining weights."""
        if index not in self._ranks:
            return 0.0
        relevance = sum(map(float.__mul__, self._weights, self._relevances[index]))
        return self._factors[index] * (relevance + _BM25_SHARE * self._total_weight * self._ranks[index])

    def _select(self, index: int, provides: str | None = None) -> None:
        self._selected[index] = provides
        for position, relevance in enumerate(self._relevances.get(index, ())):
            self._weights[position] *= 1 - (1 - _REMAINING_WEIGHT) * relevance

    def _select_producer(self, index: int, links: int) -> None:
        """Select the best producer of the most specific value that a tool needs, unless it is selected already."""
        for dependency, producers in self._dependencies.producers(index)[:1]:
            highest = max(self._score(producer.index) for producer in producers) or 1.0
            producer = max(producers, key=lambda producer: (self._producer_score(producer, highest), -producer.index))
            if producer.index not in self._selected:
                self._select(producer.index, dependency.argument)
            if links > 1:
                self._select_producer(producer.index, links - 1)

    def _producer_score(self, producer: Producer, highest: float) -> float:
        fit = producer.fit * _PRODUCER_FIT[producer.by_text, self._query.has_name]
        return fit + _OWN_SCORE_SHARE * self._score(producer.index) / highest


_MAX_CANDIDATES: Final = 120
"""Candidates that BM25 returns: with 60 recall begins to fall, with 200 it does not rise."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of a search; `provides` names the argument of a better-ranked tool for which this one finds a value."""

    tool: Tool
    provides: str | None = None


class Search:
    """An index over some tools. Used by one thread at a time. Raises SearchUnavailable without FTS5."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = tuple(tools)
        entries = [index_tool(tool) for tool in self._tools]
        self._index = ToolIndex(self._tools, entries, Dependencies(self._tools))
        self._database = _create_database(entries)
        weakref.finalize(self, self._database.close)  # Python 3.13 warns of connections that nobody closes
        self._counts = dict[str, int](self._database.execute("SELECT term, doc FROM terms"))

    def find(self, text: str, limit: int) -> list[Hit]:
        """Return at most `limit` tools, the best first.

        A request whose words no tool has may be a name: then the tools that search by name are returned. A request
        without words has no hits.
        """
        request = parse_query(text)
        query = self._with_indexed_terms(request)
        if not query.terms:
            searches = self._index.dependencies.name_searches()[:limit] if request.terms else []
            return [Hit(self._tools[index]) for index in searches]
        weights = [term.weight * max(map(self._rarity, (term.term, *term.synonyms))) for term in query.terms]
        ranking = Ranking(self._index, query, weights, self._candidates(query.terms))
        return [Hit(self._tools[index], argument) for index, argument in ranking.select(limit)]

    def _with_indexed_terms(self, query: Query) -> Query:
        """Return the query without the terms that no tool has; such a term is likely a name."""
        words = [self._indexed_term(word) for word in query.terms]
        indexed = tuple(word for word in words if word.synonyms or word.term in self._counts)
        return replace(query, terms=indexed, has_name=query.has_name or len(indexed) < len(words))

    def _indexed_term(self, term: QueryTerm) -> QueryTerm:
        return replace(term, synonyms=tuple(synonym for synonym in term.synonyms if synonym in self._counts))

    def _candidates(self, query_terms: Sequence[QueryTerm]) -> dict[int, float]:
        """Return the tools that BM25 finds, by index, with their scores relative to the best one."""
        searched = dict.fromkeys(chain.from_iterable((each.term, *each.synonyms) for each in query_terms))
        match = " OR ".join(f'"{term}"' for term in searched if term in self._counts)
        rows = self._database.execute(_QUERY, (match, _MAX_CANDIDATES)).fetchall()
        return {index: rank / (rows[0][1] or 1.0) for index, rank in rows}

    def _rarity(self, term: str) -> float:
        """Return BM25's inverse document frequency, never negative; 0 for a term that no tool has."""
        count = self._counts.get(term)
        return 0.0 if count is None else math.log(1 + (len(self._tools) - count + 0.5) / (count + 0.5))


def is_available() -> bool:
    """Return whether this Python's SQLite has full-text search."""
    try:
        _create_database(()).close()
    except SearchUnavailable:
        return False
    return True


_COLUMNS: Final = ", ".join(FIELD_WEIGHTS)
# `=` begins the name of a synonym set (see `vocabulary`); terms are normalised already, so FTS5 must not change them.
_CREATE: Final = (
    f"CREATE VIRTUAL TABLE entries USING fts5({_COLUMNS}, content='', "
    "tokenize=\"unicode61 remove_diacritics 0 tokenchars '='\")"
)
_INSERT: Final = f"INSERT INTO entries(rowid, {_COLUMNS}) VALUES (?{', ?' * len(FIELD_WEIGHTS)})"  # noqa: S608 - our own names
_QUERY: Final = (
    f"SELECT rowid, -bm25(entries, {', '.join(map(str, FIELD_WEIGHTS.values()))}) FROM entries "  # noqa: S608 - our own numbers
    "WHERE entries MATCH ? ORDER BY 2 DESC, rowid LIMIT ?"
)


def _create_database(entries: Iterable[IndexedTool]) -> sqlite3.Connection:
    """Return a database of the entries by number: an FTS5 table without its contents, and one of its terms."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        database.execute(_CREATE)
    except sqlite3.OperationalError:
        database.close()
        raise SearchUnavailable(
            "Search mode needs SQLite with FTS5, and the sqlite3 module of this Python was built without it."
        ) from None
    database.executemany(_INSERT, ((index, *each.fields) for index, each in enumerate(entries)))
    database.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(entries, 'row')")
    return database
