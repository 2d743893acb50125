"""Schemas of arguments in the dialect that a client or the API of its model accepts (`Profile`).

A schema says the same in other words where the dialect has them: `oneOf` becomes `anyOf`, `const` an `enum`, a type
with null a `nullable`, a reference its definition. What the dialect cannot express is added to the description. Only
the list has these schemas; arguments are judged by the original ones.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from ..runtime.types import JsonObject
from .profiles import Profile

MAX_DEPTH: Final = 12
"""Levels of a schema whose references are replaced; deeper ones, of recursive schemas too, are any value."""

MAX_SCHEMAS: Final = 2_000
"""Schemas that one tool's may become when its references are replaced."""

MAX_VALUES: Final = 20
"""Values of an `enum` that are written into a description."""

_NUMBER_FORMATS: Final = frozenset({"float", "double", "int32", "int64"})
_ANY_OF: Final = "anyOf"
_TYPED: Final = frozenset({"string", "number", "integer", "boolean", "array", "object"})


def in_dialect(schema: JsonObject, profile: Profile) -> JsonObject:
    """Return an inputSchema as a client accepts it; the same object where it does already."""
    if not profile.changes_schemas:
        return schema
    written = _DialectWriter(profile, schema.get("$defs", {})).schema(schema, 0)
    return schema if written == schema else written


class _DialectWriter:
    """A writer of the schemas of one tool, which counts them."""

    def __init__(self, profile: Profile, definitions: Mapping[str, Any]) -> None:
        self._profile = profile
        self._definitions = definitions
        self._left = MAX_SCHEMAS

    def schema(self, schema: Any, depth: int) -> Any:
        """Return a schema in the dialect."""
        if not isinstance(schema, dict):
            return schema
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            return {"description": schema["description"]} if "description" in schema else {}
        notes: list[str] = []
        if self._profile.inline_references:
            schema = self._inlined(schema)
        if self._profile.keywords is not None:
            schema = self._merged(schema)
            schema = _reworded(schema, notes)
            schema = self._without_values(schema, notes)
        schema = {name: self._member(name, value, depth) for name, value in schema.items() if self._has(name)}
        if self._profile.needs_items and "array" in _types(schema) and "items" not in schema:
            schema["items"] = {}
        return _described(schema, notes)

    def _has(self, name: str) -> bool:
        if name in ("$defs", "$ref") and self._profile.inline_references:
            return False
        return self._profile.keywords is None or name in self._profile.keywords

    def _member(self, name: str, value: Any, depth: int) -> Any:
        """Return the value of a keyword, with the schemas that are in it."""
        if name in ("properties", "$defs", "patternProperties") and isinstance(value, dict):
            return {key: self.schema(inner, depth + 1) for key, inner in value.items()}
        if name in (_ANY_OF, "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            return [self.schema(inner, depth + 1) for inner in value]
        if name in ("items", "additionalProperties", "not", "contains"):
            return self.schema(value, depth + 1)
        return value

    def _inlined(self, schema: JsonObject) -> JsonObject:
        """Return a schema with the definition that it refers to; its own keywords win."""
        names: set[str] = set()
        while isinstance(reference := schema.get("$ref"), str):
            name = reference.removeprefix("#/$defs/")
            definition = self._definitions.get(name)
            others = {key: value for key, value in schema.items() if key != "$ref"}
            if name in names or not isinstance(definition, dict):
                return others
            names.add(name)
            schema = {**definition, **others}
        return schema

    def _merged(self, schema: JsonObject) -> JsonObject:
        """Return a schema with the properties and keywords of its `allOf`, and of theirs."""
        merged = {name: value for name, value in schema.items() if name != "allOf"}
        waiting = list(schema["allOf"]) if isinstance(schema.get("allOf"), list) else []
        while waiting and self._left > 0:
            self._left -= 1
            part = waiting.pop(0)
            part = self._inlined(part) if isinstance(part, dict) and self._profile.inline_references else part
            for name, value in part.items() if isinstance(part, dict) else ():
                if name == "allOf" and isinstance(value, list):
                    waiting += value
                elif name == "properties" and isinstance(value, dict):
                    merged[name] = {**value, **merged.get(name, {})}
                elif name == "required" and isinstance(value, list):
                    merged[name] = list(dict.fromkeys([*merged.get(name, []), *value]))
                else:
                    merged.setdefault(name, value)
        return merged

    def _without_values(self, schema: JsonObject, notes: list[str]) -> JsonObject:
        """Return a schema without a format or an enum that the dialect does not have; `notes` say them."""
        schema, types = dict(schema), _types(schema)
        form = schema.get("format")
        formats = self._profile.string_formats if "string" in types else _NUMBER_FORMATS
        if isinstance(form, str) and formats is not None and form not in formats:
            notes.append(f"Format: {schema.pop('format')}.")
        values = schema.get("enum")
        if self._profile.string_enums and isinstance(values, list):
            texts = [value for value in values if isinstance(value, str)]
            if texts and types <= {"string", "null"} and all(value is None for value in values if value not in texts):
                schema |= {"type": "string", "enum": texts, **({"nullable": True} if None in values else {})}
            else:
                del schema["enum"]
                shown = ", ".join(json.dumps(value, ensure_ascii=False) for value in values[:MAX_VALUES])
                notes.append(f"One of: {shown}{' …' if len(values) > MAX_VALUES else ''}.")
        return schema


def _reworded(schema: JsonObject, notes: list[str]) -> JsonObject:
    """Return a schema whose keywords of JSON Schema 2020-12 are those of OpenAPI 3.0, where these say the same."""
    schema = dict(schema)
    if "const" in schema:
        schema["enum"] = [schema.pop("const")]
    if "oneOf" in schema and _ANY_OF not in schema:
        schema[_ANY_OF] = schema.pop("oneOf")
    for bound, sign in (("exclusiveMinimum", 1), ("exclusiveMaximum", -1)):
        if isinstance(value := schema.pop(bound, None), int | float):
            is_integer = schema.get("type") == "integer" and isinstance(value, int)
            schema.setdefault(bound.replace("exclusiveM", "m"), value + sign if is_integer else value)
            if not is_integer:
                notes.append(f"{'More' if sign > 0 else 'Less'} than {value}.")
    return _nullable(schema)


def _nullable(schema: JsonObject) -> JsonObject:
    """Return a schema with one type, and `nullable` where null is another one."""
    types = schema.get("type")
    if isinstance(types, list):
        others = [each for each in types if each != "null"]
        schema = {name: value for name, value in schema.items() if name != "type"}
        if len(others) == 1:
            schema["type"] = others[0]
        elif others and _ANY_OF not in schema:
            schema[_ANY_OF] = [{"type": each} for each in others]
        if "null" in types:
            schema["nullable"] = True
    branches = schema.get(_ANY_OF)
    if isinstance(branches, list) and {"type": "null"} in branches:
        rest = [branch for branch in branches if branch != {"type": "null"}]
        schema = {**schema, _ANY_OF: rest, "nullable": True}
        if len(rest) == 1 and isinstance(rest[0], dict):
            return {**rest[0], **{name: value for name, value in schema.items() if name != _ANY_OF}}
    return schema


def _types(schema: JsonObject) -> set[str]:
    types = schema.get("type", [])
    return set(types if isinstance(types, list) else [types]) & (_TYPED | {"null"})


def _described(schema: JsonObject, notes: list[str]) -> JsonObject:
    """Return a schema whose description ends with notes."""
    if not notes:
        return schema
    text = schema.get("description", "")
    return {**schema, "description": " ".join(part for part in (text, *notes) if part)}
