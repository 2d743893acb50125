"""Repairs: a faulty document and its API, before and after; the overlay is short, and applied again finds nothing."""

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from openapi_mcp.bridge import Bridge
from openapi_mcp.check.examination import Examination, examine
from openapi_mcp.check.repair.actions import line_count, written
from openapi_mcp.check.repair.examples import example_repairs
from openapi_mcp.check.subject import JudgedDocument
from openapi_mcp.check.traffic import NO_LOG, ContractLog, parse_log
from openapi_mcp.contract.drift import DriftLog
from openapi_mcp.overlay.application import Overlay
from tests.check.judging import API, TOKEN, faulty_document, minimal, opened, saved
from tests.conftest import ROOT
from tests.servers import running

CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/books", {"limit": 2}),
    ("GET", "/books/{id}", {"id": 7}),
    ("POST", "/books", {"title": "Emma", "pages": 474}),
    ("GET", "/health", {}),
]


@pytest.fixture(scope="module")
def library() -> Iterator[str]:
    with running(API) as url:
        yield url


def fixed(path: Path, url: str, *, log: ContractLog = NO_LOG, earlier: Any = None, token: str = TOKEN) -> Examination:
    """Run what `check PATH --probe URL --fix …` runs."""

    def reopened(overlays: Any = ()) -> Bridge:
        bridge = opened(path, base_url=[url], overlay=list(overlays))
        secrets = dict.fromkeys([scheme.name for scheme in bridge.security_schemes()], token)
        return replace(bridge, config=replace(bridge.config, credentials=secrets))

    return examine(reopened(), reopened, log=log, probes=True, fix=True, base_url=url, earlier=earlier)


def logged(bridge: Bridge, caplog: pytest.LogCaptureFixture) -> ContractLog:
    """Return what --check-contract logs of calls that a model makes."""
    drift = bridge.drift
    assert isinstance(drift, DriftLog)
    caplog.clear()

    async def run() -> None:
        server = bridge.server()
        try:
            for tool in bridge.tools:
                for arguments in ({"id": 7}, {"title": "Emma", "pages": "many"}, {"body": "Emma"}, {"pages": 3}):
                    names = {argument.name for argument in tool.arguments}
                    if arguments.keys() <= names or not names:
                        await server.call(tool.name, arguments if names else {})
        finally:
            await server.aclose()

    with caplog.at_level(logging.WARNING, "openapi_mcp"):
        asyncio.run(run())
        drift.close()
    return parse_log([*(record.getMessage() for record in caplog.records), *drift.summary()])


def accepted(path: Path, overlay: Path | None) -> int:
    """Return how many calls of CALLS reach the API as the document says and succeed."""
    bridge = opened(path, **({"overlay": [str(overlay)]} if overlay else {}))
    secrets = dict.fromkeys([scheme.name for scheme in bridge.security_schemes()], TOKEN)
    bridge = replace(bridge, config=replace(bridge.config, credentials=secrets))
    tools = {(tool.method, tool.path): tool.name for tool in bridge.tools}

    async def run() -> int:
        server = bridge.server()
        try:
            results = [await server.call(tools[method, place], each) for method, place, each in CALLS]
            return sum(not result.is_error for result in results)
        finally:
            await server.aclose()

    return asyncio.run(run())


