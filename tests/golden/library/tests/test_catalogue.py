"""Call each tool of a module once, and compare its request with the API's document."""

from typing import Any

import pytest

from town_library_mcp.runtime import Server

from .conftest import MockApi

CALLS: list[tuple[str, dict[str, Any], str, str]] = [
    ("books_list", {}, "GET", "/books"),
    ("books_search", {"words": "text"}, "QUERY", "/books"),
    ("books_get", {"isbn": "0000000000000"}, "GET", "/books/0000000000000"),
    ("books_put", {"isbn": "0000000000000", "isbn_body": "text", "title": "text"}, "PUT", "/books/0000000000000"),
    ("books_link", {"isbn": "0000000000000", "Link": "text"}, "LINK", "/books/0000000000000"),
    ("reports", {"selection": {"from": "2024-02-29"}}, "GET", "/reports?from=2024-02-29"),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "arguments", "method", "target"), CALLS, ids=[call[0] for call in CALLS])
async def test_call_sends_request(
    server: Server, mock_api: MockApi, name: str, arguments: dict[str, Any], method: str, target: str
) -> None:
    result = await server.call(name, arguments)
    assert not result.is_error, result.content
    assert [request[:2] for request in mock_api.requests] == [(method, target)]
