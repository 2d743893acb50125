"""Skills of a server of several APIs: one for each, about its own tools by the names that clients see."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.cli.settings import Settings
from openapi_mcp.gateway.gateway import Gateway
from openapi_mcp.gateway.skills import distinct_slugs
from openapi_mcp.runtime.protocol import Session
from openapi_mcp.runtime.server.grants import GRANT, Grant

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def operation(name: str, tag: str, *scopes: str) -> dict[str, Any]:
    return {"operationId": name, "tags": [tag], "security": [{"oauth": list(scopes)}], "responses": {}}


def document(title: str) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1", "description": f"All about {title}."},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "components": {"securitySchemes": {"oauth": {"type": "oauth2", "flows": {}}}},
        "paths": {
            "/items": {"get": operation("listItems", "items"), "post": operation("addItem", "items", title)},
            "/orders": {"get": operation("listOrders", "orders")},
        },
    }


def opened(folder: Path, **options: Any) -> Gateway:
    tables = []
    for name in ("shop", "Books_2"):
        (folder / f"{name}.json").write_text(json.dumps(document(name)))
        tables.append(f'[apis.{name}]\nspec = "{name}.json"\n')
    (folder / "openapi-mcp.toml").write_text("\n".join(tables))
    gateway = Settings("", {"no_cache": True, **options}, folder / "openapi-mcp.toml").open()
    assert isinstance(gateway, Gateway)
    return gateway


def answers(gateway: Gateway, *requests: tuple[str, str], scopes: frozenset[str] | None = None) -> list[Any]:
    """Return the responses to requests, each a method and a URI."""

    async def ask() -> list[Any]:
        if scopes is not None:
            GRANT.set(Grant("somebody", scopes))
        server, found = gateway.server(), []
        try:
            for method, uri in requests:
                params = {"_meta": META, **({"uri": uri} if uri else {})}
                reply = await server.handle({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, Session())
                found.append(json.loads(reply.body or b"null"))
            return found
        finally:
            await server.aclose()

    return asyncio.run(ask())


@pytest.mark.parametrize("mode", ["all", "search", "code"])
def test_each_api_has_a_skill_about_its_tools(tmp_path: Path, mode: str) -> None:
    gateway = opened(tmp_path, mode=mode)
    listed, resources, folder, shop, books, none = answers(
        gateway,
        ("skills/list", ""),
        ("resources/list", ""),
        ("resources/directory/read", "skill://books-2"),
        ("resources/read", "skill://shop/SKILL.md"),
        ("resources/read", "skill://books-2/SKILL.md"),
        ("skills/get", "skill://shop"),
    )
    assert [each["uri"] for each in listed["result"]["skills"]] == ["skill://shop/SKILL.md", "skill://books-2/SKILL.md"]
    assert {each["uri"].split("/")[2] for each in resources["result"]["resources"]} == {"shop", "books-2"}
    names = [each["name"] for each in folder["result"]["resources"]]
    assert names == ["books-2", "references"]
    own, other = (each["result"]["contents"][0]["text"] for each in (shop, books))
    assert 'name: "shop"' in own
    assert "# shop" in own
    assert "- [items](references/items.md) (2): " in own, "its groups are those of the document"
    assert "shop_listItems" in own
    assert "Books" not in own
    assert "Books_2_listItems" in other
    assert "shop" not in other
    assert none["error"]["code"] == -32602


def test_skill_names_the_tools_that_a_token_allows(tmp_path: Path) -> None:
    (answer,) = answers(opened(tmp_path), ("resources/read", "skill://shop/SKILL.md"), scopes=frozenset({"Books_2"}))
    assert "shop_listItems" in answer["result"]["contents"][0]["text"]
    assert "shop_addItem" not in answer["result"]["contents"][0]["text"]


def test_api_without_a_tool_for_the_caller_has_no_skill(tmp_path: Path) -> None:
    gateway = opened(tmp_path, auth_scopes=["tag:shop=owner"])
    (answer,) = answers(gateway, ("skills/list", ""), scopes=frozenset())
    assert [each["frontmatter"]["name"] for each in answer["result"]["skills"]] == ["books-2"]


def test_skills_are_declared_unless_they_are_switched_off(tmp_path: Path) -> None:
    assert opened(tmp_path).server().description.skills
    server = opened(tmp_path, no_skills=True).server()
    assert not server.description.skills


@given(st.lists(st.text(max_size=80), unique=True, max_size=12))
def test_names_of_skills_are_different_and_legal(names: list[str]) -> None:
    slugs = distinct_slugs(names)
    assert len(set(slugs)) == len(slugs) == len(names)
    assert all(0 < len(each) <= 64 for each in slugs)
