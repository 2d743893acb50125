"""Change a property within an argument: hide it with a value, give it a default, a description, examples.

The schemas on the way to it become the argument's own, so that no other use of a shared definition changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..runtime.request.build import EACH_ITEM
from ..runtime.types import Schema
from .arguments import Changes, InputParts, described, is_hideable, preset_of, with_properties

_COMBINATORS: Final = ("allOf", "anyOf", "oneOf")


def changed_within(
    parts: InputParts, name: str, path: Sequence[str], change: Changes, max_text_length: int
) -> InputParts | None:
    """Return the parts with a property of an argument changed; None where its schema does not lead to the property."""
    argument = next(each for each in parts.arguments if each.name == name)
    editor = _Editor(parts.schema, change, max_text_length)
    schema = editor.edited(parts.schema["properties"][name], tuple(path))
    if schema is None or editor.found is None:
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


class _Editor:
    """The change of one property. `found` is its former schema, `is_refused` tells that it cannot be hidden."""

    def __init__(self, root: Schema, change: Changes, max_text_length: int) -> None:
        self.found: Schema | None = None
        self.is_refused = False
        self._definitions: Mapping[str, Schema] = root.get("$defs", {})
        self._change = change
        self._max_text_length = max_text_length

    def edited(self, schema: Any, path: tuple[str, ...]) -> Schema | None:
        """Return a schema with the property at a path changed; None where it has none."""
        schema = self._own(schema)
        if schema is None:
            return None
        first, rest = path[0], path[1:]
        if first == EACH_ITEM:
            items = self.edited(schema["items"], rest) if rest and "items" in schema else None
            if items is not None:
                return {**schema, "items": items}
        elif isinstance(properties := schema.get("properties"), Mapping) and first in properties:
            if not rest:
                return self._with_change(schema, first)
            inner = self.edited(properties[first], rest)
            return None if inner is None else {**schema, "properties": {**properties, first: inner}}
        return self._in_branches(schema, path)

    def _own(self, schema: Any) -> Schema | None:
        """Return a schema in the place of its references."""
        for _ in range(len(self._definitions) + 1):
            if not isinstance(schema, Mapping):
                return None
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return dict(schema)
            others = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self._definitions.get(reference.removeprefix("#/$defs/"), {}), **others}
        return None

    def _in_branches(self, schema: Schema, path: tuple[str, ...]) -> Schema | None:
        """Return a schema with the property changed in each branch that has it."""
        result = dict(schema)
        for keyword in _COMBINATORS:
            branches = schema.get(keyword)
            if isinstance(branches, list):
                edited = [self.edited(branch, path) for branch in branches]
                if any(each is not None for each in edited):
                    result[keyword] = [new or old for new, old in zip(edited, branches, strict=True)]
        return None if result == schema else result

    def _with_change(self, schema: Schema, name: str) -> Schema:
        """Return an object's schema with one of its properties changed."""
        properties, change = dict(schema["properties"]), self._change
        self.found = properties[name]
        is_required = name in schema.get("required", ())
        if change.is_hidden and is_hideable(name, change, is_required=is_required):
            del properties[name]
        else:
            self.is_refused = change.is_hidden
            properties[name] = described(properties[name], change, self._max_text_length)
        result = {**schema, "properties": properties}
        required = [each for each in schema.get("required", ()) if each != name]
        if is_required and not self.is_refused and (change.is_hidden or "default" in change.keys):
            result["required"] = required
            if not required:
                del result["required"]
        return result
