"""Rules: each finds its fault at its place, and docs/check.md describes each."""

from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.check.rules import MAX_FINDINGS_OF_RULE, RULES
from openapi_mcp.check.similarity import alike
from tests.check.judging import judged, minimal, opened, saved
from tests.conftest import ROOT

OK: dict[str, Any] = {"200": {"description": "OK"}}


def operation(**fields: Any) -> dict[str, Any]:
    return {"summary": "List all pets", "description": "Pets.", "operationId": "listPets", "responses": OK, **fields}


def pets(method: str = "get", path: str = "/pets", **fields: Any) -> dict[str, Any]:
    return minimal({path: {method: operation(**fields)}})


TWO = minimal({"/a": {"get": operation()}, "/b": {"get": operation(operationId="listAllPets")}})
SCHEMES = {"components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}}
MANY = minimal({f"/p{n}": {"get": {"operationId": f"read{n}", "summary": f"Read {n}"}} for n in range(130)})

CASES: list[tuple[str, Any, str]] = [
    ("operation-lost", minimal({"/pets": {"get": {"$ref": "#/nowhere"}}}), "#/paths/~1pets/get"),
    ("summary-missing", pets(summary="", description=" "), "#/paths/~1pets/get"),
    ("description-missing", pets(description=None), "#/paths/~1pets/get"),
    ("text-repeats-name", pets(summary="", description="list pets"), "#/paths/~1pets/get"),
    ("text-repeats-name", pets(description="List all pets."), "#/paths/~1pets/get"),
    ("text-placeholder", pets(description="TODO"), "#/paths/~1pets/get"),
    ("text-placeholder", pets(summary="string"), "#/paths/~1pets/get"),
    ("text-duplicate", TWO, "#/paths/~1a/get"),
    ("text-contradicts-method", pets(summary="Delete a pet"), "#/paths/~1pets/get"),
    ("text-contradicts-method", pets("delete", summary="Get a pet"), "#/paths/~1pets/delete"),
    ("response-undescribed", pets(responses={"404": {}}), "#/paths/~1pets/get"),
    ("argument-undescribed", pets(parameters=[{"name": "q", "in": "query"}]), "#/paths/~1pets/get"),
    ("operation-id-missing", pets(operationId=None), "#/paths/~1pets/get"),
    ("operation-id-duplicate", minimal({"/a": {"get": operation()}, "/b": {"get": operation()}}), "#/paths/~1a/get"),
    ("name-ambiguous", pets(operationId="getData"), "#/paths/~1pets/get"),
    ("tools-alike", TWO, "#/paths/~1a/get"),
    ("tool-large", pets(parameters=[{"name": f"p{n}", "in": "query"} for n in range(900)]), "#/paths/~1pets/get"),
    ("client-limit", MANY, "#/paths"),
    ("annotation-unsafe", pets(operationId="deletePets"), "#/paths/~1pets/get"),
    ("annotation-uncertain", pets("post", operationId="searchPets"), "#/paths/~1pets/post"),
    ("server-missing", pets(), "#/servers"),
    ("server-plain-http", {**pets(), "servers": [{"url": "http://api.example.com"}]}, "#/servers"),
    ("security-unused", {**pets(), **SCHEMES}, "#/components/securitySchemes/key"),
    (
        "security-uncovered",
        {**minimal({"/a": {"get": operation(security=[{"key": []}]), "post": operation(operationId="b")}}), **SCHEMES},
        "#/paths/~1a/post",
    ),
]


@pytest.mark.parametrize(("rule", "root", "pointer"), CASES, ids=[case[0] for case in CASES])
def test_each_rule_finds_its_fault(rule: str, root: Any, pointer: str, tmp_path: Path) -> None:
    found = [finding for finding in judged(tmp_path, root).findings if finding.rule == rule]
    assert pointer in {finding.pointer for finding in found}
    assert all(finding.message for finding in found)
    assert all(finding.line for finding in found)


def test_a_good_document_has_no_findings(tmp_path: Path) -> None:
    root = {**pets(), "servers": [{"url": "https://api.example.com"}]}
    assert judged(tmp_path, root).findings == ()


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    text = (
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\nservers:\n- url: https://x.example.com\npaths:\n"
        "  /pets:\n    # a comment\n    get:\n      responses: {}\n  /more: {get: {operationId: more, summary: M}}\n"
    )
    lines = {finding.rule: finding.line for finding in judged(tmp_path, text).findings}
    assert lines["summary-missing"] == 8
    assert lines["description-missing"] == 10


def test_a_document_with_many_findings_has_a_readable_report(tmp_path: Path) -> None:
    count = MAX_FINDINGS_OF_RULE + 50
    root = minimal({f"/p{number}": {"get": {"operationId": f"read{number}"}} for number in range(count)})
    report = judged(tmp_path, root)
    assert sum(finding.rule == "summary-missing" for finding in report.findings) == MAX_FINDINGS_OF_RULE
    assert report.more["summary-missing"] == 50
    assert report.counts["warning"] >= count


def test_a_broken_document_is_reported_and_not_an_error(tmp_path: Path) -> None:
    root = minimal({"/a": {"get": {"responses": 5, "parameters": [3], "requestBody": [], "tags": 1, "summary": {}}}})
    assert judged(tmp_path, root).score.value >= 0


def test_alike_tools_are_found_among_thousands_in_bounded_steps(tmp_path: Path) -> None:
    paths = {f"/things/{n}/parts": {"get": {"operationId": f"listPartsOfThing{n}"}} for n in range(3_000)}
    paths["/x/twin"] = {"get": {"operationId": "readOnlyTwinOfSomething", "summary": "Twin"}}
    paths["/y/twin"] = {"get": {"operationId": "readTwinOnlyOfSomething", "summary": "Twin"}}
    pairs = [(one.name, other.name) for one, other, _ in alike(opened(saved(tmp_path, minimal(paths))).tools)]
    assert ("readOnlyTwinOfSomething", "readTwinOnlyOfSomething") in pairs


def test_the_page_describes_every_rule_under_its_id() -> None:
    page = (ROOT / "docs" / "check.md").read_text()
    assert [rule for rule in RULES if f"| `{rule}` | {RULES[rule].severity} |" not in page] == []
    assert all(rule.title.endswith(".") and rule.cure.endswith(".") for rule in RULES.values())
