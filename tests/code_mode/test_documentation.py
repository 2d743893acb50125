"""The programs of docs/code-mode.md do what the page says."""

import asyncio
import json
import re
from typing import Any

import httpx
import pytest
from mcp import Client

from openapi_mcp.answers.paging import DEFAULT_LIMIT, MAX_LIMIT
from openapi_mcp.code_mode.memory import MAX_BYTES
from openapi_mcp.code_mode.values import MAX_SAVED, MAX_SAVED_BYTES, MAX_SESSION_BYTES
from tests.code_mode.test_tools import over_stdio
from tests.conftest import ROOT

pytestmark = pytest.mark.process

PAGE = (ROOT / "docs" / "code-mode.md").read_text()
PROGRAMS = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)


def run(petstore: str) -> list[Any]:
    """Run the programs of the page, one after the other in one session; return their results."""

    async def converse(connect: Any) -> list[Any]:
        async with Client(connect(), mode="auto", read_timeout_seconds=60) as client:
            return [await client.call_tool("run_code", {"code": program}) for program in PROGRAMS]

    with over_stdio(petstore) as connect:
        return asyncio.run(converse(connect))


def test_the_programs_of_the_page_do_what_it_says(petstore: str) -> None:
    pets = httpx.get(f"{petstore}/pets", params={"limit": 100}).json()["pets"]
    objects, missing, at_once, paged, saved, loaded = run(petstore)
    assert json.loads(objects.content[0].text) == {
        "as attribute": pets[0]["name"],
        "as key": pets[0]["name"],
        "perhaps": "unknown",
        "cheap": [pet["id"] for pet in pets[:5] if pet["price"] and pet["price"] < 20],
    }
    assert missing.is_error
    assert PAGE.partition("```text\nAttributeError")[2].partition("```")[0].strip() in missing.content[0].text
    assert json.loads(at_once.content[0].text) == [pet["name"] for pet in pets[:5]]
    available = [pet for pet in pets if pet["status"] == "available"]
    assert json.loads(paged.content[0].text) == pytest.approx(sum(pet["price"] or 0 for pet in available))
    assert paged.content[-1].text == (
        f"paginate(listPets): {len(available)} items of 1 page; that was the last page.\n1 call made: listPets 200."
    )
    assert saved.content[0].text == "cheap"
    assert json.loads(loaded.content[0].text) == [pet["name"] for pet in pets if (pet["price"] or 100) < 20]


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    assert f"limit={DEFAULT_LIMIT}, **arguments" in PAGE
    assert f"({MAX_LIMIT:,} at most)" in PAGE
    sizes = (
        f"{MAX_SAVED} of a session, {MAX_SAVED_BYTES // 1024} KiB each and {MAX_SESSION_BYTES // 1024**2} MiB together"
    )
    assert sizes in PAGE
    assert f"| {MAX_BYTES // 1024**2} MiB (Linux);" in PAGE
