"""Search mode: three tools stand for all others, which are called through them as if they were listed."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.budget import tokens
from openapi_mcp.runtime.models import Tool
from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, Session
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.search_answers import topics
from openapi_mcp.runtime.search_tools import NAMES, own_tools, search_catalog
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.upstream import Upstream
from tests.runtime.making import tool
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, TOOLS
from tests.runtime.wire import call

LARGE = [replace(GET_PET, name=f"pet-{number}", tags=(f"tag {number} of many",)) for number in range(2000)]


class Desk:
    """A server in search mode, and the requests that reached the API behind it."""

    def __init__(self, *tools: Tool, pinned: tuple[str, ...] = (), **server: Any) -> None:
        self.requests: list[httpx.Request] = []
        self.server = Server(
            search_catalog(tools or TOOLS, pinned=pinned),
            DESCRIPTION,
            Upstream(transport=httpx.MockTransport(self._respond)),
            options=RequestOptions(base_url="http://api.test"),
            **server,
        )

    def _respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, json=[{"name": "Minka"}] if request.url.path == "/pets" else {"name": "Minka"})

    def ask(self, message: Any, session: Session | None = None, **more: Any) -> Any:
        async def once() -> Any:
            step = self.server.receive(message, session or Session("2025-11-25"))
            return json.loads((await self.server.perform(step, **more)).body or b"null")

        return asyncio.run(once())

    def result(self, name: str, arguments: Mapping[str, Any], /) -> dict[str, Any]:
        result: dict[str, Any] = self.ask(call(1, name, arguments))["result"]
        return result

    def text(self, name: str, /, **arguments: Any) -> str:
        text: str = self.result(name, arguments)["content"][0]["text"]
        return text


def test_only_the_three_and_what_is_pinned_are_listed() -> None:
    listed = Desk(pinned=("listPets",)).ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
    assert [entry["name"] for entry in listed] == [
        *sorted(NAMES, reverse=True)[:1],
        "describe_tool",
        "call_tool",
        "listPets",
    ]


@pytest.mark.parametrize("tools", [TOOLS, LARGE], ids=["few", "many"])
def test_the_whole_list_costs_less_than_1100_tokens(tools: list[Tool]) -> None:
    assert sum(map(tokens, own_tools(tools))) <= 1100


def test_a_search_shows_names_lines_and_schemas() -> None:
    found = Desk().text("search_tools", query="one pet by its number")
    assert "1. getPet: Get a pet. One pet by its number (GET /pets/{petId}) Needs petId." in found
    assert json.dumps(GET_PET.input_schema, separators=(",", ":")) in found
    assert "2. listPets: All pets (GET /pets) Finds `petId` for a tool above." in found


def test_a_search_keeps_to_the_number_asked_for_and_to_its_room() -> None:
    desk = Desk(*(replace(each, description="Pets. " + "words " * 500, path="/pets" * 300) for each in LARGE))
    assert desk.text("search_tools", query="pets", limit=2).count("\n3. ") == 0
    found = desk.text("search_tools", query="pets", limit=50)
    assert len(found.encode()) <= 16_000
    shown = found.count("(GET /pets/pets")
    assert 1 < shown < 50
    assert f"\n{50 - shown} more have no room here" in found


def test_a_schema_too_large_for_the_answer_is_left_to_describe_tool() -> None:
    large = replace(GET_PET, input_schema={**GET_PET.input_schema, "description": "x" * 20_000})
    desk = Desk(large, LIST_PETS)
    assert "describe_tool shows" in desk.text("search_tools", query="pet")
    assert len(desk.text("describe_tool", name="getPet")) > 20_000


def test_a_search_by_the_exact_name_finds_that_tool_first() -> None:
    assert "\n1. sing: A song (GET /song)\n" in Desk().text("search_tools", query="sing")


def test_a_search_for_nothing_known_says_what_there_is() -> None:
    said = Desk().text("search_tools", query="quarks")
    assert "other words" in said
    assert "Topics: pets (2), song (1)" in said


def test_describe_shows_the_entry_of_the_list() -> None:
    [newest] = STATELESS.values()
    assert json.loads(Desk().text("describe_tool", name="getPet")) == newest.tool(GET_PET)


@pytest.mark.parametrize("revision", [*HANDSHAKE])
@pytest.mark.parametrize(("name", "arguments"), [("getPet", {"petId": 1}), ("listPets", {})])
def test_call_tool_answers_as_the_tool_itself(name: str, arguments: dict[str, Any], revision: str) -> None:
    desk, session = Desk(), Session(revision)
    direct = desk.ask(call(1, name, arguments), session)
    through = desk.ask(call(1, "call_tool", {"name": name, "arguments": arguments}), session)
    assert through["result"]["content"] == direct["result"]["content"]
    assert through["result"].get("structuredContent") == direct["result"].get("structuredContent")
    assert [request.url for request in desk.requests] == [desk.requests[0].url] * 2


@pytest.mark.parametrize("arguments", [{}, {"petId": "one"}, {"petId": 1.5}])
def test_wrong_arguments_are_refused_in_the_same_words(arguments: dict[str, Any]) -> None:
    desk = Desk()
    direct = desk.result("getPet", arguments)
    assert direct["isError"] is True
    assert desk.result("call_tool", {"name": "getPet", "arguments": arguments}) == direct
    assert desk.requests == []


def test_arguments_may_come_as_the_text_that_models_send_and_may_be_left_out() -> None:
    desk = Desk()
    assert not desk.result("call_tool", {"name": "getPet", "arguments": '{"petId": "7"}'})["isError"]
    assert not desk.result("call_tool", {"name": "listPets"})["isError"]
    assert [request.url.path for request in desk.requests] == ["/pets/7", "/pets"]


@pytest.mark.parametrize("own", ["describe_tool", "call_tool"])
def test_an_unknown_name_is_answered_with_near_ones(own: str) -> None:
    result = Desk().result(own, {"name": "get_pet"})
    assert result["isError"] is True
    assert result["content"][0]["text"] == "There is no tool 'get_pet'. Did you mean getPet?"
    assert "search_tools" in Desk().text(own, name="?")


def test_call_tool_needs_a_name() -> None:
    result = Desk().result("call_tool", {"arguments": {}})
    assert result["isError"] is True
    assert "name" in result["content"][0]["text"]


def test_calls_are_limited_as_the_tools_they_are() -> None:
    asked: list[tuple[str, str]] = []

    def limiter(caller: str, name: str) -> float | None:
        asked.append((caller, name))
        return 3.0 if name == "sing" else None

    desk = Desk(limiter=limiter)
    refused = desk.ask(call(1, "call_tool", {"name": "sing"}), caller="me")
    assert refused["result"]["content"][0]["text"] == "Too many calls of sing. Try again in 3 seconds."
    desk.ask(call(2, "search_tools", {"query": "pets"}), caller="me")
    desk.ask(call(3, "call_tool", {"name": "listPets"}), caller="me")
    assert asked == [("me", "sing"), ("me", "listPets")]


def test_what_happens_in_a_call_is_told_as_of_the_tool_itself() -> None:
    told: list[Any] = []

    async def notify(message: bytes) -> None:
        told.append(json.loads(message)["params"]["data"])

    session = Session("2025-11-25", log_level="debug")
    Desk().ask(call(1, "call_tool", {"name": "sing"}), session, notify=notify)
    assert [(each["tool"], each.get("url"), each.get("status")) for each in told] == [
        ("sing", "http://api.test/song", None),
        ("sing", None, 200),
    ]


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ([{"readOnlyHint": True}], {"readOnlyHint": True, "openWorldHint": True}),
        (
            [{"readOnlyHint": True}, {"readOnlyHint": False, "destructiveHint": False}],
            {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True},
        ),
        ([{}], {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}),
    ],
)
def test_call_tool_is_as_dangerous_as_the_worst_tool(hints: list[dict[str, bool]], expected: dict[str, bool]) -> None:
    tools = [tool("/x", name=f"x{number}", annotations=each) for number, each in enumerate(hints)]
    assert own_tools(tools)[2].annotations == expected


def test_an_api_with_tools_of_these_names_can_still_call_them() -> None:
    desk = Desk(replace(LIST_PETS, name="search_tools"))
    assert "Minka" in desk.text("call_tool", name="search_tools")
    with pytest.raises(ValueError, match="same name"):
        search_catalog([replace(LIST_PETS, name="search_tools")], pinned=["search_tools"])


def test_topics_are_tags_or_else_where_paths_begin() -> None:
    assert topics([tool("/v1/a/{x}", tags=("red", "blue")), tool("/v1/a"), tool("/a")]) == (
        "\n\nTopics: a (2), red (1), blue (1)"
    )
    assert topics([tool("/{x}")]) == ""
    assert len(topics(LARGE).encode()) < 650
