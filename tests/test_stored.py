"""Compiled tools in bytes: what is read back is what was written, damage is noticed, and no pickle does anything."""

import hashlib
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp import compiling, stored
from openapi_mcp.stored import Unusable
from openapi_mcp.wanted import Wanted
from tests.conftest import ROOT


def made(path: Path | str) -> stored.Made:
    document = compiling.load(str(path), Wanted())
    return compiling.origin(document), compiling.compiled(document, Wanted())


PETSTORE = made(ROOT / "specs" / "petstore.yaml")
WRITTEN = stored.written(PETSTORE)


def sealed(pickled: bytes) -> bytes:
    """A pickle with the digest that it should have, as somebody would forge it."""
    return hashlib.sha256(pickled).digest() + pickled


class Hostile:
    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> Any:
        return self.call, self.arguments


def test_what_is_read_is_what_was_written() -> None:
    assert stored.read(WRITTEN) == PETSTORE


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", ["petstore-v2/petstore.json", "docker-engine/api/swagger.yaml", "github-rest/api.github.com.json"]
)
def test_real_documents_too(corpus: Path, name: str) -> None:
    made_now = made(corpus / name)
    assert stored.read(stored.written(made_now)) == made_now


@given(st.integers(0, len(WRITTEN) - 1), st.integers(1, 255))
def test_a_changed_byte_is_noticed(place: int, change: int) -> None:
    damaged = bytearray(WRITTEN)
    damaged[place] ^= change
    with pytest.raises(Unusable):
        stored.read(bytes(damaged))


@given(st.integers(0, len(WRITTEN) - 1))
def test_a_part_is_noticed(length: int) -> None:
    with pytest.raises(Unusable):
        stored.read(WRITTEN[:length])


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
def test_a_forged_pickle_calls_nothing(hostile: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Unusable, match="is not to be stored"):
        stored.read(sealed(pickle.dumps((*PETSTORE, hostile))))
    assert not list(tmp_path.iterdir())


@given(st.binary(max_size=200))
def test_any_other_bytes_are_unusable(data: bytes) -> None:
    with pytest.raises(Unusable):
        stored.read(sealed(data))


@pytest.mark.parametrize("other", [None, (), PETSTORE[0], (PETSTORE[1], PETSTORE[0])])
def test_other_values_are_unusable(other: Any) -> None:
    with pytest.raises(Unusable, match="something else"):
        stored.read(sealed(pickle.dumps(other)))
