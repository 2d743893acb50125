"""`hints`: what a client is told about a request, by its method, its path and its operationId."""

import pytest

from openapi_mcp.runtime.tool import hints

DESTRUCTIVE = [
    ("/", "DeleteTable"),
    ("/#X-Amz-Target=DynamoDB_20120810.DeleteTable", None),
    ("/?Action=PurgeQueue", None),
    ("/chat.delete", "chat_delete"),
    ("/auth/token/revoke", "token-revoke"),
    ("/auth/token/revoke/{accessor}", None),
    ("/orders/{id}/cancel", "orderAction"),
    ("/v1/{name}:cancel", None),
    ("/cache/flush/all", None),
    ("/users", "bulkDELETEUsers"),
    ("/sessions/{id}/actions/kill", None),
]
OTHERS = [
    ("/pets", "createPet"),
    ("/pets/undelete", "undeletePet"),
    ("/dropdown", "setDropdown"),
    ("/pets/{delete}", None),
    ("/drop/{id}/comments/{other}/likes", "likeComment"),
    ("/presets", "addPreset"),
    ("/", None),
]


@pytest.mark.parametrize(("path", "operation_id"), DESTRUCTIVE)
def test_post_with_a_destructive_word_in_its_name_is_destructive(path: str, operation_id: str | None) -> None:
    expected = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
    assert hints("POST", path, operation_id) == expected


@pytest.mark.parametrize(("path", "operation_id"), OTHERS)
def test_other_post_leaves_destructive_hint_to_its_default(path: str, operation_id: str | None) -> None:
    assert hints("POST", path, operation_id) == {"readOnlyHint": False, "idempotentHint": False, "openWorldHint": True}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "TRACE"])
def test_name_changes_no_hint_of_other_methods(method: str) -> None:
    assert hints(method, "/cache/flush", "flushCache") == hints(method)
