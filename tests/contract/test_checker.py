"""The contract check of one call: each difference is reported with its kind and location, and nothing else."""

from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from openapi_mcp.contract.checker import Contract, Drift
from openapi_mcp.document import loader
from openapi_mcp.document.model import Document
from openapi_mcp.document.swagger2.conversion import convert
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.tools.compiler import build

THINGS = """
openapi: 3.0.3
info: {title: Things, version: '1'}
servers: [{url: 'http://things.test/api'}]
paths:
  /things/{id}:
    get:
      operationId: getThing
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: limit, in: query, schema: {type: integer, maximum: 10}}
        - {name: kinds, in: query, required: true, explode: false, schema: {$ref: '#/components/schemas/Kinds'}}
        - {name: where, in: query, schema: {type: object, properties: {x: {type: integer}}}}
        - {name: X-Tenant, in: header, schema: {type: string, maxLength: 3}}
        - {name: key, in: query, schema: {type: integer}}
      security: [{key: []}, {bearer: []}]
      responses:
        '200':
          description: a thing
          headers: {X-Total: {required: true, schema: {type: integer}}}
          content:
            application/json; charset=utf-8: {schema: {$ref: '#/components/schemas/Thing'}}
            image/*: {}
        4XX: {description: refused, content: {'*/*': {schema: {type: object, required: [error]}}}}
    put:
      operationId: putThing
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/Thing'}}
      responses: {'204': {description: done}}
  /elsewhere:
    get: {operationId: lost, responses: {'200': {$ref: 'https://things.test/responses.yaml#/Lost'}}}
components:
  securitySchemes: {key: {type: apiKey, in: query, name: key}, bearer: {type: http, scheme: Bearer}}
  schemas:
    Kinds: {type: array, items: {enum: [a, b], type: string}}
    Thing:
      type: object
      required: [id, name, secret]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string, pattern: '^[a-z]+$'}
        secret: {type: string, writeOnly: true}
        price: {type: number, nullable: true}
        parts: {type: array, items: {$ref: '#/components/schemas/Thing'}}
        size: {oneOf: [{type: integer}, {type: object, properties: {w: {type: integer}}}]}
"""
GOOD: dict[str, Any] = {"id": 1, "name": "a", "price": None, "parts": [{"id": 2, "name": "b"}], "size": {"w": 1}}
URL = "http://elsewhere.test/v9/things/7?kinds=a,b&key=k"


def document(text: str = THINGS, **changes: Any) -> Document:
    root = yaml.safe_load(text) | changes
    return Document(root, "file:///things.yaml", root["openapi"][:3])


def tool_of(things: Document, name: str) -> Tool:
    return next(tool for tool in build(things).tools if tool.name == name)


def kinds(drifts: tuple[Drift, ...]) -> list[tuple[str, str]]:
    return [(drift.kind, f"{drift.side} {drift.where}".rstrip()) for drift in drifts]


def check_response(response: httpx.Response, url: str = URL, **parts: Any) -> list[tuple[str, str]]:
    """Return the drifts of a call of `getThing` with this response."""
    things = document()
    request = httpx.Request("GET", url, **parts)
    response.request = request
    return kinds(Contract(things).check(tool_of(things, "getThing"), request, response))


def check_request(url: str, **parts: Any) -> list[tuple[str, str]]:
    """Return the drifts of a request of `getThing` with a valid response."""
    return check_response(httpx.Response(200, json=GOOD, headers={"X-Total": "1"}), url, **parts)


@pytest.mark.parametrize(
    ("change", "drifts"),
    [
        ({}, []),
        ({"secret": "s"}, [("writeOnly", "200 body.secret")]),
        ({"price": "free"}, [("type", "200 body.price")]),
        ({"name": None}, [("type", "200 body.name")]),
        ({"name": "A"}, [("pattern", "200 body.name")]),
        ({"size": {"w": "wide"}}, [("type", "200 body.size.w")]),
        ({"parts": [{"id": 1}, {"id": 2}, {"name": 3}]}, [("required", "200 body.parts[].name"),
                                                             ("required", "200 body.parts[].id"),
                                                             ("type", "200 body.parts[].name")]),
    ],
)  # fmt: skip
def test_bodies_are_checked_by_their_schema(change: dict[str, Any], drifts: list[tuple[str, str]]) -> None:
    response = httpx.Response(200, json=GOOD | change, headers={"X-Total": "1"})
    assert check_response(response) == [(kind, f"response {where}") for kind, where in drifts]


