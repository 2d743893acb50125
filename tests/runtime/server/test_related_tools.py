"""`related_tools` and `error_hints`: a 404 names the argument and its finder, 409/412/428 the rule of entity tags."""

import asyncio
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.related_tools import RelatedByPath
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Argument, MediaType, RequestBody, Tool
from openapi_mcp.runtime.types import Implementation
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.runtime.upstream.retries import Retries
from tests.runtime.making import tool

DESCRIPTION = ServerDescription(implementation=Implementation(name="s", version="1"))


def operation(name: str, method: str, path: str, *others: Argument, **more: Any) -> Tool:
    variables = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    in_path = [Argument(name=each, wire_name=each, location="path", required=True) for each in variables]
    return tool(path, *in_path, *others, method=method, name=name, **more)


IF_MATCH = Argument(name="if_match", wire_name="If-Match", location="header")
TOOLS = [
    operation("listPets", "GET", "/pets"),
    operation("addPet", "POST", "/pets"),
    operation("getPet", "GET", "/pets/{petId}", response_headers=("etag",)),
    operation("replacePet", "PUT", "/pets/{petId}", IF_MATCH),
    operation("patchPet", "PATCH", "/pets/{petId}"),
    operation("feedPet", "POST", "/pets/{petId}/feed"),
    operation("listPhotos", "GET", "/pets/{petId}/photos"),
    operation("getPhoto", "GET", "/pets/{petId}/photos/{photoId}"),
    operation("findOrders", "POST", "/orders/search"),
    operation("getOrder", "GET", "/orders/{orderId}"),
    operation("getCredits", "GET", "/credits/{pet_id}"),
    operation("getMood", "GET", "/moods/{mood}"),
    operation("status", "GET", "/status"),
    operation(
        "upload",
        "POST",
        "/files",
        Argument(name="content_type", location="media_type"),
        Argument(name="body", location="body"),
        body=RequestBody(media_types=(MediaType(content_type="text/plain"),)),
    ),
    operation("versioned", "POST", "/docs/{docId}", Argument(name="version", wire_name="version", location="query")),
]
BY_NAME = {each.name: each for each in TOOLS}


def hints(name: str, response: httpx.Response, **arguments: Any) -> list[str]:
    """Return the text blocks after the first one of a call that the API answers so."""
    upstream = Upstream(transport=httpx.MockTransport(lambda _: response), retries=Retries(attempts=1))
    server = Server(Catalog(TOOLS), DESCRIPTION, upstream, options=RequestOptions())
    result = asyncio.run(server.call(name, arguments))
    assert result.is_error
    return [block["text"] for block in result.content[1:]]


@pytest.mark.parametrize(
    ("name", "argument", "finder"),
    [
        ("getPet", "petId", "listPets"),
        ("feedPet", "petId", "listPets"),
        ("getPhoto", "photoId", "listPhotos"),
        ("getPhoto", "petId", "listPets"),
        ("getOrder", "orderId", "findOrders"),
        ("getCredits", "pet_id", "listPets"),
        ("getMood", "mood", None),
        ("listPets", "petId", None),
    ],
)
def test_finder(name: str, argument: str, finder: str | None) -> None:
    found = RelatedByPath(lambda: TOOLS).finder(BY_NAME[name], Argument(name=argument, location="path"))
    assert (found.name if found else None) == finder


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("replacePet", "getPet"),
        ("feedPet", "getPet"),
        ("addPet", "listPets"),
        ("getPhoto", "listPhotos"),
        ("getPet", "listPets"),
        ("versioned", None),
        ("upload", None),
    ],
)
def test_reader(name: str, reader: str | None) -> None:
    found = RelatedByPath(lambda: TOOLS).reader(BY_NAME[name])
    assert (found.name if found else None) == reader


