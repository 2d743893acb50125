"""What OpenAPI says with several keywords together, as JSON Schema says it; each idiom changes one schema in place.

An idiom keeps what a schema accepts, but for values that no document can mean. Specification: OpenAPI 3.0.4 Schema
Object (`nullable`, `exclusiveMinimum`, `discriminator`), OpenAPI 3.2 "Working with Binary Data".
"""

from collections.abc import Mapping
from typing import Any, Final

from . import keywords, prose
from .runtime.protocol.mirrored import problem_of
from .runtime.types import Schema
from .schema_parts import is_binary

_UNIONS: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if"})
_ANNOTATIONS: Final = frozenset({"description", "default", "deprecated", keywords.MIRRORED})
_UNASSERTED: Final = _ANNOTATIONS | {"format", "contentSchema"}
_NULL: Final[Schema] = {"type": "null"}
_MOST_MAPPED: Final = 20
"""Names of a discriminator that a description repeats."""


def _types(schema: Mapping[str, Any]) -> list[str]:
    value = schema.get("type", [])
    return value if isinstance(value, list) else [value]


def _note(found: Schema, sentence: str) -> None:
    found["description"] = f"{found['description']} {sentence}" if "description" in found else sentence


def bounded(found: Schema, node: Mapping[str, Any]) -> None:
    """`exclusiveMinimum: true` beside `minimum` (3.0) as the one number it means."""
    for bound in ("minimum", "maximum"):
        exclusive = "exclusive" + bound.capitalize()
        if node.get(exclusive) is True and bound in found:
            found[exclusive] = found.pop(bound)


def without_lost_patterns(found: Schema, node: Mapping[str, Any]) -> None:
    """Where a pattern of `patternProperties` is left out, what is said of all other properties would hit its own."""
    kept = found.get("patternProperties")
    if kept is not None and len(kept) < len(node["patternProperties"]):
        found.pop("additionalProperties", None)
        found.pop("unevaluatedProperties", None)


def consistent(found: Schema) -> str:
    """An enum of which no value has the `type`: one of the two is left out, and the complaint says which."""
    names, values = _types(found), found.get("enum")
    if not names or not values or any(keywords.accepts(name, value) for name in names for value in values):
        return ""
    structured = {"array", "object"} & set(names)  # then the list is meant for what is inside
    left_out = "enum" if structured else "type"
    del found[left_out]
    return f"no value of `enum` is of the type {' or '.join(names)}; `{left_out}` is left out"


def with_items(found: Schema) -> None:
    """An array says what it holds, even if that is anything: some model APIs refuse it otherwise."""
    if "array" in _types(found) and not found.keys() & {"items", "prefixItems"}:
        found["items"] = {}


def binary(found: Schema, node: Mapping[str, Any]) -> None:
    """Bytes as base64 text; what the document says of their length and form is not true of that text."""
    if not is_binary(node):
        return
    for keyword in ("minLength", "maxLength", "pattern", "format", "contentSchema"):
        found.pop(keyword, None)
    found["type"] = ["string", "null"] if "null" in _types(found) else "string"
    found["contentEncoding"] = "base64"
    _note(found, "The bytes in base64.")


def told(found: Schema, node: Mapping[str, Any]) -> None:
    """What JSON Schema has no keyword for, in words: other formats, and what tells the parts of a union apart."""
    kind = node.get("format")
    if isinstance(kind, str) and kind not in keywords.FORMATS and kind != "binary" and prose.line(kind, 40):
        _note(found, f"Format: {prose.line(kind, 40)}.")
    discriminator = node.get("discriminator")
    if isinstance(discriminator, dict) and found.keys() & {"oneOf", "anyOf"}:
        name, values = discriminator.get("propertyName"), _mapped(discriminator, node)
        if isinstance(name, str) and 0 < len(values) <= _MOST_MAPPED:
            _note(found, prose.trimmed(f"`{prose.line(name)}` tells which: {prose.line(', '.join(values), 500)}."))


def _mapped(discriminator: Mapping[str, Any], node: Mapping[str, Any]) -> list[str]:
    """The values of a discriminator: those of its mapping, else the names of the schemas."""
    mapping = discriminator.get("mapping")
    if isinstance(mapping, dict) and mapping:
        return list(mapping)
    options = node.get("oneOf", node.get("anyOf"))
    refs = [option.get("$ref") if isinstance(option, dict) else None for option in _list(options)]
    return [ref.rpartition("/")[2] for ref in refs if isinstance(ref, str)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def distinguishable(found: Schema, node: Mapping[str, Any]) -> None:
    """Alternatives of `oneOf` that are told apart by what no validator asserts never match alone: any will do.

    A discriminator is such a thing, and so are formats.
    """
    if isinstance(node.get("discriminator"), dict) and "oneOf" in found and "anyOf" not in found:
        found["anyOf"] = found.pop("oneOf")
    options = found.get("oneOf", [])
    asserted = [{key: value for key, value in option.items() if key not in _UNASSERTED} for option in options]
    if any(option in asserted[:index] for index, option in enumerate(asserted)) and "anyOf" not in found:
        found["anyOf"] = found.pop("oneOf")


def nullable(found: Schema) -> Schema:
    """The schema, or null."""
    if found.keys() & _UNIONS:
        if _NULL in found.get("anyOf", []):
            return found
        outer: Schema = {key: found.pop(key) for key in _ANNOTATIONS & found.keys()}
        return {"anyOf": [found, dict(_NULL)], **dict(sorted(outer.items()))}
    if "type" in found and "null" not in _types(found):
        found["type"] = [*_types(found), "null"]
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if "enum" in found and None not in found["enum"]:
        found["enum"] = [*found["enum"], None]
    return found


def mirrored(found: Schema) -> str:
    """`x-mcp-header` that no client accepts, by its name or its value's type: the complaint says why it is left out.

    Where a schema says no type, what it refers to may.
    """
    if keywords.MIRRORED not in found or "type" not in found:
        return ""
    alone = {keyword: found[keyword] for keyword in ("type", keywords.MIRRORED)}
    reasons = [reason for _, reason in problem_of({"type": "object", "properties": {"it": alone}})]
    if not reasons:
        return ""
    del found[keywords.MIRRORED]
    return f"`{keywords.MIRRORED}` is left out: {reasons[0]}"


def unwrapped(found: Schema) -> Schema:
    """An `allOf` of one, with nothing but annotations around it, as that one."""
    if len(found.get("allOf", [])) != 1 or found.keys() - _ANNOTATIONS != {"allOf"}:
        return found
    inner: Schema = found.pop("allOf")[0]
    inner.update(found)
    return inner
