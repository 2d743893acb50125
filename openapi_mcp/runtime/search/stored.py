"""The index of a search in bytes, so that the next start need not make it: it takes a tenth of the time to read.

A line `openapi-mcp index FORMAT DIGEST` (the SHA-256 of the rest); a line of JSON; the vectors as 32-bit floats, as
many for each tool as the table of words has dimensions. In the JSON object `texts` are all texts, `entries` the numbers
of those of each tool (its fields and the end of its path), `counts` how many tools have a word of the table, by its
row. Nothing in the bytes is ever called or imported; those that are not such an index are ignored, and it is made anew.
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
from .vectors import ToolVectors, word_table

logger = logging.getLogger(__package__)

FORMAT: Final = 1
"""Number of this format."""

MIN_STORED_TOOLS: Final = 300
"""The index of fewer tools is made in a twentieth of a second."""

_ENTRY: Final = len(FIELD_WEIGHTS) + 1
Index = tuple[Sequence[IndexedTool], ToolVectors]


class IndexStore(Protocol):
    """A place for the indexes of tools. What it returns need not be what was stored."""

    def load(self, tools: Sequence[Tool]) -> bytes | None:
        """Return the index of these tools, if it is there."""

    def save(self, tools: Sequence[Tool], data: bytes) -> None:
        """Keep the index of these tools."""


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