@pytest.mark.slow
def test_all_calls_are_accepted_after_repairs_that_probes_and_the_log_show(
    library: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, overlay = saved(tmp_path, faulty_document()), tmp_path / "repairs.yaml"
    assert accepted(path, None) == 0
    earlier = None
    for _ in range(3):  # the calls of a day, then those of the next
        options: dict[str, Any] = {"overlay": [str(overlay)]} if earlier else {}
        bridge = opened(path, base_url=[library], check_contract=True, **options)
        bridge = replace(bridge, config=replace(bridge.config, credentials={"bearer": TOKEN}))
        made = fixed(path, library, log=logged(bridge, caplog), earlier=earlier)
        if made.overlay is None:
            break
        earlier = made.overlay
        overlay.write_text(written(earlier))
    assert accepted(path, overlay) == len(CALLS)
    assert line_count(yaml.safe_load(overlay.read_text())) <= 20


def test_types_null_formats_and_required_lists_are_those_of_answers(library: str, tmp_path: Path) -> None:
    path = saved(tmp_path, faulty_document())
    root = repaired(path, fixed(path, library))
    book = root["components"]["schemas"]["Book"]
    kinds = {name: each.get("type") for name, each in book["properties"].items()}
    assert kinds | {"isbn": "string", "added": "string"} == kinds
    assert (kinds["id"], kinds["pages"]) == ("integer", "integer")
    assert book["properties"]["isbn"]["nullable"] is True
    assert book["properties"]["added"]["format"] == "date-time"
    assert book["required"] == ["id"]
    assert root["paths"]["/books"]["get"]["parameters"][0]["schema"]["type"] == "integer"


def test_the_server_the_credential_and_the_texts_are_added(library: str, tmp_path: Path) -> None:
    path = saved(tmp_path, faulty_document())
    made = fixed(path, library)
    root = repaired(path, made)
    assert root["servers"] == [{"url": library}]
    assert root["components"]["securitySchemes"] == {"bearer": {"type": "http", "scheme": "bearer"}}
    assert (root["security"], root["paths"]["/health"]["get"]["security"]) == ([{"bearer": []}], [])
    assert root["paths"]["/books"]["get"]["summary"] == "List books"
    assert root["paths"]["/books/{id}"]["get"]["operationId"] == "get_books_by_id"
    assert root["paths"]["/health"]["get"]["responses"]["200"]["description"] == "OK"
    assert made.after is not None
    assert made.after.score.value > made.report.score.value
    assert sum(made.after.counts.values()) < sum(made.report.counts.values())
    assert all(repair.reason for repair in made.repairs)


def test_a_repaired_document_needs_no_repair(library: str, tmp_path: Path) -> None:
    path = saved(tmp_path, faulty_document())
    made = fixed(path, library)
    again = fixed(saved(tmp_path, repaired(path, made), "repaired.json"), library)
    assert again.overlay is None


def test_the_base_url_is_written_without_its_password(tmp_path: Path) -> None:
    path = saved(tmp_path, minimal({"/a": {"get": {"operationId": "a", "summary": "A"}}}))
    url = "https://user:pass-word@api.example.com/v1?key=secret"
    made = examine(opened(path), lambda overlays: opened(path, overlay=list(overlays)), fix=True, base_url=url)
    assert repaired(path, made)["servers"] == [{"url": "https://api.example.com/v1"}]
    assert "pass-word" not in str(made.repairs)


def test_operations_with_a_server_of_their_own_keep_it(tmp_path: Path) -> None:
    upload = {"operationId": "b", "summary": "B", "servers": [{"url": "https://uploads.example.com"}]}
    root = minimal({"/a": {"get": {"operationId": "a", "summary": "A"}, "post": upload}})
    path = saved(tmp_path, {**root, "servers": [{"url": "https://old.example.com", "description": "The API"}]})
    url = "https://api.example.com"
    made = examine(opened(path), lambda overlays: opened(path, overlay=list(overlays)), fix=True, base_url=url)
    fixed_root = repaired(path, made)
    assert fixed_root["servers"] == [{"url": url, "description": "The API"}]
    assert fixed_root["paths"]["/a"]["post"]["servers"] == upload["servers"]


def test_the_overlay_of_a_run_is_extended_by_the_next(library: str, tmp_path: Path) -> None:
    path = saved(tmp_path, faulty_document())
    first = fixed(path, library).overlay
    assert first is not None
    line = "addBook differs from the document: request body.title: the API requires it [refused missing]"
    second = fixed(path, library, log=parse_log([line]), earlier=first).overlay
    assert second is not None
    assert '"required": ["title"]' in json.dumps(second)
    assert second["actions"][0] == first["actions"][0]


def repaired(path: Path, made: Examination) -> dict[str, Any]:
    root: dict[str, Any] = json.loads(path.read_text())
    assert made.overlay is not None
    overlay = yaml.safe_load(written(made.overlay))
    assert overlay == made.overlay
    assert Overlay(overlay, "test:").apply(root, "") == []
    return root


def offline(root: Any, tmp_path: Path, *lines: str) -> dict[str, Any]:
    """Return a document that is repaired by what a log says."""
    path = saved(tmp_path, root)

    def reopen(overlays: Any = ()) -> Bridge:
        return opened(path, overlay=list(overlays))

    made = examine(reopen(), reopen, log=parse_log(lines), fix=True)
    return repaired(path, made) if made.overlay else root


SCHEMES = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}, "user": {"type": "http", "scheme": "basic"}}
SENT = "it differs from the document: "


def one(**fields: Any) -> dict[str, Any]:
    return minimal({"/it": {"post": {"operationId": "it", "summary": "It", "responses": {}, **fields}}})


@pytest.mark.parametrize(
    ("challenge", "names"),
    [('Basic realm="x"', ["user"]), ("no scheme is named", ["key"]), ("Bearer", ["key", "user"])],
)
def test_the_credential_is_that_of_the_challenge(challenge: str, names: list[str], tmp_path: Path) -> None:
    root = {**one(), "components": {"securitySchemes": SCHEMES}}
    line = f"{SENT}request: a credential is demanded, and the document names none ({challenge}) [demanded credential]"
    assert offline(root, tmp_path, line)["security"] == [{name: []} for name in names]


def test_a_scheme_that_is_declared_and_unused_is_used(tmp_path: Path) -> None:
    root = {**one(), "components": {"securitySchemes": {"key": SCHEMES["key"]}}}
    assert offline(root, tmp_path)["security"] == [{"key": []}]


