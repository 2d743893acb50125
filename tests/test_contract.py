"""The contract check judges one call: what drifts is named with its kind and place, what does not is left alone."""

from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from openapi_mcp import loader
from openapi_mcp.contract import Contract, Drift
from openapi_mcp.document import Document
from openapi_mcp.runtime.models import Tool
from openapi_mcp.swagger2 import convert
from openapi_mcp.tools import build

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


def kinds(found: tuple[Drift, ...]) -> list[tuple[str, str]]:
    return [(drift.kind, f"{drift.side} {drift.where}".rstrip()) for drift in found]


def answered(response: httpx.Response, url: str = URL, **parts: Any) -> list[tuple[str, str]]:
    """What is found where `getThing` is answered so."""
    things = document()
    request = httpx.Request("GET", url, **parts)
    response.request = request
    return kinds(Contract(things).check(tool_of(things, "getThing"), request, response))


def asked(url: str, **parts: Any) -> list[tuple[str, str]]:
    """What is found where `getThing` is asked so, and answered well."""
    return answered(httpx.Response(200, json=GOOD, headers={"X-Total": "1"}), url, **parts)


@pytest.mark.parametrize(
    ("change", "found"),
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
def test_bodies_are_judged_by_their_schema(change: dict[str, Any], found: list[tuple[str, str]]) -> None:
    response = httpx.Response(200, json=GOOD | change, headers={"X-Total": "1"})
    assert answered(response) == [(kind, f"answer {where}") for kind, where in found]


@pytest.mark.parametrize(
    ("response", "found"),
    [
        (httpx.Response(418, json={"error": "tea"}), []),
        (httpx.Response(418, json={}), [("required", "answer 418 body.error")]),
        (httpx.Response(500, json={}), [("status", "answer 500")]),
        (httpx.Response(200, html="<p>", headers={"X-Total": "1"}), [("content type", "answer 200 body")]),
        (httpx.Response(200, content=b"{}", headers={"X-Total": "1"}), [("content type", "answer 200 body")]),
        (httpx.Response(200, headers={"X-Total": "1"}), [("required", "answer 200 body")]),
        (httpx.Response(200, json=GOOD), [("required", "answer 200 header X-Total")]),
        (httpx.Response(200, json=GOOD, headers={"X-Total": "many"}), [("type", "answer 200 header X-Total")]),
        (httpx.Response(200, content=b"\x89PNG", headers={"X-Total": "1", "Content-Type": "image/png"}), []),
        (
            httpx.Response(200, content=b"{", headers={"X-Total": "1", "Content-Type": "application/json"}),
            [("syntax", "answer 200 body")],
        ),
    ],
)
def test_answers_are_judged_by_status_content_type_and_headers(
    response: httpx.Response, found: list[tuple[str, str]]
) -> None:
    assert answered(response) == found


@pytest.mark.parametrize(
    ("query", "found"),
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
def test_requests_are_judged_wherever_they_go(query: str, found: list[tuple[str, str]]) -> None:
    assert asked(f"http://elsewhere.test/v9/things/7?{query}") == found


def test_path_values_are_read_from_the_end_of_the_url() -> None:
    assert asked(URL.replace("things/7", "things/seven")) == [("type", "request path id")]


def test_any_alternative_of_the_credentials_will_do() -> None:
    assert asked("http://x.test/things/7?kinds=a", headers={"Authorization": "Bearer t"}) == []


def test_bodies_of_requests_need_nothing_that_only_answers_have() -> None:
    things = document()
    for change, found in (
        ({}, []),
        ({"id": 1}, [("readOnly", "request body.id")]),
        ({"name": 1}, [("type", "request body.name")]),
    ):
        request = httpx.Request("PUT", "http://x.test/things/7", json={"name": "a", "secret": "s", **change})
        answer = httpx.Response(204, request=request)
        assert kinds(Contract(things).check(tool_of(things, "putThing"), request, answer)) == found


@pytest.mark.parametrize("version", ["3.1.0", "3.2.0"])
def test_later_versions_excuse_the_other_sides_properties_too(version: str) -> None:
    things = document(openapi=version)
    request = httpx.Request("PUT", "http://x.test/things/7", json={"name": "a", "secret": "s"})
    assert Contract(things).check(tool_of(things, "putThing"), request, httpx.Response(204, request=request)) == ()


def test_swagger_is_judged_as_it_was_converted() -> None:
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
    found = Contract(old).check(tool_of(old, "old"), request, httpx.Response(200, json={}, request=request))
    assert kinds(found) == [("type", "request query n"), ("required", "answer 200 body.a")]


def test_a_document_of_several_files_is_judged_whole(tmp_path: Path) -> None:
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
    found = Contract(things).check(tool_of(things, "getThing"), request, answer)
    assert kinds(found) == [("type", "answer 200 body.name")]


def test_a_pattern_that_could_take_for_ever_is_not_asked() -> None:
    things = document(THINGS.replace("'^[a-z]+$'", "'^([a-z]+)+$'"))
    request = httpx.Request("GET", URL)
    answer = httpx.Response(200, json=GOOD | {"name": "a" * 60 + "!"}, headers={"X-Total": "1"}, request=request)
    assert Contract(things).check(tool_of(things, "getThing"), request, answer) == ()


def test_nothing_is_fetched_and_what_cannot_be_judged_is_no_drift() -> None:
    things = document()
    request = httpx.Request("GET", "http://x.test/elsewhere")
    [found] = Contract(things).check(tool_of(things, "lost"), request, httpx.Response(200, json={}, request=request))
    assert (found.side, found.kind) == ("answer", "not checked")
    assert "things.test" in found.message


def test_an_answer_from_elsewhere_is_not_the_operations() -> None:
    things = document()
    elsewhere = httpx.Response(200, request=httpx.Request("GET", "http://login.test/"))
    found = Contract(things).check(tool_of(things, "getThing"), httpx.Request("GET", URL), elsewhere)
    assert kinds(found) == [("not checked", "answer")]


def test_a_crash_of_openapi_core_is_survived() -> None:
    loop = {"allOf": [{"$ref": "#/components/schemas/Thing"}]}
    kinds_of_thing = {"type": "array", "items": {"type": "string"}}
    things = document(components={"schemas": {"Thing": loop, "Kinds": kinds_of_thing}})
    request = httpx.Request("GET", URL.replace("key=k", "key=1"))
    answer = httpx.Response(200, json=GOOD, headers={"X-Total": "1"}, request=request)
    [found] = Contract(things).check(tool_of(things, "getThing"), request, answer)
    assert (found.kind, found.message.split(":")[0]) == ("not checked", "RecursionError")


def test_messages_hold_no_credentials_and_no_long_values() -> None:
    things = document()
    headers = {"X-Tenant": "quite-secret"}
    request = httpx.Request("GET", f"{URL}&limit={'9' * 500}", headers=headers)
    answer = httpx.Response(400, json=["open-sesame", "\x1b[31m"], request=request)
    found = Contract(things, ["open-sesame"]).check(tool_of(things, "getThing"), request, answer)
    assert [drift.kind for drift in found] == ["maximum", "maxLength", "type"]
    said = "\n".join(drift.message for drift in found)
    assert "secret" not in said
    assert "open" not in said
    assert "***" in said
    assert all(drift.message.isprintable() and len(drift.message) <= 200 for drift in found)
