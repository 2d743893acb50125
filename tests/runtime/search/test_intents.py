"""Intents of requests and tools: verbs, questions, and POSTs that do not create."""

import pytest

from openapi_mcp.runtime.search.intents import request_intents, tool_intents
from openapi_mcp.runtime.search.vocabulary import words
from tests.compiling import compiled


@pytest.mark.parametrize(
    ("request_text", "kinds", "is_certain"),
    [
        ("issues assigned to me", {"read"}, False),
        ("who follows Ada?", {"read"}, True),
        ("please could you delete the board", {"delete"}, True),
        ("I want to invite Bob", {"create"}, True),
        ("rename the card and remove its label", {"change", "delete"}, True),
        ("", {"read"}, False),
        ("set the limit to 5", {"create", "change"}, True),
    ],
)
def test_request_has_the_intents_of_the_verbs_that_begin_its_clauses(
    request_text: str, kinds: set[str], is_certain: bool
) -> None:
    intents = request_intents(request_text)
    assert (set(intents.kinds), intents.is_certain) == (kinds, is_certain)


@pytest.mark.parametrize(
    ("method", "path", "kinds"),
    [
        ("get", "/cards", {"read"}),
        ("delete", "/cards/{id}", {"delete"}),
        ("put", "/cards/{id}", {"change", "create"}),
        ("post", "/cards", {"create"}),
        ("post", "/cards/filter", {"read"}),
        ("post", "/cards.list", {"read"}),
        ("post", "/cards/{id}", {"change", "create"}),
        ("post", "/cards/{id}/archive", {"change"}),
        ("post", "/users.remove", {"delete"}),
    ],
)
def test_tool_has_the_intents_of_its_method_or_of_the_words_of_its_path(
    method: str, path: str, kinds: set[str]
) -> None:
    parameters = [{"name": "id", "in": "path", "required": True, "schema": {}}] if "{" in path else []
    [tool] = compiled({path: {method: {"parameters": parameters, "responses": {}}}}).tools
    assert tool_intents(tool) == kinds


def test_words_of_mixed_scripts_are_separate() -> None:
    assert list(words("GitHubの課題")) == ["Git", "Hub", "の課題"]
