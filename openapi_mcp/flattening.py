"""An object schema as the list of its properties, where nothing else is said of it; else it stays one value.

What is flattened loses nothing: a body that is an object with properties, and a tool's arguments that are these
properties, accept the same. Specification: DESIGN of the project, "Body"; JSON Schema 2020-12 for `allOf`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from .conversion import DEEPEST, DEFINITIONS
from .runtime.types import Schema

_SAYS_NOTHING: Final = frozenset({"description", "default", "deprecated"})
_PLAIN: Final = frozenset({"type", "properties", "required", "additionalProperties", "allOf", "$ref"})

Definition = Callable[[str], Schema]


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """An object's properties, which of them are required, and whether there may be others."""

    properties: dict[str, Schema]
    required: tuple[str, ...] = ()
    open: bool = True


def flattened(schema: Schema, definition: Definition) -> Properties | None:
    """The properties of an input schema that declares some; None where it says more than that."""
    found = _parts(schema, definition, set())
    if found is None:
        return None
    merged = found[0] if len(found) == 1 else _merged(found)
    if merged is None or not merged.properties:
        return None
    undeclared: dict[str, Schema] = {name: {} for name in merged.required if name not in merged.properties}
    if merged.open:
        return replace(merged, properties=merged.properties | undeclared)
    # A closed object forbids what it requires without declaring it: nothing could ever satisfy both.
    return replace(merged, required=tuple(name for name in merged.required if name not in undeclared))


def _parts(schema: Schema, definition: Definition, seen: set[str], depth: int = 0) -> list[Properties] | None:
    """The schema itself, what it refers to and the parts of its `allOf`, each as properties; None if one is more."""
    if schema.keys() - _SAYS_NOTHING - _PLAIN or schema.get("type", "object") != "object" or depth > DEEPEST:
        return None
    inner = list(schema.get("allOf", ()))
    name = schema.get("$ref", "").removeprefix(DEFINITIONS)
    if name and name not in seen:  # what was seen has said what it says
        seen.add(name)
        inner.insert(0, definition(name))
    parts = []
    for part in inner:
        found = _parts(part, definition, seen, depth + 1)
        if found is None:
            return None
        parts += found
    others = schema.get("additionalProperties", True)
    if others is not False and others not in (True, {}):
        return None
    own = Properties(
        properties=schema.get("properties", {}), required=tuple(schema.get("required", ())), open=others is not False
    )
    return [*parts, own] if own.properties or own.required or not own.open else parts


def _merged(parts: list[Properties]) -> Properties | None:
    """All parts in one. A closed part would forbid the properties of the others, and is not mixed with them."""
    if not all(part.open for part in parts):
        return None
    properties: dict[str, Schema] = {}
    required: dict[str, None] = {}
    for part in parts:
        required |= dict.fromkeys(part.required)
        for name, schema in part.properties.items():
            known = properties.setdefault(name, schema)
            if known != schema:
                properties[name] = {"allOf": [known, schema]}
    return Properties(properties=properties, required=tuple(required))
