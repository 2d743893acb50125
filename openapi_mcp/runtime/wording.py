"""What a request says: the words that tools know, what is to be done, and whether something is called by its name.

English, as APIs are written; a request in another language is found by the words it shares with the tools.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .entries import Entry
from .synonyms import SUBJECTS, WANTS
from .terms import stem, terms

_FILLERS: Final = """
a an the of to in on for with and or but by from at as it its this that these those there here
i me my mine we us our you your he him his she her they them their who whom whose which what when where why how
is are was were am be been do does did has have had can could would should will may might must shall let
please want need give tell show find get some any all each every much many more most less least few both
about into out up down back over under than then so just also only not no one thing something like
through during after before again
"""
IGNORED: Final = frozenset(terms(_FILLERS))
"""Words that say nothing about which tool is meant; those among them that are verbs still say what is wanted."""

_HEAD, _CORE, _HEAD_SUBJECT, _CORE_SUBJECT, _REST = 1.0, 0.7, 0.6, 0.5, 0.3
"""How well a tool answers to a word: by what its path ends in, by what it is named, by a synonym, by all the rest."""

_VERB: Final = 0.6
"""The weight of a verb: it says what is done, and the method knows that already."""

_PERSON: Final = 0.6
"""The weight of an unsaid `person` against a said one, where a request has `by Somebody` or `Somebody's`."""

_BY_SOMEBODY: Final = re.compile("\\bby [A-Z]|\\b[A-Z]\\w*['\u2019]s\\b")
_NAME: Final = re.compile("(?<=[\\w,;:] )[\"'\u201c]?[A-Z]|[\"\u201c][^\"\u201d]+[\"\u201d]|\\s'[^']+'")
"""A capital letter that begins no sentence, or something in quotes."""


_PARTS: Final = re.compile(r"\b(?:and|then)\b|[,;.]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a request: its stem, the subjects that it may stand for, and how much it counts beside the others."""

    term: str
    subjects: tuple[str, ...]
    share: float = 1.0

    def answered(self, known: Entry) -> float:
        """How well a tool answers to it, 0 to 1."""
        if self.term in known.head:
            return _HEAD
        if self.term in known.core:
            return _CORE
        if not known.head.isdisjoint(self.subjects):
            return _HEAD_SUBJECT
        if not known.core.isdisjoint(self.subjects):
            return _CORE_SUBJECT
        return _REST if self.term in known.rest else 0.0


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its words, what its verb wants (of `VERBS`), whether it has a name as far as its writing tells."""

    words: tuple[Word, ...]
    wants: frozenset[str]
    has_name: bool


def read(text: str) -> Request:
    """Read a request."""
    said = list(dict.fromkeys(terms(text)))
    return Request(tuple(_words(said, text)), frozenset(_wants(text)), bool(_NAME.search(text)))


def _wants(text: str) -> Iterator[str]:
    """What the first verb says is wanted, and each verb that begins another part: `change this and delete that`."""
    first, *others = [terms(part) for part in _PARTS.split(text)]
    yield from next((WANTS[term] for term in first if term in WANTS), ())
    yield from (want for part in others for want in WANTS.get(part[0] if part else "", ()))


def _words(said: Sequence[str], text: str) -> Iterator[Word]:
    telling = [term for term in said if term not in IGNORED and not term.isdigit()]
    verb = next((term for term in telling if term in WANTS), None)
    for term in telling:
        yield Word(term, SUBJECTS.get(term, ()), _VERB if term == verb else 1.0)
    if _BY_SOMEBODY.search(text):
        person = stem("person")
        yield Word(person, SUBJECTS.get(person, ()), _PERSON)
