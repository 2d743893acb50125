"""The REST API behind `specs/conformance.yaml`: plain HTTP, which knows nothing of MCP.

Each answer is the smallest that its media type allows, but for the ones that have to take their time.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

PICTURE: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
SOUND: Final = b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\2\0\0\0\0\0"
PAPER: Final = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)
BOUNDARY: Final = "-=the-next-part=-"

REFUSALS: Final = 2
"""Answers of 503 before one of 200."""

BETWEEN: Final = 0.02
"""Seconds between the steps of a task: long enough for each to be a piece of its own on the wire."""

EXTRA: Final = "/extra"
"""The path that a change adds to the document, or removes."""


def create_app(document: Path) -> Starlette:
    """The API. `document` is the copy of the OpenAPI document that `POST /changes` writes to."""
    refused = 0

    async def busy(_: Request) -> Response:
        nonlocal refused
        refused = (refused + 1) % (REFUSALS + 1)
        if refused:
            return Response(status_code=503, headers={"retry-after": "0"})
        return done("got through")

    async def changes(_: Request) -> Response:
        change(document)
        return done("changed")

    return Starlette(
        routes=[
            Route("/text", always(PlainTextResponse("This is a simple text response for testing."))),
            Route("/picture", always(Response(PICTURE, media_type="image/png"))),
            Route("/sound", always(Response(SOUND, media_type="audio/wav"))),
            Route("/paper", always(Response(PAPER, media_type="application/pdf"))),
            Route("/mixture", always(Response(mixture(), media_type=f'multipart/mixed; boundary="{BOUNDARY}"'))),
            Route("/failure", always(failure())),
            Route("/steps", steps),
            Route("/busy", busy),
            Route("/answer", always(done("answered"))),
            Route("/stream", stream),
            Route("/tenants/{tenant}/orders", always(JSONResponse(["a kettle", "two cups"]))),
            Route("/people", always(done("added")), methods=["POST"]),
            Route("/changes", changes, methods=["POST"]),
            Route(EXTRA, always(done("something extra"))),
        ]
    )


def always(response: Response) -> Callable[[Request], Awaitable[Response]]:
    """A handler that has one answer for all."""

    async def handler(_: Request) -> Response:
        return response

    return handler


def done(what: str) -> JSONResponse:
    return JSONResponse({"done": what})


def failure() -> Response:
    problem = {"title": "Failed", "detail": "This tool intentionally returns an error for testing."}
    return JSONResponse(problem, 500, media_type="application/problem+json")


def mixture() -> bytes:
    """A text, a picture and a document as the parts of one body (RFC 2046 section 5.1)."""
    text = b"Multiple content types test:"
    parts = ((b"text/plain", text), (b"image/png", PICTURE), (b"application/pdf", PAPER))
    delimiter = b"\r\n--" + BOUNDARY.encode()
    return b"".join(delimiter + b"\r\ncontent-type: " + kind + b"\r\n\r\n" + data for kind, data in parts) + (
        delimiter + b"--\r\n"
    )


async def steps(_: Request) -> Response:
    """A task whose every step is an event (HTML, "Server-sent events")."""

    async def events() -> AsyncIterator[str]:
        for number in range(1, 6):
            yield f'data: {{"step": {number}, "of": 5}}\n\n'
            await asyncio.sleep(BETWEEN)

    return StreamingResponse(events(), media_type="text/event-stream")


async def stream(_: Request) -> Response:
    """A line of JSON at a time."""

    async def lines() -> AsyncIterator[str]:
        for number in range(1, 4):
            yield f'{{"entry": {number}}}\n'
            await asyncio.sleep(BETWEEN)

    return StreamingResponse(lines(), media_type="application/x-ndjson")


def change(document: Path) -> None:
    """Add an operation to the document, or remove it; whoever reads it sees the old one or the new one, whole."""
    content: dict[str, Any] = yaml.safe_load(document.read_text("utf-8"))
    if content["paths"].pop(EXTRA, None) is None:
        summary = "Do something extra"
        content["paths"][EXTRA] = {
            "get": {"operationId": "test_extra", "summary": summary, "responses": {"200": {"description": "Done."}}}
        }
    beside = document.with_suffix(".new")
    beside.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
    beside.replace(document)
