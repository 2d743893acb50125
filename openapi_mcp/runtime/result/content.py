"""The body of a response read by its media type: as text, as a JSON value, or as content blocks. Nothing is dropped.

A declared type is believed if the bytes agree with it. JSON is recognised under any label, since many APIs mislabel it.

A `multipart/*` body is split into its parts: each part's media type, name and bytes, however malformed it is otherwise.
A delimiter is a line of its own (RFC 2046 §5.1.1); bare line feeds, white space after it and a missing end are
tolerated; text before the first delimiter and after the last is not content.

Specification: MCP server/tools "Tool Result", RFC 9110 §8.3, RFC 8259, RFC 2046 §5.1.
"""

import base64
import binascii
import codecs
import json
import quopri
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesHeaderParser
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from .. import event_streams, jsontext, media_types
from ..errors import ArgumentError
from ..types import MISSING, JsonObject, Missing, audio_content, blob_content, image_content, text_content
from . import partial_json

MAX_WHOLE: Final = 512 * 1024
"""Bytes of a text, or of JSON, that is read as a whole, some hundredths of a second. A larger one is read up to here,
or up to more if a result may hold more."""

MAX_PARTS: Final = 1000
"""Parts of a multipart body that are read: as many as batch requests have, a twentieth of a second."""

_MAX_DELIMITERS: Final = 250_000
"""Lines of a multipart body that are looked at since they begin as a delimiter; more parts are in the last one."""

_MAX_HEAD: Final = 16 * 1024
"""Bytes in which the header fields of a part end; without that it has none. Mail servers allow lines of 998 bytes."""

# Levels of multipart within multipart (RFC 2046 §5.1.6); more are not in use.
_MAX_DEPTH: Final = 3
# Levels of arrays and objects in a value. Deeper JSON is text only: the JSON reader of official Python clients refuses
# a whole message from 200 levels on, and each result adds some.
_MAX_JSON_DEPTH: Final = 128
# C0 controls except tab, line feed, form feed and carriage return: binary data has them, text has not.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]")
_START_OF_JSON: Final = re.compile(rb"[\xef\xbb\xbf \t\r\n]{0,65536}+[{\[]")
_END_OF_HEADERS: Final = re.compile(rb"\r?\n\r?\n")
_END_OF_DELIMITER: Final = re.compile(rb"(--)?[ \t]{0,1000}+(?=\r?\n|\Z)")
_BLOCKS: Final[dict[str, Callable[[bytes, str], JsonObject]]] = {"image": image_content, "audio": audio_content}


BINARY_FACTOR: Final = 52
"""Times that images, recordings and other bytes may be larger than text, since a model does not read them as text: 4
MB by default, a large photo."""


class DecodedBody(NamedTuple):
    """A body as text, as a JSON value, or as other blocks.

    `is_json` says that the text is the JSON of the value, `is_html` that it is the visible text of a page, `is_partial`
    that parts of the value were not read. `unread` bytes at the end of a text were not read; `notes` say what else.
    """

    text: str | None = None
    value: Any | Missing = MISSING
    blocks: tuple[JsonObject, ...] = ()
    is_json: bool = False
    is_html: bool = False
    is_partial: bool = False
    unread: int = 0
    notes: tuple[str, ...] = ()


class ReadLimits(NamedTuple):
    """Bytes of a body that are read: of texts and JSON, and of images, recordings and other bytes."""

    text: int = MAX_WHOLE
    binary: int = sys.maxsize


DEFAULT_LIMITS: Final = ReadLimits()


def read(
    content_type: str, data: bytes, uri: Callable[[], str], depth: int = 0, limits: ReadLimits = DEFAULT_LIMITS
) -> DecodedBody:
    """Decode a body that is not empty, up to limits. `uri` returns a name for other bytes than text and media."""
    kind = media_types.essence(content_type)
    family = kind.partition("/")[0]
    if family == "multipart" and depth < _MAX_DEPTH:
        body = _read_multipart(content_type, data, uri, depth, limits)
        if body is not None:
            return body
    if family in _BLOCKS and not media_types.is_text(kind):
        return _read_bytes(_BLOCKS[family], data, kind, limits)
    body = _read_json(content_type, data, limits.text)
    if body is not None:
        return body
    start = data if len(data) <= limits.text else _beginning(data, limits.text)
    text, unread = decode(start, content_type), len(data) - len(start)
    from . import html_text

    if html_text.is_html(kind, text):
        return DecodedBody(html_text.to_text(text), is_html=True, unread=unread)
    if media_types.is_text(kind) or (kind in {"", media_types.OCTET_STREAM} and _is_plain_text(start, text)):
        return DecodedBody(text, _read_entries(kind, text), unread=unread)
    to_block = partial(blob_content, uri=uri())
    return _read_bytes(to_block, data, kind or media_types.OCTET_STREAM, limits)


