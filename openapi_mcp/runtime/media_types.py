"""Media types as text: `type/subtype`, parameters, families. No other module parses a content type.

Specification: RFC 9110 §8.3.1 (syntax), RFC 6839 (structured suffixes), RFC 8259, RFC 7464, OpenAPI 3.2 "Media Types".
"""

import codecs
from email.message import Message
from functools import lru_cache
from typing import Final

_MAX_CACHED: Final = 128
"""Cached results of a function: every call asks about the same few types, and a type may be as long as a header."""

OCTET_STREAM: Final = "application/octet-stream"

JSON_LINES: Final = frozenset(
    f"application/{name}" for name in ("jsonl", "jsonlines", "x-jsonlines", "ndjson", "x-ndjson")
)

_TEXTUAL_NAMES: Final = (
    "javascript ecmascript x-javascript graphql jsonpath jwt sql toml x-pem-file x-sh x-www-form-urlencoded yaml x-yaml"
)
TEXTUAL: Final = frozenset(f"application/{name}" for name in _TEXTUAL_NAMES.split())
"""Types outside `text/*` whose bytes are text that a person or a model can read."""

CONCRETE: Final = {
    "*/*": "application/json",
    "application/*": "application/json",
    "text/*": "text/plain",
    "multipart/*": "multipart/form-data",
}
"""The types that are sent for ranges: a Content-Type names one type, never a range (RFC 9110 §8.3)."""


_MAX_LENGTH: Final = 2_000
"""Characters of a type whose parameters are read: Python's parser takes time in proportion to the square of them."""

_NO_CHARSETS: Final = frozenset({
    *("idna", "punycode"),  # for names; they take time in proportion to the square of a text's length
    *("raw-unicode-escape", "undefined", "unicode-escape"),
    *("base64", "bz2", "hex", "quopri", "rot-13", "uu", "zlib"),  # from bytes to bytes, or from text to text
})  # fmt: skip
"""Codecs of Python that are no encodings of texts."""


@lru_cache(_MAX_CACHED)
def essence(content_type: str) -> str:
    """Return `type/subtype` in lower case, without parameters."""
    return content_type.partition(";")[0].strip().lower()


def parameter(content_type: str, name: str) -> str | None:
    """Return the value of a parameter (`charset`, `boundary`), unquoted; None without it."""
    if len(content_type) > _MAX_LENGTH:
        return None
    message = Message()
    message["Content-Type"] = " ".join(content_type.split())
    value = message.get_param(name)
    return value[2] if isinstance(value, tuple) else value


def codec(content_type: str) -> str:
    """Return the name of Python's codec for the declared charset; empty if there is none, or none of texts."""
    charset = parameter(content_type, "charset")
    try:
        name = codecs.lookup(charset).name if charset else ""
    except (ValueError, LookupError):
        return ""
    return "" if name in _NO_CHARSETS else name


def alternatives(content_type: str) -> tuple[str, ...]:
    """Return the entries of an Encoding Object's comma-separated `contentType`."""
    return tuple(entry for entry in (part.strip() for part in content_type.split(",")) if entry)


def is_range(content_type: str) -> bool:
    """Return whether it is a range of types (`image/*`, `*/*`)."""
    return essence(content_type).endswith("/*")


def concrete(content_type: str, *, binary: bool = False, detected: str | None = None) -> str:
    """Return the type to send for the document's type, range or list; `detected` is the type of the data, if known."""
    entries = alternatives(content_type)
    if detected and any(covers(entry, detected) for entry in entries):
        return detected
    chosen = next((entry for entry in entries if not is_range(entry)), entries[0] if entries else OCTET_STREAM)
    if not is_range(chosen):
        return chosen
    return OCTET_STREAM if binary else CONCRETE.get(essence(chosen), OCTET_STREAM)


@lru_cache(_MAX_CACHED)
def covers(media_range: str, content_type: str) -> bool:
    """Return whether a type or range includes a type."""
    pattern, name = essence(media_range), essence(content_type)
    return pattern in {name, "*/*"} or (pattern.endswith("/*") and name.startswith(pattern[:-1]))


def is_json(content_type: str) -> bool:
    """Return whether it is one JSON text: `application/json`, `text/json`, `+json`, or a range that includes them."""
    name = essence(content_type)
    return name in {"application/json", "text/json", "*/*", "application/*"} or name.endswith("+json")


def is_json_lines(content_type: str) -> bool:
    """Return whether it is one JSON text a line."""
    return essence(content_type) in JSON_LINES


def is_json_sequence(content_type: str) -> bool:
    """Return whether it is JSON texts, each after a record separator (RFC 7464)."""
    name = essence(content_type)
    return name == "application/json-seq" or name.endswith("+json-seq")


def is_event_stream(content_type: str) -> bool:
    """Return whether it is server-sent events."""
    return essence(content_type) == "text/event-stream"


def is_form(content_type: str) -> bool:
    """Return whether it is a form: fields as `name=value&…`."""
    return essence(content_type) == "application/x-www-form-urlencoded"


def is_multipart(content_type: str) -> bool:
    """Return whether it is made of parts, each with headers of its own."""
    return essence(content_type).startswith("multipart/")


def is_xml(content_type: str) -> bool:
    """Return whether it is XML, under its own name or with the suffix `+xml`."""
    name = essence(content_type)
    return name in {"application/xml", "text/xml"} or name.endswith("+xml")


def is_text(content_type: str) -> bool:
    """Return whether the bytes are text: `text/*`, JSON, XML, YAML and similar types."""
    name = essence(content_type)
    return (
        name.startswith("text/")
        or name in TEXTUAL
        or name.endswith("+yaml")
        or any(test(name) for test in (is_json, is_json_lines, is_json_sequence, is_xml))
    )
