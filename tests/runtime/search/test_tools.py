"""Search mode: three tools stand for all others, which they call as if these were listed."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.protocol import HANDSHAKE, STATELESS, Session
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.search.answers import BYTES_PER_HIT, MAX_ANSWER
from openapi_mcp.runtime.search.tools import NAMES, builtin_tools, search_catalog, topics
from openapi_mcp.runtime.server import notifications
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Argument, Tool
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


def test_search_shows_a_line_a_signature_and_a_producer_for_each_hit() -> None:
    answer = SearchModeApi().text("search_tools", query="one pet by its number")
    assert "\n1. getPet: Get a pet. One pet by its number (GET /pets/{petId})\n(petId: int)\n" in answer
    assert "\n   petId: found by listPets()" in answer


def test_ten_hits_have_a_limit_of_size() -> None:
    api = SearchModeApi(*(replace(each, description="Pets. " + "words " * 500) for each in LARGE))
    assert len(api.text("search_tools", query="pets").encode()) <= 10 * BYTES_PER_HIT


@pytest.mark.slow
def test_search_result_is_limited_in_number_and_size() -> None:
    api = SearchModeApi(*(replace(each, description="Pets. " + "words " * 500, path="/pets" * 300) for each in LARGE))
    assert api.text("search_tools", query="pets", limit=2).count("\n3. ") == 0
    answer = api.text("search_tools", query="pets", limit=50)
    assert len(answer.encode()) <= MAX_ANSWER
    shown = answer.count("(GET /pets/pets")
    assert 1 < shown < 50
    assert f"\n{50 - shown} more did not fit" in answer


def wide(name: str, arguments: int) -> Tool:
    schema = {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(arguments)}}
    return replace(GET_PET, name=name, input_schema=schema)


def test_a_large_schema_hides_no_other_and_describe_tool_shows_more() -> None:
    api = SearchModeApi(wide("pet-wide", 300), *(wide(f"pet-{n}", 2) for n in range(9)))
    answer = api.text("search_tools", query="pet")
    assert answer.count("(field_0: str = ..., field_1: str = ...)\n") == 9
    assert "(field_0: str = ...," in answer
    number = re.search(r"\n(\d+)\. pet-wide", answer)
    assert number
    assert answer.endswith(f"Shortened: {number[1]}. describe_tool shows the rest.")
    described = api.text("describe_tool", name="pet-wide")
    assert "field_80: str" in described
    assert re.search(r"Left out: \d+ arguments\. describe_tool with schema=true shows all.$", described)
    whole = json.loads(api.text("describe_tool", name="pet-wide", schema=True))
    assert len(whole["inputSchema"]["properties"]) == 300


def test_pages_of_a_search_continue_its_numbers() -> None:
    api = SearchModeApi(*LARGE[:30])
    first, second = (api.text("search_tools", query="pet", limit=3, page=page) for page in (1, 2))
    names = [re.findall(r"\n\d+\. (pet-\d+)", answer) for answer in (first, second)]
    assert set(names[0]).isdisjoint(names[1])
    assert "\n4. " in second
    assert api.text("search_tools", query="pet", page=99) == "There is no page 99 of this search."


def test_an_empty_query_lists_the_topics() -> None:
    answer = SearchModeApi().text("search_tools")
    assert answer == (
        "2 topics. search_tools with a `topic` lists its tools.\n- pets (2): All pets; Get a pet\n- song (1): A song"
    )
    pages = [SearchModeApi(*LARGE).text("search_tools", query=" ", page=page) for page in (1, 2)]
    assert pages[0].startswith(
        "2,000 topics, page 1 of 40. search_tools with a `topic` lists its tools. page=2 shows more."
    )
    assert len(set(pages[0].splitlines()) & set(pages[1].splitlines())) == 0


@pytest.mark.parametrize("topic", ["pets", "Pets", "/pets", "pets/{petId}"])
def test_a_topic_lists_its_tools(topic: str) -> None:
    answer = SearchModeApi().text("search_tools", topic=topic)
    assert "\n- getPet: Get a pet. One pet by its number (GET /pets/{petId})" in answer
    assert "sing" not in answer


def test_a_topic_of_many_tools_has_pages() -> None:
    api = SearchModeApi(*(replace(each, tags=("pets",)) for each in LARGE))
    last = api.text("search_tools", topic="pets", page=80)
    assert last.startswith("2,000 tools of pets, page 80 of 80. describe_tool shows the arguments of one.\n")
    assert last.count("\n- ") == 25


def test_a_search_within_a_topic_finds_its_tools_alone() -> None:
    api = SearchModeApi(*TOOLS, replace(GET_PET, name="getPetLover", path="/lovers/{petId}", tags=("people",)))
    assert "getPetLover" in api.text("search_tools", query="get a pet")
    within = api.text("search_tools", query="get a pet", topic="pets")
    assert "1. getPet:" in within
    assert "getPetLover:" not in within
    assert api.text("search_tools", query="get", topic="petz") == (
        "There is no topic 'petz', and no path begins with it; did you mean pets?"
    )


def test_explain_shows_matched_words_neighbours_and_intent() -> None:
    answer = SearchModeApi().text("search_tools", query="delete the pet", explain=True)
    assert "\n   why: pet in name, path, title" in answer
    assert "reads, but the request asks to delete" in answer
    near = SearchModeApi(
        replace(GET_PET, name="getLocation", path="/locations/{petId}", title="A location", description="")
    )
    assert re.search(
        r"why: .*room ~ [lL]ocations? 0\.\d\d", near.text("search_tools", query="room of a pet", explain=True)
    )
    assert "why:" not in SearchModeApi().text("search_tools", query="delete the pet")


def test_search_for_an_exact_name_finds_that_tool_first() -> None:
    assert "\n1. sing: A song (GET /song)\n" in SearchModeApi().text("search_tools", query="sing")


def test_search_without_hits_lists_the_topics() -> None:
    answer = SearchModeApi().text("search_tools", query="quarks")
    assert "other words" in answer
    assert "Topics: pets (2), song (1)" in answer


def test_describe_tool_shows_texts_and_signature() -> None:
    assert SearchModeApi().text("describe_tool", name="getPet") == (
        "Get a pet (GET /pets/{petId})\n\nOne pet by its number.\n\n"
        "getPet(petId: int) -> Result\nclass Result: name: str"
    )


def test_describe_tool_shows_the_entry_of_tools_list() -> None:
    [newest] = STATELESS.values()
    assert json.loads(SearchModeApi().text("describe_tool", name="getPet", schema=True)) == newest.tool(GET_PET)


@pytest.mark.parametrize("revision", [*HANDSHAKE])
@pytest.mark.parametrize(("name", "arguments"), [("getPet", {"petId": 1}), ("listPets", {})])
def test_call_tool_has_the_result_of_the_tool(name: str, arguments: dict[str, Any], revision: str) -> None:
    api, session = SearchModeApi(), Session(revision)
    direct = api.send(call(1, name, arguments), session)
    by_call_tool = api.send(call(1, "call_tool", {"name": name, "arguments": arguments}), session)
    assert by_call_tool["result"]["content"] == direct["result"]["content"]
    assert by_call_tool["result"].get("structuredContent") == direct["result"].get("structuredContent")
    assert [request.url for request in api.requests] == [api.requests[0].url] * 2


def test_call_tool_takes_flat_arguments() -> None:
    api = SearchModeApi()
    assert not api.result("call_tool", {"name": "getPet", "petId": "7"})["isError"]
    assert not api.result("call_tool", {"name": "getPet", "petId": 8, "arguments": {}})["isError"]
    assert not api.result("call_tool", {"name": "getPet", "petId": 9, "arguments": {"petId": 9}})["isError"]
    assert [request.url.path for request in api.requests] == ["/pets/7", "/pets/8", "/pets/9"]


def test_call_tool_refuses_arguments_that_are_given_twice() -> None:
    result = SearchModeApi().result("call_tool", {"name": "getPet", "petId": 1, "arguments": {"petId": 2}})
    assert result["isError"] is True
    assert result["content"][0]["text"] == "`petId`: given twice, in `arguments` and beside it, with other values."


@pytest.mark.parametrize("own", ["nam", "names", "argument", "Name"])
def test_flat_arguments_may_resemble_those_of_call_tool(own: str) -> None:
    schema = {"type": "object", "properties": {own: {"type": "string"}}, "required": [own]}
    argument = Argument(name=own, location="query", wire_name=own)
    api = SearchModeApi(replace(LIST_PETS, input_schema=schema, arguments=(argument,)))
    assert not api.result("call_tool", {"name": "listPets", own: "x"})["isError"]
    assert dict(api.requests[0].url.params) == {own: "x"}


def test_arguments_with_the_names_of_those_of_call_tool_go_into_arguments() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    argument = Argument(name="name", location="query", wire_name="name")
    api = SearchModeApi(replace(LIST_PETS, input_schema=schema, arguments=(argument,)))
    assert not api.result("call_tool", {"name": "listPets", "arguments": {"name": "Minka"}})["isError"]
    assert dict(api.requests[0].url.params) == {"name": "Minka"}


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
    assert result["content"][0]["text"] == "There is no tool 'get_pet'; did you mean getPet?"
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
