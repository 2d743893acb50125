"""Modes: few tools are listed, many are searched, and the user sees which and why."""

from dataclasses import replace

import pytest

from openapi_mcp import modes, token_budget
from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.report import serving
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.modes import MAX_LISTED_TOKENS, MAX_LISTED_TOOLS, Mode, ModeDecision, catalog
from openapi_mcp.runtime.search.tools import NAMES
from tests.databases import without_fts5
from tests.runtime.pets import GET_PET, TOOLS

FEW = [replace(GET_PET, name=f"few-{number}") for number in range(MAX_LISTED_TOOLS)]
MANY = [*FEW, GET_PET]
LONG = [replace(GET_PET, description="word " * 40_000)]


def test_few_tools_are_listed_and_many_searched() -> None:
    assert modes.decide(Mode.AUTO, FEW) == ModeDecision(False)
    assert modes.decide(Mode.AUTO, MANY).searches
    assert modes.decide(Mode.AUTO, LONG).searches
    assert str(MAX_LISTED_TOOLS) in modes.decide(Mode.AUTO, MANY).reason
    assert "tokens" in modes.decide(Mode.AUTO, LONG).reason


@pytest.mark.parametrize(("tokens", "searches"), [(MAX_LISTED_TOKENS - 400, False), (MAX_LISTED_TOKENS + 400, True)])
def test_a_list_that_costs_less_than_searches_is_listed(tokens: int, searches: bool) -> None:
    tools = [replace(GET_PET, name=f"pet-{number}", description="x" * (tokens // 16 * 4 - 300)) for number in range(16)]
    cost = sum(token_budget.tokens(tool) for tool in tools)
    tools[0] = replace(tools[0], description=tools[0].description + "x" * 4 * (tokens - cost))
    assert modes.decide(Mode.AUTO, tools).searches is searches


def test_requested_mode_is_used() -> None:
    assert not modes.decide(Mode.ALL, MANY).searches
    assert {tool.name for tool in catalog(TOOLS, Mode.SEARCH).tools} == NAMES
    assert catalog(MANY, Mode.ALL).tools == tuple(MANY)


def test_pinned_tools_are_listed_with_the_search_tools() -> None:
    assert [tool.name for tool in catalog(MANY, Mode.AUTO, ["getPet"]).tools][3:] == ["getPet"]


def test_pin_of_an_unknown_tool_is_an_error_in_every_mode() -> None:
    for mode in Mode:
        with pytest.raises(UsageError, match="no such tool: getpet") as raised:
            catalog(TOOLS, mode, ["getpet"])
        assert "getPet" in (raised.value.hint or "")


def test_pin_with_the_name_of_a_search_tool_is_an_error() -> None:
    with pytest.raises(UsageError, match="call_tool is also"):
        catalog([replace(GET_PET, name="call_tool")], Mode.SEARCH, ["call_tool"])


def test_all_tools_are_listed_without_fts5_and_the_reason_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    without_fts5(monkeypatch)
    assert "FTS5" in modes.decide(Mode.AUTO, MANY).reason
    assert catalog(MANY, Mode.AUTO).tools == tuple(MANY)
    with pytest.raises(UsageError, match="FTS5"):
        catalog(TOOLS, Mode.SEARCH)


def test_mode_option_is_used_and_reported() -> None:
    config = Config.from_options("specs/petstore.yaml", {"mode": "search", "pin": ["listPets"]})
    bridge = Bridge.open(config)
    assert "4 tools listed" in serving(bridge, [])
    assert "mode" not in serving(Bridge.open(Config(source="specs/petstore.yaml")), [])
    with pytest.raises(UsageError, match="unknown mode: most"):
        Config.from_options("x", {"mode": "most"})
