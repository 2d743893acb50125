"""`IndexCache`: the indexes of searches, kept beside the compiled tools that they are made of."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ..compilation import DocumentInfo
from ..runtime.tool import Tool
from .files import Cache

WORDS = Path(__file__).parents[1] / "runtime" / "search" / "words.npz"


@dataclass(frozen=True, slots=True)
class IndexCache:
    """The indexes of some tools; `state` is equal for the same tools only, and so is its `repr`.

    The table of words is a part of the index's key too. What is read here is checked by `runtime.search.index_store`.
    """

    cache: Cache
    state: object

    @classmethod
    def of_compilation(cls, cache: Cache, key: str, info: DocumentInfo) -> Self:
        """Return the cache for the tools of one compilation, all of them or some; `key` is that of its file.

        A document from a URL has one key whatever its content, so the digests of its files are a part of the state.
        """
        return cls(cache, (key, sorted(info.digests.items())))

    @classmethod
    def of_apis(cls, caches: "Mapping[str, IndexCache | None]") -> Self | None:
        """Return the cache for the tools of several APIs, by their names; None where those of any are not cached."""
        kept = [(name, each) for name, each in caches.items() if each is not None]
        complete = len(kept) == len(caches) > 0
        return cls(kept[0][1].cache, [(name, each.state) for name, each in kept]) if complete else None

    def load(self, tools: Sequence[Tool], model: str = "") -> bytes | None:
        """Return the index of these tools, if it is there; with a model, the vectors that it made."""
        return self.cache.get(self._key_of(tools, model))

    def save(self, tools: Sequence[Tool], data: bytes, model: str = "") -> None:
        """Keep the index of these tools, or the vectors that a model made, if they are not too large."""
        self.cache.put(self._key_of(tools, model), data)

    def _key_of(self, tools: Sequence[Tool], model: str) -> str:
        words = WORDS.stat()
        parts = (self.state, words.st_mtime_ns, words.st_size, model, [tool.name for tool in tools])
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
