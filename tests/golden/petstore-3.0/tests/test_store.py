"""Call each tool of a module once, and compare its request with the API's document."""

from typing import Any

import pytest

from swagger_petstore_open_api_3_mcp.runtime import Server

from .conftest import MockApi

CALLS: list[tuple[str, dict[str, Any], str, str]] = [
    ("getInventory", {}, "GET", "/store/inventory"),
    ("placeOrder", {}, "POST", "/store/order"),
    ("getOrderById", {"orderId": 1}, "GET", "/store/order/1"),
    ("deleteOrder", {"orderId": 1}, "DELETE", "/store/order/1"),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "arguments", "method", "target"), CALLS, ids=[call[0] for call in CALLS])
async def test_call_sends_request(
    server: Server, mock_api: MockApi, name: str, arguments: dict[str, Any], method: str, target: str
) -> None:
    result = await server.call(name, arguments)
    assert not result.is_error, result.content
    assert [request[:2] for request in mock_api.requests] == [(method, target)]
