"""Media types as text: the `type/subtype`, a parameter, the family; a question about a content type is asked here only.

Specification: RFC 9110 §8.3.1 (syntax), RFC 6839 (structured suffixes), RFC 8259, RFC 7464, OpenAPI 3.2 "Media Types".
"""

from email.message import Message
from functools import lru_cache
from typing import Final

_KEPT: Final = 128
"""Answers that are kept: the same few types are asked about in every call, and a type may be as long as a header."""

OCTET_STREAM: Final = "application/octet-stream"

JSON_LINES: Final = frozenset(
    f"application/{name}" for name in ("jsonl", "jsonlines", "x-jsonlines", "ndjson", "x-ndjson")
)

TEXTUAL: Final = frozenset(
    f"application/{name}"
    for name in (
        *(
            "javascript",
            "ecmascript",
            "x-javascript",
            "graphql",
            "jsonpath",
            "jwt",
            "sql",
            "toml",
            "x-pem-file",
            "x-sh",
        ),
        *("x-www-form-urlencoded", "yaml", "x-yaml"),
    )
)
"""Types outside `text/*` whose bytes are characters that a person, or a model, can read."""

CONCRETE: Final = {
    "*/*": "application/json",
    "application/*": "application/json",
    "text/*": "text/plain",
    "multipart/*": "multipart/form-data",
}
"""What a range is sent as: a Content-Type names one type, never a range (RFC 9110 §8.3)."""


@lru_cache(_KEPT)
def essence(content_type: str) -> str:
    """`type/subtype` in lower case, without parameters."""
    return content_type.partition(";")[0].strip().lower()


def parameter(content_type: str, name: str) -> str | None:
    """The value of a parameter (`charset`, `boundary`), unquoted; None where there is none."""
    message = Message()
    message["Content-Type"] = " ".join(content_type.split())
    value = message.get_param(name)
    return value[2] if isinstance(value, tuple) else value


def alternatives(content_type: str) -> tuple[str, ...]:
    """The entries of an Encoding Object's comma-separated `contentType`."""
    return tuple(entry for entry in (part.strip() for part in content_type.split(",")) if entry)


def is_range(content_type: str) -> bool:
    """Whether it stands for several types (`image/*`, `*/*`)."""
    return essence(content_type).endswith("/*")


def concrete(content_type: str, *, binary: bool = False, known: str | None = None) -> str:
    """One type that can be sent for the document's type, range, or list; `known` is what the data says of itself."""
    entries = alternatives(content_type)
    if known and any(covers(entry, known) for entry in entries):
        return known
    chosen = next((entry for entry in entries if not is_range(entry)), entries[0] if entries else OCTET_STREAM)
    if not is_range(chosen):
        return chosen
    return OCTET_STREAM if binary else CONCRETE.get(essence(chosen), OCTET_STREAM)


@lru_cache(_KEPT)
def covers(wanted: str, given: str) -> bool:
    """Whether the type or range `wanted` includes the type `given`."""
    one, other = essence(wanted), essence(given)
    return one in {other, "*/*"} or (one.endswith("/*") and other.startswith(one[:-1]))


def is_json(content_type: str) -> bool:
    """One JSON text: `application/json`, `text/json`, any `+json` but `+json-seq`; and any range that includes it."""
    name = essence(content_type)
    return name in {"application/json", "text/json", "*/*", "application/*"} or name.endswith("+json")


def is_json_lines(content_type: str) -> bool:
    """One JSON text a line."""
    return essence(content_type) in JSON_LINES


def is_json_sequence(content_type: str) -> bool:
    """JSON texts, each after a record separator (RFC 7464)."""
    name = essence(content_type)
    return name == "application/json-seq" or name.endswith("+json-seq")


def is_event_stream(content_type: str) -> bool:
    """Server-sent events."""
    return essence(content_type) == "text/event-stream"


def is_form(content_type: str) -> bool:
    """Fields as `name=value&…`."""
    return essence(content_type) == "application/x-www-form-urlencoded"


def is_multipart(content_type: str) -> bool:
    """Parts, each with headers of its own."""
    return essence(content_type).startswith("multipart/")


def is_xml(content_type: str) -> bool:
    """XML under its own name or a `+xml` suffix."""
    name = essence(content_type)
    return name in {"application/xml", "text/xml"} or name.endswith("+xml")


def is_text(content_type: str) -> bool:
    """Whether the bytes are characters: `text/*`, JSON, XML, YAML and their like."""
    name = essence(content_type)
    return (
        name.startswith("text/")
        or name in TEXTUAL
        or name.endswith("+yaml")
        or any(test(name) for test in (is_json, is_json_lines, is_json_sequence, is_xml))
    )
