"""Instances of a JSON Schema 2020-12 schema: the least that conforms, and one with all that may be there.

The same schema always gives the same value, and what is given out conforms: it is validated, never hoped. Even the
least has something in its objects and arrays where that can be, for an empty one leaves no trace in a query or a form.
"""

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator

from .conjunction import joined
from .runtime.types import Schema
from .scalars import numbers, strings

DEEPEST: Final = 40
"""Levels before a required recursion is given up. Real bodies stay under 20."""

FULL_LEVELS: Final = 7
"""Levels to which everything optional is filled in; below, only what is required."""

FULL_VALUES: Final = 2_000
"""Values of one instance after which only what is required is filled in: a body of some 50 kB."""

_Path = tuple[str, ...]


class NoSample(ValueError):
    """No instance was found; the text names the place."""


def sample(schema: Schema, *, full: bool) -> Any:
    """An instance of a self-contained schema: minimal, or with everything optional. Raises NoSample."""
    return _Sampler(schema, full=full).value(schema)


class _Sampler:
    """Makes one instance. `_values` counts what it has made, so that wide schemas end."""

    def __init__(self, root: Schema, *, full: bool) -> None:
        self._definitions: dict[str, Schema] = root.get("$defs", {})
        self._full = full
        self._validator = Draft202012Validator(root)
        self._values = 0

    def value(self, schema: Schema, path: _Path = (), salt: int = 0) -> Any:
        """The first candidate that conforms."""
        self._values += 1
        if len(path) > DEEPEST:
            raise NoSample(f"{'/'.join(path[:6])}/…: it never ends")
        validator = self._validator.evolve(schema=schema)
        for flat in self._alternatives(schema):
            for candidate in self._candidates(flat, path, salt, validator):
                if validator.is_valid(candidate):
                    return candidate
        raise NoSample(f"{'/'.join(path) or 'the whole'}: nothing that was tried conforms")

    def _alternatives(self, schema: Schema) -> Iterator[Schema]:
        """The schema without references and combinators, once for each choice that it leaves; null comes last."""
        flat = self._flat(schema)
        keyword = next((keyword for keyword in ("oneOf", "anyOf") if keyword in flat), None)
        if keyword is None:
            yield flat
            return
        branches = [self._flat(branch) for branch in flat.pop(keyword)]
        for branch in sorted(branches, key=lambda branch: branch.get("type") == "null"):
            yield from self._alternatives(joined(flat, branch))

    def _flat(self, schema: Any, depth: int = 0) -> Schema:
        """With what `$ref` and `allOf` say written in."""
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        if depth > DEEPEST:
            raise NoSample("a reference leads to itself")
        flat: Schema = dict(schema)
        parts = flat.pop("allOf", [])
        if "$ref" in flat:
            parts = [self._definitions[flat.pop("$ref").removeprefix("#/$defs/")], *parts]
        for part in parts:
            flat = joined(flat, self._flat(part, depth + 1))
        return flat

    def _candidates(self, schema: Schema, path: _Path, salt: int, validator: Validator) -> Iterator[Any]:
        if "const" in schema:
            yield schema["const"]
        elif "enum" in schema:
            values = sorted(schema["enum"], key=lambda value: value is None)
            start = salt % len(values) if values else 0
            yield from values[start:] + values[:start]
        else:
            for kind in _types(schema):
                yield from self._of_type(kind, schema, path, salt, validator)

    def _of_type(self, kind: str, schema: Schema, path: _Path, salt: int, validator: Validator) -> Iterator[Any]:
        if kind == "object":
            yield from self._objects(schema, path, validator)
        elif kind == "array":
            yield from self._arrays(schema, path)
        elif kind == "string":
            yield from strings(schema, salt)
        elif kind in {"integer", "number"}:
            yield from numbers(schema, salt, whole=kind == "integer")
        else:
            yield True if kind == "boolean" else None

    def _objects(self, schema: Schema, path: _Path, validator: Validator) -> Iterator[dict[str, Any]]:
        """All that is wanted; else as much of it as goes together; else what is required."""
        least = {name: self._property(schema, name, path) for name in schema.get("required", ())}
        least |= self._unnamed(schema, path, schema.get("minProperties", 0) - len(least))
        if self._full and len(path) < FULL_LEVELS and self._values < FULL_VALUES:
            optional = self._optional(schema, least, path)
            found = least | optional
            if not found:
                yield self._unnamed(schema, path, 1)
            yield {name: found[name] for name in [*schema.get("properties", ()), *least] if name in found}
            yield _grown(validator, least, optional)
        elif not least and len(path) < FULL_LEVELS:
            yield self._first(schema, path)
        yield least

    def _optional(self, schema: Schema, least: dict[str, Any], path: _Path) -> dict[str, Any]:
        optional = {}
        for name in schema.get("properties", ()):
            if name not in least:
                with contextlib.suppress(NoSample):
                    optional[name] = self._property(schema, name, path)
        return optional

    def _first(self, schema: Schema, path: _Path) -> dict[str, Any]:
        for name in schema.get("properties", ()) if path else ():
            with contextlib.suppress(NoSample):
                return {name: self._property(schema, name, path)}
        return {}

    def _property(self, schema: Schema, name: str, path: _Path) -> Any:
        others = schema.get("additionalProperties", {})
        return self.value(schema.get("properties", {}).get(name, others), (*path, name))

    def _unnamed(self, schema: Schema, path: _Path, count: int) -> dict[str, Any]:
        """Properties that nobody named."""
        if schema.get("additionalProperties") is False or "patternProperties" in schema:
            return {}
        names = {"type": "string"} | schema.get("propertyNames", {})
        keys = [self.value(names, (*path, "a name"), salt=number) for number in range(count)]
        return {key: self._property({**schema, "properties": {}}, key, path) for key in keys}

    def _arrays(self, schema: Schema, path: _Path) -> Iterator[list[Any]]:
        least = schema.get("minItems", 0)
        wanted = max(least, len(schema.get("prefixItems", ())), 1) if len(path) < FULL_LEVELS else least
        with contextlib.suppress(NoSample):
            yield [self._item(schema, path, number) for number in range(wanted)]
        yield [self._item(schema, path, number) for number in range(least)]

    def _item(self, schema: Schema, path: _Path, number: int) -> Any:
        prefix = schema.get("prefixItems", ())
        item = prefix[number] if number < len(prefix) else schema.get("items", {})
        return self.value(item, (*path, str(number)), salt=number)


def _grown(validator: Validator, least: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    """As many optional properties as go together, the first first."""
    for name, value in optional.items():
        if validator.is_valid(least | {name: value}):
            least = least | {name: value}
    return least


def _types(schema: Schema) -> list[str]:
    """The types to try, null last. A schema that names none is of the type that its keywords are about."""
    given = schema.get("type")
    if given is None:
        about = (kind for kind, keywords in _ABOUT.items() if any(keyword in schema for keyword in keywords))
        return [*about, "string", "object", "integer", "array", "boolean"]
    return sorted([given] if isinstance(given, str) else given, key=lambda kind: kind == "null")


_ABOUT: Final = {
    "object": ("properties", "required", "additionalProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}
