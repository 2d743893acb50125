"""`result.links`: answers that are links to files have `resource_link` blocks, and nothing else has."""

from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.protocol.revisions import HANDSHAKE, STATELESS
from openapi_mcp.runtime.result.build import to_result
from openapi_mcp.runtime.result.links import MAX_LINKS
from tests.runtime.making import tool

PDF = "https://files.example/a/report.pdf?sig=1"


def blocks(content: str, content_type: str, status: int = 200, limit: int = 10_000, location: str = "") -> list[Any]:
    response = httpx.Response(
        status,
        headers={"content-type": content_type} | ({"location": location} if location else {}),
        content=content.encode(),
        request=httpx.Request("POST", "https://api.test/v1/exports?key=secret"),
    )
    return list(to_result(tool(), response, max_bytes=limit).content)


def link(uri: str, name: str, mime_type: str | None = None) -> dict[str, Any]:
    return {"type": "resource_link", "uri": uri, "name": name} | ({"mimeType": mime_type} if mime_type else {})


@pytest.mark.parametrize(
    ("content", "content_type"),
    [(PDF, "text/plain"), (f"{PDF}\r\n", "text/plain; charset=utf-8"), (f'"{PDF}"', "application/json")],
)
def test_url_of_a_file_is_a_link_beside_its_text(content: str, content_type: str) -> None:
    text, *others = blocks(content, content_type)
    assert text == {"type": "text", "text": content}
    assert others == [link(PDF, "report.pdf", "application/pdf")]


def test_each_uri_of_a_list_is_a_link() -> None:
    content = "# two\r\nhttps://a.example/x\r\nurn:isbn:1\r\nhttps://a.example/y.png\r\n"
    assert blocks(content, "text/uri-list")[1:] == [
        link("https://a.example/x", "x"),
        link("https://a.example/y.png", "y.png", "image/png"),
    ]
    assert len(blocks("https://a.example/x\r\n" * 1000, "text/uri-list", limit=100_000)) == 1 + MAX_LINKS


@pytest.mark.parametrize("status", [201, 202])
def test_location_of_a_file_is_a_link_if_there_is_no_body(status: int) -> None:
    text, *others = blocks("", "text/plain", status, location="/files/a.zip")
    assert "location: /files/a.zip" in text["text"]
    assert others == [link("https://api.test/files/a.zip", "a.zip", "application/zip")]


@pytest.mark.parametrize(
    ("content", "content_type", "location"),
    [
        ("https://a.example/pets/1", "text/plain", ""),
        ("https://a.example/index.html", "text/plain", ""),
        ("https://user:pw@a.example/x.pdf", "text/plain", ""),
        ("see https://a.example/x.pdf", "text/plain", ""),
        ("ftp://a.example/x.pdf", "text/plain", ""),
        ("https://[/x.pdf", "text/plain", ""),
        ("https://a..b/x.pdf", "text/plain", ""),
        ("https://1.2.3.999/x.pdf", "text/plain", ""),
        ("https://a.example:99999/x.pdf", "text/plain", ""),
        ("https://a.example/{x}.pdf", "text/plain", ""),
        ("https://a.example/ü.pdf", "text/plain", ""),
        ("https://a.example/" + "x" * 3000 + ".pdf", "text/plain", ""),
        ('{"url": "https://a.example/x.pdf"}', "application/json", ""),
        ("", "text/plain", "/pets/1"),
        ("", "text/plain", "http://["),
    ],
)
def test_other_answers_have_no_links(content: str, content_type: str, location: str) -> None:
    assert [block["type"] for block in blocks(content, content_type, location=location)] == ["text"]


def test_link_is_text_in_revisions_without_links() -> None:
    response = httpx.Response(200, text=PDF, request=httpx.Request("GET", "https://api.test/"))
    result = to_result(tool(), response, max_bytes=1000)
    for name, revision in {**HANDSHAKE, **STATELESS}.items():
        kinds = [block["type"] for block in revision.call_result(result, None)["content"]]
        assert kinds == ["text", "text" if name < "2025-06-18" else "resource_link"]
