"""One value as the bytes of one media type: a whole body, a part, a form field, or a parameter.

The media type decides; the value's own type only where the media type does not. Specification: OpenAPI 3.2 Media Type
Object and "Working with Binary Data", RFC 8259, RFC 7464, RFC 4648, RFC 2397, WHATWG HTML "Server-sent events".
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from . import elements, jsontext, media_types
from .errors import ArgumentError
from .models import XmlDocument, XmlNode
from .styles import scalar_text

RECORD_SEPARATOR: Final = "\x1e"
_UNDESCRIBED: Final = XmlDocument(root=XmlNode(name="root", items=XmlNode(name="item")))


@dataclass(frozen=True, slots=True)
class File:
    """Bytes that an argument stands for, with what a `data:` URL, or the name of a file, says of them."""

    data: bytes
    content_type: str | None = None
    filename: str | None = None


def encode(value: Any, content_type: str, xml: XmlDocument | None = None) -> bytes:
    """The bytes of `value`; `xml` describes it where they are XML. Raises ArgumentError."""
    if media_types.is_xml(content_type):
        return _xml(value, content_type, xml)
    for test, writer in _WRITERS:
        if test(content_type):
            return writer(value, content_type)
    return _text(value, content_type)


def encode_text(value: Any, content_type: str, xml: XmlDocument | None = None) -> str:
    """The same as text, for a place that is text: a parameter."""
    return encode(value, content_type, xml).decode(_charset(content_type))


def by_value(content_type: str, value: Any) -> str:
    """A part's media type where the document's default, text, does not suit what came (OpenAPI 3.2 Encoding Object)."""
    if isinstance(value, dict | list) and media_types.essence(content_type) == "text/plain":
        return "application/json"
    return content_type


def file(value: Any, name: str) -> File:
    """The bytes that a base64 string or a `data:` URL stands for. Raises ArgumentError, naming the argument."""
    if isinstance(value, File):
        return value
    if not isinstance(value, str):
        raise ArgumentError(f"`{name}` must be a base64 string (the bytes of a file), not {scalar_text(value)[:40]}.")
    if value[:5].lower() == "data:":
        return _data_url(value, name)
    return File(_base64(value, name))


def _data_url(url: str, name: str) -> File:
    head, comma, data = url[5:].partition(",")
    if not comma:
        raise ArgumentError(f"`{name}` begins like a data: URL but has no comma before its data.")
    kind, marker, _ = head.partition(";base64")
    return File(
        _base64(data, name) if marker else unquote_to_bytes(data),
        media_types.essence(kind) or None,
        media_types.parameter(kind, "name") or media_types.parameter(kind, "filename"),
    )


def _base64(text: str, name: str) -> bytes:
    """RFC 4648 §4 or §5, white space and missing padding forgiven; anything else is an ArgumentError."""
    compact = re.sub(r"\s", "", text).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise ArgumentError(f"`{name}` must be base64 (the bytes of a file); {shown!r} is not base64.") from error


def _json(value: Any, _: str) -> bytes:
    return jsontext.write_bytes(value)


def _json_lines(value: Any, _: str) -> bytes:
    return b"".join(jsontext.write_bytes(item) + b"\n" for item in _items(value))


def _json_sequence(value: Any, _: str) -> bytes:
    return b"".join(RECORD_SEPARATOR.encode() + jsontext.write_bytes(item) + b"\n" for item in _items(value))


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _event_stream(value: Any, content_type: str) -> bytes:
    """Server-sent events: an object of their fields is one, any other value is the data of one; text is the stream."""
    if isinstance(value, str):
        return _text(value, content_type)
    return "".join(f"{''.join(_event_lines(item))}\n" for item in _items(value)).encode("utf-8")


_EVENT_FIELDS: Final = frozenset({"event", "data", "id", "retry", "comment"})


def _event_lines(item: Any) -> Iterator[str]:
    fields = item if isinstance(item, dict) and item and item.keys() <= _EVENT_FIELDS else {"data": item}
    for name, value in fields.items():
        lines = _LINE_END.split(scalar_text(value)) if value is not None else []
        yield from (f"{'' if name == 'comment' else name}: {line}\n" for line in lines)


_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""Those of the format itself: other characters that Python takes for line ends are data."""


def _xml(value: Any, content_type: str, described: XmlDocument | None) -> bytes:
    """Text that begins like an XML document is one, and so is text of which nothing is known; the rest becomes one."""
    is_xml = isinstance(value, str) and value.lstrip("\ufeff \t\r\n").startswith("<")
    if isinstance(value, dict | list) or (described is not None and not is_xml):
        return _text(elements.document(value, described or _UNDESCRIBED), content_type)
    return _text(value, content_type)


def _text(value: Any, content_type: str) -> bytes:
    charset = _charset(content_type)
    try:
        return scalar_text(value).encode(charset)
    except UnicodeEncodeError as error:
        raise ArgumentError(f"The text holds characters that {charset} cannot express.") from error


def _charset(content_type: str) -> str:
    """The declared charset if Python knows it, else UTF-8."""
    charset = media_types.parameter(content_type, "charset") or "utf-8"
    try:
        "".encode(charset)
    except (LookupError, ValueError):
        return "utf-8"
    return charset


_WRITERS: Final[tuple[tuple[Callable[[str], bool], Callable[[Any, str], bytes]], ...]] = (
    (media_types.is_json_sequence, _json_sequence),
    (media_types.is_json_lines, _json_lines),
    (media_types.is_json, _json),
    (media_types.is_event_stream, _event_stream),
)
"""The first test that holds decides; a string for any other type is that text, and whatever else is JSON text."""
