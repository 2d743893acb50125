"""Vectors of texts: words that are used for the same thing have similar ones, as `chargeback` and `dispute` do.

The vector of a text is the sum of its words' vectors, each weighted by how rare the word is among the tools. Those of
words come from a table, `words.npz`, which `benchmarks/word_table.py` makes; it is loaded with the first index.

A word that is not in the table has no vector, so that a text in another language has none or that of its English words.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import chain
from math import log
from typing import TYPE_CHECKING, Any, Final, Self

from .index import ToolWords
from .vocabulary import MAX_CACHED_WORDS, STOP_WORDS, words

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

_VERBS: Final = """
get list fetch show find read retrieve view see look display return query tell give create add make new post insert
update change edit modify patch set put replace delete remove drop all
"""
"""Words that every API has: what they tell is an intent (see `intents`)."""

PART_WEIGHTS: Final = {"name": 1.0, "path": 0.6, "end": 0.4, "tags": 0.3, "description": 0.6, "arguments": 0.2}
"""The weights of the fields of ToolWords in the vector of a tool."""


class ToolVectors:
    """The vectors of some tools, by index, and the number of tools that have a word, by its row in the table."""

    def __init__(self, counts: Mapping[int, int], matrix: "Matrix") -> None:
        self.counts = counts
        self.matrix = matrix
        self._table = word_table()
        self._highest_rarity = log(1 + len(matrix))
        self._rarities = {row: log(1 + len(matrix) / (1 + count)) for row, count in counts.items()}

    @classmethod
    def of(cls, tools: Sequence[ToolWords]) -> Self:
        """Return the vectors of tools with these words."""
        import numpy as np

        texts = list(dict.fromkeys(text for tool in tools for text in tool))  # many tools share a path or arguments
        number = {text: index for index, text in enumerate(texts)}
        parts = {part: [number[getattr(tool, part)] for tool in tools] for part in PART_WEIGHTS}
        rows = [word_table().rows_of(text) for text in texts]
        vectors = cls(_counts(rows, parts.values()), np.zeros((len(tools), word_table().dimensions), np.float32))
        sums = vectors._sums(rows)
        for part, weight in PART_WEIGHTS.items():
            vectors.matrix += np.float32(weight) * sums[parts[part]]
        vectors.matrix = _unit(vectors.matrix)
        return vectors

    def similarities(self, text: str) -> list[float]:
        """Return the cosine of a text's vector and that of each tool, at least 0; empty without a known word."""
        rows = self._table.rows_of(words(text))
        if not rows or not len(self.matrix):
            return []
        vector = _unit(self._weighted(rows).sum(axis=0, keepdims=True))[0]
        cosines: list[float] = (self.matrix @ vector).clip(min=0.0).round(5).tolist()
        return cosines

    def _weighted(self, rows: Sequence[int]) -> "Matrix":
        """Return the vectors of words, given as rows of the table, each times its rarity."""
        import numpy as np

        rarities = [self._rarities.get(row, self._highest_rarity) for row in rows]
        vectors: Matrix = self._table.vectors(rows) * np.array(rarities, np.float32)[:, None]
        return vectors

    def _sums(self, texts: Sequence[Sequence[int]]) -> "Matrix":
        """Return a unit vector for each text, given as rows of the table; zero for a text without words."""
        import numpy as np

        rows, row_of = np.unique(np.fromiter(chain.from_iterable(texts), np.int64), return_inverse=True)
        text_of = np.repeat(np.arange(len(texts)), list(map(len, texts)))
        sums = np.zeros((len(texts), self._table.dimensions), np.float32)
        for column, values in enumerate(self._weighted(rows.tolist()).T):
            sums[:, column] = np.bincount(text_of, values[row_of], len(texts))
        return _unit(sums)


def _counts(texts: Sequence[Sequence[int]], parts: Iterable[Sequence[int]]) -> Mapping[int, int]:
    """Return the number of tools with each row of the table, given the number of a tool's text in each part."""
    sets = list(map(frozenset, texts))
    tools = (frozenset[int]().union(*map(sets.__getitem__, tool)) for tool in zip(*parts, strict=True))
    return Counter(chain.from_iterable(tools))


class WordTable:
    """A table of word vectors."""

    def __init__(self, table: Any) -> None:
        self._rows = {word: row for row, word in enumerate(str(table["words"]).split("\n"))}
        self._vectors = table["vectors"]
        self._telling_row = lru_cache(maxsize=MAX_CACHED_WORDS)(self._find_telling_row)
        self.size: int = self._vectors.shape[0]
        self.dimensions: int = self._vectors.shape[1]

    def rows_of(self, text: Iterable[str]) -> list[int]:
        """Return the rows of the words that tell what a text is about, each once."""
        return [row for row in dict.fromkeys(map(self._telling_row, text)) if row is not None]

    def knows(self, word: str) -> bool:
        """Return whether a word has a vector."""
        return self._row(word.casefold()) is not None

    def vectors(self, rows: Sequence[int]) -> "Matrix":
        """Return the vectors of rows, not of unit length."""
        import numpy as np

        vectors: Matrix = self._vectors[np.array(rows, np.int64)].astype(np.float32)
        return vectors

    def _find_telling_row(self, word: str) -> int | None:
        plain = word.casefold()
        return None if plain in _UNTELLING else self._row(plain)

    def _row(self, word: str) -> int | None:
        """Return the row of a word or of its singular."""
        stem = f"{word[:-3]}y" if word.endswith("ies") else word
        forms = (word, stem, word.removesuffix("s"), word.removesuffix("es"))
        return next((self._rows[form] for form in forms if form in self._rows), None)


_UNTELLING: Final = STOP_WORDS.union(_VERBS.split())


@lru_cache(maxsize=1)
def word_table() -> WordTable:
    """Return the table, which is read once."""
    import numpy as np

    with resources.files(__package__).joinpath("words.npz").open("rb") as file:
        return WordTable(dict(np.load(file, allow_pickle=False)))


def _unit(vectors: "Matrix") -> "Matrix":
    """Return the vectors with length 1; zero stays zero."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    unit: Matrix = vectors / lengths
    return unit
