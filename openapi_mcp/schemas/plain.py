"""Convert the schemas that need little conversion, which are four of five: a type, a known format, and texts."""

from collections.abc import Mapping
from typing import Any, Final

from .. import plain_text
from ..runtime.types import Schema
from . import keywords
from .examples import add_example, examples_of_schema

PLAIN_TYPES: Final = frozenset(keywords.TYPES) - {"array"}
"""Types that stand for themselves; `keywords.add_items` completes an array."""

_RESULT: Final = ("type", "format")
_KEYWORDS: Final = frozenset(
    {*_RESULT, "description", "title", "example", "examples", "readOnly", "writeOnly", "externalDocs"}
)
"""Keywords of a schema that is converted by itself: those that stay, examples, and some that are left out."""


class PlainSchemas:
    """The schemas with no more than a type, a known format and texts, as most are: one object for equal ones.

    SchemaConversion has the same result for them, in four times the time. Texts have at most `max_text_length`
    characters.
    """

    def __init__(self, max_text_length: int = plain_text.MAX_DESCRIPTION_LENGTH) -> None:
        self.max_text_length = max_text_length
        self._schemas: dict[tuple[Any, ...], Schema] = {}

    def of(self, node: Any) -> Schema | None:
        """Return the conversion of a schema, which is never changed; None for a schema with more."""
        if not (isinstance(node, dict) and node.keys() <= _KEYWORDS):
            return None
        kind, form, description = node.get("type"), node.get("format"), node.get("description", "")
        if not (isinstance(kind, str) and kind in PLAIN_TYPES and isinstance(description, str)):
            return None
        if form is not None and not (isinstance(form, str) and form in keywords.FORMATS):
            return None
        if "example" in node or "examples" in node:  # seldom the same as those of another schema
            return add_example(self._convert(node), examples_of_schema(node), self.max_text_length)
        key = (kind, form, description, *node)
        if key not in self._schemas:
            self._schemas[key] = self._convert(node)
        return self._schemas[key]

    def _convert(self, node: Mapping[str, Any]) -> Schema:
        schema: Schema = {}
        for keyword, value in node.items():
            if keyword == "description":
                if text := plain_text.trim(plain_text.clean(value), self.max_text_length):
                    schema[keyword] = text
            elif value is not None and keyword in _RESULT:
                schema[keyword] = value
        return schema
