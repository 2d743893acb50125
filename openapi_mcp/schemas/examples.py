"""Choose the one example of a value that a model is shown: where the schema itself does not say what is expected.

An enum, a default or a format such as `date-time` says it, and so does a description that contains the example. A short
value of the schema's type is shown, as the keyword `examples`. That of a secret never is: a model would send it.
Specification: OpenAPI 3.2 Example Object, Parameter and Media Type Objects; JSON Schema 2020-12 Validation §9.5.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from .. import plain_text
from ..document.model import join
from ..document.resolver import Resolver
from ..runtime.background import exceeds
from ..runtime.request.redaction import SECRET_NAME
from ..runtime.types import MISSING, Schema
from .keywords import FORMATS, accepts, types

MAX_EXAMPLE_LENGTH: Final = 80
"""Characters of an example as JSON: a longer one costs a model more than it explains."""

MAX_CANDIDATES: Final = 5
"""Examples of one value that are read; the first that can be shown is."""

_MAX_PARTS: Final = 20
"""Items, properties and texts of an example."""

_MIN_NUMBER: Final = 1000
"""A smaller number is an example of any number; a larger one may show a unit, such as seconds since 1970."""

_SAYING: Final = frozenset({"enum", "const", "default", "$ref", "contentEncoding", "properties", "examples"})
_SAYING_FORMATS: Final = FORMATS - {"int32", "int64", "float", "double"}
_EXPLAINED_TYPES: Final = frozenset({"string", "array", "object", "integer", "number"})
_PLACEHOLDERS: Final = frozenset({"", "string", "text", "value", "example", "null", "none", "undefined"})
"""Texts that programs write where nobody gave an example."""


def is_secret(name: str) -> bool:
    """Return whether a parameter or property of this name may hold a secret."""
    return SECRET_NAME.search(name) is not None


def without_examples(schema: Schema) -> Schema:
    """Return a schema without examples, unchanged where it has none."""
    return {key: value for key, value in schema.items() if key != "examples"} if "examples" in schema else schema


def examples_of_schema(node: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the first examples of a Schema Object: its `example` (OpenAPI), then its `examples` (JSON Schema)."""
    if "example" in node:
        yield node["example"]
    if isinstance(listed := node.get("examples"), list):
        yield from listed[:MAX_CANDIDATES]


def examples_of_object(node: Mapping[str, Any], pointer: str, resolver: Resolver) -> Iterator[Any]:
    """Yield the first examples of a Parameter or Media Type Object at a pointer."""
    if "example" in node:
        yield node["example"]
    named = node.get("examples")
    for name, each in islice(named.items(), MAX_CANDIDATES) if isinstance(named, Mapping) else ():
        found, _ = resolver.follow_if_possible(each, join(pointer, "examples", name))
        if isinstance(found, Mapping):
            yield from (found[key] for key in ("dataValue", "value") if key in found)


def add_example(schema: Schema, candidates: Iterable[Any], max_text_length: int) -> Schema:
    """Return a converted schema with the first of the candidates that says more than it, unchanged without one."""
    kinds = _kinds(schema)
    if not kinds or not _SAYING.isdisjoint(schema) or schema.get("format") in _SAYING_FORMATS:
        return schema
    limit = min(MAX_EXAMPLE_LENGTH, max_text_length // 2)
    description = schema.get("description", "")
    value = next(
        (each for each in candidates if _is_shown(each, kinds, schema.get("items"), description, limit)), MISSING
    )
    return schema if value is MISSING else {**schema, "examples": [value]}


def _kinds(schema: Schema) -> list[str]:
    """Return the types that a schema takes, null aside; none where one of them needs no example."""
    branches = schema.get("anyOf", [schema])
    if not all(_SAYING.isdisjoint(branch) and "type" in branch for branch in branches):
        return []
    kinds = [kind for branch in branches for kind in types(branch["type"]) if kind != "null"]
    return kinds if _EXPLAINED_TYPES.issuperset(kinds) else []


def _is_shown(value: Any, kinds: Iterable[str], items: Any, description: str, limit: int) -> bool:
    if not any(accepts(kind, value) for kind in kinds) or exceeds(value, _MAX_PARTS):
        return False
    if isinstance(value, list) and not _are_items(value, items):
        return False
    if isinstance(value, int | float) and abs(value) < _MIN_NUMBER:
        return False
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return False
    plain = text.strip('"')
    is_said = plain.lower() in _PLACEHOLDERS or value in ([], {}) or plain in description
    is_plain = plain_text.clean(text) == text and "\\u00" not in text  # no hidden and no control characters
    return len(text) <= limit and not is_said and is_plain and '"$' not in text


def _are_items(values: list[Any], items: Any) -> bool:
    """Return whether these are items of a list whose items a type describes, rather than their own schemas."""
    if not isinstance(items, Mapping) or not _SAYING.isdisjoint(items) or items.get("format") in _SAYING_FORMATS:
        return False
    kinds = types(items.get("type"))
    return not kinds or all(any(accepts(kind, value) for kind in kinds) for value in values)
