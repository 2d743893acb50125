"""Findings of openapi-core's validator are Problems with pointers, limited in number; it fetches nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.contract import validation
from openapi_mcp.document.loader import load
from openapi_mcp.document.model import Document
from openapi_mcp.document.swagger2.conversion import convert
from tests.runtime.echo import echoing

VALID: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {}}
OK = {"200": {"description": "ok"}}


def validate_document(
    root: dict[str, Any], version: str = "3.1", source: dict[str, Any] | None = None
) -> list[tuple[str, str]]:
    document = Document(root=root, uri="file:///api.json", version=version, source=source)
    return [(problem.pointer, problem.message) for problem in validation.validate(document)]


def test_a_valid_document_has_no_findings() -> None:
    assert validate_document(VALID) == []


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
def test_finding_has_its_pointer(version: str) -> None:
    root = VALID | {"openapi": f"{version}.0", "paths": {"/a~b": {"get": {"responses": OK, "tags": "pets"}}}}
    [(pointer, message)] = validate_document(root, version)
    assert pointer == "#/paths/~1a~0b/get/tags"
    assert "pets" in message


def test_swagger_is_validated_unconverted() -> None:
    source = {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {}, "host": "https://no"}
    assert [pointer for pointer, _ in validate_document(VALID, "3.0", source)] == ["#/host"]


def test_finding_of_a_union_names_the_intended_branch() -> None:
    parameter = {"name": "q", "in": "query", "schema": {"type": "strin"}}
    root = VALID | {"openapi": "3.0.3", "paths": {"/a": {"get": {"parameters": [parameter], "responses": OK}}}}
    pointers = [
        pointer for pointer, message in validate_document(root, "3.0") if message.startswith("'strin' is not one of [")
    ]
    assert "#/paths/~1a/get/parameters/0/schema/type" in pointers


PARAMETERS: dict[str, Any] = {
    "parameters": [
        {"name": "q", "in": "query", "schema": {"type": "string", "enum": ["a", "a"]}},
        {"name": "r", "in": "query", "schema": {"$ref": "#/components/schemas/Limit"}},
        {"name": "s", "in": "query", "schema": {"allOf": [{"type": "object", "properties": {"x": {"default": []}}}]}},
    ],
    "responses": OK,
}


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
def test_findings_about_schemas_and_their_defaults_have_pointers_from_the_root(version: str) -> None:
    schemas = {"Limit": {"type": "object", "properties": {"n": {"type": "integer", "default": "many"}}}}
    parameters = [*PARAMETERS["parameters"][:2]]
    paths = {"/pets/{id}": {"get": PARAMETERS | {"parameters": parameters}}}
    root = VALID | {"openapi": f"{version}.0", "paths": paths, "components": {"schemas": schemas}}
    pointers = [pointer for pointer, _ in validate_document(root, version)]
    assert pointers == [
        *(["#/paths/~1pets~1{id}/get/parameters/0/schema/enum"] if version == "3.0" else []),
        "#/components/schemas/Limit/properties/n/default",
        "#/paths/~1pets~1{id}/get",
    ]


def test_findings_about_operations_have_pointers_from_the_root() -> None:
    one, other = {"operationId": "it", "responses": OK}, {"operationId": "it", "responses": OK}
    combined = {"allOf": [{"type": "object"}], "required": ["gone"]}
    body = {"content": {"application/json": {"schema": combined}}}
    paths = {"/a": {"get": one, "put": other}, "/b": {"get": {"responses": {"200": {"description": "d"} | body}}}}
    root = VALID | {"paths": paths, "tags": [{"name": "t"}, {"name": "t"}]}
    assert [pointer for pointer, _ in validate_document(root)] == [
        "#/tags",
        "#/paths/~1a/put/operationId",
        "#/paths/~1b/get/responses/200/content/application~1json/schema/required",
    ]


def test_second_parameter_of_a_name_is_the_one_that_is_reported() -> None:
    parameters = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in ("a", "b", "b")]
    paths = {"/a": {"get": {"parameters": parameters, "responses": OK}}}
    pointers = [pointer for pointer, message in validate_document(VALID | {"paths": paths}) if "uplicate" in message]
    assert pointers == ["#/paths/~1a/get/parameters/2"]


def test_finding_in_another_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "paths").mkdir()
    parameter = {"name": "q", "in": "query", "schema": {"type": "integer", "default": "many"}}
    (tmp_path / "paths" / "pets.json").write_text(json.dumps({"get": {"parameters": [parameter], "responses": OK}}))
    (tmp_path / "openapi.json").write_text(json.dumps(VALID | {"paths": {"/pets": {"$ref": "paths/pets.json"}}}))
    [problem] = validation.validate(load(str(tmp_path / "openapi.json")))
    assert problem.pointer == "paths/pets.json#/get/parameters/0/schema/default"


def test_finding_of_a_swagger_document_has_its_pointer_in_that_document() -> None:
    parameter = {"name": "q", "in": "query", "type": "integer", "default": "many"}
    paths = {"/a": {"get": {"parameters": [parameter], "responses": OK}}}
    source = {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": paths}
    document = convert(Document(root=source, uri="file:///api.json", version="2.0"))
    assert document.source_version == "2.0"
    [problem] = validation.validate(document)
    assert problem.pointer == "#/paths/~1a/get/parameters/0/default"


def test_findings_are_bounded() -> None:
    paths = {f"/{number}": {"get": {"responses": OK, "tags": "pets"}} for number in range(150)}
    findings = validate_document(VALID | {"paths": paths})
    assert len(findings) == validation.MAX_FINDINGS + 1
    assert "the rest is left out" in findings[-1][1]


def test_nothing_is_fetched() -> None:
    with echoing() as server:
        parameters = [{"$ref": f"{server.url}/p.yaml"}, {"$ref": "file:///etc/hostname"}]
        paths = {"/a": {"get": {"parameters": parameters, "responses": OK}}}
        [(_, message)] = validate_document(VALID | {"paths": paths})
    assert "the validator failed" in message
    assert server.requests == []


def test_a_crash_of_the_validator_is_a_finding() -> None:
    endless: dict[str, Any] = {"type": "object"}
    endless["properties"] = {"again": endless}
    findings = validate_document(VALID | {"components": {"schemas": {"Endless": endless}}})
    assert any("the validator failed" in message for _, message in findings)
