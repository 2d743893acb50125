"""The REST API of `specs/conformance.yaml`: plain HTTP without any relation to MCP.

Each response is the smallest that its media type allows, except for streams, which take some time.
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
"""Number of responses with status 503 before one with 200."""

STEP_SECONDS: Final = 0.02
"""Time between the steps of a task, so that each is sent as a chunk of its own."""

EXTRA: Final = "/extra"
"""Path that a change adds to the document or removes from it."""


def create_app(document: Path) -> Starlette:
    """Return the API. `POST /changes` writes to `document`, a copy of the OpenAPI document."""
    refused = 0

    async def busy(_: Request) -> Response:
        nonlocal refused
        refused = (refused + 1) % (REFUSALS + 1)
        if refused:
            return Response(status_code=503, headers={"retry-after": "0"})
        return outcome("got through")

    async def changes(_: Request) -> Response:
        change(document)
        return outcome("changed")

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
            Route("/answer", always(outcome("answered"))),
            Route("/stream", stream),
            Route("/tenants/{tenant}/orders", always(JSONResponse(["a kettle", "two cups"]))),
            Route("/people", always(outcome("added")), methods=["POST"]),
            Route("/changes", changes, methods=["POST"]),
            Route(EXTRA, always(outcome("something extra"))),
        ]
    )


def always(response: Response) -> Callable[[Request], Awaitable[Response]]:
    """Return a handler that sends the same response to every request."""

    async def handler(_: Request) -> Response:
        return response

    return handler


def outcome(text: str) -> JSONResponse:
    return JSONResponse({"done": text})


def failure() -> Response:
    problem = {"title": "Failed", "detail": "This tool intentionally returns an error for testing."}
    return JSONResponse(problem, 500, media_type="application/problem+json")


def mixture() -> bytes:
    """Return a body with three parts: a text, an image and a PDF (RFC 2046 section 5.1)."""
    text = b"Multiple content types test:"
    parts = ((b"text/plain", text), (b"image/png", PICTURE), (b"application/pdf", PAPER))
    delimiter = b"\r\n--" + BOUNDARY.encode()
    return b"".join(delimiter + b"\r\ncontent-type: " + kind + b"\r\n\r\n" + data for kind, data in parts) + (
        delimiter + b"--\r\n"
    )


async def steps(_: Request) -> Response:
    """Send one event for each step of a task (HTML, "Server-sent events")."""

    async def events() -> AsyncIterator[str]:
        for number in range(1, 6):
            yield f'data: {{"step": {number}, "of": 5}}\n\n'
            await asyncio.sleep(STEP_SECONDS)

    return StreamingResponse(events(), media_type="text/event-stream")


async def stream(_: Request) -> Response:
    """Send one line of JSON at a time."""

    async def lines() -> AsyncIterator[str]:
        for number in range(1, 4):
            yield f'{{"entry": {number}}}\n'
            await asyncio.sleep(STEP_SECONDS)

    return StreamingResponse(lines(), media_type="application/x-ndjson")


def change(document: Path) -> None:
    """Add an operation to the document, or remove it; a reader sees the old file or the new one, never a part."""
    content: dict[str, Any] = yaml.safe_load(document.read_text("utf-8"))
    if content["paths"].pop(EXTRA, None) is None:
        summary = "Do something extra"
        content["paths"][EXTRA] = {
            "get": {"operationId": "test_extra", "summary": summary, "responses": {"200": {"description": "Done."}}}
        }
    new = document.with_suffix(".new")
    new.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
    new.replace(document)
