"""Formats of strings as answers show them: dates, times, identifiers and addresses where the document says `string`.

Specification: JSON Schema Validation 2020-12, section 7.3 ("Defined Formats").
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from ...document.model import join
from ..probe import Observation
from ..subject import JudgedDocument
from .change import Repair, location_of

MAX_VALUES: Final = 5_000
"""Values of one answer that are looked at."""

MAX_ITEMS: Final = 20
MAX_DEPTH: Final = 8

_FORMATS: Final = (
    ("date-time", re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)")),
    ("date", re.compile(r"\d{4}-\d\d-\d\d")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")),
    ("uri", re.compile(r"https?://[^\s\"<>\\^`{|}]{3,2000}")),
)
_CHARACTERIZED: Final = frozenset({"format", "enum", "const", "pattern", "contentEncoding"})
"""Keywords that say what a string holds."""


def format_repairs(subject: JudgedDocument, observations: Iterable[Observation]) -> Iterator[Repair]:
    """Yield the format of each string whose values in all answers have one."""
    seen: dict[str, set[str]] = defaultdict(set)
    for observation in observations:
        operation = subject.operation_of(observation.tool)
        if operation is None or observation.response.status_code >= 300 or observation.value is None:
            continue
        for status, node, pointer in subject.responses(operation):
            if status == str(observation.response.status_code):
                for _, media, place in subject.media_types(node, pointer):
                    start = subject.follow(media.get("schema"), join(place, "schema"))
                    for where, text in islice(_strings(subject, *start, observation.value, 0), MAX_VALUES):
                        seen[where].add(_format_of(text))
    for pointer, formats in seen.items():
        location = location_of(subject, pointer)
        if len(formats) == 1 and "" not in formats and location is not None:
            (name,) = formats
            reason = f"{pointer}: all its values are of the format {name}"
            yield Repair(rule="drift-schema", location=location, reason=reason, update={"format": name})


def _format_of(text: str) -> str:
    return next((name for name, pattern in _FORMATS if pattern.fullmatch(text)), "")


def _strings(subject: JudgedDocument, schema: Any, pointer: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the pointer of each schema of a string that says nothing about its form, with a value."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str) and schema.get("type") == "string" and not schema.keys() & _CHARACTERIZED:
        yield pointer, value
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        inner = subject.follow(schema["items"], join(pointer, "items"))
        for item in value[:MAX_ITEMS]:
            yield from _strings(subject, *inner, item, depth + 1)
    elif isinstance(value, dict):
        branches = schema.get("allOf")
        for index, branch in enumerate(branches if isinstance(branches, list) else ()):
            yield from _strings(subject, *subject.follow(branch, join(pointer, "allOf", index)), value, depth + 1)
        properties = schema.get("properties")
        for name, each in (properties if isinstance(properties, dict) else {}).items():
            if name in value:
                inner = subject.follow(each, join(pointer, "properties", name))
                yield from _strings(subject, *inner, value[name], depth + 1)
