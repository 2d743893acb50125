"""What the keywords of a schema may hold: readers that give a value as JSON Schema wants it, or say what is wrong.

A value that plainly means the right thing is repaired (`"5"` for a number); what cannot be meant is refused, and its
keyword is left out of the schema. Specification: JSON Schema Validation 2020-12 sections 6 to 9; OpenAPI 3.0.4 Schema
Object.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from .runtime.protocol import mirrored

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

MIRRORED: Final = mirrored.KEYWORD
"""MCP's own keyword: the header in which clients repeat an argument."""

FORMATS: Final = frozenset(
    {
        *("date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"),
        *("uri", "uri-reference", "uri-template", "iri", "iri-reference", "uuid", "json-pointer", "regex"),
        *("relative-json-pointer", "int32", "int64", "float", "double", "byte", "password"),
    }
)
"""The formats of JSON Schema and OpenAPI. Validators that compile strictly refuse a schema with any other; those are
told in the description instead, where a model reads them as well."""


class Unfit(ValueError):
    """A value that a keyword cannot have; the text says what it should be."""


def types(value: Any) -> list[str]:
    """`type` as a list without repetitions; what is no type is left out."""
    names = value if isinstance(value, list) else [value]
    lowered = [name.lower() for name in names if isinstance(name, str)]
    return [name for name in dict.fromkeys(lowered) if name in TYPES]


def number(value: Any) -> int | float:
    """A finite number, also one that is written as a string."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise Unfit("a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unfit("a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise Unfit("a finite number")
    return value


def step(value: Any) -> int | float:
    """A number above zero."""
    found = number(value)
    if found <= 0:
        raise Unfit("a number above zero")
    return found


def count(value: Any) -> int:
    """A whole number from zero."""
    found = number(value)
    if found < 0 or found != int(found):
        raise Unfit("a whole number from zero")
    return int(found)


def boolean(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Unfit("true or false")
    return value


def text(value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise Unfit("a string")
    return value


def names(value: Any) -> list[str]:
    """A list of strings without repetitions."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Unfit("a list of property names")
    return list(dict.fromkeys(value))


def names_by_name(value: Any) -> dict[str, list[str]]:
    """`dependentRequired`: a map to lists of property names."""
    if not isinstance(value, dict):
        raise Unfit("a map to lists of property names")
    return {name: names(wanted) for name, wanted in value.items()}


def json_value(value: Any) -> Any:
    """Anything that JSON can write; not infinity, and nothing that is nested beyond writing."""
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise Unfit("a value that JSON can express") from None
    return value


def choices(value: Any) -> list[Any]:
    """`enum`: a list with at least one value, each once."""
    if not isinstance(value, list) or not value:
        raise Unfit("a list of values, at least one")
    distinct = {json.dumps(json_value(item), sort_keys=True): item for item in value}
    return list(distinct.values())


READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("minimum", "maximum"), number),
    "multipleOf": step,
    **dict.fromkeys(
        (
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "minContains",
            "maxContains",
        ),
        count,
    ),
    "uniqueItems": boolean,
    "required": names,
    "dependentRequired": names_by_name,
    "enum": choices,
    "const": json_value,
    "default": json_value,
    **dict.fromkeys(("contentEncoding", "contentMediaType", MIRRORED), text),
}
"""The keywords without subschemas whose value only has to be read. What is in no table is left out of input schemas:
identifiers (a tool has none), examples and extensions (they cost a model more than they tell it)."""


def accepts(kind: str, value: Any) -> bool:
    """Whether a value is of one of JSON Schema's types."""
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    if isinstance(value, int | float):
        return kind == "number" or (kind == "integer" and value == int(value))
    return isinstance(value, {"string": str, "array": list, "object": dict}.get(kind, ()))
