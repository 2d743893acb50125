"""A request as the bytes of HTTP/1.1, as httpx's own transport sends them; pure, and nothing breaks out of a line.

Header fields are sent as they are, in their order and case, but Host comes first. Specification: RFC 9112 §3, §5, §7;
RFC 9110 §5.5.
"""

import re
from functools import lru_cache
from typing import Final

import httpx

_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# A value has no line break, no null and no space around it; other control characters pass, as httpx lets them.
_VALUE: Final = rb"(?:[^\x00\s](?:[^\x00\r\n\x0b\x0c]*[^\x00\s])?)?"
_LINE: Final = re.compile(rb"%b [!-~]+ HTTP/1\.1\r\n" % _TOKEN)
_FIELDS: Final = re.compile(rb"(?:%b: %b\r\n)*" % (_TOKEN, _VALUE))
_NOT_ALLOWED: Final = "The method, the target or a header field holds what HTTP does not allow there."
_WITH_CHUNKS: Final = -1
_NOTHING: Final = 0


def request_head(request: httpx.Request) -> tuple[bytes, "Framing"]:
    """Request line and header fields, and how the body is written. Raises httpx.LocalProtocolError."""
    line = b"%b %b HTTP/1.1\r\n" % (request.method.encode(), request.url.raw_path)
    fields, framing = _fields(tuple(request.headers.raw))
    if _LINE.fullmatch(line) is None:
        raise httpx.LocalProtocolError(_NOT_ALLOWED)
    return line + fields, Framing(framing)


@lru_cache(256)  # calls of one tool have mostly the same
def _fields(raw: tuple[tuple[bytes, bytes], ...]) -> tuple[bytes, int]:
    """Header fields and the empty line after them, and how the body is written. Raises httpx.LocalProtocolError."""
    lines: list[bytes] = []
    framing = _NOTHING
    for name, value in raw:
        field = name.lower()
        if field == b"transfer-encoding":
            value, framing = b"chunked", _chunks(value)  # noqa: PLW2901  # as httpx writes it
        elif field == b"content-length" and framing != _WITH_CHUNKS:
            framing = _length(value)
        lines.insert(0 if field == b"host" else len(lines), b"%b: %b\r\n" % (name, value))
    text = b"".join(lines)
    if text.count(b"\n") != len(lines) or _FIELDS.fullmatch(text) is None:
        raise httpx.LocalProtocolError(_NOT_ALLOWED)
    return text + b"\r\n", framing


class Framing:
    """How the pieces of one body are written, and whether they are what its head says."""

    def __init__(self, length: int) -> None:
        self._left = length

    def piece(self, data: bytes) -> bytes:
        """A piece of the body. Raises httpx.LocalProtocolError where it is more than was said."""
        if self._left == _WITH_CHUNKS:
            return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
        self._left -= len(data)
        if self._left < 0:
            raise httpx.LocalProtocolError("The body is longer than its Content-Length.")
        return data

    def end(self) -> bytes:
        """What follows the last piece. Raises httpx.LocalProtocolError where they were less than was said."""
        if self._left > 0:
            raise httpx.LocalProtocolError("The body is shorter than its Content-Length.")
        return b"0\r\n\r\n" if self._left == _WITH_CHUNKS else b""


def _chunks(coding: bytes) -> int:
    if coding.lower() != b"chunked":
        raise httpx.LocalProtocolError("The only Transfer-Encoding is chunked.")
    return _WITH_CHUNKS


def _length(said: bytes) -> int:
    if not said.isdigit():
        raise httpx.LocalProtocolError("The Content-Length is not a number.")
    return int(said)
