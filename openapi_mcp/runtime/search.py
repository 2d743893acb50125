"""`Search`: the tools that a request in plain words needs, the best first, with those that find what these need.

SQLite's FTS5 finds candidates by BM25; then the words of the request are shared out: a tool that answers to words which
no tool before it did comes first, and brings along what finds its ids. In memory, no model, the same answer every time.
"""

import math
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from .chains import Chains, Source
from .entries import WEIGHTS, Entry, entry
from .errors import RuntimeFailure
from .models import Tool
from .synonyms import METHODS, SUBJECTS, WANTS
from .terms import stem, terms

_CANDIDATES: Final = 120
"""Tools that BM25 hands over: with 60 recall begins to fall, with 200 it does not rise."""

_HEAD, _CORE, _HEAD_SUBJECT, _CORE_SUBJECT, _REST = 1.0, 0.7, 0.6, 0.5, 0.3
"""How well a tool answers to a word of the request: what its path ends in, what it is named by, a synonym, the rest."""

_RANK: Final = 0.05
"""The share of BM25's own order, which decides where nothing else does."""

_WANTED, _UNWANTED = 1.4, 0.75
"""For a tool whose method does what the request's verb says, or something else."""

_DEPTH: Final = 0.02
"""For each segment of a path: of two tools that answer alike, the one nearer to the root is meant more often."""

_ANSWERED: Final = 0.75
"""What is left of a word's weight after a tool answered to it wholly; of what BM25 finds, most is of one kind."""

_VERB: Final = 0.6
"""A verb says what is done, and the method knows that already."""

_PERSON: Final = 0.6
"""The weight of an unsaid `person` against a said one, where a request has `by Somebody` or `Somebody's`."""

_WORTH: Final = 0.35
"""A tool that is this much worse than the best one brings nothing along."""

_LINKS: Final = 2
"""Length of a chain: what finds a thing may itself need something to be found."""

_OF_SOURCE: Final = {(True, True): 1.0, (True, False): 0.75, (False, True): 0.65, (False, False): 1.0}
"""By text or not, by whether the request names a thing: a name is searched for, without one a list will do."""

_NAME: Final = re.compile(r"(?<=[\w,;:] )[\"'“]?[A-Z]|[\"“][^\"”]+[\"”]|\s'[^']+'")
"""A capital letter that begins no sentence, or something in quotes."""

_BY_SOMEBODY: Final = re.compile(r"\bby [A-Z]|\b[A-Z]\w*['’]s\b")

_FILLERS: Final = (
    "a an the of to in on for with and or but by from at as it its this that these those there here i me my mine we us our "
    "you your he him his she her they them their who whom whose which what when where why how is are was were am be been "
    "do does did has have had can could would should will may might must shall let please want need give tell show find "
    "get some any all each every much many more most less least few both about into out up down back over under than then "
    "so just also only not no one thing something like through during after before again"
)
_IGNORED: Final = frozenset(map(stem, _FILLERS.split()))
"""Words that say nothing about which tool is meant; those among them that are verbs still say what is wanted."""


class SearchUnavailable(RuntimeFailure):
    """This Python's SQLite was built without FTS5."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that was found; `gives` names the argument of a better one for which it finds a value."""

    tool: Tool
    gives: str | None = None


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a request that tools know: its stem, its subjects, its weight (the rarer, the more)."""

    term: str
    subjects: tuple[str, ...]
    weight: float

    def answered(self, known: Entry) -> float:
        """How well a tool answers to it, 0 to 1."""
        for strength, own, terms_there in (
            (_HEAD, True, known.head),
            (_CORE, True, known.core),
            (_HEAD_SUBJECT, False, known.head),
            (_CORE_SUBJECT, False, known.core),
            (_REST, True, known.rest),
        ):
            if self.term in terms_there if own else not terms_there.isdisjoint(self.subjects):
                return strength
        return 0.0


class Search:
    """An index over some tools, made once. It may be used from one thread at a time. Raises SearchUnavailable."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self._entries = [entry(tool) for tool in self.tools]
        self._chains = Chains(self.tools)
        self._database = _indexed(self._entries)
        self._known = dict[str, int](self._database.execute("SELECT term, doc FROM known"))

    def find(self, request: str, limit: int) -> list[Hit]:
        """At most `limit` tools, the best first; none where the tools know no word of the request."""
        words = self._words(request)
        if not words:
            return []
        return _Choice(self, words, request).made(limit)

    def candidates(self, words: Sequence[_Word]) -> dict[int, float]:
        """The tools that BM25 finds, by index, with their rank in relation to the first one's."""
        asked = dict.fromkeys(chain.from_iterable((word.term, *word.subjects) for word in words))
        match = " OR ".join(f'"{term}"' for term in asked if term in self._known)
        found = self._database.execute(_QUERY, (match, _CANDIDATES)).fetchall()
        return {index: rank / (found[0][1] or 1.0) for index, rank in found}

    def knows(self, term: str) -> bool:
        """Whether any tool has a term."""
        return term in self._known

    def entry(self, index: int) -> Entry:
        """What is known of a tool."""
        return self._entries[index]

    def chains(self) -> Chains:
        """What finds what."""
        return self._chains

    def _words(self, request: str) -> list[_Word]:
        said = [term for term in dict.fromkeys(terms(request)) if term not in _IGNORED and not term.isdigit()]
        verb = next((term for term in said if term in WANTS), None)
        words = [self._word(term, _VERB if term == verb else 1.0) for term in said]
        if _BY_SOMEBODY.search(request):
            words.append(self._word(stem("person"), _PERSON))
        return [word for word in words if word.weight > 0]

    def _word(self, term: str, share: float) -> _Word:
        subjects = tuple(subject for subject in SUBJECTS.get(term, ()) if subject in self._known)
        return _Word(term, subjects, share * max(map(self._rarity, (term, *subjects))))

    def _rarity(self, term: str) -> float:
        """BM25's inverse document frequency, never negative; 0 of what no tool has."""
        count = self._known.get(term)
        return 0.0 if count is None else math.log(1 + (len(self.tools) - count + 0.5) / (count + 0.5))


