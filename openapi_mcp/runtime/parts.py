"""A `multipart/*` answer taken apart: each part's media type, name and bytes, whatever else is wrong with it.

A delimiter is a line of its own (RFC 2046 §5.1.1); bare line feeds, white space after it and a missing end are
tolerated; what stands before the first delimiter and after the last is not content. Specification: RFC 2046 §5.1.
"""

import base64
import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Final

_END_OF_HEADERS: Final = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class BodyPart:
    """One part; `content_type` is `text/plain` where it says nothing (RFC 2046 §5.1)."""

    content_type: str
    data: bytes
    name: str | None = None


def split(body: bytes, boundary: str) -> list[BodyPart]:
    """The parts in order; none where the boundary does not occur."""
    return [_part(entity) for entity in _entities(body, boundary)]


def _entities(body: bytes, boundary: str) -> Iterator[bytes]:
    delimiter = re.compile(
        rb"(?:\A|\r?\n)--" + re.escape(boundary.encode("latin-1", "replace")) + rb"(--)?[ \t]*(?=\r?\n|\Z)"
    )
    found = list(delimiter.finditer(body))
    for index, start in enumerate(found):
        if start.group(1):
            return
        end = found[index + 1].start() if index + 1 < len(found) else len(body)
        yield body[start.end() : end]


def _part(entity: bytes) -> BodyPart:
    """Headers, an empty line, the bytes; the line end of the delimiter stands before the first header."""
    blank = _END_OF_HEADERS.search(entity)
    head, data = (entity[: blank.start()], entity[blank.end() :]) if blank else (b"", entity.lstrip(b"\r\n"))
    headers = BytesHeaderParser().parsebytes(head.lstrip(b"\r\n"))
    name = headers.get_param("name", header="content-disposition")
    return BodyPart(
        str(headers.get("content-type", "text/plain")),
        _decoded(headers, data),
        name if isinstance(name, str) else None,
    )


def _decoded(headers: Message, data: bytes) -> bytes:
    """HTTP needs no Content-Transfer-Encoding (RFC 9110 §8.4), but mail gateways and old servers write one."""
    encoding = str(headers.get("content-transfer-encoding", "")).strip().lower()
    if encoding == "quoted-printable":
        return quopri.decodestring(data)
    try:
        return base64.b64decode(data, validate=False) if encoding == "base64" else data
    except binascii.Error:
        return data
