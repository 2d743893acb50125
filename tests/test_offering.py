"""Offering: few tools are listed, many are searched, and whoever runs the server is told which and why."""

from dataclasses import replace

import pytest

from openapi_mcp import offering
from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.mode import Mode
from openapi_mcp.offering import MOST_TOOLS, Offering, catalog
from openapi_mcp.report import serving
from openapi_mcp.runtime.search_tools import NAMES
from tests.databases import without_fts5
from tests.runtime.pets import GET_PET, TOOLS

FEW = [replace(GET_PET, name=f"few-{number}") for number in range(MOST_TOOLS)]
MANY = [*FEW, GET_PET]
LONG = [replace(GET_PET, description="word " * 40_000)]


def test_few_tools_are_listed_and_many_searched() -> None:
    assert offering.offering(Mode.AUTO, FEW) == Offering(False)
    assert offering.offering(Mode.AUTO, MANY).searches
    assert offering.offering(Mode.AUTO, LONG).searches
    assert str(MOST_TOOLS) in offering.offering(Mode.AUTO, MANY).why
    assert "tokens" in offering.offering(Mode.AUTO, LONG).why


def test_what_is_asked_for_is_done() -> None:
    assert not offering.offering(Mode.ALL, MANY).searches
    assert {tool.name for tool in catalog(TOOLS, Mode.SEARCH).tools} == NAMES
    assert catalog(MANY, Mode.ALL).tools == tuple(MANY)


def test_pinned_tools_are_listed_beside_the_search() -> None:
    assert [tool.name for tool in catalog(MANY, Mode.AUTO, ["getPet"]).tools][3:] == ["getPet"]


def test_a_pin_that_is_no_tool_is_a_mistake_in_every_mode() -> None:
    for mode in Mode:
        with pytest.raises(UsageError, match="there is no tool getpet") as raised:
            catalog(TOOLS, mode, ["getpet"])
        assert "getPet" in (raised.value.hint or "")


def test_a_pin_with_the_name_of_a_search_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="call_tool is also"):
        catalog([replace(GET_PET, name="call_tool")], Mode.SEARCH, ["call_tool"])


def test_without_fts5_all_tools_are_listed_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    without_fts5(monkeypatch)
    assert "FTS5" in offering.offering(Mode.AUTO, MANY).why
    assert catalog(MANY, Mode.AUTO).tools == tuple(MANY)
    with pytest.raises(UsageError, match="FTS5"):
        catalog(TOOLS, Mode.SEARCH)


def test_the_options_say_the_mode_and_the_report_shows_it() -> None:
    config = Config.from_options("specs/petstore.yaml", {"mode": "search", "pin": ["listPets"]})
    bridge = Bridge.open(config)
    assert "4 tools listed" in serving(bridge, [])
    assert "mode" not in serving(Bridge.open(Config(source="specs/petstore.yaml")), [])
    with pytest.raises(UsageError, match="there is no mode most"):
        Config.from_options("x", {"mode": "most"})
