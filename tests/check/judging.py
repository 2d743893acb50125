"""Documents and an API for the tests of `check`: what the API accepts is not what its document says."""

import json
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openapi_mcp.bridge import Bridge
from openapi_mcp.check.report import Report, report_of
from openapi_mcp.config import Config

TOKEN = "a-token-of-tests"
BOOK = {"id": 7, "title": "Moby-Dick", "pages": 635, "isbn": None, "added": "2026-01-02T03:04:05Z", "state": "lent"}


async def _books(request: Request) -> Response:
    if refusal := _refusal(request):
        return refusal
    limit = request.query_params.get("limit", "1")
    if not limit.isdecimal():
        return _problem(422, "query", "limit", "limit must be integer")
    return JSONResponse([BOOK] * int(limit))


async def _book(request: Request) -> Response:
    return _refusal(request) or JSONResponse(BOOK)


async def _add(request: Request) -> Response:
    if refusal := _refusal(request):
        return refusal
    if not request.headers.get("content-type", "").startswith("application/json"):
        return JSONResponse({"title": "Unsupported Media Type"}, 415, {"Accept-Post": "application/json"})
    book = json.loads(await request.body())
    if "title" not in book:
        return _problem(422, "body", "title", "title is required")
    if not isinstance(book.get("pages", 1), int):
        return _problem(422, "body", "pages", "pages must be integer")
    return JSONResponse(BOOK, 201)


def _refusal(request: Request) -> Response | None:
    if request.headers.get("authorization") == f"Bearer {TOKEN}":
        return None
    return JSONResponse({"title": "Unauthorized"}, 401, {"WWW-Authenticate": 'Bearer realm="library"'})


def _problem(status: int, location: str, name: str, text: str) -> Response:
    return JSONResponse({"title": "Invalid", "errors": [{"loc": [location, name], "msg": text}]}, status)


API = Starlette(
    routes=[
        Route("/books", _books),
        Route("/books", _add, methods=["POST"]),
        Route("/books/{id}", _book),
        Route("/health", lambda _: JSONResponse({"ok": True})),
        Route("/books/{id}", lambda _: Response(status_code=500), methods=["DELETE"]),
    ]
)
"""A library: it demands a bearer token but for /health, answers with nulls, and refuses what its document allows."""


def faulty_document() -> dict[str, Any]:
    """Return a document of the library with a fault of each kind that `fix` repairs."""
    book = {
        "type": "object",
        "required": ["id", "publisher"],
        "properties": {
            "id": {"type": "string"},
            "title": {"type": "string"},
            "pages": {"type": "string"},
            "isbn": {"type": "string"},
            "added": {"type": "string"},
            "state": {"type": "string"},
        },
    }
    ref = {"$ref": "#/components/schemas/Book"}
    answer = {"200": {"description": "Books.", "content": {"application/json": {"schema": ref}}}}
    books = {"description": "B", "content": {"application/json": {"schema": {"type": "array", "items": ref}}}}
    key = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    limit = {"name": "limit", "in": "query", "schema": {"type": "string"}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Library", "version": "1"},
        "paths": {
            "/books": {
                "get": {"operationId": "listBooks", "parameters": [limit], "responses": {"200": books}},
                "post": {
                    "summary": "Add a book",
                    "operationId": "addBook",
                    "requestBody": {"content": {"text/plain": {"schema": {"$ref": "#/components/schemas/NewBook"}}}},
                    "responses": {"201": answer["200"]},
                },
            },
            "/books/{id}": {
                "get": {"summary": "Get a book", "parameters": [key], "responses": answer},
                "delete": {"summary": "Remove", "parameters": [key], "responses": {"204": {"description": "Gone."}}},
            },
            "/health": {"get": {"operationId": "getHealth", "summary": "Health", "responses": {"200": {}}}},
        },
        "components": {
            "schemas": {
                "Book": book,
                "NewBook": {
                    "type": "object",
                    "properties": {"title": {"type": "string"}, "pages": {"type": "string"}},
                },
            }
        },
    }


def saved(folder: Path, root: Any, name: str = "api.json") -> Path:
    """Write a document and return its path."""
    path = folder / name
    path.write_text(root if isinstance(root, str) else json.dumps(root, indent=1))
    return path


def opened(path: Path, **options: Any) -> Bridge:
    """Open a document without the cache."""
    return Bridge.open(Config.from_options(str(path), {"mode": "all", "no_cache": True, **options}), with_document=True)


def judged(folder: Path, root: Any, **options: Any) -> Report:
    """Return the report of a document."""
    path = saved(folder, root, "api.yaml" if isinstance(root, str) else "api.json")
    return report_of(opened(path, **options), read=path.read_text)


def minimal(paths: Any, **root: Any) -> dict[str, Any]:
    """Return a document with these paths."""
    return {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths, **root}
