"""Functions behind tools: what they get, what they may do, and what becomes of what they return."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.declarations import Toolbox, body, path, query
from openapi_mcp.runtime.errors import ArgumentError, UpstreamError
from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.functions import Api, ToolFunction, parameter_names, snake
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.toolkit import Catalog, Result, Upstream
from openapi_mcp.runtime.types import MISSING, CallToolResult, Implementation, text_content

tools = Toolbox(base_url="http://127.0.0.1:9")
INTEGER = {"type": "integer"}
PET = {"type": "object", "properties": {"id": INTEGER}}


@tools.get("/pets", inputs=[query("limit", INTEGER | {"default": 20}), query("q", {"type": "string"})])
async def list_pets(api: Api, *, limit: int = 20, q: str | None = None) -> Result[Any]:
    """List pets."""
    return await api.call(list_pets, limit=limit, q=q)


@tools.get("/pets/{petId}", name="getPet", inputs=[path("petId", INTEGER)], output_schema=PET)
async def get_pet(api: Api, *, pet_id: int) -> dict[str, Any]:
    """Get a pet."""
    if pet_id > 100:
        raise ArgumentError("There are a hundred pets.")
    response = await api.send(get_pet, pet_id=pet_id)
    return {"id": response.json()["id"], "more": "than the schema says"}


@tools.post("/pets", inputs=[body("price", {"type": ["number", "null"]}), body("class", {})], open_body=True)
async def create_pet(
    api: Api, *, price: float | None = None, class_: Any = None, others: dict[str, Any] | None = None
) -> Result[Any]:
    """Create a pet."""
    return await api.call(create_pet, price=price, class_=class_, others=others)


@tools.get("/all")
async def both(api: Api) -> str:
    """Two requests."""
    few = await api.call(list_pets, limit=5)
    one = await get_pet(api, pet_id=7)
    return f"{len(few.content)} {one['id']}"


@tools.get("/broken")
async def broken(api: Api) -> str:
    """A bug."""
    raise ZeroDivisionError(api)


@tools.get("/slow")
async def slow(api: Api) -> str:
    """Make more requests than there is time for."""
    for _ in range(1000):
        await api.call(list_pets, limit=5)
    return "done"


@tools.get("/idle")
async def idle(api: Api) -> str:
    """Wait for nothing."""
    await asyncio.Event().wait()
    return str(api)


FUNCTIONS: list[ToolFunction[..., Any]] = [list_pets, get_pet, create_pet, both, broken, slow, idle]


def call(
    name: str, arguments: Mapping[str, Any], *, seconds: float = 0, delay: float = 0
) -> tuple[CallToolResult, list[httpx.Request]]:
    """Call a tool of a server whose API answers `{"id": 7}` to everything, after a delay."""
    requests: list[httpx.Request] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        await asyncio.sleep(delay)
        return httpx.Response(200, json={"id": 7})

    async def once() -> CallToolResult:
        server = Server(
            Catalog(function.tool for function in FUNCTIONS),
            ServerDescription(implementation=Implementation("test", "1")),
            Upstream(transport=httpx.MockTransport(answer), total_timeout=seconds),
            options=RequestOptions(),
            functions={function.tool.name: function for function in FUNCTIONS},
        )
        try:
            return await server.call(name, arguments)
        finally:
            await server.aclose()

    return asyncio.run(once()), requests


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ({}, "/pets"),
        ({"limit": 20}, "/pets?limit=20"),
        ({"limit": 3, "q": "a"}, "/pets?limit=3&q=a"),
        ({"limit": "3"}, "/pets?limit=3"),
    ],
)
def test_omitted_arguments_are_not_sent(arguments: dict[str, Any], target: str) -> None:
    _, [request] = call("list_pets", arguments)
    assert request.url.raw_path.decode() == target


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ({}, None),
        ({"price": None}, {"price": None}),
        ({"class": "dog", "age": 3}, {"class": "dog", "age": 3}),
        ({"price": 1.5, "price_2": 1}, {"price": 1.5, "price_2": 1}),
    ],
)
def test_null_and_undeclared_arguments_are_passed(arguments: dict[str, Any], sent: Any) -> None:
    _, [request] = call("create_pet", arguments)
    content = httpx.Response(200, content=request.read())
    assert (content.json() if content.content else None) in (sent, sent or {})


def test_function_may_change_the_result() -> None:
    result, _ = call("getPet", {"petId": 7})
    assert result.structured_content == {"id": 7, "more": "than the schema says"}
    assert result.content == ({"type": "text", "text": '{"id":7,"more":"than the schema says"}'},)


def test_function_may_refuse_with_a_reason() -> None:
    result, requests = call("getPet", {"petId": 101})
    assert (result.is_error, result.content[0]["text"], requests) == (True, "There are a hundred pets.", [])


def test_function_may_combine_calls() -> None:
    result, requests = call("both", {})
    assert [request.url.raw_path for request in requests] == [b"/pets?limit=5", b"/pets/7"]
    assert (result.content[0]["text"], result.structured_content) == ("1 7", MISSING)


def test_function_bug_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    result, _ = call("broken", {})
    assert result.is_error
    assert "ZeroDivisionError" in caplog.text
    assert "Zero" not in result.content[0]["text"]


def test_requests_of_a_function_have_the_time_of_one_call_together() -> None:
    result, requests = call("slow", {}, seconds=0.4, delay=0.1)
    assert result.is_error
    assert result.content[0]["text"] == (
        "The function of slow did not finish within 0.4 seconds (`--total-timeout`): "
        "in its last call of the API the head of the response had not arrived."
    )
    assert 0 < len(requests) < 10


def test_function_that_calls_nothing_has_the_time_of_a_call() -> None:
    result, _ = call("idle", {}, seconds=0.1)
    assert (result.is_error, result.content[0]["text"]) == (
        True,
        "The function of idle did not finish within 0.1 seconds (`--total-timeout`).",
    )


def test_arguments_of_a_combined_call_are_checked() -> None:
    @tools.get("/wrong", name="both")
    async def wrong(api: Api) -> Result[Any]:
        """A wrong argument."""
        return await api.call(list_pets, limit="many")  # type: ignore[arg-type]

    FUNCTIONS[3] = wrong
    try:
        result, requests = call("both", {})
    finally:
        FUNCTIONS[3] = both
    assert result.is_error
    assert "limit" in result.content[0]["text"]
    assert requests == []


def test_argument_names_become_python_names() -> None:
    names = ["petId", "from", "X-Rate", "api", "pet_id", "2fa", "日本", "filter.name", "HTTPCode", "l", "others"]
    assert list(parameter_names(names).values()) == [
        *(
            "pet_id",
            "from_",
            "x_rate",
            "api_",
            "pet_id_2",
            "n2fa",
            "argument",
            "filter_name",
            "http_code",
            "l_",
            "others_",
        )
    ]
    assert snake("getHTTPResponse") == "get_http_response"


def test_json_of_a_result_is_its_structured_content_where_that_fits_the_output_schema() -> None:
    result = Result[Any](content=(text_content("{}"),), structured_content={"id": 7}, output_schema=PET)
    assert result.json() == {"id": 7}
    assert Result[Any](content=(), structured_content=[1]).json() == [1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"structured_content": {"id": "seven"}}, "another type than its document says"),
        ({"structured_content": [1]}, "another type than its document says"),
        ({"content": (text_content("text"),)}, "The answer of the API is not JSON"),
        ({"content": (text_content("404 No such pet."),), "is_error": True, "structured_content": {}}, "No such pet"),
    ],
)
def test_json_of_a_failed_call_or_of_another_type_is_an_error(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UpstreamError, match=message):
        Result[Any](**{"content": (), "output_schema": PET} | fields).json()


def test_server_sends_the_result_of_a_function_as_a_plain_one() -> None:
    result, _ = call("list_pets", {})
    assert type(result) is CallToolResult
    assert result.structured_content == {"id": 7}
