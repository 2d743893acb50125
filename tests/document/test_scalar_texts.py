"""Test that string fields keep the text of a YAML scalar, and all other fields its value."""

import json
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.document.loader import load


def loaded(tmp_path: Path, text: str) -> dict[str, Any]:
    path = tmp_path / "openapi.yaml"
    path.write_text(f"openapi: 3.1.0\n{text}")
    return load(str(path)).root


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("info: {title: 2024, version: 1.10}", {"info": {"title": "2024", "version": "1.10"}}),
        (
            "info: {title: true, version: 0x10, description: ~}",
            {"info": {"title": "true", "version": "0x10", "description": None}},
        ),
        ("tags: [{name: 0123}]", {"tags": [{"name": "0123"}]}),
        (
            "servers: [{url: x, variables: {port: {default: 8443, enum: [443, 8443, 1e1]}}}]",
            {"servers": [{"url": "x", "variables": {"port": {"default": "8443", "enum": ["443", "8443", "1e1"]}}}]},
        ),
    ],
)
def test_string_fields_keep_their_text(tmp_path: Path, text: str, expected: dict[str, Any]) -> None:
    root = loaded(tmp_path, text)
    del root["openapi"]
    assert root == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            "{type: string, enum: [1.0, 1.10, 2, 010, 0x10, 1e3, true, True]}",
            ["1.0", "1.10", "2", "010", "0x10", "1e3", "true", "True"],
        ),
        ("{type: string, enum: [~, null, 'null', NULL, no]}", [None, None, "null", None, "no"]),
        ("{type: [string, 'null'], enum: [1.10, null]}", ["1.10", None]),
        ("{type: number, enum: [1.10, 2]}", [1.1, 2]),
        ("{type: [string, number], enum: [1.10, 2]}", [1.1, 2]),
        ("{enum: [1.10, no, true]}", [1.1, "no", True]),
    ],
)
def test_values_of_string_schemas_keep_their_text(tmp_path: Path, schema: str, expected: list[Any]) -> None:
    root = loaded(tmp_path, f"components: {{schemas: {{A: {schema}}}}}")
    enum = root["components"]["schemas"]["A"]["enum"]
    assert json.dumps(enum) == json.dumps(expected)


@pytest.mark.parametrize("field", ["default", "const", "example"])
def test_default_const_and_example_of_string_schemas_keep_their_text(tmp_path: Path, field: str) -> None:
    root = loaded(tmp_path, f"components: {{schemas: {{A: {{type: string, {field}: 1.10}}}}}}")
    assert root["components"]["schemas"]["A"][field] == "1.10"


def test_values_inside_arrays_and_objects_follow_their_own_schemas(tmp_path: Path) -> None:
    text = """components:
  schemas:
    A:
      type: object
      properties: {v: {type: string}, n: {type: number}, l: {type: array, items: {type: string}}}
      default: {v: 1.10, n: 1.10, l: [1.10, 010], other: 1.10}
"""
    assert loaded(tmp_path, text)["components"]["schemas"]["A"]["default"] == {
        "v": "1.10",
        "n": 1.1,
        "l": ["1.10", "010"],
        "other": 1.1,
    }


def test_examples_beside_a_schema_follow_it(tmp_path: Path) -> None:
    text = "components: {parameters: {p: {name: 1.10, in: query, example: 1.10, schema: {type: string}}}}"
    assert loaded(tmp_path, text)["components"]["parameters"]["p"] == {
        "name": "1.10",
        "in": "query",
        "example": "1.10",
        "schema": {"type": "string"},
    }


def test_unquoted_null_is_the_type_null(tmp_path: Path) -> None:
    text = "components: {schemas: {A: {type: [string, null]}, B: {type: null}, C: {type: }}}"
    assert loaded(tmp_path, text)["components"]["schemas"] == {
        "A": {"type": ["string", "null"]},
        "B": {"type": "null"},
        "C": {"type": None},
    }


def test_texts_survive_merges_aliases_and_repeated_keys(tmp_path: Path) -> None:
    text = """x-a: &a {type: string, default: 1.10, example: 010}
x-b: &b {example: 5}
components:
  schemas:
    Merged: {<<: *a}
    Both: {<<: [*b, *a]}
    Own: {<<: *a, default: 2}
    Alias: *a
    Scalar: {type: string, enum: [&v 1.20, *v]}
    Twice: {type: string, default: 1.30, default: 3}
"""
    schemas = loaded(tmp_path, text)["components"]["schemas"]
    assert schemas["Merged"] == schemas["Alias"] == {"type": "string", "default": "1.10", "example": "010"}
    assert schemas["Both"]["example"] == "5"
    assert schemas["Own"]["default"] == "2"
    assert schemas["Scalar"]["enum"] == ["1.20", "1.20"]
    assert schemas["Twice"]["default"] == "3"


def test_json_values_are_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "openapi.json"
    path.write_text('{"openapi": "3.0.0", "info": {"version": 1.10}, "paths": {"/a": {"$ref": "b.json"}}}')
    (tmp_path / "b.json").write_text('{"summary": 7}')
    root = load(str(path)).root
    assert root["info"] == {"version": 1.1}
    assert root["x-openapi-mcp-files"] == [{"summary": 7}]


def test_the_torture_document_keeps_its_texts(torture: Path) -> None:
    document = load(str(torture / "13-yaml-traps.yaml"))
    assert document.root["info"]["version"] == "1.10"
    assert document.api_version == "1.10"
    paths = document.root["paths"]
    parameters = {item["name"]: item["schema"] for item in paths["/norway"]["get"]["parameters"]}
    assert parameters["version"]["enum"] == ["1.0", "1.10", "2", "010", "0x10", "1e3", "1_000"]
    assert parameters["country"]["enum"] == ["NO", "SE", "DK"]
    assert parameters["flag"]["enum"] == ["yes", "no", "on", "off", "y", "n"]
    assert parameters["null"]["enum"] == [None, None, "null", None]
    assert [parameters[name]["default"] for name in ("time", "day", "when", "bin")] == [
        "12:30:45",
        "2024-02-29",
        "2024-02-29T10:00:00Z",
        "aGVsbG8=",
    ]
    assert set(paths["/numeric-codes"]["get"]["responses"]) == {"200", "4XX", "0503", "default"}
    body = paths["/keys"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert list(body["properties"]) == ["on", "yes", "no", "true", "123", "1.5", "~", "2024-01-01"]
    assert body["required"] == ["on", "123"]
    assert paths["/duplicates"]["get"]["operationId"] == "second_of_two"
    assert [problem.pointer for problem in document.problems if "more than once" in problem.message] == [
        "#/paths/~1duplicates"
    ]
    json.dumps(document.root, allow_nan=False)
