"""Call each tool of a module once, and compare its request with the API's document."""

from typing import Any

import pytest

from redocly_museum_api_mcp.runtime import Server

from .conftest import MockApi

CALLS: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "createSpecialEvent",
        {"name": "text", "location": "text", "eventDescription": "text", "dates": ["2024-02-29"], "price": 1},
        "POST",
        "/special-events",
    ),
    ("listSpecialEvents", {}, "GET", "/special-events"),
    (
        "getSpecialEvent",
        {"eventId": "3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
        "GET",
        "/special-events/3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    ),
    (
        "updateSpecialEvent",
        {"eventId": "3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
        "PATCH",
        "/special-events/3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    ),
    (
        "deleteSpecialEvent",
        {"eventId": "3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
        "DELETE",
        "/special-events/3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    ),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "arguments", "method", "target"), CALLS, ids=[call[0] for call in CALLS])
async def test_call_sends_request(
    server: Server, mock_api: MockApi, name: str, arguments: dict[str, Any], method: str, target: str
) -> None:
    result = await server.call(name, arguments)
    assert not result.is_error, result.content
    assert [request[:2] for request in mock_api.requests] == [(method, target)]
