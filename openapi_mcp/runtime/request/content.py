"""Encode one value in one media type: a body, a part, a form field, or a `content` parameter.

The media type decides the encoding; the type of the value decides only if the media type leaves it open. In a form,
properties are fields, each by its Encoding; null and empty arrays are omitted, since a form cannot express them.

Specification: OpenAPI 3.2 Media Type Object, Encoding Object and Parameter Object ("Fixed Fields for use with
`content`"), RFC 8259, RFC 7464, WHATWG HTML "Server-sent events"; forms: WHATWG URL §5 for the escaping of fields
without a style, RFC 6570 for those with one; headers: RFC 9110 §5.5.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote_plus

from .. import jsontext, media_types
from ..tool import Argument, Encoding, MediaType, XmlDocument, XmlNode
from . import styles
from .context import deviate
from .styles import scalar_text

RECORD_SEPARATOR: Final = "\x1e"
_UNDESCRIBED: Final = XmlDocument(root=XmlNode(name="root", items=XmlNode(name="item")))


def encode(value: Any, content_type: str, xml: XmlDocument | None = None) -> bytes:
    """Return the bytes of `value`; `xml` describes it as XML. Raises ArgumentError."""
    if media_types.is_xml(content_type):
        return _xml(value, content_type, xml)
    for test, writer in _WRITERS:
        if test(content_type):
            return writer(value, content_type)
    return _text(value, content_type)


def encode_text(value: Any, content_type: str, xml: XmlDocument | None = None) -> str:
    """Return the encoded value as text, for a parameter."""
    return encode(value, content_type, xml).decode(_charset(content_type))


def part_content_type(content_type: str, value: Any) -> str:
    """Return the media type of a part: JSON for an object or array in place of the default, text.

    Specification: OpenAPI 3.2 Encoding Object, `contentType`.
    """
    if isinstance(value, dict | list) and media_types.essence(content_type) == "text/plain":
        return "application/json"
    return content_type


def _json(value: Any, _: str) -> bytes:
    return jsontext.write_bytes(value)


def _json_lines(value: Any, _: str) -> bytes:
    return b"".join(jsontext.write_bytes(item) + b"\n" for item in _items(value))


def _json_sequence(value: Any, _: str) -> bytes:
    return b"".join(RECORD_SEPARATOR.encode() + jsontext.write_bytes(item) + b"\n" for item in _items(value))


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _event_stream(value: Any, content_type: str) -> bytes:
    """Return server-sent events.

    An object of their fields is one event, any other value the data of one; text is the stream itself.
    """
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
"""The line ends of the format itself: other characters that Python takes for line ends are data."""


def _xml(value: Any, content_type: str, described: XmlDocument | None) -> bytes:
    """Return XML: text that begins like a document, or that has no description, unchanged; other values as nodes."""
    is_xml = isinstance(value, str) and value.lstrip("\ufeff \t\r\n").startswith("<")
    if isinstance(value, dict | list) or (described is not None and not is_xml):
        from . import xml

        return _text(xml.document(value, described or _UNDESCRIBED), content_type)
    return _text(value, content_type)


def _text(value: Any, content_type: str) -> bytes:
    """Return a text in its charset; with character references, as forms of HTML have them, where requests may deviate.

    Specification: WHATWG HTML "Form submission" (what an encoding cannot express).
    """
    charset, text = _charset(content_type), scalar_text(value)
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        deviate(f"The text holds characters that {charset} cannot express.", "They are sent as in `&#8364;`.")
        return text.encode(charset, "xmlcharrefreplace")


def _charset(content_type: str) -> str:
    """Return the declared charset if Python knows it, else UTF-8."""
    return str(media_types.parameter(content_type, "charset")) if media_types.codec(content_type) else "utf-8"


_WRITERS: Final[tuple[tuple[Callable[[str], bool], Callable[[Any, str], bytes]], ...]] = (
    (media_types.is_json_sequence, _json_sequence),
    (media_types.is_json_lines, _json_lines),
    (media_types.is_json, _json),
    (media_types.is_event_stream, _event_stream),
)
"""The first test that holds decides. For any other type a string is that text, and other values are JSON text."""


FORM: Final = "application/x-www-form-urlencoded"
_UNDECLARED: Final = Encoding()


def encode_form(fields: Mapping[str, Any], encoding: Mapping[str, Encoding]) -> str:
    """Return `name=value&…` in the order of `fields`."""
    members = (pair for name, value in fields.items() for pair in _pairs(name, value, encoding.get(name, _UNDECLARED)))
    return "&".join(f"{name}={value}" for name, value in members)


def _pairs(name: str, value: Any, rule: Encoding) -> Iterator[tuple[str, str]]:
    if rule.style is not None:
        escaping = styles.QUERY_RESERVED if rule.allow_reserved else styles.STRICT
        yield from styles.pairs(name, value, style=rule.style, explode=rule.explode, escaping=escaping)
        return
    for item in value if isinstance(value, list) else [value]:
        if item is not None:
            yield quote_plus(name), quote_plus(_field(name, item, rule))


def _field(name: str, value: Any, rule: Encoding) -> str | bytes:
    if rule.binary:
        from . import files

        return files.decode(value, name).data
    if isinstance(value, dict) and media_types.is_form(rule.content_type):
        return encode_form(value, rule.encoding)
    return encode(value, media_types.concrete(part_content_type(rule.content_type, value)), rule.xml)


_NOT_ASCII: Final = re.compile("[^\x00-\x7f]+")


def parameter_value(argument: Argument, value: Any) -> Any:
    """Return the value that a style writes: the argument's, or its text in the media type of `content`."""
    return value if argument.content_type is None else parameter_text(argument, value, argument.content_type)


def parameter_text(argument: Argument, value: Any, content_type: str) -> str:
    """Return the value as text in a media type. Raises ArgumentError."""
    media = argument.media or MediaType(content_type=content_type)
    if isinstance(value, dict) and media_types.is_form(content_type):
        return encode_form(value, media.encoding)
    encoded = encode_text(value, content_type, media.xml)
    return _in_ascii(encoded) if argument.location == "header" and media_types.is_json(content_type) else encoded


def _in_ascii(text: str) -> str:
    """Return the same JSON text in ASCII: servers read headers as Latin-1 or as UTF-8, and ASCII is both."""
    return _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)
