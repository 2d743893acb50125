"""Probes: safe requests only, with values that are known, within limits; logs of calls."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount

from openapi_mcp.check import probe as probing
from openapi_mcp.check.traffic import parse_log, read_log
from openapi_mcp.errors import UsageError
from tests.check.judging import minimal, opened, saved
from tests.servers import running

SEEN: list[str] = []


async def answer(scope: Any, receive: Any, send: Any) -> None:
    request = Request(scope, receive)
    SEEN.append(f"{request.method} {request.url.path}?{request.url.query}".rstrip("?"))
    if request.url.path == "/items":
        response: Response = JSONResponse({"data": [{"id": "a1", "secret": "x"}]})
    elif request.url.path.startswith("/keyed"):
        response = JSONResponse({}, 200 if request.headers.get("x-key") else 401)
    else:
        response = JSONResponse({"ok": True})
    await response(scope, receive, send)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(Starlette(routes=[Mount("/", answer)])) as address:
        yield address


def probed(folder: Path, url: str, paths: Any, **root: Any) -> probing.ProbeResult:
    SEEN.clear()
    bridge = opened(saved(folder, minimal(paths, **root)), base_url=[url])
    secrets = dict.fromkeys([scheme.name for scheme in bridge.security_schemes()], "secret")
    return probing.probe(replace(bridge, config=replace(bridge.config, credentials=secrets)))


def parameter(name: str, place: str = "query", **fields: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": {"type": "string"}, **fields}


def test_only_safe_operations_with_known_values_are_sent(url: str, tmp_path: Path) -> None:
    paths = {
        "/items": {"get": {}, "post": {}, "delete": {}},
        "/items/{id}": {"get": {"parameters": [parameter("id", "path")]}, "put": {}},
        "/named": {"get": {"parameters": [parameter("q", example="x")]}},
        "/chosen": {"get": {"parameters": [parameter("q", schema={"enum": ["b", "c"]})]}},
        "/unknown": {"get": {"parameters": [parameter("q")]}, "head": {}},
    }
    result = probed(tmp_path, url, paths)
    assert sorted(SEEN) == ["GET /chosen?q=b", "GET /items", "GET /items/a1", "GET /named?q=x", "HEAD /unknown"]
    assert [(tool.path, reason) for tool, reason in result.left_out] == [("/unknown", "no value is known for q")]


def test_optional_arguments_are_tried_once(url: str, tmp_path: Path) -> None:
    optional = [{"name": "limit", "in": "query", "schema": {"type": "integer"}}]
    probed(tmp_path, url, {"/items": {"get": {"parameters": optional}}})
    assert [each.partition("?")[0] for each in SEEN] == ["GET /items", "GET /items"]
    assert "limit=" in SEEN[1]


def test_the_number_of_requests_is_bounded(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "MAX_PROBES", 3)
    result = probed(tmp_path, url, {f"/p{number}": {"get": {}} for number in range(10)})
    assert len(SEEN) == 3
    assert len(result.left_out) == 7


def test_another_credential_of_the_document_is_tried_where_the_first_is_refused(url: str, tmp_path: Path) -> None:
    schemes = {
        "token": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    }
    result = probed(
        tmp_path,
        url,
        {"/keyed": {"get": {"operationId": "keyed", "security": [{"token": []}, {"key": []}]}}},
        components={"securitySchemes": schemes},
    )
    assert result.accepted == {"keyed": ("key",)}


def test_an_api_that_does_not_answer_is_a_finding(tmp_path: Path) -> None:
    result = probed(tmp_path, "http://127.0.0.1:9", {"/items": {"get": {}}})
    assert [tool.path for tool, _ in result.failures] == ["/items"]


LINES = [
    "WARNING openapi_mcp: listBooks differs from the document: response 200 body[].id: 7 is not of type 'text' [type]",
    json.dumps({"message": "addBook differs from the document: request query a: the API wants integer [refused type]"}),
    "addBook differs from the document: request: there is no credential for key [security]",
    "listBooks could not be checked: response: openapi-core cannot read it (X) [not checked]",
    "OPERATION  REQUESTS  RESPONSES  DRIFT",
    "listBooks        12         11      1",
    "addBook           0          0      0",
    "some other text [of a log]",
]


def test_logs_are_read_as_text_and_as_json(tmp_path: Path) -> None:
    path = tmp_path / "serve.log"
    path.write_text("\n".join([*LINES, *LINES]))
    log = read_log(path)
    assert [(each.tool, each.side, each.where, each.kind) for each in log.drifts] == [
        ("listBooks", "response", "200 body[].id", "type"),
        ("addBook", "request", "query a", "refused type"),
        ("addBook", "request", "", "security"),
    ]
    assert log.answered == {"listBooks"}
    assert parse_log(["x" * 100_000]).drifts == ()


def test_a_log_that_is_not_there_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        read_log(tmp_path / "none.log")
    assert error.value.where.endswith("none.log")