def test_a_media_type_gets_its_true_name_and_keeps_its_schema(tmp_path: Path) -> None:
    root = one(requestBody={"content": {"text/plain": {"schema": {"type": "object"}}}})
    line = f"{SENT}request body: text/plain is refused (application/json) [refused media type]"
    body = offline(root, tmp_path, line)["paths"]["/it"]["post"]["requestBody"]
    assert body == {"content": {"application/json": {"schema": {"type": "object"}}}}


def test_null_is_added_to_the_type_that_values_show_in_3_1(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    root = one(responses={"200": {"description": "A", "content": {"application/json": {"schema": schema}}}})
    lines = [f"{SENT}response 200 body.a: {value} is not of type 'integer' [type]" for value in ("null", '"x"')]
    answer = offline(root, tmp_path, *lines)["paths"]["/it"]["post"]["responses"]["200"]
    assert answer["content"]["application/json"]["schema"]["properties"]["a"]["type"] == ["string", "null"]


def test_swagger_2_is_repaired_as_it_is_written(tmp_path: Path) -> None:
    book = {"type": "object", "properties": {"id": {"type": "string"}, "isbn": {"type": "string"}}}
    get = {"responses": {"200": {"description": "A", "schema": {"$ref": "#/definitions/Book"}}}}
    root = {
        "swagger": "2.0",
        "info": {"title": "T", "version": "1"},
        "produces": ["application/json"],
        "paths": {"/it": {"get": {"operationId": "it", "summary": "It", **get}}},
        "definitions": {"Book": book},
    }
    lines = (f"{SENT}response 200 body.id: 7 is not of type 'string' [type]",
             f"{SENT}response 200 body.isbn: null is not of type 'string' [type]")  # fmt: skip
    properties = offline(root, tmp_path, *lines)["definitions"]["Book"]["properties"]
    assert properties == {"id": {"type": "integer", "example": 1}, "isbn": {"type": "string", "x-nullable": True}}


def test_equal_changes_are_one_action(tmp_path: Path) -> None:
    answers: dict[str, Any] = {str(status): {} for status in (400, 404, 500)}
    paths = {f"/p{n}": {"get": {"operationId": f"p{n}", "summary": "P", "responses": answers}} for n in range(30)}
    path = saved(tmp_path, minimal(paths))
    made = examine(opened(path), lambda overlays: opened(path, overlay=list(overlays)), fix=True)
    assert made.overlay is not None
    assert len(made.overlay["actions"]) == 1
    assert made.after is not None
    assert "response-undescribed" not in {finding.rule for finding in made.after.findings}


def test_what_is_in_another_file_is_left_alone(tmp_path: Path) -> None:
    saved(tmp_path, {"get": {"responses": {}}}, "item.json")
    root = minimal({"/a": {"$ref": "item.json"}})
    assert offline(root, tmp_path) == root


def test_examples_are_of_no_person_and_no_secret(library: str, tmp_path: Path) -> None:
    path = saved(tmp_path, faulty_document())
    text = written(fixed(path, library).overlay or {"overlay": "", "info": {}, "actions": []})
    assert "Moby" not in text
    assert TOKEN not in text
    assert "example: 7" in text


def test_the_example_of_the_page_is_what_fix_writes(tmp_path: Path) -> None:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    def books(request: Request) -> JSONResponse:
        if "authorization" not in request.headers:
            return JSONResponse({}, 401, {"WWW-Authenticate": "Bearer"})
        return JSONResponse([{"id": 7, "added": "2026-01-02T03:04:05Z"}])

    page = (ROOT / "docs" / "check.md").read_text()
    before, after = (page.split(f"check-{name}\n")[1].split("```")[0] for name in ("before", "after"))
    with running(Starlette(routes=[Route("/books", books)])) as url:
        made = fixed(saved(tmp_path, before), url)
    assert made.overlay is not None
    assert written(made.overlay).replace(url, "https://api.example.com") == after


def test_an_example_is_a_value_that_its_schema_takes(tmp_path: Path) -> None:
    """Fields of one name share an example only where each takes it."""
    kinds: dict[str, Any] = {
        "Cat": {"enum": ["cat"], "type": "string"},
        "Dog": {"enum": ["dog"], "type": "string"},
        "Count": {"type": "integer", "minimum": 5},
        "Sum": {"type": "integer", "minimum": 500},
    }
    schemas = {name: {"type": "object", "properties": {"kind": kind}} for name, kind in kinds.items()}
    paths = {
        f"/{name}": {
            "get": {
                "operationId": f"read{name}",
                "summary": f"Read {name}",
                "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": ref(name)}}}},
            }
        }
        for name in schemas
    }
    root = {"openapi": "3.0.3", "info": {"title": "Kinds", "version": "1"}, "paths": paths}
    source = saved(tmp_path, {**root, "components": {"schemas": schemas}})
    repairs = example_repairs(JudgedDocument(opened(source)), ())
    shown = {repair.location[2]: repair.update["example"] for repair in repairs}
    assert shown == {"Cat": "cat", "Dog": "dog", "Count": 5, "Sum": 500}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
