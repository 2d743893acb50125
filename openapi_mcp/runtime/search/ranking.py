"""`Search`: find the tools for a request in plain words, and the tools that find their arguments' values.

A tool's score is a sum: how well it matches the terms of the request, each weighted by its rarity, among the candidates
that SQLite's FTS5 finds by BM25; and how similar its words are to those of the request (`vectors`), which finds tools
that say the same in other words. A tool that does what the request does not ask for (`intents`) scores less, and so
does one that is deep in the paths. A tool that finds a value for a better one is no rank of its own: it comes with it.

The request is read as English, the language of most APIs, and without a model. Where the model of the extra `search` is
installed, the similarity of the request as a sentence (`Sentences`), in any language, adds to the score. The same
request has the same answer every time, once the model has read the tools.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from ..tool import Tool
from . import index_store
from .dependencies import Dependencies, Producer
from .full_text import FullText
from .index import IndexedTool
from .index_store import IndexStore, Sentences
from .intents import request_intents, tool_intents
from .vectors import word_table
from .vocabulary import STOP_WORDS, SYNONYM_SETS, compounds, stem, words

_HEAD, _CORE, _HEAD_SYNONYM, _CORE_SYNONYM, _REST = 1.0, 0.7, 0.6, 0.5, 0.3
"""Relevances of a tool for a term: by the end of its path, by its names, by a synonym of these, by its other texts."""

_PERSON_WEIGHT: Final = 0.6
"""The weight of the term `person` for a request that implies one, by `by Somebody` or `Somebody's`."""

_COUNT_WEIGHT: Final = 0.6
"""The weight of the term `count` for a request that asks how many there are."""

_NUMBER_OF: Final = re.compile(r"\bhow many\b|\bnumber of\b", re.IGNORECASE)
_AUTHOR: Final = re.compile("\\bby [A-Z]|\\b[A-Z]\\w*['\u2019]s\\b")
_NAME: Final = re.compile("(?<=[\\w,;:] )[\"'\u201c]?[A-Z]|[\"\u201c][^\"\u201d]+[\"\u201d]|\\s'[^']+'")
"""A capital letter that does not begin a sentence, or a text in quotes."""

_SELF: Final = re.compile(r"\bwho am i\b|\bwhoami\b|\bmyself\b|\bmy (?:account|profile|user)\b", re.IGNORECASE)
_SELF_TERMS: Final = ("me", "self", "whoami", "myself", stem("current"), stem("profile"))
"""Names of the user whose credentials are sent."""


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
    """A request: its terms, and whether it seems to contain a name."""

    terms: tuple[QueryTerm, ...]
    has_name: bool


def parse_query(text: str) -> Query:
    """Return the query of a request."""
    significant = (word for word in words(text) if word.casefold() not in STOP_WORDS and not word.isdigit())
    own = _SELF_TERMS if _SELF.search(text) else ()
    stems = [*map(stem, significant), *compounds(text), *own]
    return Query(tuple(_query_terms(stems, text)), bool(_NAME.search(text)))


def _query_terms(stems: Iterable[str], text: str) -> Iterator[QueryTerm]:
    for term in dict.fromkeys(stems):
        yield QueryTerm(term, SYNONYM_SETS.get(term, ()))
    if _NUMBER_OF.search(text):
        yield QueryTerm(stem("count"), (), _COUNT_WEIGHT)
    if _AUTHOR.search(text):
        person = stem("person")
        yield QueryTerm(person, SYNONYM_SETS.get(person, ()), _PERSON_WEIGHT)


_BM25_SHARE: Final = 0.3
"""The share of BM25's own score in how well a tool matches the terms."""

_OTHER_INTENT: Final = {True: 0.6, False: 0.8}
"""The factor of a tool that does something else than the request asks for, by whether its verb is certain."""

_EVERY: Final = re.compile(r"\b(?:all|list|every|each)\b", re.IGNORECASE)
_ONE_THING: Final = 0.9
"""The factor of a tool that returns one thing, for a request for all."""

_DEPTH_PENALTY: Final = 0.02
"""The penalty for each segment of a path: of two equal matches, the one nearer to the root is meant more often."""

_MIN_SIMILARITY: Final = 0.35
"""The similarity that a tool needs if it has no term of the request."""

