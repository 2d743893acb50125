"""Which of the tools that may answer a request are shown, and in which order.

One after the other: a tool that answers to words which no tool before it did comes first, since a request often needs
several different ones; and each brings along the tool that finds what it needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .chains import Chains, Source
from .entries import Entry
from .models import Tool
from .synonyms import METHODS
from .wording import Request

_RANK: Final = 0.05
"""The share of BM25's own order, which decides where nothing else does."""

_WANTED, _UNWANTED = 1.4, 0.75
"""For a tool whose method does what the request's verb says, or something else."""

_DEPTH: Final = 0.02
"""For each segment of a path: of two tools that answer alike, the one nearer to the root is meant more often."""

_LEFT: Final = 0.75
"""What is left of a word's weight after a tool answered to it wholly."""

_WORTH: Final = 0.35
"""A tool that is this much worse than the best one brings nothing along."""

_LINKS: Final = 2
"""Length of a chain: what finds a thing may itself need something to be found."""

_KIND: Final[Mapping[tuple[bool, bool], float]] = {
    (True, True): 1.0,
    (True, False): 0.75,
    (False, True): 0.65,
    (False, False): 1.0,
}
"""How well a source serves by whether it searches for text, and whether the request has a name to search for."""

_ITSELF: Final = 0.4
"""The share of how well a source answers to the request itself, beside its kind."""


@dataclass(frozen=True, slots=True)
class Known:
    """The tools of an index, what is known of each, and what finds what."""

    tools: Sequence[Tool]
    entries: Sequence[Entry]
    chains: Chains


class Choice:
    """The tools for one request. `weights` are those of its words, `ranks` BM25's of the candidates, by their index."""

    def __init__(self, known: Known, request: Request, weights: Sequence[float], ranks: Mapping[int, float]) -> None:
        self._request = request
        self._weights = list(weights)
        self._whole = sum(weights)
        self._ranks = ranks
        self._chains = known.chains
        self._answers = {index: [word.answered(known.entries[index]) for word in request.words] for index in ranks}
        self._factors = {index: self._factor(known.tools[index]) for index in ranks}
        self._chosen: dict[int, str | None] = {}

    def made(self, limit: int) -> list[tuple[int, str | None]]:
        """At most `limit` tools by index, the best first; with the argument of another one that a tool finds, if so."""
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
        return list(self._chosen.items())[:limit]

    def _factor(self, tool: Tool) -> float:
        wants = self._request.wants
        fits = 1.0 if not wants else _WANTED if METHODS.get(tool.method, "create") in wants else _UNWANTED
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
            self._weights[place] *= 1 - (1 - _LEFT) * answered

    def _bring(self, index: int, links: int) -> None:
        """Choose what finds the most particular thing that a tool needs and that can be found, unless it is there."""
        for need, sources in self._chains.sources(index)[:1]:
            highest = max(self._value(source.index) for source in sources) or 1.0
            source = max(sources, key=lambda source: (self._use(source, highest), -source.index))
            if source.index not in self._chosen:
                self._choose(source.index, need.argument)
            if links > 1:
                self._bring(source.index, links - 1)

    def _use(self, source: Source, highest: float) -> float:
        kind = source.fit * _KIND[source.by_text, self._request.has_name]
        return kind + _ITSELF * self._value(source.index) / highest