def test_404_names_the_argument_its_value_and_a_finder() -> None:
    (hint,) = hints("getPet", httpx.Response(404, json={"message": "no pet 7"}), petId=7)
    assert hint == (
        "The call was for `petId` 7: it may not exist, or not for these credentials. "
        "`listPets` may find a valid `petId`."
    )
    (hint,) = hints("getPhoto", httpx.Response(404, json={"message": "no photo"}), petId=7, photoId="x" * 500)
    assert hint.startswith('The call was for `petId` 7 and `photoId` "xxx')
    assert hint.endswith("`listPhotos` may find a valid `photoId`. `listPets` may find a valid `petId`.")
    assert len(hint) < 400


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(404),
        httpx.Response(404, json={"detail": "Not Found"}),
        httpx.Response(404, text="404 page not found\n"),
        httpx.Response(404, text="Cannot GET /pets/7"),
    ],
)
def test_404_of_a_path_may_be_the_base_url(response: httpx.Response) -> None:
    (hint,) = hints("getPet", response, petId=7)
    assert "`listPets` may find" in hint
    assert hint.endswith("the server's `--base-url` may be wrong.")


def test_404_without_path_arguments() -> None:
    (hint,) = hints("status", httpx.Response(404))
    assert hint.startswith("No argument is in the path /status")


@pytest.mark.parametrize(
    ("name", "status", "arguments", "parts"),
    [
        (
            "replacePet",
            412,
            {"if_match": '"1"'},
            ["`if_match` is not that", "with `getPet`, whose answer has an `ETag`"],
        ),
        ("replacePet", 428, {}, ["`if_match` is needed", "`getPet`", "send the `ETag` of its answer as `if_match`"]),
        ("replacePet", 409, {}, ["conflicts with the current state", "`getPet`", "as `if_match`"]),
        ("patchPet", 412, {}, ["`If-Match`", "no argument for it", "added to the document"]),
        ("patchPet", 428, {}, ["The API asks for a conditional request", "no argument for it"]),
        ("patchPet", 409, {}, ["may exist already", "read the current state with `getPet`"]),
        ("versioned", 409, {}, ["read the current state, and send its current one as `version`"]),
        ("patchPet", 410, {}, ["removed for good", "`listPets` may find"]),
        ("addPet", 413, {}, ["larger than the API takes"]),
        ("listPets", 414, {}, ["longer than the API takes"]),
        ("listPets", 429, {}, ["wait before the next call"]),
        ("listPets", 406, {}, ["does not answer in the media types"]),
    ],
)
def test_status_with_a_rule_has_a_hint(name: str, status: int, arguments: dict[str, Any], parts: list[str]) -> None:
    in_path = {each.name: 7 for each in BY_NAME[name].arguments if each.location == "path"}
    (hint,) = hints(name, httpx.Response(status, json={"error": "x"}), **in_path, **arguments)
    for part in parts:
        assert part in hint


def test_405_and_415_say_what_the_api_accepts() -> None:
    (hint, *_) = hints("patchPet", httpx.Response(405, headers={"allow": "GET, PUT"}), petId=7)
    assert "The API has no PATCH for this path. It allows GET, PUT here." in hint
    response = httpx.Response(415, headers={"accept-post": "application/json"})
    (hint,) = hints("upload", response, body="x")
    assert hint == (
        "The body was sent as text/plain. The API accepts application/json. "
        "Choose another media type with `content_type`."
    )


def test_tools_of_a_search_are_found_too() -> None:
    upstream = Upstream(transport=httpx.MockTransport(lambda _: httpx.Response(404, json={"error": "none"})))
    server = Server(Catalog(TOOLS[:1], hidden=TOOLS), DESCRIPTION, upstream, options=RequestOptions())
    result = asyncio.run(server.call("getPhoto", {"petId": 1, "photoId": 2}))
    assert "`listPhotos` may find" in result.content[1]["text"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("get_pet", "There is no tool of that name; did you mean `getPet`?"),
        ("PetList", "There is no tool of that name; did you mean `listPets`?"),
        ("zzz", "There is no tool of that name."),
        ("x" * 100_000, "There is no tool of that name."),
    ],
)
def test_unknown_tool_names_the_nearest(name: str, sentence: str) -> None:
    assert Catalog(TOOLS).unknown(name) == sentence
