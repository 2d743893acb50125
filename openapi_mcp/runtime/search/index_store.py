"""The index of a search in bytes, so that the next start need not make it: it takes a tenth of the time to read.

A line `openapi-mcp index FORMAT DIGEST` (the SHA-256 of the rest); a line of JSON; the vectors as 32-bit floats, as
many for each tool as the table of words has dimensions. In the JSON object `texts` are all texts, `entries` the numbers
of those of each tool (its fields and the end of its path), `counts` how many tools have a word of the table, by its
row. The vectors of sentences have bytes of their own: a line `openapi-mcp sentences FORMAT DIGEST` (of their texts and
the rest), and 16-bit floats. Nothing in the bytes is ever called or imported; those that are not such an index are
ignored, and it is made anew.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, Protocol

from ..tool import Tool
from .full_text import FIELD_WEIGHTS
from .index import IndexedTool, Indexer, words_of
from .vectors import SENTENCE_DIMENSIONS, SentenceModel, SentenceVectors, ToolVectors, sentence_model, word_table

logger = logging.getLogger(__package__)
user_logger = logging.getLogger("openapi_mcp")

FORMAT: Final = 1
"""Number of this format."""

MIN_STORED_TOOLS: Final = 300
"""The index of fewer tools is made in a twentieth of a second."""

MAX_SENTENCE_TOOLS: Final = 2_000
"""A tool takes the sentence model 8 to 30 ms, so these up to a minute, and their vectors 4 MB of the cache. GitHub and
Kubernetes have 1,200."""

SENTENCE_SECONDS: Final = 10.0
"""The time that a search may spend on vectors of sentences; clients wait a minute for an answer."""

_ENTRY: Final = len(FIELD_WEIGHTS) + 1
Index = tuple[Sequence[IndexedTool], ToolVectors]


class IndexStore(Protocol):
    """A place for the indexes of tools. What it returns need not be what was stored."""

    def load(self, tools: Sequence[Tool], model: str = "") -> bytes | None:
        """Return the index of these tools, if it is there; with a model, the vectors that it made."""

    def save(self, tools: Sequence[Tool], data: bytes, model: str = "") -> None:
        """Keep the index of these tools, or the vectors that a model made."""


class InvalidIndex(Exception):
    """Bytes that are not an index of so many tools."""


def index(tools: Sequence[Tool], store: IndexStore | None = None) -> Index:
    """Return the index of some tools: from the store, or made and left there."""
    used = store if len(tools) >= MIN_STORED_TOOLS else None
    if used and (data := used.load(tools)):
        try:
            return load(data, len(tools))
        except InvalidIndex as error:
            logger.debug("The stored index of the search cannot be used: %s", error)
    texts, indexer = [words_of(tool) for tool in tools], Indexer()
    made = [indexer.entry(tool, each) for tool, each in zip(tools, texts, strict=True)], ToolVectors.of(texts)
    if used:
        used.save(tools, dump(*made))
    return made


class Sentences:
    """The vectors of some tools by a sentence model: from the store, or made in the first searches and left there."""

    def __init__(
        self, tools: Sequence[Tool], model: SentenceModel, store: IndexStore | None, seconds: float = SENTENCE_SECONDS
    ) -> None:
        self._tools = tools
        self._vectors = SentenceVectors(tools, model)
        self._key = f"sentences {model.version}"
        self._store = store
        self._seconds = seconds
        self._is_ready = self._is_reported = False

    def similarities(self, text: str) -> Sequence[float]:
        """Return the similarity of a text to each tool, 0 to 1; empty while vectors are still to be made."""
        if not self._is_ready:
            self._is_ready = self._read() or self._make()
        return self._vectors.similarities(text) if self._is_ready else ()

    def _read(self) -> bool:
        data = self._store.load(self._tools, self._key) if self._store and not self._is_reported else None
        if not data:
            return False
        try:
            self._vectors.fill(load_sentences(data, self._vectors.texts))
        except InvalidIndex as error:
            logger.debug("The stored vectors of the search cannot be used: %s", error)
            return False
        return True

    def _make(self) -> bool:
        if self._vectors.make(self._seconds):
            if self._store:
                self._store.save(self._tools, dump_sentences(self._vectors), self._key)
            return True
        if not self._is_reported:
            self._is_reported = True
            user_logger.warning("search: reading the tools with the sentence model goes on in the next searches")
        return False


def sentences(
    tools: Sequence[Tool], store: IndexStore | None = None, seconds: float = SENTENCE_SECONDS
) -> Sentences | None:
    """Return the sentences of some tools; None where no model is installed, or, with a warning, for too many tools."""
    model = sentence_model()
    if model and len(tools) > MAX_SENTENCE_TOOLS:
        message = "search: %s tools are more than the %s that the sentence model reads, so requests are read as English"
        user_logger.warning(message, f"{len(tools):,}", f"{MAX_SENTENCE_TOOLS:,}")
        return None
    return Sentences(tools, model, store, seconds) if model else None


def dump_sentences(vectors: SentenceVectors) -> bytes:
    """Return the vectors of sentences as bytes."""
    data = vectors.matrix.astype("<f2").tobytes()
    return _sentences_header(data, vectors.texts) + data


def load_sentences(data: bytes, texts: Sequence[str]) -> Any:
    """Return the vectors of these texts, a row each, from their bytes. Raises InvalidIndex."""
    import numpy as np

    start = data.find(b"\n") + 1
    if data[:start] != _sentences_header(data[start:], texts):
        raise InvalidIndex("the first line is not that of this content")
    if len(data) - start != len(texts) * SENTENCE_DIMENSIONS * 2:
        raise InvalidIndex("the vectors are those of other texts")
    matrix = np.frombuffer(data, "<f2", offset=start).reshape(len(texts), SENTENCE_DIMENSIONS)
    if not np.isfinite(matrix).all():
        raise InvalidIndex("a number is not finite")
    return matrix


def _sentences_header(content: bytes, texts: Sequence[str]) -> bytes:
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass") + content).hexdigest()
    return f"openapi-mcp sentences {FORMAT} {digest}\n".encode()


def dump(entries: Sequence[IndexedTool], vectors: ToolVectors) -> bytes:
    """Return an index as bytes."""
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(text, len(numbers)) for text in (*each.fields, each.end)] for each in entries]
    counts = [list(vectors.counts), list(vectors.counts.values())]
    content = json.dumps({"texts": list(numbers), "entries": rows, "counts": counts}, separators=(",", ":"))
    data = content.encode() + b"\n" + vectors.matrix.astype("<f4").tobytes()
    return _header(data) + data


def load(data: bytes, count: int) -> Index:
    """Return the index of so many tools from its bytes. Raises InvalidIndex."""
    start = data.find(b"\n") + 1
    end = data.find(b"\n", start)
    if end < 0 or data[:start] != _header(data[start:]):
        raise InvalidIndex("the first line is not that of this content")
    try:
        content = json.loads(data[start:end])
        entries = _entries(content["texts"], content["entries"], count)
        return entries, _vectors(content["counts"], data[end + 1 :], count)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InvalidIndex(f"{type(error).__name__}: {error}") from error


def _header(content: bytes) -> bytes:
    return f"openapi-mcp index {FORMAT} {hashlib.sha256(content).hexdigest()}\n".encode()


def _entries(texts: list[Any], rows: list[Any], count: int) -> list[IndexedTool]:
    if len(rows) != count or not all(type(text) is str for text in texts):
        raise InvalidIndex("the index is one of other tools")
    if not all(len(row) == _ENTRY for row in rows):
        raise InvalidIndex("a tool has more or fewer texts than fields")
    _check_numbers(chain.from_iterable(rows), len(texts))
    get = texts.__getitem__
    return [IndexedTool(tuple(map(get, row[:-1])), get(row[-1])) for row in rows]


def _vectors(counts: Sequence[list[Any]], data: bytes, count: int) -> ToolVectors:
    import numpy as np

    rows, numbers = counts
    _check_numbers(rows, word_table().size)
    _check_numbers(numbers, count + 1)
    matrix = np.frombuffer(data, "<f4").astype(np.float32).reshape(count, word_table().dimensions)
    if not np.isfinite(matrix).all():
        raise InvalidIndex("a number is not finite")
    return ToolVectors(dict(zip(rows, numbers, strict=True)), matrix)


def _check_numbers(numbers: Any, limit: int) -> None:
    """Raise InvalidIndex for anything but integers from zero to below a limit."""
    if not all(type(number) is int and 0 <= number < limit for number in numbers):
        raise InvalidIndex("a number is out of its range")
