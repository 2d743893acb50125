"""Vectors of texts: words that are used for the same thing have similar ones, as `chargeback` and `dispute` do.

The vector of a text is the sum of its words' vectors, each weighted by how rare the word is among the tools. Those of
words come from a table, `words.npz`, which `benchmarks/word_table.py` makes; it is loaded with the first index.

A word that is not in the table has no vector, so that a text in another language has none or that of its English words.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import resources
from math import log
from typing import TYPE_CHECKING, Any, Final

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

_CHUNK: Final = 1000
"""Tools whose vectors are computed together: their words' vectors take 40 MB at most."""


class ToolVectors:
    """The vectors of some tools with these words, by index."""

    def __init__(self, tools: Sequence[ToolWords]) -> None:
        import numpy as np

        self._table = table = word_table()
        parts = [[table.rows_of(getattr(tool, part)) for part in PART_WEIGHTS] for tool in tools]
        counts = Counter(row for tool_parts in parts for row in {row for part in tool_parts for row in part})
        self._highest_rarity = log(1 + len(tools))
        self._rarities = {row: log(1 + len(tools) / (1 + count)) for row, count in counts.items()}
        weighted = np.zeros((table.size, table.dimensions), np.float32)
        weighted[list(counts)] = self._weighted(list(counts))
        self._matrix = _matrix(parts, weighted)

    def similarities(self, text: str) -> list[float]:
        """Return the cosine of a text's vector and that of each tool, at least 0; empty without a known word."""
        rows = self._table.rows_of(words(text))
        if not rows or not len(self._matrix):
            return []
        vector = _unit(self._weighted(rows).sum(axis=0, keepdims=True))[0]
        cosines: list[float] = (self._matrix @ vector).clip(min=0.0).round(5).tolist()
        return cosines

    def _weighted(self, rows: Sequence[int]) -> "Matrix":
        """Return the vectors of words, given as rows of the table, each times its rarity."""
        import numpy as np

        rarities = [self._rarities.get(row, self._highest_rarity) for row in rows]
        vectors: Matrix = self._table.vectors(rows) * np.array(rarities, np.float32)[:, None]
        return vectors


def _matrix(tools: Sequence[Sequence[Sequence[int]]], weighted: "Matrix") -> "Matrix":
    """Return a unit vector for each tool, given as the rows of its parts: the sum of those of its parts."""
    import numpy as np

    chunks = [np.zeros((0, weighted.shape[1]), np.float32)]
    for start in range(0, len(tools), _CHUNK):
        chunk = zip(*tools[start : start + _CHUNK], strict=True)
        sums = [weight * _sums(part, weighted) for weight, part in zip(PART_WEIGHTS.values(), chunk, strict=True)]
        chunks.append(_unit(np.add.reduce(sums)))
    return np.concatenate(chunks)


def _sums(texts: Sequence[Sequence[int]], weighted: "Matrix") -> "Matrix":
    """Return a unit vector for each text; zero for a text without words."""
    import numpy as np

    sums = np.zeros((len(texts), weighted.shape[1]), np.float32)
    if not_empty := [number for number, text in enumerate(texts) if text]:
        ends = np.cumsum([len(texts[number]) for number in not_empty])
        vectors = weighted[[row for text in texts for row in text]]
        sums[not_empty] = np.add.reduceat(vectors, [0, *ends[:-1]])
    return _unit(sums)


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
