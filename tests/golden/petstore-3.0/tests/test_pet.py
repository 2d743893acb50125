"""Call each tool of a module once, and compare its request with the API's document."""

from typing import Any

import pytest

from swagger_petstore_open_api_3_mcp.runtime import Server

from .conftest import MockApi

CALLS: list[tuple[str, dict[str, Any], str, str]] = [
    ("updatePet", {"name": "text", "photoUrls": ["text"]}, "PUT", "/pet"),
    ("addPet", {"name": "text", "photoUrls": ["text"]}, "POST", "/pet"),
    ("findPetsByStatus", {}, "GET", "/pet/findByStatus"),
    ("findPetsByTags", {}, "GET", "/pet/findByTags"),
    ("getPetById", {"petId": 1}, "GET", "/pet/1"),
    ("updatePetWithForm", {"petId": 1}, "POST", "/pet/1"),
    ("deletePet", {"petId": 1}, "DELETE", "/pet/1"),
    ("uploadFile", {"petId": 1}, "POST", "/pet/1/uploadImage"),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "arguments", "method", "target"), CALLS, ids=[call[0] for call in CALLS])
async def test_call_sends_request(
    server: Server, mock_api: MockApi, name: str, arguments: dict[str, Any], method: str, target: str
) -> None:
    result = await server.call(name, arguments)
    assert not result.is_error, result.content
    assert [request[:2] for request in mock_api.requests] == [(method, target)]
