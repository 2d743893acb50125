"""Content codings of a response's body, unpacked piece by piece: no coding of a stack yields more than a limit.

A few thousand bytes that were compressed twice unpack to gigabytes, and one coding may unpack to nothing but input of
the next one. So each coding is unpacked in small pieces, only when the one after it takes them, and counts its bytes.

`gzip` may consist of several members. `deflate` is zlib's format, or raw as some servers send it. A value that names no
compression, as in `Content-Encoding: utf-8`, is ignored as httpx does.

Specification: RFC 9110 §8.4, RFC 1952 §2.2, RFC 1950 §2.2.
"""

import zlib
from collections.abc import Iterator
from typing import Final

import httpx

MAX_CODINGS: Final = 3
"""Compressions of one body. One is usual; a proxy that compresses again makes two."""

MAX_MEMBERS: Final = 10_000
"""Members of one gzip body: each starts a decompressor and copies what follows it."""

MAX_RATIO: Final = 1100
"""Bytes that each byte of a body which was compressed several times may unpack to. Deflate makes 1,032 of one, and what
it has compressed once hardly shrinks again, unless it is made to fill memories."""

_MIN_LIMIT: Final = 1024 * 1024
"""Bytes that a body may unpack to whatever its size."""

_PIECE_BYTES: Final = 64 * 1024
"""Bytes that are unpacked at a time: a fraction of a millisecond, after which others are served."""

_UNREADABLE: Final = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_GZIP_START: Final = 0x1F
_ZLIB_METHOD: Final = 8


class UnreadableCoding(httpx.DecodingError):
    """A body has codings that cannot be unpacked; the text says which, in words of this module."""


class Decoder:
    """The codings of one body; without any, the body is passed through. Raises UnreadableCoding.

    `max_bytes` limits what each coding yields.
    """

    def __init__(self, content_encoding: str, max_bytes: int) -> None:
        names = [name for item in content_encoding.split(",") if (name := item.strip().lower())]
        unreadable = sorted(_UNREADABLE.intersection(names))
        if unreadable:
            raise UnreadableCoding(f"compressed as {unreadable[0]}, which was not asked for")
        known = [name for name in names if name in _GZIP or name == "deflate"]
        if len(known) > MAX_CODINGS:
            raise UnreadableCoding(f"compressed {len(known)} times; at most {MAX_CODINGS} are unpacked")
        self._received = self._yielded = 0
        self._codings: list[_Coding] = [(_Gzip if name in _GZIP else _Deflate)(max_bytes) for name in reversed(known)]

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what a piece of the body unpacks to, at most 64 KiB at a time; empty ones let others be served.

        Raises httpx.DecodingError.
        """
        if len(self._codings) < 2:
            yield from _unpack(self._codings, data)
            return
        self._received += len(data)
        for chunk in _unpack(self._codings, data):
            self._yielded += len(chunk)
            if self._yielded > max(_MIN_LIMIT, MAX_RATIO * self._received):
                raise UnreadableCoding(f"compressed several times and unpacks to more than {MAX_RATIO} times its size")
            yield chunk

    @property
    def is_complete(self) -> bool:
        """True if each coding is at its end, or nothing arrived."""
        return all(coding.is_complete for coding in self._codings)


def _unpack(codings: "list[_Coding]", data: bytes) -> Iterator[bytes]:
    if not codings:
        yield data
        return
    first, *others = codings
    for piece in first.feed(data):
        if others:  # which may yield nothing for many pieces
            yield b""
        yield from _unpack(others, piece)


class _Coding:
    """One coding, from the bytes that arrive to what they unpack to."""

    def __init__(self, max_bytes: int) -> None:
        self._remaining = max_bytes + _PIECE_BYTES  # the body's own limit is met first, and keeps what was unpacked
        self._decompressor: zlib._Decompress | None = None
        self._input = b""
        self._is_ended = False

    @property
    def is_complete(self) -> bool:
        return self._is_ended or (self._decompressor is None and not self._input)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` unpacks to. Raises httpx.DecodingError."""
        self._input += data
        while self._input and self._start():
            yield from self._unpack()

    def _start(self) -> bool:
        """Make a decompressor for what has arrived, if it suffices and anything is to be unpacked."""
        raise NotImplementedError

    def _unpack(self) -> Iterator[bytes]:
        """Unpack until the input or its format ends; leave in `_input` what follows the end."""
        assert self._decompressor is not None  # noqa: S101  # `_start` made it
        piece, data = b"", self._input
        self._input = b""
        while data or len(piece) == _PIECE_BYTES:  # a full piece may leave more output behind
            try:
                piece = self._decompressor.decompress(data, _PIECE_BYTES)
            except zlib.error as error:
                raise httpx.DecodingError(str(error)) from error
            self._count(piece)
            if piece:
                yield piece
            if self._decompressor.eof:
                self._input, self._is_ended = self._decompressor.unused_data, True
                return
            data = self._decompressor.unconsumed_tail

    def _count(self, piece: bytes) -> None:
        self._remaining -= len(piece)
        if self._remaining < 0:
            raise UnreadableCoding("compressed several times and unpacks to more than is read")


class _Gzip(_Coding):
    """RFC 1952: members one after the other. Anything else that follows is dropped, as other programs do."""

    _members = 0

    def _start(self) -> bool:
        if self._decompressor is None or self._is_ended:
            if self._is_ended and self._input[0] != _GZIP_START:
                self._input = b""
                return False
            self._members += 1
            if self._members > MAX_MEMBERS:
                raise UnreadableCoding(f"compressed in more than {MAX_MEMBERS} members of gzip")
            self._decompressor = zlib.decompressobj(zlib.MAX_WBITS | 16)
            self._is_ended = False
        return True


class _Deflate(_Coding):
    """RFC 1950, or RFC 1951 alone, which the first two bytes tell."""

    def _start(self) -> bool:
        if self._is_ended:
            self._input = b""
            return False
        if self._decompressor is None:
            if len(self._input) < 2:
                return False
            first, second = self._input[:2]
            is_zlib = first & 0x0F == _ZLIB_METHOD and (first << 8 | second) % 31 == 0
            self._decompressor = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        return True
