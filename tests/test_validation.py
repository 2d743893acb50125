"""openapi-core's findings as Problems: with places, bounded, without fetching, and whatever the validator does."""

from typing import Any

import pytest

from openapi_mcp import validation
from openapi_mcp.document import Document
from tests.runtime.echo import echoing

VALID: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {}}
OK = {"200": {"description": "ok"}}


def found(root: dict[str, Any], version: str = "3.1", source: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    document = Document(root=root, uri="file:///api.json", version=version, source=source)
    return [(problem.pointer, problem.message) for problem in validation.validate(document)]


def test_a_valid_document_has_no_findings() -> None:
    assert found(VALID) == []


@pytest.mark.parametrize("version", ["3.0", "3.1", "3.2"])
def test_a_finding_names_its_place(version: str) -> None:
    root = VALID | {"openapi": f"{version}.0", "paths": {"/a~b": {"get": {"responses": OK, "tags": "pets"}}}}
    [(pointer, message)] = found(root, version)
    assert pointer == "#/paths/~1a~0b/get/tags"
    assert "pets" in message


def test_swagger_is_judged_as_it_was_written() -> None:
    source = {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {}, "host": "https://no"}
    assert [pointer for pointer, _ in found(VALID, "3.0", source)] == ["#/host"]


def test_of_failed_alternatives_the_one_that_was_meant_is_named() -> None:
    parameter = {"name": "q", "in": "query", "schema": {"type": "strin"}}
    root = VALID | {"openapi": "3.0.3", "paths": {"/a": {"get": {"parameters": [parameter], "responses": OK}}}}
    pointers = [pointer for pointer, message in found(root, "3.0") if message.startswith("'strin' is not one of [")]
    assert "#/paths/~1a/get/parameters/0/schema/type" in pointers


def test_findings_are_bounded() -> None:
    paths = {f"/{number}": {"get": {"responses": OK, "tags": "pets"}} for number in range(150)}
    findings = found(VALID | {"paths": paths})
    assert len(findings) == validation.MOST_FINDINGS + 1
    assert "the rest is left out" in findings[-1][1]


def test_nothing_is_fetched() -> None:
    with echoing() as server:
        parameters = [{"$ref": f"{server.url}/p.yaml"}, {"$ref": "file:///etc/hostname"}]
        paths = {"/a": {"get": {"parameters": parameters, "responses": OK}}}
        [(_, message)] = found(VALID | {"paths": paths})
    assert "the validator gave up" in message
    assert server.requests == []


def test_a_crash_of_the_validator_is_a_finding() -> None:
    endless: dict[str, Any] = {"type": "object"}
    endless["properties"] = {"again": endless}
    findings = found(VALID | {"components": {"schemas": {"Endless": endless}}})
    assert any("the validator gave up" in message for _, message in findings)