_SENTENCE_WEIGHT: Final = 1.5
"""The weight of a sentence's similarity, beside at most 1 for terms and 1 for words. Intents are no factor: they are
read from English verbs, and with them fewer of the right tools are among the first three (benchmarks/retrieval.py)."""

_MIN_SENTENCE: Final = 0.3
"""The similarity of a sentence that finds a tool by itself. For requests in other languages the best is 0.36 to 0.8."""

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
"""The fit of a producer, by whether it searches for text and whether the request has a name to search for."""

_OWN_SCORE_SHARE: Final = 0.4
"""The share of a producer's own score for the request, beside its fit."""


class Producers:
    """The selection of producers for the hits of one request, whose scores are given by tool."""

    def __init__(self, dependencies: Dependencies, scores: Mapping[int, float], *, has_name: bool) -> None:
        self._dependencies = dependencies
        self._scores = scores
        self._has_name = has_name

    def chain(self, index: int) -> Iterator[tuple[str, int]]:
        """Yield the argument and the producer of the most specific value that a tool needs, then that one's."""
        for _ in range(_MAX_CHAIN):
            dependency, producers = next(iter(self._dependencies.producers(index)), (None, ()))
            if dependency is None:
                return
            highest = max(self._score(producer.index) for producer in producers) or 1.0
            index = max(producers, key=lambda each: (self._fit(each, highest), -each.index)).index
            yield dependency.argument, index

    def _fit(self, producer: Producer, highest: float) -> float:
        fit = producer.fit * _PRODUCER_FIT[producer.by_text, self._has_name]
        return fit + _OWN_SCORE_SHARE * self._score(producer.index) / highest

    def _score(self, index: int) -> float:
        return self._scores.get(index, 0.0)


_MAX_CANDIDATES: Final = 120
"""Candidates that BM25 returns: with 60 recall begins to fall, with 200 it does not rise."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of a search, with the tools that find values for its arguments: each the argument and the tool."""

    tool: Tool
    producers: tuple[tuple[str, Tool], ...] = ()


