"""Change a property within an argument: hide it with a value, give it a default, a description, examples.

The schemas on the way to it become the argument's own, so that no other use of a shared definition changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..runtime.request.build import EACH_ITEM
from ..runtime.types import Schema
from .arguments import Changes, InputParts, described, is_hideable, preset_of, with_properties

MAX_SCHEMAS: Final = 10_000
"""Schemas that are looked at for one property: branches may share definitions, which multiplies them."""

MAX_NESTING: Final = 60
"""Schemas within each other on the way to a property: each takes a few frames of Python's stack."""

_COMBINATORS: Final = ("allOf", "anyOf", "oneOf")


def changed_within(
    parts: InputParts, name: str, path: Sequence[str], change: Changes, max_text_length: int
) -> InputParts | None:
    """Return the parts with a property of an argument changed; None where its schema does not lead to the property."""
    argument = next(each for each in parts.arguments if each.name == name)
    editor = _Editor(parts.schema, change, max_text_length)
    schema = editor.edited(parts.schema["properties"][name], tuple(path))
    if schema is None or editor.found is None or editor.is_bounded:
        return None
    if "name" in change.keys:
        change.problem("`name` of `x-mcp` is left out: a property within an argument keeps its name")
    presets = list(parts.presets)
    if not editor.is_refused and change.keys.keys() & {"fixed", "default"}:
        preset = preset_of(argument, editor.found, change, parts.schema)
        is_default = not change.is_hidden
        presets.append(replace(preset, path=tuple(path), is_default=is_default))
    properties = {**parts.schema["properties"], name: schema}
    return with_properties(parts._replace(presets=tuple(presets)), properties)


def property_within(parts: InputParts, name: str, path: Sequence[str]) -> Schema | None:
    """Return the schema of a property of an argument; None where the argument's schema does not lead to it."""
    editor = _Editor(parts.schema, Changes(keys={}, problem=_ignored), 0)
    editor.edited(parts.schema["properties"][name], tuple(path))
    return None if editor.is_bounded else editor.found


def _ignored(_problem: str) -> None:
    """Leave a problem out: nothing is changed."""


class _Editor:
    """The change of one property. `found` is its former schema, `is_refused` tells that it cannot be hidden."""

    def __init__(self, root: Schema, change: Changes, max_text_length: int) -> None:
        self.found: Schema | None = None
        self.is_refused = False
        self.is_bounded = False
        self._left = MAX_SCHEMAS
        self._definitions: Mapping[str, Schema] = root.get("$defs", {})
        self._change = change
        self._max_text_length = max_text_length

    def edited(self, schema: Any, path: tuple[str, ...], depth: int = 0) -> Schema | None:
        """Return a schema with the property at a path changed, in each branch that has it; None where it has none."""
        schema = self._own(schema, depth)
        if schema is None:
            return None
        if len(path) == 1:
            return self._with_change(schema, path[0], depth)
        new, (first, *rest) = dict(schema), path
        if first == EACH_ITEM:
            new["items"] = self.edited(schema.get("items"), tuple(rest), depth + 1)
        elif isinstance(properties := schema.get("properties"), Mapping) and first in properties:
            inner = self.edited(properties[first], tuple(rest), depth + 1)
            new["properties"] = None if inner is None else {**properties, first: inner}
        changed = {key: value for key, value in new.items() if value is not None and value is not schema.get(key)}
        for keyword, branches in _branches(schema):
            edited = [self.edited(branch, path, depth + 1) for branch in branches]
            if any(each is not None for each in edited):
                changed[keyword] = [old if new is None else new for new, old in zip(edited, branches, strict=True)]
        return {**schema, **changed} if changed else None

    def _own(self, schema: Any, depth: int) -> Schema | None:
        """Return a schema with its references resolved; None where there are too many."""
        for _ in range(len(self._definitions) + 1):
            self._left -= 1
            if self._left < 0 or depth > MAX_NESTING:
                self.is_bounded = True
                return None
            if not isinstance(schema, Mapping):
                return None
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return dict(schema)
            others = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self._definitions.get(reference.removeprefix("#/$defs/"), {}), **others}
        return None

    def _with_change(self, schema: Schema, name: str, depth: int) -> Schema | None:
        """Return an object's schema with one of its properties changed, wherever its branches have or demand it."""
        levels = list(self._levels(schema, depth))
        found = [each["properties"][name] for each in levels if name in each.get("properties", {})]
        if not found:
            return None
        self.found = found[0] if self.found is None else self.found
        is_required = any(name in each.get("required", ()) for each in levels)
        is_hidden = self._change.is_hidden
        self.is_refused = is_hidden and not is_hideable(name, self._change, is_required=is_required)
        return self._rewritten(schema, name, depth)

    def _levels(self, schema: Any, depth: int) -> Iterator[Schema]:
        """Yield the schema of an object, and those of its branches."""
        schema = self._own(schema, depth)
        if schema is not None:
            yield schema
            for _, branches in _branches(schema):
                for branch in branches:
                    yield from self._levels(branch, depth + 1)

    def _rewritten(self, schema: Any, name: str, depth: int) -> Schema:
        own = self._own(schema, depth)
        if own is None:
            return schema  # type: ignore[no-any-return]  # a boolean schema, or beyond the limit
        properties = own.get("properties", {})
        if name in properties:
            own["properties"] = self._changed_properties(properties, name)
        has_value = not self.is_refused and (self._change.is_hidden or "default" in self._change.keys)
        if has_value and name in own.get("required", ()):
            own["required"] = [each for each in own["required"] if each != name]
        if not own.get("required", True):
            del own["required"]
        for keyword, branches in _branches(own):
            own[keyword] = [self._rewritten(branch, name, depth + 1) for branch in branches]
        return own

    def _changed_properties(self, properties: Mapping[str, Schema], name: str) -> dict[str, Schema]:
        if self._change.is_hidden and not self.is_refused:
            return {key: schema for key, schema in properties.items() if key != name}
        return {**properties, name: described(properties[name], self._change, self._max_text_length)}


def _branches(schema: Schema) -> list[tuple[str, list[Any]]]:
    """Return the lists of schemas that a schema combines, by their keywords."""
    return [(keyword, schema[keyword]) for keyword in _COMBINATORS if isinstance(schema.get(keyword), list)]
