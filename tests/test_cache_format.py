"""Compiled tools as bytes: reading returns the written values, damage is noticed, and no pickle calls anything."""

import hashlib
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp import cache
from openapi_mcp.cache import InvalidCacheFile
from openapi_mcp.compilation import CompileOptions
from openapi_mcp.tools import compiler
from tests.conftest import ROOT


def compiled(path: Path | str) -> cache.CacheEntry:
    document = compiler.load(str(path), CompileOptions())
    return compiler.document_info(document, CompileOptions()), compiler.compile_document(document, CompileOptions())


PETSTORE = compiled(ROOT / "specs" / "petstore.yaml")
DUMPED = cache.dump(PETSTORE)


def sealed(pickled: bytes) -> bytes:
    """Return a pickle behind its correct digest, as an attacker would forge it."""
    return hashlib.sha256(pickled).digest() + pickled


class Hostile:
    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> Any:
        return self.call, self.arguments


def test_load_returns_the_dumped_values() -> None:
    assert cache.load(DUMPED) == PETSTORE


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", ["petstore-v2/petstore.json", "docker-engine/api/swagger.yaml", "github-rest/api.github.com.json"]
)
def test_load_returns_the_dumped_values_of_real_documents(corpus: Path, name: str) -> None:
    entry = compiled(corpus / name)
    assert cache.load(cache.dump(entry)) == entry


@given(st.integers(0, len(DUMPED) - 1), st.integers(1, 255))
def test_changed_byte_is_noticed(index: int, change: int) -> None:
    damaged = bytearray(DUMPED)
    damaged[index] ^= change
    with pytest.raises(InvalidCacheFile):
        cache.load(bytes(damaged))


@given(st.integers(0, len(DUMPED) - 1))
def test_truncated_file_is_noticed(length: int) -> None:
    with pytest.raises(InvalidCacheFile):
        cache.load(DUMPED[:length])


@pytest.mark.parametrize(
    "hostile",
    [
        Hostile(os.system, "touch forged"),
        Hostile(subprocess.Popen, ["touch", "forged"]),
        Hostile(eval, "open('forged', 'w')"),
        Hostile(getattr, "text", "upper"),
        Path("forged"),
    ],
    ids=lambda hostile: getattr(getattr(hostile, "call", hostile), "__name__", "path"),
)
def test_forged_pickle_calls_nothing(hostile: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidCacheFile, match="is not a class of the cache"):
        cache.load(sealed(pickle.dumps((*PETSTORE, hostile))))
    assert not list(tmp_path.iterdir())


@given(st.binary(max_size=200))
def test_other_bytes_are_invalid(data: bytes) -> None:
    with pytest.raises(InvalidCacheFile):
        cache.load(sealed(data))


@pytest.mark.parametrize("other", [None, (), PETSTORE[0], (PETSTORE[1], PETSTORE[0])])
def test_other_values_are_invalid(other: Any) -> None:
    with pytest.raises(InvalidCacheFile, match="not a compilation"):
        cache.load(sealed(pickle.dumps(other)))
