"""The extension for skills over the protocol: its declaration, its methods, its errors, in both eras and for tokens."""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from openapi_mcp import Bridge
from openapi_mcp.runtime.protocol import HANDSHAKE, Session
from tests.skills.serving import bridge_of, files, response, result

EXTENSION = "io.modelcontextprotocol/skills"
URI = "skill://pet-store/SKILL.md"
INVALID_PARAMS = -32602

Read = Callable[..., Any]


def document() -> dict[str, Any]:
    def operation(name: str, tag: str, scope: str) -> dict[str, Any]:
        security = [{"login": [scope]}]
        return {"operationId": name, "tags": [tag], "security": security, "responses": {"200": {"description": "Done"}}}

    flow = {"tokenUrl": "https://login.example/token", "scopes": {"pets": "", "orders": ""}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pet Store", "version": "1", "description": "Sell pets."},
        "servers": [{"url": "https://pets.example"}],
        "paths": {
            "/pets": {"get": operation("listPets", "pets", "pets"), "post": operation("addPet", "pets", "pets")},
            "/orders": {"get": operation("listOrders", "orders", "orders")},
        },
        "components": {"securitySchemes": {"login": {"type": "oauth2", "flows": {"clientCredentials": flow}}}},
    }


@pytest.fixture(scope="module")
def bridge(tmp_path_factory: pytest.TempPathFactory) -> Bridge:
    return bridge_of(tmp_path_factory.mktemp("pets"), document())


@pytest.fixture(params=[None, Session(revision="2025-11-25")], ids=["2026-07-28", "2025-11-25"])
def session(request: pytest.FixtureRequest) -> Session | None:
    found: Session | None = request.param
    return found


def test_capabilities_have_the_extension_with_its_settings_inline_and_resources(bridge: Bridge) -> None:
    capabilities = result(bridge, "server/discover")["capabilities"]
    assert capabilities["extensions"][EXTENSION] == {"directoryRead": True}
    assert capabilities["resources"] == {}


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_initialize_has_the_same_capabilities(bridge: Bridge, revision: str) -> None:
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    capabilities = result(bridge, "initialize", session=Session(), **params)["capabilities"]
    assert capabilities["resources"] == {}
    assert capabilities["extensions"] == {EXTENSION: {"directoryRead": True}}


def test_entry_of_a_skill_describes_each_file_once(bridge: Bridge, session: Session | None) -> None:
    (skill,) = result(bridge, "skills/list", session=session)["skills"]
    assert skill["uri"] == URI
    assert result(bridge, "skills/get", session=session, uri=URI)["skill"] == skill
    read = files(bridge, session=session)
    assert list(read) == ["SKILL.md", "references/pets.md", "references/orders.md"]
    for file, text in zip(skill["resources"], read.values(), strict=True):
        assert file["size"] == len(text.encode())
        assert file["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_frontmatter_is_that_of_the_file(bridge: Bridge) -> None:
    (skill,) = result(bridge, "skills/list")["skills"]
    head = re.match(r"---\n(.*?)\n---\n", files(bridge)["SKILL.md"], re.DOTALL)
    assert head is not None
    assert yaml.safe_load(head[1]) == skill["frontmatter"]
    assert skill["frontmatter"]["name"] == skill["uri"].split("/")[-2]


def test_resources_are_the_files_and_the_first_has_the_names_of_the_skill(
    bridge: Bridge, session: Session | None
) -> None:
    (skill,) = result(bridge, "skills/list")["skills"]
    resources = result(bridge, "resources/list", session=session)["resources"]
    assert [each["uri"] for each in resources] == [each["uri"] for each in skill["resources"]]
    assert {name: resources[0][name] for name in ("name", "description")} == skill["frontmatter"]
    assert {each["mimeType"] for each in resources} == {"text/markdown"}
    assert not any("_meta" in each for each in resources)
    assert result(bridge, "resources/templates/list", session=session)["resourceTemplates"] == []


def test_folders_list_their_files_and_folders(bridge: Bridge, session: Session | None) -> None:
    top = result(bridge, "resources/directory/read", session=session, uri="skill://pet-store")
    assert [(each["name"], each["mimeType"]) for each in top["resources"]] == [
        ("pet-store", "text/markdown"),
        ("references", "inode/directory"),
    ]
    inner = result(bridge, "resources/directory/read", session=session, uri=top["resources"][1]["uri"])
    assert [each["name"] for each in inner["resources"]] == ["pets.md", "orders.md"]


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        ("skills/get", "skill://other/SKILL.md"),
        ("skills/get", "skill://pet-store/references/pets.md"),
        ("resources/read", "skill://pet-store"),
        ("resources/read", "skill://pet-store/references/../SKILL.md"),
        ("resources/read", "file:///etc/passwd"),
        ("resources/directory/read", URI),
        ("resources/directory/read", "skill://pet-store/"),
        ("resources/directory/read", "skill:/"),
        ("resources/directory/read", "skill://pet-store/nothing"),
    ],
)
def test_uri_that_is_not_served_is_an_error_with_the_uri(
    bridge: Bridge, method: str, uri: str, session: Session | None
) -> None:
    error = response(bridge, method, session=session, uri=uri)["error"]
    assert error["code"] == INVALID_PARAMS
    assert error["data"] == {"uri": uri}


