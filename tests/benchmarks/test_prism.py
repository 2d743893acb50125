"""The referee accepts what the runtime sends for the project's own documents, and notices what is missing."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import prism
from benchmarks.driving import Refusal, Tally, drive
from benchmarks.explanations import explain
from benchmarks.referee import Reason, install
from benchmarks.request_side import request_side
from openapi_mcp import loader
from openapi_mcp.swagger2 import convert

PETSTORE = Path(__file__).parents[2] / "specs" / "petstore.yaml"
REASON = Reason("UNPROCESSABLE_ENTITY", ("query", "a"), "Request query parameter a must be integer")


def _written(folder: Path, document: dict[str, Any]) -> str:
    path = folder / "openapi.json"
    path.write_text(json.dumps(document))
    return str(path)


def _side(folder: Path, document: dict[str, Any]) -> dict[str, Any]:
    return request_side(convert(loader.load(_written(folder, document))))


def test_the_referee_accepts_the_calls_of_the_pet_store_but_for_its_own_fault_and_none_without_what_it_needs() -> None:
    install()
    tally = drive("petstore", str(PETSTORE))
    assert (tally.driven, tally.not_driven) == (2 * tally.tools, [])
    assert {refusal.tool: len(explain("petstore", refusal)) for refusal in tally.refusals} == {"sendMessage": 1}
    assert tally.emptied
    assert tally.overlooked == []


def test_the_referee_refuses_what_the_document_does_not_allow(tmp_path: Path) -> None:
    install()
    text = {"type": "string", "pattern": "/^a$/"}  # which the tool reads as it was meant
    operation = {
        "parameters": [{"name": "a", "in": "query", "required": True, "schema": text}],
        "responses": {"422": {"description": "Whatever is said here is not what counts."}},
    }
    document = {"openapi": "3.0.4", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"get": operation}}}
    tally = drive("a", _written(tmp_path, document))
    assert [refusal.reasons[0].location for refusal in tally.refusals] == [("query", "a")] * 2
    assert [refusal.reasons[0].kind for refusal in tally.refusals] == ["UNPROCESSABLE_ENTITY"] * 2


def test_a_referee_is_given_the_requests_of_a_document_and_what_they_reach(tmp_path: Path) -> None:
    schemas = {"In": {"properties": {"a": {"$ref": "#/components/schemas/Deep"}}}, "Deep": {}, "Out": {}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}}}}
    answer = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Out"}}}}
    operation = {"requestBody": body, "responses": {"200": answer}, "callbacks": {"c": {}}}
    document = {"openapi": "3.0.4", "paths": {"/a": {"post": operation}}, "components": {"schemas": schemas}}
    side = _side(tmp_path, document)
    assert side["paths"]["/a"]["post"] == {"requestBody": body, "responses": {"200": {"description": "OK"}}}
    assert side["components"] == {"schemas": {name: schemas[name] for name in ("In", "Deep")}}


def test_of_swagger_2_the_referee_is_given_the_original(tmp_path: Path) -> None:
    operation = {"parameters": [{"name": "a", "in": "query", "type": "string"}], "responses": {}}
    side = _side(tmp_path, {"swagger": "2.0", "basePath": "/v1", "paths": {"/a": {"get": operation}}})
    assert side["swagger"] == "2.0"
    assert side["paths"]["/a"]["get"]["parameters"] == operation["parameters"]


def test_a_reference_that_leads_nowhere_does_not_keep_the_referee_from_starting(tmp_path: Path) -> None:
    item = {"get": {"parameters": [{"$ref": "#/components/parameters/none"}], "responses": {}}}
    side = _side(tmp_path, {"openapi": "3.0.4", "paths": {"/a": item}})
    assert side["paths"]["/a"]["get"]["parameters"] == [{}]


def test_a_refusal_is_explained_when_all_that_was_said_is() -> None:
    nested = Reason("UNPROCESSABLE_ENTITY", ("query", "a", "0"), "Request query parameter a.0 must be object")
    assert len(explain("any", Refusal("t", {}, None, (nested, nested)))) == 1
    assert explain("any", Refusal("t", {}, None, (nested, REASON))) == ()


@pytest.mark.parametrize(
    ("accepted", "refusals", "code"),
    [
        (200, [], 0),
        (0, [], 1),
        (200, [Refusal("t", {"a": "x"}, None, (REASON,))], 1),
    ],
)
def test_the_exit_code_says_whether_enough_was_accepted_and_the_rest_explained(
    accepted: int, refusals: list[Refusal], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = Tally("a document", tools=100, accepted=accepted, refusals=refusals)
    prism.show(tally, verbose=False)
    assert prism.summary([tally]) == code
    printed = capsys.readouterr().out
    assert f"| a document | 100 | {len(refusals) + accepted} | {accepted} | {len(refusals)} |" in printed
    assert ("must be integer" in printed) == bool(refusals)


def test_without_the_corpus_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prism, "CORPUS", tmp_path / "corpus")
    monkeypatch.setattr("sys.argv", ["prism"])
    assert prism.main() == 2
    assert "corpus of documents is not there" in capsys.readouterr().err
