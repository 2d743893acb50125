"""`Catalog`: tools by name, pages that together are the list, and cursors that cannot be invented."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.errors import CursorError
from openapi_mcp.runtime.protocol import HANDSHAKE
from openapi_mcp.runtime.server.catalog import Catalog, ListedTool
from openapi_mcp.runtime.tool import Tool
from tests.runtime.pets import GET_PET, LIST_PETS, TOOLS


def tools(count: int) -> list[Tool]:
    return [replace(GET_PET, name=f"tool-{number}") for number in range(count)]


def walk(catalog: Catalog) -> list[ListedTool]:
    """Return all tools, page by page."""
    page, cursor = catalog.page()
    listed_tools = list(page)
    while cursor is not None:
        page, cursor = catalog.page(cursor)
        assert page
        listed_tools += page
    return listed_tools


def test_tool_is_returned_by_its_name() -> None:
    assert Catalog(TOOLS).get("listPets") is LIST_PETS
    assert Catalog(TOOLS).get("listpets") is None


def test_hidden_tools_are_callable_and_not_listed() -> None:
    shadowing = replace(GET_PET, description="The listed one.")
    catalog = Catalog([shadowing], hidden=TOOLS)
    assert catalog.page() == ((shadowing,), None)
    assert catalog.get("listPets") is LIST_PETS
    assert catalog.get("getPet") is shadowing


def test_all_tools_are_on_one_page_by_default() -> None:
    assert Catalog(tools(500)).page() == (tuple(tools(500)), None)
    assert Catalog([]).page() == ((), None)
    assert Catalog([], page_size=3).page() == ((), None)


@given(count=st.integers(0, 30), page_size=st.integers(1, 12))
def test_pages_together_are_the_list(count: int, page_size: int) -> None:
    assert walk(Catalog(tools(count), page_size=page_size)) == tools(count)


@given(sizes=st.lists(st.integers(0, 5_000), max_size=12), limit=st.integers(1_000, 20_000))
def test_page_size_in_bytes_is_limited(sizes: list[int], limit: int) -> None:
    listed = [replace(GET_PET, name=str(number), description="x" * size) for number, size in enumerate(sizes)]
    catalog = Catalog(listed, max_page_bytes=limit)
    assert walk(catalog) == listed
    page, _ = catalog.page()
    page_bytes = len(json.dumps([HANDSHAKE["2025-11-25"].tool(tool) for tool in page]))
    assert page_bytes <= limit or len(page) == 1


def test_passed_sizes_are_not_measured() -> None:
    sizes_by_name = {tool.name: 10_000 for tool in tools(5)}
    assert len(Catalog(tools(5), max_page_bytes=22_000, sizes=sizes_by_name).page()[0]) == 2
    assert len(Catalog(tools(5), max_page_bytes=22_000).page()[0]) == 5


def test_cursors_are_valid_in_another_process() -> None:
    _, cursor = Catalog(tools(5), page_size=2).page()
    assert Catalog(tools(5), page_size=2).page(cursor)[0] == tuple(tools(5)[2:4])


@pytest.mark.parametrize(
    "other",
    [
        Catalog(tools(6), page_size=2),
        Catalog(tools(5)[::-1], page_size=2),
        Catalog(tools(5), page_size=3),
        Catalog(tools(5)),
    ],
    ids=["one more", "another order", "other pages", "one page"],
)
def test_cursor_of_another_list_is_refused(other: Catalog) -> None:
    _, cursor = Catalog(tools(5), page_size=2).page()
    with pytest.raises(CursorError):
        other.page(cursor)


@pytest.mark.parametrize("cursor", ["", "0", "2", "x" * 100_000, "\ud800"])
def test_invented_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(CursorError):
        Catalog(tools(5), page_size=2).page(cursor)


def test_invalid_catalog_is_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        Catalog([GET_PET, GET_PET])
    with pytest.raises(ValueError, match="at least one"):
        Catalog(TOOLS, page_size=0)
