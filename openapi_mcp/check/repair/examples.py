"""Examples for bodies that have none: one value of a harmless field shows what a body looks like.

Seen values come from answers to probes. Only numbers, booleans, dates, identifiers and choices become examples, of
fields that do not name a person or a secret: an overlay is published, and an answer may be about somebody. Where
nothing was seen, the schema's own default or choice is taken, else the least value of a number.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...document.model import join
from ...runtime.request.redaction import SECRET_NAME
from ...runtime.types import MISSING
from ...tools.operations import LocatedNode, Operation
from ..probe import Observation
from ..subject import JudgedDocument
from .change import Repair, location_of

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


_LIMITS: Final = frozenset({"enum", "const", "pattern", "minimum", "maximum", "minLength", "maxLength"}) | {
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf"
}  # fmt: skip
"""Keywords of a schema that does not take any value of its type."""


@dataclass(frozen=True, slots=True)
class _ExampledField:
    """A harmless field of a body: its name, the pointer of its schema, the type with its format, and a value.

    `takes_any` tells that the schema takes any value of its type, also that of another field of the name.
    """

    name: str
    pointer: str
    type: str
    value: Any
    takes_any: bool

    @property
    def key(self) -> tuple[str, str, str]:
        """The name and type, and where the schema limits its values, the value: fields of one key share an example."""
        return self.name, self.type, "" if self.takes_any else repr(self.value)


def example_repairs(subject: JudgedDocument, observations: Iterable[Observation]) -> list[Repair]:
    """Return examples for the bodies that have none: of few fields, those that most bodies have first."""
    bodies = _bodies_without(subject, observations)
    made: list[Repair] = []
    while bodies:
        counts = Counter(key for fields in bodies.values() for key in dict.fromkeys(each.key for each in fields))
        if not counts:
            break
        key = counts.most_common(1)[0][0]
        chosen = [each for fields in bodies.values() for each in fields if each.key == key]
        for pointer in dict.fromkeys(each.pointer for each in chosen):
            made += _example(subject, pointer, chosen[0].value)
        bodies = {body: fields for body, fields in bodies.items() if fields and not set(chosen) & set(fields)}
    return made


def _bodies_without(subject: JudgedDocument, observations: Iterable[Observation]) -> dict[str, list[_ExampledField]]:
    """Return the harmless fields of each body without an example, by the pointer of its media type."""
    seen = {each.tool.path: each for each in observations if each.response.status_code < 300 and each.value is not None}
    bodies: dict[str, list[_ExampledField]] = {}
    for operation in subject.operations:
        observation = seen.get(operation.path) if operation.method == "GET" else None
        for media, place in _bodies(subject, operation):
            schema = subject.follow(media.get("schema"), join(place, "schema"))
            if media.keys() & {"example", "examples"} or not schema[0] or _has_example(subject, *schema):
                continue
            found = [*_find(subject, *schema, observation.value)] if observation else []
            bodies[place] = found or [*_find(subject, *schema, MISSING)]
    return bodies


def _bodies(subject: JudgedDocument, operation: Operation) -> Iterator[LocatedNode]:
    """Yield the Media Type Objects of the request and of successes."""
    nodes = [subject.request_body(operation)]
    nodes += [(node, pointer) for status, node, pointer in subject.responses(operation) if status.startswith("2")]
    for node, pointer in nodes:
        for _, media, place in subject.media_types(node, pointer):
            yield media, place


def _example(subject: JudgedDocument, pointer: str, value: Any) -> Iterator[Repair]:
    location = location_of(subject, pointer)
    if location is not None:
        is_new = subject.document.version in ("3.1", "3.2")
        update = {"examples": [value]} if is_new else {"example": value}
        yield Repair(rule="example-missing", location=location, reason=f"{pointer}: such as {value!r}", update=update)


def _fields(subject: JudgedDocument, schema: Any, pointer: str) -> Iterator[tuple[str, Any, str]]:
    """Yield name, schema and pointer of the properties of an object, or of an array's items, behind references."""
    if isinstance(schema.get("items"), dict):
        schema, pointer = subject.follow(schema["items"], join(pointer, "items"))
    branches = schema.get("allOf")
    parts = [(schema, pointer)]
    for index, branch in enumerate(branches if isinstance(branches, list) else ()):
        parts.append(subject.follow(branch, join(pointer, "allOf", index)))
    for part, place in parts:
        properties = part.get("properties")
        for name, each in (properties if isinstance(properties, dict) else {}).items():
            yield name, *subject.follow(each, join(place, "properties", name))


def _has_example(subject: JudgedDocument, schema: Any, pointer: str, depth: int = 0) -> bool:
    """Return whether a schema or one of its properties has an example."""
    if schema.keys() & {"example", "examples"}:
        return True
    return depth <= MAX_DEPTH and any(
        _has_example(subject, each, place, depth + 1) for _, each, place in _fields(subject, schema, pointer)
    )


def _find(subject: JudgedDocument, schema: Any, pointer: str, value: Any, depth: int = 0) -> Iterator[_ExampledField]:
    """Yield the harmless fields of a schema, with their values: those in `value`, else what their schemas say."""
    value = value[0] if isinstance(value, list) and value else value
    for name, each, place in _fields(subject, schema, pointer):
        own = value.get(name) if isinstance(value, Mapping) else value
        if each.keys() & {"properties", "items", "allOf"}:
            if depth < MAX_DEPTH:
                yield from _find(subject, each, place, own, depth + 1)
            continue
        shown = _made(each) if own is MISSING else own
        if isinstance(each.get("type"), str) and _is_harmless(name, shown):
            kind = f"{each['type']} {each.get('format', '')}"
            yield _ExampledField(name, place, kind, shown, not each.keys() & _LIMITS)


def _made(schema: Mapping[str, Any]) -> Any:
    """Return a value that a schema itself gives; None where it gives none."""
    if "default" in schema:
        return schema["default"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    least = schema.get("minimum", 1)
    return least if schema.get("type") in ("integer", "number") and isinstance(least, int | float) else None


def _is_harmless(name: str, value: Any) -> bool:
    if SECRET_NAME.search(name) or _PERSONAL.search(name):
        return False
    if isinstance(value, int | float):
        return abs(value) < 1e12
    return isinstance(value, str) and _HARMLESS.fullmatch(value) is not None
