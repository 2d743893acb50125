"""The benchmark with Stoplight Prism: it accepts the requests of the runtime and notices missing arguments."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import prism
from benchmarks.driving import Refusal, Tally, draw, drive
from benchmarks.explanations import explain
from benchmarks.referee import Reason, install
from benchmarks.request_side import request_side
from openapi_mcp.document import loader
from openapi_mcp.document.swagger2.conversion import convert
from tests.installation import installation

PETSTORE = Path(__file__).parents[2] / "specs" / "petstore.yaml"
REASON = Reason("UNPROCESSABLE_ENTITY", ("query", "a"), "Request query parameter a must be integer")


def _save(folder: Path, document: dict[str, Any]) -> str:
    path = folder / "openapi.json"
    path.write_text(json.dumps(document))
    return str(path)


def _side(folder: Path, document: dict[str, Any]) -> dict[str, Any]:
    return request_side(convert(loader.load(_save(folder, document))))


@pytest.mark.process
def test_referee_accepts_the_calls_of_the_pet_store_and_none_without_required_arguments() -> None:
    with installation("prism"):
        install()
    tally = drive("petstore", str(PETSTORE))
    assert (tally.driven, tally.not_driven) == (2 * tally.tools, [])
    assert {refusal.tool: len(explain("petstore", refusal)) for refusal in tally.refusals} == {"sendMessage": 1}
    assert tally.emptied
    assert tally.overlooked == []


@pytest.mark.process
@pytest.mark.parametrize("name", prism.OWN_DOCUMENTS)
def test_every_refusal_of_own_documents_is_explained(name: str) -> None:
    with installation("prism"):
        install()
    tally = drive(name, str(prism.OWN_DOCUMENTS[name]))
    assert (tally.driven, tally.not_driven, tally.overlooked) == (2 * tally.tools, [], [])
    assert [refusal for refusal in tally.refusals if not explain(name, refusal)] == []
    assert bool(tally.refusals) == name.endswith("-unions")


@pytest.mark.process
def test_referee_refuses_values_that_the_document_forbids(tmp_path: Path) -> None:
    with installation("prism"):
        install()
    text = {"type": "string", "pattern": "/^a$/"}  # the tool reads it as /^a$/ is meant: without the slashes
    operation = {
        "parameters": [{"name": "a", "in": "query", "required": True, "schema": text}],
        "responses": {"422": {"description": "This response is not the reason of a refusal."}},
    }
    document = {"openapi": "3.0.4", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"get": operation}}}
    tally = drive("a", _save(tmp_path, document))
    assert [refusal.reasons[0].location for refusal in tally.refusals] == [("query", "a")] * 2
    assert [refusal.reasons[0].kind for refusal in tally.refusals] == ["UNPROCESSABLE_ENTITY"] * 2


def test_referee_receives_the_request_side_of_a_document_and_its_schemas(tmp_path: Path) -> None:
    schemas = {"In": {"properties": {"a": {"$ref": "#/components/schemas/Deep"}}}, "Deep": {}, "Out": {}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}}}}
    answer = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Out"}}}}
    operation = {"requestBody": body, "responses": {"200": answer}, "callbacks": {"c": {}}}
    document = {"openapi": "3.0.4", "paths": {"/a": {"post": operation}}, "components": {"schemas": schemas}}
    side = _side(tmp_path, document)
    assert side["paths"]["/a"]["post"] == {"requestBody": body, "responses": {"200": {"description": "OK"}}}
    assert side["components"] == {"schemas": {name: schemas[name] for name in ("In", "Deep")}}


def test_referee_receives_swagger_2_unconverted(tmp_path: Path) -> None:
    operation = {"parameters": [{"name": "a", "in": "query", "type": "string"}], "responses": {}}
    side = _side(tmp_path, {"swagger": "2.0", "basePath": "/v1", "paths": {"/a": {"get": operation}}})
    assert side["swagger"] == "2.0"
    assert side["paths"]["/a"]["get"]["parameters"] == operation["parameters"]


def test_broken_reference_does_not_prevent_the_start_of_the_referee(tmp_path: Path) -> None:
    item = {"get": {"parameters": [{"$ref": "#/components/parameters/none"}], "responses": {}}}
    side = _side(tmp_path, {"openapi": "3.0.4", "paths": {"/a": item}})
    assert side["paths"]["/a"]["get"]["parameters"] == [{}]


def test_drawn_values_fit_one_alternative_of_a_union_where_that_leaves_nothing_out() -> None:
    narrow, wide = {"type": "string", "minLength": 6}, {"type": "string"}
    union = {"anyOf": [{"type": "integer"}, narrow, wide]}
    schema = {"type": "object", "properties": {"a": union, "anyOf": wide}, "additionalProperties": False}
    assert draw(schema, full=True) == {"a": "text", "anyOf": "text"}
    assert set(draw({**schema, "properties": {"a": {"anyOf": [wide, wide]}}}, full=True)) == {"a"}


@pytest.mark.parametrize("path", ["/rest?method=echo", "/tags/{arn}#keys"])
def test_refusal_of_a_path_with_a_query_or_fragment_is_the_documents(path: str) -> None:
    assert [item.whose for item in explain("any", Refusal("t", {}, None, (REASON,), path))] == ["the document's"]


def test_refusal_is_explained_if_all_its_reasons_are() -> None:
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
def test_exit_code_is_0_if_enough_is_accepted_and_the_rest_explained(
    accepted: int, refusals: list[Refusal], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = Tally("a document", tools=100, accepted=accepted, refusals=refusals)
    prism.show(tally, verbose=False)
    assert prism.summary([tally]) == code
    printed = capsys.readouterr().out
    assert f"| a document | 100 | {len(refusals) + accepted} | {accepted} | {len(refusals)} |" in printed
    assert ("must be integer" in printed) == bool(refusals)


def test_missing_corpus_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prism, "CORPUS", tmp_path / "corpus")
    monkeypatch.setattr("sys.argv", ["prism"])
    assert prism.main() == 2
    assert "corpus of documents is not there" in capsys.readouterr().err
