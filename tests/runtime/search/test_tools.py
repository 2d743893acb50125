"""Search mode: three tools stand for all others, which they call as if these were listed."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.search.tools import NAMES, builtin_tools, search_catalog, topics
from openapi_mcp.runtime.server import notifications
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.token_budget import tokens
from tests.runtime.making import tool
from tests.runtime.pets import DESCRIPTION, GET_PET, LIST_PETS, TOOLS
from tests.runtime.wire import call

LARGE = [replace(GET_PET, name=f"pet-{number}", tags=(f"tag {number} of many",)) for number in range(2000)]


class SearchModeApi:
    """A server in search mode, with the requests that reached the API."""

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

    def send(self, message: Any, session: Session | None = None, **more: Any) -> Any:
        async def once() -> Any:
            step = self.server.receive(message, session or Session("2025-11-25"))
            return json.loads((await self.server.perform(step, **more)).body or b"null")

        return asyncio.run(once())

    def result(self, name: str, arguments: Mapping[str, Any], /) -> dict[str, Any]:
        result: dict[str, Any] = self.send(call(1, name, arguments))["result"]
        return result

    def text(self, name: str, /, **arguments: Any) -> str:
        text: str = self.result(name, arguments)["content"][0]["text"]
        return text


def test_only_builtin_and_pinned_tools_are_listed() -> None:
    listed = SearchModeApi(pinned=("listPets",)).send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"][
        "tools"
    ]
    assert [entry["name"] for entry in listed] == [
        *sorted(NAMES, reverse=True)[:1],
        "describe_tool",
        "call_tool",
        "listPets",
    ]


@pytest.mark.parametrize("tools", [TOOLS, LARGE], ids=["few", "many"])
def test_builtin_tools_cost_at_most_1100_tokens(tools: list[Tool]) -> None:
    assert sum(map(tokens, builtin_tools(tools))) <= 1100


def test_search_shows_a_line_and_a_schema_for_each_hit() -> None:
    answer = SearchModeApi().text("search_tools", query="one pet by its number")
    assert "1. getPet: Get a pet. One pet by its number (GET /pets/{petId}) Needs petId." in answer
    assert json.dumps(GET_PET.input_schema, separators=(",", ":")) in answer
    assert "\n   petId: found by listPets (GET /pets)\n" in answer


def test_search_result_is_limited_in_number_and_size() -> None:
    api = SearchModeApi(*(replace(each, description="Pets. " + "words " * 500, path="/pets" * 300) for each in LARGE))
    assert api.text("search_tools", query="pets", limit=2).count("\n3. ") == 0
    answer = api.text("search_tools", query="pets", limit=50)
    assert len(answer.encode()) <= 16_000
    shown = answer.count("(GET /pets/pets")
    assert 1 < shown < 50
    assert f"\n{50 - shown} more did not fit" in answer


def test_schema_too_large_for_a_search_result_is_shown_by_describe_tool() -> None:
    large = replace(GET_PET, input_schema={**GET_PET.input_schema, "description": "x" * 20_000})
    api = SearchModeApi(large, LIST_PETS)
    assert "describe_tool shows" in api.text("search_tools", query="pet")
    assert len(api.text("describe_tool", name="getPet")) > 20_000


def test_search_for_an_exact_name_finds_that_tool_first() -> None:
    assert "\n1. sing: A song (GET /song)\n" in SearchModeApi().text("search_tools", query="sing")


def test_search_without_hits_lists_the_topics() -> None:
    answer = SearchModeApi().text("search_tools", query="quarks")
    assert "other words" in answer
    assert "Topics: pets (2), song (1)" in answer


def test_describe_tool_shows_the_entry_of_tools_list() -> None:
    [newest] = STATELESS.values()
    assert json.loads(SearchModeApi().text("describe_tool", name="getPet")) == newest.tool(GET_PET)


@pytest.mark.parametrize("revision", [*HANDSHAKE])
@pytest.mark.parametrize(("name", "arguments"), [("getPet", {"petId": 1}), ("listPets", {})])
def test_call_tool_has_the_result_of_the_tool(name: str, arguments: dict[str, Any], revision: str) -> None:
    api, session = SearchModeApi(), Session(revision)
    direct = api.send(call(1, name, arguments), session)
    by_call_tool = api.send(call(1, "call_tool", {"name": name, "arguments": arguments}), session)
    assert by_call_tool["result"]["content"] == direct["result"]["content"]
    assert by_call_tool["result"].get("structuredContent") == direct["result"].get("structuredContent")
    assert [request.url for request in api.requests] == [api.requests[0].url] * 2


@pytest.mark.parametrize("arguments", [{}, {"petId": "one"}, {"petId": 1.5}])
def test_call_tool_refuses_invalid_arguments_like_the_tool(arguments: dict[str, Any]) -> None:
    api = SearchModeApi()
    direct = api.result("getPet", arguments)
    assert direct["isError"] is True
    assert api.result("call_tool", {"name": "getPet", "arguments": arguments}) == direct
    assert api.requests == []


def test_arguments_may_be_json_text_or_omitted() -> None:
    api = SearchModeApi()
    assert not api.result("call_tool", {"name": "getPet", "arguments": '{"petId": "7"}'})["isError"]
    assert not api.result("call_tool", {"name": "listPets"})["isError"]
    assert [request.url.path for request in api.requests] == ["/pets/7", "/pets"]


@pytest.mark.parametrize("own", ["describe_tool", "call_tool"])
def test_unknown_name_is_answered_with_similar_names(own: str) -> None:
    result = SearchModeApi().result(own, {"name": "get_pet"})
    assert result["isError"] is True
    assert result["content"][0]["text"] == "There is no tool 'get_pet'. Did you mean getPet?"
    assert "search_tools" in SearchModeApi().text(own, name="?")


def test_call_tool_without_a_name_is_refused() -> None:
    result = SearchModeApi().result("call_tool", {"arguments": {}})
    assert result["isError"] is True
    assert "name" in result["content"][0]["text"]


def test_rate_limit_counts_the_called_tool() -> None:
    calls: list[tuple[str, str]] = []

    def limiter(caller: str, name: str) -> float | None:
        calls.append((caller, name))
        return 3.0 if name == "sing" else None

    api = SearchModeApi(limiter=limiter)
    limited = api.send(call(1, "call_tool", {"name": "sing"}), caller="me")
    assert limited["result"]["content"][0]["text"] == "Too many calls of sing. Try again in 3 seconds."
    api.send(call(2, "search_tools", {"query": "pets"}), caller="me")
    api.send(call(3, "call_tool", {"name": "listPets"}), caller="me")
    assert calls == [("me", "sing"), ("me", "listPets")]


def test_log_messages_name_the_called_tool() -> None:
    events: list[Any] = []

    async def notify(message: bytes) -> None:
        events.append(json.loads(message)["params"]["data"])

    session = Session("2025-11-25", log_level="debug")
    SearchModeApi().send(call(1, "call_tool", {"name": "sing"}), session, notify=notify)
    assert [(each["tool"], each.get("url"), each.get("status")) for each in events] == [
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
def test_call_tool_has_the_annotations_of_the_most_dangerous_tool(
    hints: list[dict[str, bool]], expected: dict[str, bool]
) -> None:
    tools = [tool("/x", name=f"x{number}", annotations=each) for number, each in enumerate(hints)]
    assert builtin_tools(tools)[2].annotations == expected


def test_tools_with_the_names_of_builtin_ones_can_be_called() -> None:
    api = SearchModeApi(replace(LIST_PETS, name="search_tools"))
    assert "Minka" in api.text("call_tool", name="search_tools")
    with pytest.raises(ValueError, match="same name"):
        search_catalog([replace(LIST_PETS, name="search_tools")], pinned=["search_tools"])


def test_topics_are_tags_or_first_path_segments() -> None:
    assert topics([tool("/v1/a/{x}", tags=("red", "blue")), tool("/v1/a"), tool("/a")]) == (
        "\n\nTopics: a (2), red (1), blue (1)"
    )
    assert topics([tool("/{x}")]) == ""
    assert len(topics(LARGE).encode()) < 650


def test_call_tool_reports_progress_while_the_api_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "PROGRESS_INTERVAL", 0.1)
    monkeypatch.setattr(notifications, "_TIMER_TOLERANCE", 0.0)
    progress: list[float] = []

    async def respond(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.5)
        return httpx.Response(200, json={})

    async def notify(message: bytes) -> None:
        progress.append(json.loads(message)["params"]["progress"])

    async def once() -> None:
        server = Server(
            search_catalog(TOOLS),
            DESCRIPTION,
            Upstream(transport=httpx.MockTransport(respond)),
            options=RequestOptions(base_url="http://api.test"),
        )
        step = server.receive(call(1, "call_tool", {"name": "sing"}, progressToken="t"), Session("2025-11-25"))
        reply = await server.perform(step, notify)
        assert not json.loads(reply.body or b"")["result"].get("isError")

    asyncio.run(once())
    assert len(progress) >= 3
    assert progress == sorted(set(progress))
