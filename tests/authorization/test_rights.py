"""Rights by the scopes of a token: the list, calls, the search, programs, hierarchies and the user's own scopes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.authorization.rights import MAX_CATALOGS, ScopeRights
from openapi_mcp.authorization.scopes import ScopeSettings
from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.tool import Tool
from tests.authorization.doors import World, parameters, within
from tests.authorization.issuing import Issuer, issuing
from tests.runtime.echo import answer, echoing


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as one:
        yield one


def tool(name: str, *scopes: tuple[str, ...], method: str = "GET", tags: tuple[str, ...] = ()) -> Tool:
    return Tool(
        name=name,
        description=name,
        input_schema={"type": "object"},
        annotations={},
        method=method,
        path=f"/{name}",
        scopes=scopes,
        tags=tags,
    )


def rights(tools: list[Tool], scopes: tuple[str, ...] = (), includes: tuple[str, ...] = ()) -> ScopeRights:
    return ScopeRights(tools, ScopeSettings.parse(scopes, includes), Catalog(tools), Catalog)


def names(of: ScopeRights, *scopes: str) -> list[str]:
    return [each.name for each in of.catalog(frozenset(scopes)).tools]


READ, WRITE = tool("read", ("pets:read",)), tool("write", ("pets:read", "pets:write"), method="POST", tags=("changes",))
EITHER, OPEN = tool("either", ("pets:write", "pets:purge"), ("admin",)), tool("open")
ALL = [READ, WRITE, EITHER, OPEN]


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        ([], ["open"]),
        (["pets:read"], ["read", "open"]),
        (["pets:write"], ["open"]),
        (["pets:write", "pets:read", "more"], ["read", "write", "open"]),
        (["admin"], ["either", "open"]),
        (["pets:write", "pets:purge"], ["either", "open"]),
    ],
)
def test_tools_need_all_scopes_of_one_alternative(scopes: list[str], expected: list[str]) -> None:
    assert names(rights(ALL), *scopes) == expected


def test_demanded_scopes_are_those_of_the_nearest_alternative() -> None:
    of = rights(ALL)
    assert of.demanded("either", frozenset()) == ("admin",)
    assert of.demanded("either", frozenset({"pets:purge"})) == ("pets:purge", "pets:write")
    assert of.demanded("write", frozenset({"pets:write"})) == ("pets:read", "pets:write")
    assert of.demanded("read", frozenset({"pets:read"})) == of.demanded("nothing", frozenset()) == ()
    assert of.offered == ("admin", "pets:read", "pets:write")


@pytest.mark.parametrize(
    ("includes", "scopes", "expected"),
    [
        (["pets=pets:read pets:write"], ["pets"], ["read", "write", "open"]),
        (["pets=pets:*"], ["pets"], ["read", "write", "either", "open"]),
        (["root=*"], ["root"], ["read", "write", "either", "open"]),
        (["pets:write=pets:read"], ["pets:write"], ["read", "write", "open"]),
        (["a=b", "b=c", "c=pets:read a"], ["a"], ["read", "open"]),
        (["a=b*", "b1=pets:read"], ["a"], ["read", "open"]),
        (["pets=pets:read"], ["pets:other", "*"], ["open"]),
        (["pets=pets:read"], ["PETS"], ["open"]),
    ],
)
def test_broader_scope_includes_narrower_ones(includes: list[str], scopes: list[str], expected: list[str]) -> None:
    assert names(rights(ALL, includes=tuple(includes)), *scopes) == expected


def test_first_pattern_of_the_settings_replaces_the_scopes_of_the_document() -> None:
    of = rights(ALL, ("write=mine:write", "tag:changes=never", "method:get=mine:read|mine:write", "open="))
    assert names(of, "pets:read", "pets:write") == []
    assert names(of, "mine:read") == ["read", "either", "open"]
    assert names(of, "mine:write") == ["read", "write", "either", "open"]
    assert names(rights(ALL, ("*=",))) == ["read", "write", "either", "open"]


def test_the_same_rights_are_one_catalog_and_few_are_kept() -> None:
    of = rights(ALL)
    assert of.catalog(frozenset({"pets:read", "x"})) is of.catalog(frozenset({"pets:read", "y"}))
    assert of.catalog(frozenset({"pets:read", "pets:write", "admin"})) is of._whole
    many = rights([tool(f"t{number}", (f"s{number}",)) for number in range(3 * MAX_CATALOGS)])
    for number in range(3 * MAX_CATALOGS):
        assert names(many, f"s{number}") == [f"t{number}"]
    assert many._catalog.cache_info().currsize == MAX_CATALOGS


@pytest.mark.parametrize(
    ("scopes", "includes", "where"),
    [
        (["listPets"], [], "--auth-scopes"),
        (["=a"], [], "--auth-scopes"),
        (["path:=a"], [], "path:"),
        ([], ["repo"], "--auth-includes"),
        ([], ["repo="], "--auth-includes"),
        ([], ["=a"], "--auth-includes"),
    ],
)
def test_malformed_scopes_are_refused(scopes: list[str], includes: list[str], where: str) -> None:
    with pytest.raises(UsageError) as caught:
        ScopeSettings.parse(scopes, includes)
    assert caught.value.where == where


def test_pattern_that_matches_no_tool_is_refused() -> None:
    document = Path(__file__).parents[2] / "specs" / "petstore.yaml"
    config = Config.from_options(str(document), {"no_cache": True, "auth_scopes": {"*Pets": "a", "droppets": "b"}})
    with pytest.raises(UsageError, match="no tool matches droppets"):
        Bridge.open(config)


def test_settings_decide_over_the_document_at_the_door(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> list[Any]:
        reader, writer = issuer.token(scope="mcp:read"), issuer.token(scope="mcp:write")
        refused = await world.call(reader, "deletePets")
        return [
            await world.listed(reader),
            await world.listed(writer),
            refused.status_code,
            parameters(refused)["scope"],
        ]

    options: dict[str, Any] = {
        "auth_scopes": {"method:get": "mcp:read", "*": "mcp:write"},
        "auth_includes": {"mcp:write": "mcp:read"},
    }
    both = {"listPets", "getStatus"}
    assert within(tmp_path, issuer, ask, **options) == [both, both | {"createPet", "deletePets"}, 403, "mcp:write"]


def text(response: Any) -> str:
    """Return all texts of a result."""
    return "\n".join(block["text"] for block in response.json()["result"]["content"])


def test_search_finds_describes_and_calls_only_what_a_token_may(tmp_path: Path, issuer: Issuer) -> None:
    with echoing() as api:
        api.respond = lambda _: answer(b'["Minka"]', "Content-Type: application/json")

        async def ask(world: World) -> None:
            reader, writer = issuer.token(scope="pets:read"), issuer.token(scope="pets:read pets:write")
            found = text(await world.call(reader, "search_tools", {"query": "create a pet, delete pets, list pets"}))
            assert "listPets" in found
            assert not {"createPet", "deletePets"} & set(found.replace(":", " ").split())
            assert "createPet" in text(await world.call(writer, "search_tools", {"query": "create a pet"}))
            assert "no tool 'createPet'" in text(await world.call(reader, "describe_tool", {"name": "createPet"}))
            described = await world.ask(reader, "tools/list")
            assert "This API has 2 tools" in described.text
            called = await world.call(reader, "call_tool", {"name": "listPets", "arguments": {}})
            assert "Minka" in text(called)
            refused = await world.call(reader, "call_tool", {"name": "createPet", "arguments": {}})
            assert (refused.status_code, parameters(refused)["scope"]) == (403, "pets:read pets:write")
            assert (await world.call(reader, "createPet")).status_code == 403
            assert (await world.call(reader, "call_tool", {"name": ["createPet"]})).status_code == 200
            assert [request.method for request in api.requests] == ["GET"]

        within(tmp_path, issuer, ask, mode="search", document=with_server(api.url))


def test_programs_have_only_the_functions_that_a_token_may_call(tmp_path: Path, issuer: Issuer) -> None:
    with echoing() as api:
        api.respond = lambda _: answer(b'["Minka"]', "Content-Type: application/json")

        async def ask(world: World) -> None:
            reader, nobody = issuer.token(scope="pets:read"), issuer.token(scope="")
            assert "Minka" in text(await world.call(reader, "run_code", {"code": "listPets()"}))
            for code in ("createPet()", "call_tool('createPet', {})", "deletePets()"):
                answered = await world.call(reader, "run_code", {"code": code})
                assert answered.json()["result"]["isError"], code
            assert (await world.call(nobody, "run_code", {"code": "listPets()"})).json()["result"]["isError"]
            assert "createPet" not in text(await world.call(reader, "search_tools", {"query": "create a pet"}))
            assert [request.method for request in api.requests] == ["GET"]

        within(tmp_path, issuer, ask, mode="code", document=with_server(api.url))


def with_server(url: str) -> dict[str, Any]:
    from tests.authorization.doors import DOCUMENT

    return {**DOCUMENT, "servers": [{"url": url}]}


def test_other_scopes_are_another_list_for_clients_that_wait_for_changes() -> None:
    one, other = Catalog([tool("a", ("x",))]), Catalog([tool("a", ("y",))])
    assert one.lists_same_tools(Catalog([tool("a", ("x",))]))
    assert not one.lists_same_tools(other)


def test_values_that_programs_save_belong_to_the_subject(tmp_path: Path, issuer: Issuer) -> None:
    async def ask(world: World) -> None:
        ann, bob = issuer.token(sub="ann", scope="pets:read"), issuer.token(sub="bob", scope="pets:read")
        saved = await world.call(ann, "run_code", {"code": "save('secret', 'of Ann')"})
        handle = text(saved).split("\n")[0].strip('"')
        for code in (f"load('{handle}', 'nothing')", "load('secret', 'nothing')"):
            assert "of Ann" not in text(await world.call(bob, "run_code", {"code": code}))
        loaded = await world.call(
            issuer.token(sub="ann", jti="2"), "run_code", {"code": f"load('{handle}', 'nothing')"}
        )
        assert "of Ann" in text(loaded)

    within(tmp_path, issuer, ask, mode="code")
