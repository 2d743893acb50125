"""Take the document out of a file that was compressed with gzip or packed with zip.

The first bytes tell, not the name. What comes out is bounded like a file that was never packed. A zip has one document:
the files that it refers to in the same archive are not read.

Specification: RFC 1952 §2.3.1 (gzip); APPNOTE.TXT 6.3 §4.3.7 (zip).
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterable
from typing import Final

import httpx

from ..errors import DocumentError
from ..runtime.upstream.decoding import Decoder
from .model import Limits

_GZIP: Final = b"\x1f\x8b\x08"
_ZIP: Final = b"PK\x03\x04"

MAX_ENTRIES: Final = 10_000
"""Entries of a zip: as many as a document may have files."""

MAX_CANDIDATES: Final = 100
"""Entries that are read to find the document."""

_NAME: Final = re.compile(r"\.(?:json|ya?ml)$", re.IGNORECASE)
_IS_DOCUMENT: Final = re.compile(rb"^[\s{]*(?:---\s*)?[\"']?(?:openapi|swagger)[\"']?\s*:", re.MULTILINE)
_START: Final = 64 * 1024
"""Bytes of an entry in which `openapi` or `swagger` has to stand: at the top, after comments."""


def unpacked(data: bytes, limits: Limits) -> bytes:
    """Return the document in the bytes of a file, which are returned as they are if they are no archive.

    Raises DocumentError for a damaged archive, for one without a document or with several, and for a document that is
    larger than `limits.file_bytes`.
    """
    if data.startswith(_GZIP):
        return _gunzipped(data, limits)
    if data.startswith(_ZIP):
        return _unzipped(data, limits)
    return data


def _gunzipped(data: bytes, limits: Limits) -> bytes:
    decoder = Decoder("gzip", 2 * limits.file_bytes)
    try:
        content = _joined(decoder.feed(data), limits)
    except httpx.DecodingError as error:
        raise DocumentError(f"the gzip file is damaged: {error}", hint="pack it again") from error
    if not decoder.is_complete:
        raise DocumentError("the gzip file ends too soon", hint="pack or fetch it again")
    return content


def _joined(pieces: Iterable[bytes], limits: Limits) -> bytes:
    chunks: list[bytes] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limits.file_bytes:
            raise DocumentError(f"the document in the archive is larger than {limits.file_bytes:,} bytes")
        chunks.append(piece)
    return b"".join(chunks)


def _unzipped(data: bytes, limits: Limits) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _document(archive, limits)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise DocumentError(
            f"the zip file cannot be read: {error}", hint="pack it again, without a password"
        ) from error


def _document(archive: zipfile.ZipFile, limits: Limits) -> bytes:
    """Return the one OpenAPI document of an archive: the one nearest to the top, if only one is there."""
    entries = [entry for entry in archive.infolist()[:MAX_ENTRIES] if _NAME.search(entry.filename)]
    entries.sort(key=lambda entry: (entry.filename.count("/"), entry.filename))
    found = [entry for entry in entries[:MAX_CANDIDATES] if _is_document(archive, entry)]
    if not found:
        raise DocumentError("the zip file has no OpenAPI document", hint="unpack it, and name the document")
    depth = found[0].filename.count("/")
    nearest = [entry.filename for entry in found if entry.filename.count("/") == depth]
    if len(nearest) > 1:
        names = ", ".join(nearest[:5])
        raise DocumentError(
            f"the zip file has {len(nearest)} OpenAPI documents: {names}", hint="unpack it, and name one"
        )
    with archive.open(found[0]) as file:
        return _joined(iter(lambda: file.read(_START), b""), limits)


def _is_document(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bool:
    with archive.open(entry) as file:
        return bool(_IS_DOCUMENT.search(file.read(_START)))