def _read_bytes(
    to_block: Callable[[bytes, str], JsonObject], data: bytes, kind: str, limits: ReadLimits
) -> DecodedBody:
    """Return bytes as a content block; those beyond the limit are replaced by their description."""
    if len(data) <= limits.binary:
        return DecodedBody(blocks=(to_block(data, kind),))
    description = f"{len(data)} bytes of {kind}"
    block = text_content(f"[{description}: too large to be shown]")
    return DecodedBody(blocks=(block,), notes=(f"{description} left out",))


def _beginning(data: bytes, size: int) -> bytes:
    """Return at most so many first bytes of a text, without half a character at their end."""
    end = size // 4 * 4  # UTF-16 and UTF-32
    if data[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        while end > size - 8 and 0x80 <= data[end] < 0xC0:  # within a character of UTF-8
            end -= 1
    return data[:end]


def decode(data: bytes, content_type: str) -> str:
    """Decode text by its declared charset, else by its byte order mark, else as UTF-8, else as Windows-1252."""
    charset = media_types.codec(content_type)
    for encoding in filter(None, (charset, "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else None, "utf-8-sig")):
        try:
            return data.decode(encoding)
        except (ValueError, LookupError):  # not in this encoding; one that is no text's
            continue
    return data.decode("cp1252", "replace")


def _is_plain_text(data: bytes, text: str) -> bool:
    """Return whether bytes without a type are text: valid UTF-8 without control characters."""
    return not _CONTROL.search(text) and text.encode("utf-8", "replace") == data.removeprefix(b"\xef\xbb\xbf")


def may_be_json(content_type: str, data: bytes) -> bool:
    """Return whether a body is labelled as JSON, or begins like an object or an array."""
    return media_types.is_json(content_type) or _START_OF_JSON.match(data) is not None


def _read_large_json(content_type: str, data: bytes, max_bytes: int) -> DecodedBody | None:
    """Return a JSON body up to about `max_bytes`, or None; its text is that of what was read."""
    if 0 in data[:4] or data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        data = _in_utf8(data, json.detect_encoding(data))
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        try:
            value = partial_json.read_beginning(data, jsontext.read, max_bytes)
        except UnicodeDecodeError:
            data = decode(data, content_type).encode("utf-8", "replace")
            value = partial_json.read_beginning(data, jsontext.read, max_bytes)
        text = jsontext.write(value)
    except (ValueError, RecursionError, ArgumentError):
        return None
    if not jsontext.is_shallow(text, value, _MAX_JSON_DEPTH):
        return DecodedBody(text, unread=max(len(data) - len(text), 0))
    return DecodedBody(text, value, is_json=True, is_partial=True)


def _in_utf8(data: bytes, encoding: str) -> bytes:
    """Return a text in UTF-8, encoded in pieces, between which other threads run."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    starts = range(0, len(data), partial_json.PIECE)
    texts = (decoder.decode(data[start : start + partial_json.PIECE]) for start in starts)
    return b"".join(text.encode("utf-8", "replace") for text in (*texts, decoder.decode(b"", final=True)))


def _read_json(content_type: str, data: bytes, max_bytes: int) -> DecodedBody | None:
    """Return a JSON body, or None. Under another label it must be an object or array: `1` or `true` may be anything."""
    is_declared = media_types.is_json(content_type)
    if not may_be_json(content_type, data):
        return None
    if len(data) > max_bytes:
        return _read_large_json(content_type, data, max_bytes)
    try:
        # Without a null byte or a byte order mark at its start it is UTF-8, as nearly always.
        needs_detection = 0 in data[:4] or data[:1] > b"\x7f"
        text = data.decode(json.detect_encoding(data) if needs_detection else "utf-8")
    except UnicodeDecodeError:  # not one of the encodings that RFC 8259 allows
        text = decode(data, content_type)
    try:
        value = jsontext.read(text)
    except (ValueError, RecursionError):
        return None
    if not jsontext.is_shallow(text, value, _MAX_JSON_DEPTH):
        return DecodedBody(text)
    return DecodedBody(text, value, is_json=True) if is_declared or isinstance(value, dict | list) else None


def _read_entries(kind: str, text: str) -> list[Any] | Missing:
    """Return the values of a text that is a sequence of JSON texts; MISSING without any, or if one is not JSON."""
    parser = event_streams.parser_for(kind) or (event_streams.LineParser if media_types.is_json(kind) else None)
    if parser is None:
        return MISSING
    try:
        values = [jsontext.read(entry) for entry in parser().feed(text, final=True)]
    except (ValueError, RecursionError):
        return MISSING
    return values if values and jsontext.is_shallow(text, values, _MAX_JSON_DEPTH) else MISSING


def _read_multipart(
    content_type: str, data: bytes, uri: Callable[[], str], depth: int, limits: ReadLimits
) -> DecodedBody | None:
    """Return the content blocks of the first parts, or None if there are none."""
    boundary = media_types.parameter(content_type, "boundary")
    blocks: list[JsonObject] = []
    notes: list[str] = []
    entities = _entities(data, boundary) if boundary else iter(())
    for entity in islice(entities, MAX_PARTS):
        part = _part(entity)
        body = read(part.content_type, part.data, uri, depth + 1, limits)
        blocks += body.blocks if body.text is None else [text_content(body.text), *body.blocks]
        notes += body.notes
        if body.unread or body.is_partial:
            notes.append(f"the beginning of a part of {len(part.data)} bytes")
    if unread := sum(1 for _ in entities):
        notes.append(f"{MAX_PARTS} of {MAX_PARTS + unread} parts")
    return DecodedBody(blocks=tuple(blocks), notes=tuple(notes)) if blocks else None


@dataclass(frozen=True, slots=True)
class BodyPart:
    """A part of a multipart body; its `content_type` is `text/plain` by default (RFC 2046 §5.1)."""

    content_type: str
    data: bytes
    name: str | None = None


def split(body: bytes, boundary: str) -> list[BodyPart]:
    """Return the parts of a multipart body in order; none if the boundary does not occur."""
    return [_part(entity) for entity in _entities(body, boundary)]


def _entities(body: bytes, boundary: str) -> Iterator[bytes]:
    start = next(delimiters := _delimiters(body, b"--" + boundary.encode("latin-1", "replace")), None)
    while start is not None and not start.is_last:
        end = next(delimiters, None)
        yield body[start.end : end.start if end else len(body)]
        start = end


class _Delimiter(NamedTuple):
    """A delimiter: where its line starts and ends, the line end before it included, and whether it is the last."""

    start: int
    end: int
    is_last: bool


def _delimiters(body: bytes, dashes: bytes) -> Iterator[_Delimiter]:
    """Yield the delimiters, among the first lines that begin as one. No search holds up other threads for long."""
    position = 0 if body.startswith(dashes) else body.find(b"\n" + dashes) + 1
    for _ in range(_MAX_DELIMITERS):
        if not position and not body.startswith(dashes):
            return
        after = position + len(dashes)
        line = _END_OF_DELIMITER.match(body, after)
        if line:
            before = 2 if body[max(position - 2, 0) : position] == b"\r\n" else 1
            yield _Delimiter(max(position - before, 0), line.end(), bool(line[1]))
        position = body.find(b"\n" + dashes, after - 1) + 1
        if not position:
            return


def _part(entity: bytes) -> BodyPart:
    """Parse headers, an empty line and the bytes; the line end of the delimiter precedes the first header."""
    blank = _END_OF_HEADERS.search(entity, 0, _MAX_HEAD)
    head, data = (entity[: blank.start()], entity[blank.end() :]) if blank else (b"", entity.lstrip(b"\r\n"))
    headers = BytesHeaderParser().parsebytes(head.lstrip(b"\r\n"))
    return BodyPart(
        str(headers.get("content-type", "text/plain")),
        _decode_transfer(headers, data),
        media_types.parameter(str(headers.get("content-disposition", "")), "name"),
    )


def _decode_transfer(headers: Message, data: bytes) -> bytes:
    """Undo a Content-Transfer-Encoding. HTTP has none (RFC 9110 §8.4), but mail gateways and old servers send it."""
    encoding = str(headers.get("content-transfer-encoding", "")).strip().lower()
    if encoding == "quoted-printable":
        return quopri.decodestring(data)
    try:
        return base64.b64decode(data, validate=False) if encoding == "base64" else data
    except binascii.Error:
        return data
