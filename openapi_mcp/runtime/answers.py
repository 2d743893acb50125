"""An answer's bytes read by their media type: text, a JSON value, or content blocks; nothing is dropped.

A declared type is believed where the bytes agree with it. JSON is recognised under any label, for many mislabel it.
Specification: MCP server/tools "Tool Result", RFC 9110 §8.3, RFC 8259.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from . import jsontext, media_types, parts, streams
from .types import MISSING, JsonObject, Missing, audio_content, blob_content, image_content, text_content

# A multipart answer may hold another one (RFC 2046 §5.1.6); nobody means more levels than this.
_MAX_DEPTH: Final = 3
# C0 controls but for tab, line feed, form feed and carriage return: text does not hold them, bytes do.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]")


class Answer(NamedTuple):
    """What an answer says: as text, as a JSON value, as other blocks; `is_json` when the text is that value."""

    text: str | None = None
    value: Any | Missing = MISSING
    blocks: tuple[JsonObject, ...] = ()
    is_json: bool = False


def read(content_type: str, data: bytes, uri: str, depth: int = 0) -> Answer:
    """Read a body that is not empty. `uri` names bytes that are neither text nor image nor audio."""
    kind = media_types.essence(content_type)
    family = kind.partition("/")[0]
    if family == "multipart" and depth < _MAX_DEPTH:
        found = _multipart(content_type, data, uri, depth)
        if found is not None:
            return found
    if family in _BLOCKS and not media_types.is_text(kind):
        return Answer(blocks=(_BLOCKS[family](data, kind),))
    found = _json(content_type, data)
    if found is not None:
        return found
    text = decode(data, content_type)
    if media_types.is_text(kind) or (kind in {"", media_types.OCTET_STREAM} and _is_plain(data, text)):
        return Answer(text, _values(kind, text))
    return Answer(blocks=(blob_content(data, kind or media_types.OCTET_STREAM, uri),))


_BLOCKS: Final[dict[str, Callable[[bytes, str], JsonObject]]] = {"image": image_content, "audio": audio_content}


def decode(data: bytes, content_type: str) -> str:
    """Text by its declared charset, else by its byte order mark, else UTF-8, else Windows-1252 as browsers do."""
    charset = media_types.parameter(content_type, "charset")
    for encoding in filter(None, (charset, "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else None, "utf-8-sig")):
        try:
            return data.decode(encoding)
        except (ValueError, LookupError):  # not so encoded; no such encoding, or not even a name of one
            continue
    return data.decode("cp1252", "replace")


def _is_plain(data: bytes, text: str) -> bool:
    """Whether unlabelled bytes are text: valid UTF-8 without control characters."""
    return not _CONTROL.search(text) and text.encode("utf-8", "replace") == data.removeprefix(b"\xef\xbb\xbf")


def _json(content_type: str, data: bytes) -> Answer | None:
    """A JSON answer; under another label only an object or array is one, for `1` or `true` may be anything."""
    declared = media_types.is_json(content_type)
    if not declared and not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return None
    try:
        # Without a null or a byte order mark in front it is UTF-8, as nearly always.
        doubtful = 0 in data[:4] or data[:1] > b"\x7f"
        text = data.decode(json.detect_encoding(data) if doubtful else "utf-8")
    except UnicodeDecodeError:  # not one of the encodings that RFC 8259 allows
        text = decode(data, content_type)
    try:
        value = jsontext.read(text)
    except (ValueError, RecursionError):
        return None
    return Answer(text, value, is_json=True) if declared or isinstance(value, dict | list) else None


def _values(kind: str, text: str) -> list[Any] | Missing:
    """The values of a text that is a sequence of JSON texts; MISSING where one is not JSON, or there are none."""
    entries = streams.kind_of(kind) or (streams.Lines if media_types.is_json(kind) else None)
    if entries is None:
        return MISSING
    try:
        return [jsontext.read(entry) for entry in entries().feed(text, final=True)] or MISSING
    except (ValueError, RecursionError):
        return MISSING


def _multipart(content_type: str, data: bytes, uri: str, depth: int) -> Answer | None:
    boundary = media_types.parameter(content_type, "boundary")
    found = parts.split(data, boundary) if boundary else []
    blocks: list[JsonObject] = []
    for part in found:
        answer = read(part.content_type, part.data, uri, depth + 1)
        blocks += answer.blocks if answer.text is None else [text_content(answer.text), *answer.blocks]
    return Answer(blocks=tuple(blocks)) if blocks else None