@pytest.mark.parametrize(
    ("response", "drifts"),
    [
        (httpx.Response(418, json={"error": "tea"}), []),
        (httpx.Response(418, json={}), [("required", "response 418 body.error")]),
        (httpx.Response(500, json={}), [("status", "response 500")]),
        (httpx.Response(200, html="<p>", headers={"X-Total": "1"}), [("content type", "response 200 body")]),
        (httpx.Response(200, content=b"{}", headers={"X-Total": "1"}), [("content type", "response 200 body")]),
        (httpx.Response(200, headers={"X-Total": "1"}), [("required", "response 200 body")]),
        (httpx.Response(200, json=GOOD), [("required", "response 200 header X-Total")]),
        (httpx.Response(200, json=GOOD, headers={"X-Total": "many"}), [("type", "response 200 header X-Total")]),
        (httpx.Response(200, content=b"\x89PNG", headers={"X-Total": "1", "Content-Type": "image/png"}), []),
        (
            httpx.Response(200, content=b"{", headers={"X-Total": "1", "Content-Type": "application/json"}),
            [("syntax", "response 200 body")],
        ),
    ],
)
def test_responses_are_checked_by_status_content_type_and_headers(
    response: httpx.Response, drifts: list[tuple[str, str]]
) -> None:
    assert check_response(response) == drifts


@pytest.mark.parametrize(
    ("query", "drifts"),
    [
        ("kinds=a&key=k", []),
        ("kinds=a,b&limit=10&key=k", []),
        ("kinds=a&key=k&x=1", []),
        ("kinds=a&limit=ten&key=k", [("type", "request query limit")]),
        ("kinds=a&limit=11&key=k", [("maximum", "request query limit")]),
        ("kinds=a,c&key=k", [("enum", "request query kinds[]")]),
        ("key=k", [("required", "request query kinds")]),
        ("kinds=a", [("security", "request")]),
    ],
)
def test_requests_to_any_host_are_checked(query: str, drifts: list[tuple[str, str]]) -> None:
    assert check_request(f"http://elsewhere.test/v9/things/7?{query}") == drifts


def test_path_may_have_a_prefix() -> None:
    assert check_request(URL.replace("things/7", "things/seven")) == [("type", "request path id")]


def test_any_alternative_of_credentials_suffices() -> None:
    assert check_request("http://x.test/things/7?kinds=a", headers={"Authorization": "Bearer t"}) == []


def test_request_bodies_need_no_read_only_properties() -> None:
    things = document()
    for change, drifts in (
        ({}, []),
        ({"id": 1}, [("readOnly", "request body.id")]),
        ({"name": 1}, [("type", "request body.name")]),
    ):
        request = httpx.Request("PUT", "http://x.test/things/7", json={"name": "a", "secret": "s", **change})
        answer = httpx.Response(204, request=request)
        assert kinds(Contract(things).check(tool_of(things, "putThing"), request, answer)) == drifts


@pytest.mark.parametrize("version", ["3.1.0", "3.2.0"])
def test_read_only_properties_are_excused_in_every_version(version: str) -> None:
    things = document(openapi=version)
    request = httpx.Request("PUT", "http://x.test/things/7", json={"name": "a", "secret": "s"})
    assert Contract(things).check(tool_of(things, "putThing"), request, httpx.Response(204, request=request)) == ()


def test_converted_swagger_is_checked() -> None:
    root = {
        "swagger": "2.0",
        "info": {"title": "Old", "version": "1"},
        "produces": ["application/json"],
        "paths": {
            "/old": {
                "get": {
                    "operationId": "old",
                    "parameters": [{"name": "n", "in": "query", "type": "integer"}],
                    "responses": {"200": {"description": "", "schema": {"type": "object", "required": ["a"]}}},
                }
            }
        },
    }
    old = convert(Document(root, "file:///old.json", "2.0"))
    request = httpx.Request("GET", "http://x.test/base/old?n=x")
    drifts = Contract(old).check(tool_of(old, "old"), request, httpx.Response(200, json={}, request=request))
    assert kinds(drifts) == [("type", "request query n"), ("required", "response 200 body.a")]


