"""The document's names for output schemas: of references at the same place, through lists, unions and responses."""

import json
from pathlib import Path
from typing import Any

from openapi_mcp.generator.output_names import OutputNames
from openapi_mcp.generator.python_types import NAME
from tests.conftest import ROOT
from tests.generating import bridge


def test_output_schemas_have_the_names_of_the_document() -> None:
    live = bridge(ROOT / "specs" / "petstore.yaml")
    names = OutputNames(live)
    assert [names.name(live.tool(tool)) for tool in ("listPets", "getPet")] == ["Page", "Pet"]
    live = bridge(ROOT / "specs" / "library.yaml")
    assert OutputNames(live).name(live.tool("books_list")) == "Book list"


def test_objects_have_the_names_of_the_references_at_their_place(tmp_path: Path) -> None:
    def ref(name: str, group: str = "schemas") -> dict[str, str]:
        return {"$ref": f"#/components/{group}/{name}"}

    thing = {"type": "object", "properties": {"id": {"type": "integer"}}}
    pet: dict[str, Any] = {
        "allOf": [
            ref("Thing"),
            {
                "properties": {
                    "tags": {"type": "array", "items": ref("Tag")},
                    "category": {"anyOf": [ref("Category"), {"type": "null"}]},
                    "either": {"oneOf": [ref("Tag"), ref("Category")]},
                    "own": thing,
                    "by_name": {"type": "object", "additionalProperties": ref("Tag")},
                    "parent": ref("Pet"),
                }
            },
        ]
    }
    components = {
        "schemas": {"Pet": pet, "Thing": thing, "Tag": thing, "Category": thing},
        "responses": {"Found": {"description": "", "content": {"application/json": {"schema": ref("Pet")}}}},
    }
    paths = {"/pet": {"get": {"operationId": "it", "responses": {"200": ref("Found", "responses")}}}}
    root = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths, "components": components}
    (tmp_path / "pets.json").write_text(json.dumps(root))
    live = bridge(tmp_path / "pets.json")
    named = OutputNames(live).named(live.tool("it"))
    properties = named["properties"]
    assert named[NAME] == "Pet"
    assert properties["tags"]["items"][NAME] == properties["by_name"]["additionalProperties"][NAME] == "Tag"
    assert properties["category"][NAME] == "Category"
    assert NAME not in properties["either"]
    assert NAME not in properties["own"]
