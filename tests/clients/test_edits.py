"""Edits of settings drawn at random: an entry is added and removed, and nothing else changes."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.clients import edits
from openapi_mcp.clients.server import InstalledServer
from openapi_mcp.clients.table import CLIENTS, Client
from openapi_mcp.errors import UsageError

pytestmark = pytest.mark.slow

SERVERS = [InstalledServer.started(name, [f"/{name}.yaml"], variables=["KEY"]) for name in ("a", "b-2")]
KEYS = st.sampled_from(["x", "servers", "mcpServers", "inputs", 'q"}', "//", "{", "a"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "/* no */", 'a"b', "}", "// no", "ü\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
SPACES = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " // c\n", " /* , } */ ", "\n  // }\n  "])


@st.composite
def jsonc(draw: st.DrawFn) -> str:
    """Draw the text of an object with comments, trailing commas and white space of all kinds."""
    root = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    for key in ("servers", "mcpServers"):
        replaced: bool = draw(st.booleans())
        if key in root and replaced:
            root[key] = {"other": {"command": "x"}}
    return draw(SPACES) + written(draw, root) + draw(SPACES)


def written(draw: st.DrawFn, value: Any) -> str:
    if not isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    names = [f"{json.dumps(key)}{draw(SPACES)}:{draw(SPACES)}" for key in value] if isinstance(value, dict) else []
    items = [written(draw, item) for item in (value.values() if isinstance(value, dict) else value)]
    parts = [f"{name}{item}" for name, item in zip(names or [""] * len(items), items, strict=True)]
    inside = ",".join(draw(SPACES) + part + draw(SPACES) for part in parts)
    comma = draw(st.sampled_from(["", ","])) if parts else ""
    return "".join("{["[isinstance(value, list)]) + inside + comma + draw(SPACES) + "}]"[isinstance(value, list)]


@pytest.mark.parametrize("name", ["cursor", "vscode"])
@settings(max_examples=60, deadline=None)
@given(text=jsonc())
def test_json_with_comments(name: str, text: str) -> None:
    survives(name, text)


@settings(max_examples=60, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(
            [
                "a = 1",
                "# c",
                "",
                "[x]",
                "[[y]]",
                "[mcp_servers.o]",
                's = """',
                '"""',
                "[mcp_servers]",
                "b = [",
                "]",
                " c=2",
            ]
        ),
        max_size=7,
    ).map("\n".join)
)
def test_toml(text: str) -> None:
    survives("codex", text)
    survives("codex", text.replace("\n", "\r\n") + "\r\n")


@settings(max_examples=60, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(
            [
                "a: 1",
                "# c",
                "",
                "extensions:",
                "  o:",
                "    cmd: x",
                "  # d",
                "b: |",
                "  a:",
                "extensions: {}",
                "- l",
                "...",
            ]
        ),
        max_size=7,
    ).map("\n".join)
)
def test_yaml(text: str) -> None:
    survives("goose", text)
    survives("goose", text + "\n")


def survives(name: str, text: str) -> None:
    """Install two servers and uninstall them, in the order of installation, unless the text is refused."""
    client = CLIENTS[name]
    try:
        once = edits.added(text, client, SERVERS[0])
        twice = edits.added(once, client, SERVERS[1])
    except UsageError:
        return
    present = edits.servers_in(text, client)
    if any(each.name in present for each in SERVERS):
        return
    servers = edits.servers_in(twice, client)
    assert [servers[each.name] for each in SERVERS] == [client.entry(each) for each in SERVERS]
    assert all(servers[key] == present[key] for key in present)
    assert edits.without(once, client, "a", text) == text
    left = edits.without(twice, client, "a", text)
    assert left is not None
    last = edits.without(left, client, "b-2", text)
    assert value(client, last or "") == value(client, text)


def value(client: Client, text: str) -> Any:
    """Return the value of a text; null instead of the servers is an empty object."""
    parsed = edits.FORMATS[client.format].parsed(text)
    return {key: item or {} if key in (*client.path, "inputs") else item for key, item in (parsed or {}).items()}