class Search:
    """An index over some tools. Used by one thread at a time. Raises SearchUnavailable without FTS5.

    With a `store` the index is read from there, or left there for the next start. With `sentences` the similarities of
    the same tools to the request as a sentence count too.
    """

    def __init__(
        self, tools: Iterable[Tool], store: IndexStore | None = None, sentences: Sentences | None = None
    ) -> None:
        self._tools = tuple(tools)
        self._entries, self._vectors = index_store.index(self._tools, store)
        self._sentences = sentences
        self._intents = [tool_intents(tool) for tool in self._tools]
        self._dependencies = Dependencies(self._tools)
        self._full_text = FullText(entry.fields for entry in self._entries)
        self._counts = self._full_text.counts

    def find(self, text: str, limit: int) -> list[Hit]:
        """Return at most `limit` tools, the best first.

        A request whose words no tool has may be a name: then the tools that search by name are returned. A request
        without words has no hits.
        """
        request = parse_query(text)
        if not request.terms:
            return []
        query = self._with_indexed_terms(request)
        scores = self._scores(query, text)
        if not scores:
            return [Hit(self._tools[index]) for index in self._dependencies.name_searches()[:limit]]
        best = sorted(scores, key=lambda index: (-scores[index], index))[:limit]
        return list(self._hits(best, scores, Producers(self._dependencies, scores, has_name=query.has_name)))

    def unknown_words(self, text: str) -> tuple[list[str], int]:
        """Return the words that neither a tool nor the table of words has, and the number of all that could tell.

        With a sentence model, a sentence that is similar to that of a tool has none; of another one all words are
        unknown unless a tool has one of them.
        """
        significant = dict.fromkeys(word for word in words(text) if word.casefold() not in STOP_WORDS)
        if similarities := self._sentence_similarities(text):
            is_understood = max(similarities) >= _MIN_SENTENCE
            if is_understood or not any(stem(word) in self._counts for word in significant):
                return [] if is_understood else list(significant), len(significant)
        return [word for word in significant if not (word.isdigit() or self._knows(word))], len(significant)

    def _knows(self, word: str) -> bool:
        return stem(word) in self._counts or word_table().knows(word)

    def _hits(self, best: Sequence[int], scores: Mapping[int, float], producers: Producers) -> Iterator[Hit]:
        """Yield the hits, each with its producers unless a hit before it has them or is one."""
        shown = set[int]()
        for index in best:
            shown.add(index)
            is_good = scores[index] >= _PRODUCER_THRESHOLD * scores[best[0]]
            found = [(name, each) for name, each in producers.chain(index) if each not in shown] if is_good else []
            shown.update(each for _, each in found)
            yield Hit(self._tools[index], tuple((name, self._tools[each]) for name, each in found))

    def _scores(self, query: Query, text: str) -> dict[int, float]:
        """Return the scores of the tools that match, by index."""
        matches = self._matches(query.terms)
        similarities = self._vectors.similarities(text)
        scores = {index: match + (similarities[index] if similarities else 0.0) for index, match in matches.items()}
        for index, similarity in enumerate(similarities):
            if similarity >= _MIN_SIMILARITY:
                scores.setdefault(index, similarity)
        factor = self._factor_of(text)
        by_words = {index: score * factor(index) for index, score in scores.items()}
        return self._with_sentences(by_words, text)

    def _with_sentences(self, scores: Mapping[int, float], text: str) -> dict[int, float]:
        """Return scores with the similarities of sentences, also for tools that have them alone."""
        return dict(scores) | {
            index: scores.get(index, 0.0) + _SENTENCE_WEIGHT * similarity
            for index, similarity in enumerate(self._sentence_similarities(text))
            if index in scores or similarity >= _MIN_SENTENCE
        }

    def _sentence_similarities(self, text: str) -> Sequence[float]:
        return self._sentences.similarities(text) if self._sentences else ()

    def _matches(self, query_terms: Sequence[QueryTerm]) -> dict[int, float]:
        """Return how well the candidates match the terms, relative to the best of them."""
        weights = [term.weight * max(map(self._rarity, (term.term, *term.synonyms))) for term in query_terms]
        total = sum(weights) or 1.0
        matches = {}
        for index, rank in self._candidates(query_terms).items():
            entry = self._entries[index]
            relevance = sum(weight * term.relevance(entry) for weight, term in zip(weights, query_terms, strict=True))
            matches[index] = (1 - _BM25_SHARE) * relevance / total + _BM25_SHARE * rank
        best = max(matches.values(), default=1.0)
        return {index: match / best for index, match in matches.items()}

    def _factor_of(self, text: str) -> Callable[[int], float]:
        """Return the function that tells the factor of a tool's score: by its intents, its path and its results."""
        intents = request_intents(text)
        other = _OTHER_INTENT[intents.is_certain]
        one_thing = _ONE_THING if intents.kinds == {"read"} and _EVERY.search(text) else 1.0

        def factor(index: int) -> float:
            path = self._tools[index].path
            by_intent = other if self._intents[index].isdisjoint(intents.kinds) else 1.0
            by_result = one_thing if path.rstrip("/").endswith("}") else 1.0
            return by_intent * by_result / (1 + _DEPTH_PENALTY * path.count("/"))

        return factor

    def _with_indexed_terms(self, query: Query) -> Query:
        """Return the query without the terms that no tool has; such a term is likely a name."""
        indexed = map(self._indexed_term, query.terms)
        known = tuple(each for each in indexed if each.synonyms or each.term in self._counts)
        return replace(query, terms=known, has_name=query.has_name or len(known) < len(query.terms))

    def _indexed_term(self, term: QueryTerm) -> QueryTerm:
        return replace(term, synonyms=tuple(synonym for synonym in term.synonyms if synonym in self._counts))

    def _candidates(self, query_terms: Sequence[QueryTerm]) -> dict[int, float]:
        """Return the tools that BM25 finds, by index, with their scores relative to the best one."""
        searched = dict.fromkeys(chain.from_iterable((each.term, *each.synonyms) for each in query_terms))
        return self._full_text.best(searched, _MAX_CANDIDATES)

    def _rarity(self, term: str) -> float:
        """Return BM25's inverse document frequency, never negative; 0 for a term that no tool has."""
        count = self._counts.get(term)
        return 0.0 if count is None else math.log(1 + (len(self._tools) - count + 0.5) / (count + 0.5))