class _Choice:
    """The tools for one request, chosen one after the other."""

    def __init__(self, search: Search, words: Sequence[_Word], request: str) -> None:
        self._search = search
        self._weights = [word.weight for word in words]
        self._whole = sum(self._weights)
        said = terms(request)
        self._names = bool(_NAME.search(request)) or any(
            not search.knows(term) and term not in _IGNORED and term not in SUBJECTS and term not in WANTS for term in said
        )
        self._wanted = next((WANTS[term] for term in said if term in WANTS), ())
        self._ranks = search.candidates(words)
        self._answers = {index: [word.answered(search.entry(index)) for word in words] for index in self._ranks}
        self._factors = {index: self._factor(search.tools[index]) for index in self._ranks}
        self._chosen: dict[int, str | None] = {}

    def made(self, limit: int) -> list[Hit]:
        """The choice."""
        best = 0.0
        while len(self._chosen) < limit:
            left = [index for index in self._ranks if index not in self._chosen]
            if not left:
                break
            index = max(left, key=self._value)
            value = self._value(index)
            best = max(best, value)
            self._choose(index)
            if value >= _WORTH * best:
                self._bring(index, _LINKS)
        chosen = list(self._chosen.items())[:limit]
        return [Hit(self._search.tools[index], gives) for index, gives in chosen]

    def _factor(self, tool: Tool) -> float:
        does = METHODS.get(tool.method, "create")
        fits = 1.0 if not self._wanted else _WANTED if does in self._wanted else _UNWANTED
        return fits / (1 + _DEPTH * tool.path.count("/"))

    def _value(self, index: int) -> float:
        """What a tool answers to of what is still to be answered."""
        if index not in self._ranks:
            return 0.0
        answered = sum(map(float.__mul__, self._weights, self._answers[index]))
        return self._factors[index] * (answered + _RANK * self._whole * self._ranks[index])

    def _choose(self, index: int, gives: str | None = None) -> None:
        self._chosen[index] = gives
        for place, answered in enumerate(self._answers.get(index, ())):
            self._weights[place] *= 1 - (1 - _ANSWERED) * answered

    def _bring(self, index: int, links: int) -> None:
        """Choose what finds the last thing that a tool needs and that can be found, unless it is there."""
        for need, sources in self._search.chains().sources(index)[:1]:
            highest = max(self._value(source.index) for source in sources) or 1.0
            source = max(sources, key=lambda source: (self._use(source, highest), -source.index))
            if source.index not in self._chosen:
                self._choose(source.index, need.argument)
            if links > 1:
                self._bring(source.index, links - 1)

    def _use(self, source: Source, highest: float) -> float:
        """How well a source serves this request: by its kind first, then by how well it answers itself."""
        return source.fit * _OF_SOURCE[source.by_text, self._names] + _SELF * self._value(source.index) / highest


_SELF: Final = 0.4
"""The share of what the best source of all would get for answering to the request itself."""


def _indexed(entries: Iterable[Entry]) -> sqlite3.Connection:
    """The index of the entries, by their number: one FTS5 table without its contents, and one of its terms."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    columns = ", ".join(WEIGHTS)
    try:
        database.execute(
            f"CREATE VIRTUAL TABLE entries USING fts5({columns}, content='', "
            "tokenize=\"unicode61 remove_diacritics 0 tokenchars '='\")"
        )
    except sqlite3.OperationalError as error:
        raise SearchUnavailable(f"Tools cannot be searched: this Python's SQLite is without FTS5 ({error}).") from None
    places = ", ".join("?" * (len(WEIGHTS) + 1))
    rows = ((index, *entry.fields) for index, entry in enumerate(entries))
    database.executemany(f"INSERT INTO entries(rowid, {columns}) VALUES ({places})", rows)
    database.execute("CREATE VIRTUAL TABLE known USING fts5vocab(entries, 'row')")
    return database


_QUERY: Final = (
    f"SELECT rowid, -bm25(entries, {', '.join(map(str, WEIGHTS.values()))}) FROM entries "
    "WHERE entries MATCH ? ORDER BY 2 DESC, rowid LIMIT ?"
)
