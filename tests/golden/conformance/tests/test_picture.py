"""Call each tool of a module once, and compare its request with the API's document."""

from typing import Any

import pytest

from conformance_mcp.runtime import Server

from .conftest import MockApi

CALLS: list[tuple[str, dict[str, Any], str, str]] = [("test_image_content", {}, "GET", "/picture")]


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "arguments", "method", "target"), CALLS, ids=[call[0] for call in CALLS])
async def test_call_sends_request(
    server: Server, mock_api: MockApi, name: str, arguments: dict[str, Any], method: str, target: str
) -> None:
    result = await server.call(name, arguments)
    assert not result.is_error, result.content
    assert [request[:2] for request in mock_api.requests] == [(method, target)]
