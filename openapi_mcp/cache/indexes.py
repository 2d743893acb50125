"""`IndexCache`: the indexes of searches, kept beside the compiled tools that they are made of."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ..compilation import DocumentInfo
from ..runtime.tool import Tool
from .files import Cache

WORDS = Path(__file__).parents[1] / "runtime" / "search" / "words.npz"


class IndexCache:
    """The indexes of the tools of one compilation, all of them or some: `key` is that of its file.

    A document from a URL has one key whatever its content, so the digests of its files are a part of the index's key,
    and so is the table of words. What is read here is checked by `runtime.search.stored`.
    """

    def __init__(self, cache: Cache, key: str, info: DocumentInfo) -> None:
        self._cache = cache
        self._key = key
        self._digests = sorted(info.digests.items())

    def load(self, tools: Sequence[Tool], model: str = "") -> bytes | None:
        """Return the index of these tools, if it is there; with a model, the vectors that it made."""
        return self._cache.get(self._key_of(tools, model))

    def save(self, tools: Sequence[Tool], data: bytes, model: str = "") -> None:
        """Keep the index of these tools, or the vectors that a model made, if they are not too large."""
        self._cache.put(self._key_of(tools, model), data)

    def _key_of(self, tools: Sequence[Tool], model: str) -> str:
        words = WORDS.stat()
        parts = (self._key, self._digests, words.st_mtime_ns, words.st_size, model, [tool.name for tool in tools])
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
