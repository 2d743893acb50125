"""Encode `multipart/*` bodies: one part for each value, and a boundary that occurs in none of them.

The parts of an object are named by its properties. The parts of an array are file by position: their Encoding is that
of their index, else that of `*` (OpenAPI 3.2's prefixEncoding and itemEncoding). A part may itself be multipart, or a
form. Null has no part. No value can end a header.

Specification: RFC 2046 §5.1, RFC 7578, WHATWG HTML "multipart/form-data encoding algorithm" (names), OpenAPI 3.2.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from .. import media_types
from ..errors import ArgumentError
from ..tool import Encoding, MediaType
from . import content, file_types, files, styles
from .context import deviate

MAX_PARTS: Final = 10_000
"""Parts of a body: most servers take 1,000. Each has a hundred bytes besides its value."""

_UNDECLARED: Final = Encoding()
# WHATWG HTML, "escape a string" for names in Content-Disposition: these three and no others.
_ESCAPES: Final = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


@dataclass(frozen=True, slots=True)
class Part:
    """A body part: its headers in order, and its bytes."""

    headers: tuple[tuple[str, str], ...]
    data: bytes

    def to_wire(self) -> bytes:
        """Return the headers, an empty line, and the bytes (RFC 2046 §5.1.1)."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers)
        return lines.encode("utf-8") + b"\r\n" + self.data


def encode(value: Any, media: MediaType) -> tuple[str, bytes]:
    """Return the Content-Type with its boundary, and the body.

    A value without parts is refused (ArgumentError), or is the only part where requests may deviate. One with more
    than MAX_PARTS is refused.
    """
    content_type = media_types.concrete(media.content_type)
    if isinstance(value, dict):
        parts = _named(value, media.encoding)
    elif isinstance(value, list):
        parts = _positional(value, media.encoding)
    else:
        refusal = f"A {media_types.essence(content_type)} body must be an object whose properties are the parts."
        deviate(refusal, "The value is sent as one part.")
        parts = _positional([value], media.encoding)
    bodies = [part.to_wire() for part in islice(parts, MAX_PARTS + 1)]
    if len(bodies) > MAX_PARTS:
        raise ArgumentError(f"The body has more than {MAX_PARTS:,} parts; send fewer values at a time.")
    boundary = _boundary(bodies, media_types.parameter(content_type, "boundary"))
    delimiter = b"--" + boundary.encode("ascii")
    body = b"".join(delimiter + b"\r\n" + part + b"\r\n" for part in bodies) + delimiter + b"--\r\n"
    return _with_boundary(content_type, boundary), body


def _named(value: Mapping[str, Any], encoding: Mapping[str, Encoding]) -> Iterator[Part]:
    for name, item in value.items():
        rule = encoding.get(name, _UNDECLARED)
        if rule.style is not None:
            for key, text in styles.pairs(name, item, style=rule.style, explode=rule.explode, escaping=styles.RAW):
                yield _part(key, text, rule)
        else:
            for member in item if isinstance(item, list) else [item]:
                if member is not None:
                    yield _part(name, member, rule)


def _positional(value: list[Any], encoding: Mapping[str, Encoding]) -> Iterator[Part]:
    default = encoding.get("*", _UNDECLARED)
    for index, item in enumerate(value):
        if item is not None:
            yield _part(None, item, encoding.get(str(index), default))


def _part(name: str | None, value: Any, rule: Encoding) -> Part:
    file = files.decode(value, name or "body") if rule.binary else None
    content_type = _content_type(value, rule, file, name or "body")
    content_type, data = (content_type, file.data) if file else _encode_part(value, content_type, rule)
    if content_type == "text/plain" and not data.isascii():
        content_type = "text/plain; charset=utf-8"  # RFC 7578 §5.1.2: the charset of text
    own = {header.lower(): header for header, _ in rule.headers}
    disposition = _disposition(name, file)
    headers = [("Content-Disposition", disposition)] if disposition and "content-disposition" not in own else []
    headers += [("Content-Type", content_type)]
    headers += [(key, text) for key, text in rule.headers if key.lower() != "content-type"]
    return Part(tuple((_one_line(key), _one_line(text)) for key, text in headers), data)


def _encode_part(value: Any, content_type: str, rule: Encoding) -> tuple[str, bytes]:
    """Return the media type and the bytes of a part that is not a file."""
    if isinstance(value, dict | list) and media_types.is_multipart(content_type):
        return encode(value, MediaType(content_type=content_type, encoding=rule.encoding))
    if isinstance(value, dict) and media_types.is_form(content_type):
        return content_type, content.encode_form(value, rule.encoding).encode("ascii")
    return content_type, content.encode(value, content_type, rule.xml)


def _content_type(value: Any, rule: Encoding, file: files.FileContent | None, name: str) -> str:
    if rule.style is not None:
        return "text/plain"
    declared = rule.content_type
    if file:
        is_default = media_types.essence(declared) == "text/plain"
        declared = file.content_type or media_types.OCTET_STREAM if is_default else declared
        return file_types.content_type(file, declared, name, is_part=True)
    return media_types.concrete(content.part_content_type(declared, value))


def _disposition(name: str | None, file: files.FileContent | None) -> str | None:
    """Return the Content-Disposition of a part.

    A file always has a filename, by default the name of the part: servers recognise files by it (RFC 7578 §4.2).
    """
    if name is None:
        return None
    disposition = f'form-data; name="{name.translate(_ESCAPES)}"'
    if file is None:
        return disposition
    return f'{disposition}; filename="{(file.filename or name).translate(_ESCAPES)}"'


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _boundary(bodies: list[bytes], declared: str | None) -> str:
    """Return the document's own boundary, or one computed from the content, so that equal calls have equal bytes."""
    digest = hashlib.sha256(b"\0".join(bodies))
    boundary = declared if declared and declared.isascii() and len(declared) <= 70 else digest.hexdigest()[:32]
    while any(boundary.encode("ascii") in body for body in bodies):
        digest.update(b"again")
        boundary = digest.hexdigest()[:32]
    return boundary


def _with_boundary(content_type: str, boundary: str) -> str:
    parameters = [part for part in content_type.split(";") if not part.strip().lower().startswith("boundary=")]
    return f"{';'.join(parameters).strip()}; boundary={boundary}"
