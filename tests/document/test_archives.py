"""Documents in gzip and zip files: read, bounded, and refused in words."""

import gzip
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from openapi_mcp import Bridge, Config
from openapi_mcp.document.archives import unpacked
from openapi_mcp.document.loader import load
from openapi_mcp.document.model import Limits
from openapi_mcp.errors import DocumentError
from tests.conftest import ROOT

PETSTORE = (ROOT / "specs" / "petstore.yaml").read_bytes()


def zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(PETSTORE),
        gzip.compress(PETSTORE[:1000]) + gzip.compress(PETSTORE[1000:]),
        zipped({"api/petstore.yaml": PETSTORE, "README.md": b"# openapi: no", "package.json": b'{"name": "x"}'}),
        zipped({"openapi.yaml": PETSTORE, "old/openapi.yaml": PETSTORE}),
    ],
    ids=["gzip", "gzip of two members", "zip", "zip with an older one below"],
)
def test_the_document_in_an_archive_is_read(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "petstore.bin"
    path.write_bytes(data)
    for _ in range(2):  # the second time from the cache
        bridge = Bridge.open(Config(source=str(path)))
        assert len(bridge.tools) == 9
        assert not bridge.problems


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(PETSTORE)[:-9], "the gzip file ends too soon"),
        (b"\x1f\x8b\x08" + b"\xff" * 100, "the gzip file is damaged"),
        (b"PK\x03\x04" + b"\x00" * 100, "the zip file cannot be read"),
        (zipped({"README.md": b"openapi: 3.1.0"}), "the zip file has no OpenAPI document"),
        (zipped({"a.yaml": PETSTORE, "b.yaml": PETSTORE}), "the zip file has 2 OpenAPI documents: a.yaml, b.yaml"),
    ],
)
def test_an_archive_without_one_document_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "api.zip"
    path.write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        load(str(path))
    assert caught.value.message.startswith(message)
    assert caught.value.hint


@pytest.mark.parametrize("data", [gzip.compress(bytes(10**7)), zipped({"a.yaml": b"openapi: 3.1.0\n" + bytes(10**7)})])
def test_what_an_archive_unpacks_to_is_bounded(data: bytes) -> None:
    with pytest.raises(DocumentError, match="larger than 1,000,000 bytes"):
        unpacked(data, Limits(file_bytes=1_000_000))


def test_other_bytes_are_returned_as_they_are() -> None:
    assert unpacked(PETSTORE, Limits()) is PETSTORE
