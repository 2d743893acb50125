"""Reasons for a hit: the words of the request that a tool has, those that are similar to its own, and what it does."""

from collections.abc import Iterable, Iterator
from typing import Final

from ..tool import Tool
from .full_text import FIELD_WEIGHTS
from .index import index_tool, words_of
from .intents import request_intents, tool_intents
from .ranking import parse_query
from .vectors import word_table
from .vocabulary import STOP_WORDS, stem, words

_MIN_COSINE: Final = 0.25
"""The similarity of two words from which it is a reason: invoice and bill have 0.42, room and location 0.27."""

_MIN_WORD: Final = 3
"""Letters of a word of the tool that is named: shorter ones, as `id`, are similar to all sorts of words."""

_MAX_NEIGHBOURS: Final = 3
"""Similar words that are named for a tool."""


def reason(request: str, tool: Tool) -> str:
    """Return why a request finds a tool: `release in name, path; similar: cut ~ create 0.61; creates, as asked`."""
    matched = dict(_matched(request, tool))
    parts = [f"{word} in {', '.join(fields)}" for word, fields in matched.items()]
    similar = [f"{word} ~ {other} {cosine:.2f}" for word, other, cosine in _neighbours(request, tool, matched)]
    parts += [f"similar: {', '.join(similar[:_MAX_NEIGHBOURS])}"] if similar else []
    return "; ".join([*(parts or ["similar as a whole"]), _intent(request, tool)])


def _matched(request: str, tool: Tool) -> Iterator[tuple[str, list[str]]]:
    """Yield the words of a request that a tool has, itself or by a synonym, and the fields that have them."""
    written = {stem(word): word for word in reversed(words(request))}
    indexed = index_tool(tool, words_of(tool))
    fields = {name: frozenset(text.split()) for name, text in zip(FIELD_WEIGHTS, indexed.fields, strict=True)}
    for term in parse_query(request).terms:
        own = [name for name, found in fields.items() if term.term in found]
        by_synonym = [] if own or fields["synonyms"].isdisjoint(term.synonyms) else ["synonyms"]
        if own or by_synonym:
            yield written.get(term.term, term.term), own or by_synonym


def _neighbours(request: str, tool: Tool, matched: Iterable[str]) -> Iterator[tuple[str, str, float]]:
    """Yield the words of a request that a tool does not have, each with the most similar word of the tool."""
    import numpy as np

    table, texts = word_table(), words_of(tool)
    telling = [word for part in texts for word in part if len(word) >= _MIN_WORD]
    own = {row: word for word in telling for row in table.rows_of([word])}
    others = [
        word for word in dict.fromkeys(words(request)) if word not in matched and word.casefold() not in STOP_WORDS
    ]
    asked = {row: word for word in others for row in table.rows_of([word])}
    if not own or not asked:
        return
    ours, theirs = (table.vectors(list(rows)) for rows in (own, asked))
    lengths = np.outer(np.linalg.norm(theirs, axis=1), np.linalg.norm(ours, axis=1))
    cosines = (theirs @ ours.T) / np.where(lengths == 0, 1, lengths)
    best = cosines.argmax(axis=1)
    found = [
        (float(row[index]), word, list(own.values())[index])
        for row, word, index in zip(cosines, asked.values(), best, strict=True)
    ]
    for cosine, word, other in sorted(found, key=lambda each: (-each[0], each[1])):
        if cosine >= _MIN_COSINE and word.casefold() != other.casefold():
            yield word, other, cosine


def _intent(request: str, tool: Tool) -> str:
    asked, done = request_intents(request), tool_intents(tool)
    does = _verbs(done)
    if not done.isdisjoint(asked.kinds):
        return f"{does}, as asked"
    asks = "asks" if asked.is_certain else "seems"
    return f"{does}, but the request {asks} to {_verbs(asked.kinds, plain=True)}"


def _verbs(kinds: Iterable[str], *, plain: bool = False) -> str:
    """Return intents as verbs: `creates or changes`, or plain `create or change`."""
    verbs = [kind if plain else f"{kind}s" for kind in ("read", "create", "change", "delete") if kind in set(kinds)]
    return " or ".join(verbs) or "acts"
