"""Test the conversion of schemas, wherever the document has them."""

from typing import Any

import pytest

from openapi_mcp.document.model import FILES
from tests.converting import converted


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"discriminator": "kind"}, {"discriminator": {"propertyName": "kind"}}),
        ({"type": "string", "x-nullable": True, "x-a": 1}, {"type": "string", "nullable": True, "x-a": 1}),
        ({"type": "file"}, {"type": "string", "format": "binary"}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer"]}),
        (
            {"properties": {"$ref": {"$ref": "#/definitions/B"}, "type": {"type": "file"}}},
            {
                "properties": {
                    "$ref": {"$ref": "#/components/schemas/B"},
                    "type": {"type": "string", "format": "binary"},
                }
            },
        ),
        (
            {"example": {"$ref": "#/definitions/B"}, "default": {"discriminator": "x"}},
            {"example": {"$ref": "#/definitions/B"}, "default": {"discriminator": "x"}},
        ),
        (
            {"allOf": [{"$ref": "#/definitions/B/properties/x"}], "additionalProperties": False},
            {"allOf": [{"$ref": "#/components/schemas/B/properties/x"}], "additionalProperties": False},
        ),
        ({"items": [{"type": "file"}, True]}, {"items": [{"type": "string", "format": "binary"}, True]}),
        ({"$ref": 7}, {"$ref": 7}),
        (None, None),
        (True, True),
    ],
)
def test_every_schema_of_a_document_is_converted(schema: Any, expected: Any) -> None:
    document = converted({"definitions": {"A": schema, "B": {}}})
    assert document.root["components"]["schemas"]["A"] == expected


def test_schemas_outside_of_definitions_get_a_name() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#/paths/~1tree/get/responses/200/schema"}}}
    root = {
        "definitions": {
            "schema": {"x-nullable": True},
            "A": {"$ref": f"#/{FILES}/0/definitions/Pet"},
            "B": {"$ref": f"#/{FILES}/0/definitions/Pet"},
        },
        "paths": {"/tree": {"get": {"responses": {"200": {"description": "d", "schema": tree}}}}},
        FILES: [{"definitions": {"Pet": {"x-nullable": True, "items": {"$ref": f"#/{FILES}/1"}}}}, {"type": "file"}],
    }
    document = converted(root, files=("file:///api/pets.yaml", "file:///api/models/photo.json"))
    schemas = document.root["components"]["schemas"]
    assert schemas["A"] == schemas["B"] == {"$ref": "#/components/schemas/Pet"}
    assert schemas["Pet"] == {"nullable": True, "items": {"$ref": "#/components/schemas/photo"}}
    assert schemas["photo"] == {"type": "string", "format": "binary"}
    assert schemas["schema"] == {"nullable": True}
    assert schemas["schema_2"]["properties"]["child"] == {"$ref": "#/components/schemas/schema_2"}
