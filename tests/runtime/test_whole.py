"""An answer that came at once is an answer of httpx in all that is asked of one."""

import asyncio
import json

import httpx
import pytest

from openapi_mcp.runtime.whole import Whole, content_type

BODY = json.dumps({"name": "Réx"}).encode()
LINES = [(b"Content-Type", b"application/json"), (b"Content-Length", b"%d" % len(BODY)), (b"ETag", b'"7"')]


def whole() -> Whole:
    return Whole(201, LINES, BODY, content_type="application/json", extensions={"reason_phrase": b"Made"})


def test_it_reads_like_any_other() -> None:
    other = httpx.Response(201, headers=LINES, content=BODY, extensions={"reason_phrase": b"Made"})
    here = whole()
    assert (here.status_code, here.reason_phrase, here.headers) == (201, "Made", other.headers)
    assert (here.content, here.text, here.json()) == (other.content, other.text, other.json())
    assert here.read() == asyncio.run(whole().aread()) == BODY
    assert b"".join(whole().iter_bytes()) == BODY


def test_closing_it_takes_nothing_away() -> None:
    here = whole()
    asyncio.run(here.aclose())
    assert here.content == BODY


@pytest.mark.parametrize(
    ("response", "wanted"),
    [
        (whole(), "application/json"),
        (httpx.Response(200, headers={"Content-Type": "text/csv"}), "text/csv"),
        (httpx.Response(200), ""),
    ],
)
def test_the_type_of_any_answer_is_known(response: httpx.Response, wanted: str) -> None:
    assert content_type(response) == wanted
