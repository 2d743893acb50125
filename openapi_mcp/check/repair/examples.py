"""Examples from answers, where the document has none: one value of a harmless field shows what an answer looks like.

Only numbers, booleans, dates, identifiers and choices become examples, of fields that do not name a person or a secret:
an overlay is published, and an answer may be about somebody.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ...document.model import join
from ...runtime.request.redaction import SECRET_NAME
from ..probe import Observation
from ..subject import JudgedDocument
from .repairs import Repair, location_of

MAX_DEPTH: Final = 3
"""Levels of an answer that are looked through."""

_PERSONAL: Final = re.compile(
    r"name|mail|phone|mobile|address|street|city|zip|post_?code|birth|gender|user|person|owner|author|account|iban|card"
    r"|tax|ssn|passport|lat|lon|location|(?<![a-z])ip(?![a-z])|salary|balance|amount|note|comment|message|text|body",
    re.IGNORECASE,
)
"""Names of fields whose values may be about somebody."""

_HARMLESS: Final = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]{5,20}(Z|[+-]\d\d:?\d\d)?)?|[a-z][a-z_-]{1,19}")
"""Dates, times, and single words in lower case, which are choices."""


def example_repairs(subject: JudgedDocument, exchanges: Iterable[Observation]) -> Iterator[Repair]:
    """Yield an example for the schema of each answer that has none."""
    done: set[str] = set()
    for exchange in exchanges:
        operation = subject.operation_of(exchange.tool)
        if operation is None or exchange.response.status_code >= 300:
            continue
        for status, node, pointer in subject.responses(operation):
            if status != str(exchange.response.status_code):
                continue
            for _, media, place in subject.media_types(node, pointer):
                start = subject.follow(media.get("schema"), join(place, "schema"))
                if media.keys() & {"example", "examples"} or not start[0]:
                    continue
                found = _find(subject, *start, exchange.value, 0)
                if found and found[0] not in done:
                    done.add(found[0])
                    yield from _example(subject, operation.label, *found)


def _example(subject: JudgedDocument, label: str, pointer: str, value: Any) -> Iterator[Repair]:
    location = location_of(subject, pointer)
    if location is not None:
        update = {"examples": [value]} if subject.document.version in ("3.1", "3.2") else {"example": value}
        reason = f"{label} answered with it"
        yield Repair(rule="example-missing", location=location, reason=reason, update=update)


def _find(subject: JudgedDocument, schema: Any, pointer: str, value: Any, depth: int) -> tuple[str, Any] | None:
    """Return the pointer of the schema of a harmless value, and the value; None where there is an example."""
    if isinstance(value, list) and value and isinstance(schema.get("items"), dict):
        return _find(subject, *subject.follow(schema["items"], join(pointer, "items")), value[0], depth)
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict) or depth > MAX_DEPTH:
        return None
    if any(isinstance(each, dict) and each.keys() & {"example", "examples"} for each in properties.values()):
        return None
    for name, each in properties.items():
        place = join(pointer, "properties", name)
        if isinstance(each, dict) and "$ref" not in each and _is_harmless(name, value.get(name)):
            return place, value[name]
    for name, each in properties.items():
        inner = subject.follow(each, join(pointer, "properties", name))
        if found := _find(subject, *inner, value.get(name), depth + 1):
            return found
    return None


def _is_harmless(name: str, value: Any) -> bool:
    if SECRET_NAME.search(name) or _PERSONAL.search(name):
        return False
    if isinstance(value, int | float):
        return abs(value) < 1e12
    return isinstance(value, str) and _HARMLESS.fullmatch(value) is not None
