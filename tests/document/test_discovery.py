"""The address of a host or of a page with documentation leads to the document."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from openapi_mcp.document.discovery import MAX_REQUESTS
from openapi_mcp.document.loader import load
from openapi_mcp.errors import DocumentError
from openapi_mcp.runtime.request.redaction import redact
from tests.servers import running

DOCUMENT = json.dumps({"openapi": "3.1.0", "info": {"title": "Found", "version": "1"}, "paths": {}})
SWAGGER_UI = '<!doctype html><div id="swagger-ui"></div><script src="./swagger-initializer.js"></script>'
PAGES: dict[str, dict[str, str]] = {
    "FastAPI's page": {
        "/docs": "<!DOCTYPE html><script>SwaggerUIBundle({ url: '/v2/spec' })</script>",
        "/v2/spec": DOCUMENT,
    },
    "FastAPI's well-known path": {"/openapi.json": DOCUMENT},
    "Spring's well-known path": {"/v3/api-docs": DOCUMENT},
    "Swagger UI's initializer": {
        "/ui/": SWAGGER_UI,
        "/ui/swagger-initializer.js": 'window.ui = SwaggerUIBundle({ url: "../hidden/spec", dom_id: "#swagger-ui" })',
        "/hidden/spec": DOCUMENT,
    },
    "Swagger UI's settings": {
        "/swagger-ui/index.html": SWAGGER_UI,
        "/swagger-ui/swagger-initializer.js": 'SwaggerUIBundle({"configUrl" : "/v3/conf"})',
        "/v3/conf": '{"urls": [{"url": "/hidden/spec", "name": "a"}]}',
        "/hidden/spec": DOCUMENT,
    },
    "Redoc": {"/redoc": "<html><redoc spec-url='my.spec'></redoc>", "/my.spec": DOCUMENT},
    "Scalar": {"/ref": '<!doctype html><script id="api-reference" data-url="/my.spec"></script>', "/my.spec": DOCUMENT},
    "a link of RFC 8631": {
        "/": '<!doctype html><link type="application/json" rel="service-desc" href="/a?b=1&amp;c=2">',
        "/a": DOCUMENT,
    },
    "RFC 9727's catalog": {
        "/.well-known/api-catalog": json.dumps(
            {"linkset": [{"anchor": "/", "service-desc": [{"href": "/hidden/spec", "type": "application/json"}]}]}
        ),
        "/hidden/spec": DOCUMENT,
    },
    "a path below the address": {"/api/docs": "<!doctype html>", "/api/openapi.json": DOCUMENT},
}


@contextmanager
def serving(pages: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Serve texts by path, `→address` as a redirect; yield the base URL and the paths that were asked for."""
    asked: list[str] = []

    async def answer(request: Request) -> Response:
        asked.append(request.url.path)
        text = pages.get(request.url.path)
        if text is not None and text.startswith("→"):
            return RedirectResponse(text[1:])
        kind = "text/html" if (text or "").startswith("<") else "application/json"
        return Response(text or "not found", 200 if text else 404, media_type=kind)

    app = Starlette()
    app.add_route("/{path:path}", answer)
    with running(app) as url:
        yield url, asked


@pytest.mark.parametrize("pages", PAGES.values(), ids=PAGES)
def test_the_document_of_a_page_is_found(pages: Mapping[str, str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    first = next(iter(pages))
    with serving(pages) as (url, _):
        document = load(url + first if pages[first].startswith("<") else url)
    assert document.root["info"]["title"] == "Found"
    assert f"found the document at {redact(document.uri)}" in caplog.text


@pytest.mark.slow
def test_a_host_without_a_document_is_an_error_after_few_requests() -> None:
    with (
        serving({"/": "<!doctype html><title>Welcome</title>"}) as (url, asked),
        pytest.raises(DocumentError) as caught,
    ):
        load(url)
    assert caught.value.message == "this is a web page, not an OpenAPI document"
    assert "usual places" in caught.value.hint
    assert 5 < len(asked) <= MAX_REQUESTS + 1
    assert len(set(asked)) == len(asked) - asked.count("/") + 1


def test_a_document_that_was_named_is_not_looked_for_elsewhere() -> None:
    with serving({"/openapi.json": DOCUMENT}) as (url, asked), pytest.raises(DocumentError, match="404"):
        load(f"{url}/nothing.json")
    assert asked == ["/nothing.json"]


@pytest.mark.slow
def test_a_page_does_not_lead_to_another_host() -> None:
    with serving({"/spec": DOCUMENT}) as (other, asked):
        named = f"<!doctype html><script>ui({{url: '{other}/spec'}})</script>"
        with (
            serving({"/docs": named, "/openapi.json": f"→{other}/spec"}) as (url, _),
            pytest.raises(DocumentError, match="a web page"),
        ):
            load(f"{url}/docs")
    assert asked == []


@pytest.mark.slow
def test_a_hostile_page_is_searched_in_bounded_time() -> None:
    pieces = ["<link ", "<link rel=service-desc ", "<link>", '"openapi', "url: '", '"swaggerapi-docs.']
    page = "<!doctype html>" + "".join(piece * 20_000 for piece in pieces)
    with serving({"/docs": page}) as (url, _), pytest.raises(DocumentError):
        load(f"{url}/docs")
