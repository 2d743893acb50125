"""The size of an answer as its document describes it: an estimate that tells large answers from small ones."""

from collections.abc import Mapping
from typing import Any, Final

from ..runtime.tool import Tool

ITEMS: Final = 30
"""Items of a list: the page size that APIs have most often, from 10 to 100."""

_INNER_ITEMS: Final = 2
"""Items of a list within another one."""

_MAX_DEPTH: Final = 8
_MAX_PARTS: Final = 2_000
"""Parts of a schema that are read: more than its limit in bytes allows."""

_BYTES: Final[Mapping[str, int]] = {"string": 20, "number": 8, "integer": 6, "boolean": 5, "null": 4}
"""Bytes of a value; a text is a name, a date or an id."""

_UNKNOWN: Final = 20
_OF_NAME: Final = 4
"""Bytes around a property: quotation marks, a colon, a comma."""


def answer_bytes(tool: Tool) -> int | None:
    """Return the bytes of an answer of a tool; None where the document describes none."""
    schema = tool.output_schema
    return None if schema is None else _Estimate(schema).of(schema, 0, in_list=False)


class _Estimate:
    """The estimate for one schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._definitions = schema.get("$defs", {})
        self._parts = 0

    def of(self, schema: Any, depth: int, *, in_list: bool) -> int:
        """Return the bytes of a value of a schema."""
        self._parts += 1
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH or self._parts > _MAX_PARTS:
            return _UNKNOWN
        if isinstance(reference := schema.get("$ref"), str):
            return self.of(self._definitions.get(reference.removeprefix("#/$defs/")), depth + 1, in_list=in_list)
        if "items" in schema:
            count = _INNER_ITEMS if in_list else ITEMS
            return count * (self.of(schema["items"], depth + 1, in_list=True) + 1)
        if isinstance(properties := schema.get("properties"), Mapping):
            inner = (
                len(name) + _OF_NAME + self.of(part, depth + 1, in_list=in_list) for name, part in properties.items()
            )
            return sum(inner, 2)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if isinstance(branches := schema.get(keyword), list) and branches:
                sizes = [self.of(branch, depth + 1, in_list=in_list) for branch in branches]
                return sum(sizes) if keyword == "allOf" else max(sizes)
        kinds = schema.get("type")
        return _BYTES.get(kinds if isinstance(kinds, str) else "", _UNKNOWN)
