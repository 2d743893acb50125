"""How scalars were written where their value does not tell, and the strings this gives back to fields that want them.

YAML reads `version: 1.10` as a number. OpenAPI says which fields are strings, so there the text that was written
counts. Values of any other place stay what YAML made of them. JSON says what it means and is left alone.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .grammar import text_fields
from .runtime.types import JsonObject

_DESCRIBED: Final = frozenset({"Schema", "Parameter", "Header", "MediaType"})
"""Objects whose default, enum and examples are values of a schema: their own, or the one in their field `schema`."""


class Written:
    """The spelling of plain YAML scalars that are no strings and that `json` would write differently."""

    def __init__(self) -> None:
        # The container is kept beside its spellings: while it lives, nothing else can have its id.
        self._spellings: dict[int, tuple[Any, dict[Any, str]]] = {}

    def note(self, container: Any, key: str | int, text: str) -> None:
        """Remember how the value at `key` was written."""
        self._spellings.setdefault(id(container), (container, {}))[1][key] = text

    def forget(self, container: Any, key: str) -> None:
        """Drop what is known of a value that another one replaces."""
        self._of(container).pop(key, None)

    def inherit(self, source: JsonObject, target: JsonObject, keys: Iterable[str]) -> None:
        """Let `target`, which took the values of `keys` from `source`, know their spellings too."""
        spellings = self._of(source)
        for key in keys:
            if key in spellings:
                self.note(target, key, spellings[key])
            else:
                self.forget(target, key)

    def text(self, container: Any, key: Any) -> str:
        """The value at `key` as it was written."""
        known = self._of(container).get(key)
        return json.dumps(container[key]) if known is None else known

    def _of(self, container: Any) -> dict[Any, str]:
        entry = self._spellings.get(id(container))
        return entry[1] if entry else {}


def restore(kind: str, node: Any, written: Written) -> None:
    """Make strings, in place, of the scalars in one object of `kind` that OpenAPI wants to be strings."""
    if not isinstance(node, dict):
        return
    texts = text_fields(kind)
    for field in texts.keys() & node.keys():
        _restore_field(node, field, texts[field], written)
    if kind in _DESCRIBED:
        _restore_values(node, node, written)
        if isinstance(node.get("schema"), dict):
            _restore_values(node["schema"], node, written)


def _restore_field(node: JsonObject, field: str, place: str, written: Written) -> None:
    value = node[field]
    if field == "type" and value is None and written.text(node, field) == "null":
        node[field] = "null"  # `type: null`: everybody means the type
    elif place == "text":
        _spell(node, field, written)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _spell(value, index, written)
            if field == "type" and item is None:
                value[index] = "null"
    elif isinstance(value, dict):
        for key in value:
            _spell(value, key, written)


def _restore_values(schema: JsonObject, node: JsonObject, written: Written) -> None:
    """Restore the values that `node` gives for what `schema` describes."""
    for field in ("default", "const", "example"):
        if field in node:
            _restore_value(schema, node, field, written)
    for field in ("enum", "examples"):
        values = node.get(field)
        if isinstance(values, list):
            for index in range(len(values)):
                _restore_value(schema, values, index, written)


def _restore_value(schema: Any, container: Any, key: Any, written: Written) -> None:
    """Restore one value, and what is in it as far as `schema` describes that without a reference."""
    if not isinstance(schema, Mapping):
        return
    value = container[key]
    if isinstance(value, list):
        for index in range(len(value)):
            _restore_value(schema.get("items"), value, index, written)
    elif isinstance(value, dict):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            for name in value:
                _restore_value(properties.get(name), value, name, written)
    elif _is_string(schema.get("type")):
        _spell(container, key, written)


def _is_string(kind: Any) -> bool:
    """Whether a schema's `type` allows strings, and of the other scalars only null."""
    return kind == "string" or (
        isinstance(kind, list) and "string" in kind and all(x in ("string", "null") for x in kind)
    )


def _spell(container: Any, key: Any, written: Written) -> None:
    if isinstance(container[key], bool | int | float):  # null stays null: lists of nullable values write it so
        container[key] = written.text(container, key)
