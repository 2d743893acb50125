"""The sample API conforms to its document: openapi-core validates each request and response."""

from typing import Any

import httpx
import pytest
from openapi_core import OpenAPI
from openapi_core.testing import MockRequest, MockResponse
from werkzeug.datastructures import MultiDict

from tests.conftest import ROOT

KEY = {"X-API-Key": "open-sesame"}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def contract() -> OpenAPI:
    return OpenAPI.from_file_path(str(ROOT / "specs" / "petstore.yaml"))


def ask(contract: OpenAPI, url: str, method: str, path: str, **parts: Any) -> httpx.Response:
    """Send a request and return the response, validated against the document."""
    answer = httpx.request(method, url + path, **parts)
    sent = answer.request
    request = MockRequest(
        "http://127.0.0.1:8020",
        sent.method.lower(),
        sent.url.path,
        args=MultiDict(sent.url.params.multi_items()),
        headers=dict(sent.headers),
        content_type=sent.headers.get("content-type", ""),
        data=sent.content,
    )
    content_type = answer.headers.get("content-type", "").partition(";")[0]
    response = MockResponse(answer.content, answer.status_code, dict(answer.headers), content_type)
    contract.validate_response(request, response)
    return answer


def test_pets_are_created_read_changed_and_deleted(contract: OpenAPI, petstore: str) -> None:
    created = ask(contract, petstore, "POST", "/pets", json={"name": "Ida", "price": None}, headers=KEY)
    assert created.status_code == 201
    path = f"/pets/{created.json()['id']}"
    changed = ask(contract, petstore, "PATCH", path, json={"status": "sold"}, headers=KEY)
    assert changed.json() == ask(contract, petstore, "GET", path).json() == created.json() | {"status": "sold"}
    assert ask(contract, petstore, "DELETE", path, headers=KEY).status_code == 204
    assert ask(contract, petstore, "GET", path).status_code == 404


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["Minka", "Rex", "Bubbles", "Ada"]),
        ({"q": "B"}, ["Bubbles"]),
        ({"status": ["available", "sold"]}, ["Minka", "Bubbles", "Ada"]),
        ({"tag": "dog"}, ["Rex"]),
        ({"limit": 2, "offset": 1}, ["Rex", "Bubbles"]),
    ],
)
def test_pets_are_searched(contract: OpenAPI, petstore: str, query: dict[str, Any], names: list[str]) -> None:
    page = ask(contract, petstore, "GET", "/pets", params=query).json()
    assert [pet["name"] for pet in page["pets"]][: len(names)] == names


def test_photo_is_returned_as_it_was_stored(contract: OpenAPI, petstore: str) -> None:
    stored = httpx.put(f"{petstore}/pets/1/photo", content=PNG, headers=KEY | {"Content-Type": "image/png"})
    assert stored.status_code == 204
    photo = httpx.get(f"{petstore}/pets/1/photo")
    assert (photo.content, photo.headers["content-type"]) == (PNG, "image/png")
    assert ask(contract, petstore, "GET", "/pets/2/photo").status_code == 404


def test_changes_need_a_key(contract: OpenAPI, petstore: str) -> None:
    assert ask(contract, petstore, "POST", "/pets", json={"name": "Ida"}).status_code == 401
    assert ask(contract, petstore, "DELETE", "/pets/1", headers={"X-API-Key": "guess"}).status_code == 401


def test_invalid_requests_are_refused(contract: OpenAPI, petstore: str) -> None:
    assert ask(contract, petstore, "GET", "/pets", params={"limit": "all"}).status_code == 400
    assert ask(contract, petstore, "POST", "/pets", json={"name": ""}, headers=KEY).status_code == 400
    assert ask(contract, petstore, "POST", "/contact", data={"from": "a@example.com"}).status_code == 400


def test_shop_counts_pets_and_answers_messages(contract: OpenAPI, petstore: str) -> None:
    assert set(ask(contract, petstore, "GET", "/inventory").json()) == {"available", "reserved", "sold"}
    sent = ask(contract, petstore, "POST", "/contact", data={"from": "a@example.com", "text": "hi", "topics": ["cats"]})
    assert "cats" in sent.text
