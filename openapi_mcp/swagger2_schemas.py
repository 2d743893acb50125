"""Swagger 2.0 schemas as OpenAPI 3.0 schemas: copied, never changed in place, each where references find it.

Definitions keep their names under `components/schemas`. What is referred to anywhere else (in another file, in an
operation) gets a name there, since it stands nowhere in the converted document. Specification: OpenAPI 2.0 and 3.0.4.
"""

import re
from typing import Any, Final

from .grammar import children
from .resolver import BrokenReference, Resolver
from .runtime.types import JsonObject

COMPONENTS: Final = {
    "#/definitions/": "#/components/schemas/",
    "#/parameters/": "#/components/parameters/",
    "#/responses/": "#/components/responses/",
}
"""Where the shared parts of a document go; a part keeps its name."""

_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


def moved(ref: str) -> str | None:
    """Where a reference to a shared part leads in the converted document, or None if it leads elsewhere."""
    for old, new in COMPONENTS.items():
        if ref.startswith(old):
            return new + ref[len(old) :]
    return None


class Schemas:
    """The schemas of one document. `components` is complete once `finish` has run."""

    def __init__(self, definitions: JsonObject, resolver: Resolver) -> None:
        self._resolver = resolver
        # By identity, so that what YAML aliases share stays shared; the schema is kept, or its id could be another's.
        self._converted: dict[int, tuple[Any, Any]] = {}
        self._names: dict[str, str] = {}
        self._waiting: list[tuple[str, Any]] = []
        self.components: JsonObject = dict.fromkeys(definitions)
        self.components.update({name: self.convert(schema) for name, schema in definitions.items()})

    def convert(self, schema: Any) -> Any:
        """One schema as OpenAPI 3.0 writes it; what is no schema stays what it is."""
        if isinstance(schema, list):
            return [self.convert(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        if id(schema) not in self._converted:
            self._converted[id(schema)] = (schema, self._copy(schema))
        return self._converted[id(schema)][1]

    def finish(self) -> None:
        """Convert what references turned out to need."""
        while self._waiting:
            name, schema = self._waiting.pop()
            self.components[name] = self.convert(schema)

    def _copy(self, schema: JsonObject) -> JsonObject:
        places = {key: place for key, _, place in children("Schema", schema)}
        copy: JsonObject = {}
        for key, value in schema.items():
            place = places.get(str(key))
            if key == "$ref":
                copy[key] = self._reference(value)
            elif place == "{Schema}" and isinstance(value, dict):
                copy[key] = {name: self.convert(inner) for name, inner in value.items()}
            elif place in ("Schema", "[Schema]"):
                copy[key] = self.convert(value)
            elif key == "discriminator" and isinstance(value, str):
                copy[key] = {"propertyName": value}
            elif key == "x-nullable":
                copy["nullable"] = value
            elif key != "collectionFormat":  # of an array in an array; the parameter says it
                copy[key] = value
        return copy | _type(copy.get("type"))

    def _reference(self, ref: Any) -> Any:
        if not isinstance(ref, str):
            return ref
        if ref.startswith("#/definitions/"):
            return moved(ref)
        try:
            schema, pointer = self._resolver.lookup(ref, "#")
        except BrokenReference:
            return ref  # whoever follows it learns why
        if pointer.startswith("#/definitions/"):
            return moved(pointer)
        if pointer not in self._names:
            self._names[pointer] = self._name(pointer)
            self._waiting.append((self._names[pointer], schema))
        return f"#/components/schemas/{self._names[pointer]}"

    def _name(self, pointer: str) -> str:
        """A name nobody has yet, made of the last word of where the schema stood."""
        shown = self._resolver.shown(pointer).removesuffix("#")
        word = _NOT_A_NAME.sub("_", re.split(r"[/#]", shown)[-1].split(".")[0]) or "schema"
        number = 1
        while (name := word if number == 1 else f"{word}_{number}") in self.components:
            number += 1
        self.components[name] = None
        return name


def _type(kind: Any) -> JsonObject:
    """The fields that a `type` becomes where 3.0 does not have it."""
    if kind == "file":
        return {"type": "string", "format": "binary"}
    if isinstance(kind, list) and len(kind) == 2 and "null" in kind:
        return {"type": next(name for name in kind if name != "null"), "nullable": True}
    return {}
