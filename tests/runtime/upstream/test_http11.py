"""`http11.BufferedResponse`: equal to a response of httpx for its readers."""

import asyncio
import json

import httpx
import pytest

from openapi_mcp.runtime.upstream.http11 import BufferedResponse, content_type

BODY = json.dumps({"name": "Réx"}).encode()
LINES = [(b"Content-Type", b"application/json"), (b"Content-Length", b"%d" % len(BODY)), (b"ETag", b'"7"')]


def buffered_response() -> BufferedResponse:
    return BufferedResponse(201, LINES, BODY, content_type="application/json", extensions={"reason_phrase": b"Made"})


def test_buffered_response_equals_an_httpx_response() -> None:
    other = httpx.Response(201, headers=LINES, content=BODY, extensions={"reason_phrase": b"Made"})
    response_under_test = buffered_response()
    assert (response_under_test.status_code, response_under_test.reason_phrase, response_under_test.headers) == (
        201,
        "Made",
        other.headers,
    )
    assert (response_under_test.content, response_under_test.text, response_under_test.json()) == (
        other.content,
        other.text,
        other.json(),
    )
    assert response_under_test.read() == asyncio.run(buffered_response().aread()) == BODY
    assert b"".join(buffered_response().iter_bytes()) == BODY


def test_buffered_response_keeps_its_body_after_close() -> None:
    response_under_test = buffered_response()
    asyncio.run(response_under_test.aclose())
    assert response_under_test.content == BODY


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (buffered_response(), "application/json"),
        (httpx.Response(200, headers={"Content-Type": "text/csv"}), "text/csv"),
        (httpx.Response(200), ""),
    ],
)
def test_content_type_of_any_response(response: httpx.Response, expected: str) -> None:
    assert content_type(response) == expected
