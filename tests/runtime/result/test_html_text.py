"""HTML becomes its visible text before it is cut; a page in place of JSON is an error."""

import time

import httpx
import pytest

from openapi_mcp.runtime.result.build import to_result
from openapi_mcp.runtime.result.html_text import to_text
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import CallToolResult
from tests.compiling import tool_of
from tests.runtime.making import tool

PAGE = """<!DOCTYPE html>
<html><head><title>Sign in &middot; Shop</title><style>p { color: red }</style>
<script>let x = "<p>no</p>";</script></head>
<body><!-- hidden --><h1>Sign <b>in</b></h1><svg><text>no</text></svg>
<p>Your
   name</p><ul><li>one<li>two</ul><noscript>no</noscript><script src="x"></script></body></html>"""
TEXT = "# Sign in · Shop\n# Sign in\nYour name\none\ntwo"


def answered(
    api_tool: Tool, content_type: str = "text/html", *, limit: int = 10_000, body: str = PAGE
) -> CallToolResult:
    request = httpx.Request("GET", "https://api.test/x")
    response = httpx.Response(200, headers={"content-type": content_type}, content=body, request=request)
    return to_result(api_tool, response, max_bytes=limit)


def documented(*media_types: str) -> Tool:
    content = {name: {"schema": {"type": "object"}} for name in media_types}
    return tool_of({"responses": {"200": {"description": "d", "content": content}}})


def test_page_is_its_title_headings_and_visible_text() -> None:
    assert to_text(PAGE) == TEXT
    assert answered(tool()).content[0]["text"] == TEXT


def test_text_of_a_page_is_made_before_the_cut() -> None:
    body = f"<html><script>{'x' * 50_000}</script><p>seen</p></html>"
    assert answered(tool(), limit=100, body=body).content[0]["text"] == "seen"


@pytest.mark.parametrize(
    "content_type", ["text/html", "text/html; charset=utf-8", "application/json", "", "application/xhtml+xml"]
)
def test_page_in_place_of_json_is_an_error(content_type: str) -> None:
    result = answered(documented("application/json"), content_type)
    assert result.is_error
    assert "This looks like a login or start page: is the base URL right?" in result.content[0]["text"]
    assert result.content[0]["text"].endswith(TEXT)


@pytest.mark.parametrize("media_types", [("text/html",), ("application/json", "text/html"), ()])
def test_documented_page_is_no_error(media_types: tuple[str, ...]) -> None:
    assert not answered(documented(*media_types)).is_error


def test_page_labelled_as_json_is_an_error_whatever_the_document_says() -> None:
    result = answered(documented(), "application/json")
    assert result.is_error
    assert "in place of JSON" in result.content[0]["text"]


def test_json_labelled_as_html_is_json() -> None:
    assert answered(documented("application/json"), body='{"n": 1}').structured_content == {"n": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "<",
        "<" * 100_000,
        "<!--" * 50_000,
        "<a " * 100_000,
        "<p>" * 300_000,
        "<a '" * 100_000,
        "<svg>" * 100_000,
        "&" * 100_000,
        "&#" + "9" * 100_000 + ";",
        "<script" * 100_000,
        "<script>",
    ],
)
def test_malformed_page_is_read_quickly(body: str) -> None:
    start = time.process_time()
    assert to_text(body)
    assert time.process_time() - start < 5


def test_less_than_signs_and_quoted_tags_are_text() -> None:
    assert to_text('<p title="a > b">1 < 2 &lt;b&gt;</p>') == "1 < 2 <b>"