def test_document_of_several_files_is_checked(tmp_path: Path) -> None:
    schema = (
        "components: {schemas: {Thing: {$ref: 'parts/thing.yaml#/Thing'}, Kinds: {type: array, items: {type: string}}}}"
    )
    (tmp_path / "things.yaml").write_text(
        THINGS[: THINGS.index("components:")].replace("  security: [", "  x-: [") + schema
    )
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "thing.yaml").write_text("Thing: {type: object, properties: {name: {type: string}}}")
    things = loader.load(str(tmp_path / "things.yaml"))
    request = httpx.Request("GET", URL.replace("key=k", "key=1"))
    answer = httpx.Response(200, json={"name": 1}, headers={"X-Total": "1"}, request=request)
    drifts = Contract(things).check(tool_of(things, "getThing"), request, answer)
    assert kinds(drifts) == [("type", "response 200 body.name")]


def test_backtracking_pattern_is_skipped() -> None:
    things = document(THINGS.replace("'^[a-z]+$'", "'^([a-z]+)+$'"))
    request = httpx.Request("GET", URL)
    answer = httpx.Response(200, json=GOOD | {"name": "a" * 60 + "!"}, headers={"X-Total": "1"}, request=request)
    assert Contract(things).check(tool_of(things, "getThing"), request, answer) == ()


def test_remote_reference_is_not_fetched_and_leaves_the_side_unchecked() -> None:
    things = document()
    request = httpx.Request("GET", "http://x.test/elsewhere")
    [drifts] = Contract(things).check(tool_of(things, "lost"), request, httpx.Response(200, json={}, request=request))
    assert (drifts.side, drifts.kind) == ("response", "not checked")
    assert "things.test" in drifts.message


def test_redirected_response_is_not_checked() -> None:
    things = document()
    elsewhere = httpx.Response(200, request=httpx.Request("GET", "http://login.test/"))
    drifts = Contract(things).check(tool_of(things, "getThing"), httpx.Request("GET", URL), elsewhere)
    assert kinds(drifts) == [("not checked", "response")]


def test_crash_of_openapi_core_is_reported_as_unchecked() -> None:
    loop = {"allOf": [{"$ref": "#/components/schemas/Thing"}]}
    kinds_of_thing = {"type": "array", "items": {"type": "string"}}
    things = document(components={"schemas": {"Thing": loop, "Kinds": kinds_of_thing}})
    request = httpx.Request("GET", URL.replace("key=k", "key=1"))
    answer = httpx.Response(200, json=GOOD, headers={"X-Total": "1"}, request=request)
    [drifts] = Contract(things).check(tool_of(things, "getThing"), request, answer)
    assert (drifts.kind, drifts.message.split(":")[0]) == ("not checked", "RecursionError")


def test_messages_have_no_credentials_and_no_long_values() -> None:
    things = document()
    headers = {"X-Tenant": "quite-secret"}
    request = httpx.Request("GET", f"{URL}&limit={'9' * 500}", headers=headers)
    answer = httpx.Response(400, json=["open-sesame", "\x1b[31m"], request=request)
    drifts = Contract(things, ["open-sesame"]).check(tool_of(things, "getThing"), request, answer)
    assert [drift.kind for drift in drifts] == ["maximum", "maxLength", "type"]
    text = "\n".join(drift.message for drift in drifts)
    assert "secret" not in text
    assert "open" not in text
    assert "***" in text
    assert all(drift.message.isprintable() and len(drift.message) <= 200 for drift in drifts)


def test_token_that_the_request_was_sent_with_is_in_no_message() -> None:
    """It was fetched for one user, so that it is not among the secrets of the settings."""
    things = document()
    request = httpx.Request("GET", URL, headers={"Authorization": "Bearer eyJ-token-of-ann"})
    answer = httpx.Response(400, json=["eyJ-token-of-ann", ["Bearer eyJ-token-of-ann"]], request=request)
    drifts = Contract(things).check(tool_of(things, "getThing"), request, answer)
    text = "\n".join(drift.message for drift in drifts)
    assert "***" in text
    assert "eyJ" not in text