@pytest.mark.parametrize("params", [{}, {"uri": 7}, {"uri": URI, "cursor": 3}, {"uri": URI, "cursor": "x"}])
@pytest.mark.parametrize("method", ["skills/get", "resources/read", "resources/directory/read"])
def test_bad_parameters_are_errors(bridge: Bridge, method: str, params: Any, session: Session | None) -> None:
    assert response(bridge, method, session=session, **params)["error"]["code"] == INVALID_PARAMS


def test_results_say_how_long_they_are_valid_and_are_complete(bridge: Bridge) -> None:
    for method, params in (
        ("skills/list", {}),
        ("skills/get", {"uri": URI}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": URI}),
    ):
        found = result(bridge, method, **params)
        assert (found["resultType"], found["cacheScope"], found["ttlMs"]) == ("complete", "public", 300_000)
        assert "nextCursor" not in found
    assert result(bridge, "skills/list", scopes=frozenset({"pets"}))["cacheScope"] == "private"
    folder = result(bridge, "resources/directory/read", uri="skill://pet-store")
    assert folder["resultType"] == "complete"
    assert "ttlMs" not in folder


def test_results_of_the_handshake_era_have_nothing_of_the_stateless_one(bridge: Bridge) -> None:
    found = result(bridge, "skills/list", session=Session(revision="2025-06-18"))
    assert found.keys() == {"skills"}


def test_header_repeats_the_uri_of_a_read(bridge: Bridge) -> None:
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "resources/read", "mcp-name": URI}
    assert "result" in response(bridge, "resources/read", headers=headers, uri=URI)
    for name in ("skill://other", None):
        others = {key: value for key, value in {**headers, "mcp-name": name}.items() if value is not None}
        error = response(bridge, "resources/read", headers=others, uri=URI)["error"]
        assert error["code"] == -32020


def test_requests_may_be_batched_where_batches_exist(bridge: Bridge) -> None:
    async def handle() -> Any:
        server = bridge.server()
        message = [{"jsonrpc": "2.0", "id": number, "method": "skills/list"} for number in (1, 2)]
        reply = await server.handle(message, Session(revision="2025-03-26"))
        await server.aclose()
        return reply.status, json.loads(reply.body or b"")

    status, replies = asyncio.run(handle())
    assert status == 200
    assert [reply["result"]["skills"][0]["uri"] for reply in replies] == [URI, URI]


def test_caller_reads_about_the_tools_of_its_scopes_alone(bridge: Bridge) -> None:
    of_pets = files(bridge, scopes=frozenset({"pets"}))
    assert list(of_pets) == ["SKILL.md", "references/pets.md"]
    assert not [text for text in of_pets.values() if "listOrders" in text or "orders" in text]
    assert "listPets" not in "".join(files(bridge, scopes=frozenset({"orders"})).values())
    assert files(bridge, scopes=frozenset({"pets", "orders"})) == files(bridge)
    (skill,) = result(bridge, "skills/list", scopes=frozenset())["skills"]
    assert len(skill["resources"]) == 1


@pytest.mark.parametrize(
    ("mode", "says"), [("all", "server's list, with"), ("search", "`call_tool`"), ("code", "`run_code`")]
)
def test_skill_says_how_tools_are_found(tmp_path: Path, mode: str, says: str) -> None:
    read = files(bridge_of(tmp_path, document(), mode=mode))
    assert says in read["SKILL.md"]
    assert "listPets" in read["references/pets.md"]


def test_own_instructions_replace_the_text_of_the_document(tmp_path: Path) -> None:
    text = files(bridge_of(tmp_path, document(), instructions="Ask for the colour first."))["SKILL.md"]
    assert "> Ask for the colour first." in text


def test_names_are_those_under_which_the_tools_are_called(tmp_path: Path) -> None:
    text = files(bridge_of(tmp_path, document(), prefix="shop", client="cursor"))["references/pets.md"]
    assert "`shop_listPets`" in text
