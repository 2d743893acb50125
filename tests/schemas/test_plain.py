"""Plain schemas: their conversion, which many properties share, is that of every other schema."""

from itertools import product
from typing import Any

import pytest

from openapi_mcp.document.model import Document
from openapi_mcp.document.resolver import Resolver
from openapi_mcp.errors import Problem
from openapi_mcp.schemas.conversion import SchemaConversion
from openapi_mcp.schemas.keywords import FORMATS, TYPES
from openapi_mcp.schemas.locations import SchemaLocation
from openapi_mcp.schemas.plain import PlainSchemas

KINDS = (*TYPES, "String", ["string"], None)
FORMS = (*sorted(FORMATS), "binary", "odd", None)
TEXTS = (None, "", "  Two\r\nlines.  ", "A long text. " * 9, "x\u202ey")
NODES: list[dict[str, Any]] = [
    {keyword: value for keyword, value in fields.items() if value is not None}
    for kind, form, text in product(
        (*TYPES, "String", ["string"], None), (*sorted(FORMATS), "binary", "odd", None), TEXTS
    )
    for fields in (
        {"type": kind, "format": form, "description": text},
        {"description": text, "title": "T", "type": kind, "readOnly": True, "format": form},
    )
]


@pytest.mark.parametrize("modern", [True, False])
def test_conversion_is_that_of_every_schema(modern: bool) -> None:
    plain, problems = PlainSchemas(60), list[Problem]()
    resolver = Resolver(Document({}, "file:///a.json", "3.1"))
    conversion = SchemaConversion(resolver, lambda *_: "", problems.append, modern=modern, plain=PlainSchemas(60))
    converted = [(node, schema) for node in NODES if (schema := plain.of(node)) is not None]
    assert len(converted) > len(NODES) // 2
    for node, schema in converted:
        expected = conversion.schema(node, SchemaLocation("#"))
        assert list(schema.items()) == list(expected.items()), node
    assert not problems


OTHERS: tuple[Any, ...] = (
    *(True, [], {}, {"type": "array"}, {"type": "string", "minLength": 1}, {"type": "string", "description": 1}),
    *({"type": "string", "format": "binary"}, {"type": "string", "format": ["date"]}, {"type": "file"}, {"type": None}),
)


@pytest.mark.parametrize("node", OTHERS)
def test_others_are_left_to_the_conversion(node: Any) -> None:
    assert PlainSchemas().of(node) is None


def test_equal_schemas_are_one_object() -> None:
    plain = PlainSchemas()
    assert plain.of({"type": "string", "title": "A"}) is plain.of({"type": "string", "title": "B"})
    assert plain.of({"type": "string"}) is not plain.of({"type": "integer"})
