"""`instructions`: an overview of the API and its tools from the document, then its own text, or what the user wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp import Bridge, Config
from openapi_mcp.compilation import MAX_INSTRUCTIONS
from openapi_mcp.errors import UsageError
from openapi_mcp.generator import metadata
from openapi_mcp.instructions import MAX_OVERVIEW, facts_of, overview
from openapi_mcp.runtime.tool import Argument, Tool, hints
from tests.runtime.making import tool

PETSTORE = Path(__file__).parents[1] / "specs" / "petstore.yaml"
OVERVIEW = (
    "Pet Store: A small shop's animals.\n"
    "9 tools; groups: pets (7), shop (2).\n"
    "4 only read; 5 change data, 3 of these replace or delete.\n"
    "Lists come in pages: `offset` is the number of items before the page, `limit` (at most 100) its size."
)


def bridge(source: Path = PETSTORE, **options: Any) -> Bridge:
    return Bridge.open(Config.from_options(str(source), {"no_cache": True, **options}))


def written(folder: Path, description: str = "", **info: Any) -> Path:
    """Write a document with one operation."""
    path = folder / "api.json"
    about = {"title": "Policy", "version": "1", "description": description, **info}
    operation = {"operationId": "a", "responses": {"200": {"description": "ok"}}}
    document = {"openapi": "3.1.0", "info": about, "servers": [{"url": "http://api.test"}]}
    path.write_text(json.dumps({**document, "paths": {"/a": {"get": operation}}}))
    return path


def test_overview_is_made_from_the_document_and_its_text_follows() -> None:
    text = bridge().description().instructions or ""
    assert text.startswith(f"{OVERVIEW}\n\nThe sample API of this project.")
    assert text.count("A small shop's animals") == 1
    assert len(OVERVIEW) < MAX_OVERVIEW


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [("all", ""), ("search", "`call_tool` calls one"), ("code", "programs call them in `run_code`")],
)
def test_search_is_explained_where_tools_are_not_listed(mode: str, sentence: str) -> None:
    text = bridge(mode=mode).description().instructions or ""
    assert sentence in text
    assert ("`search_tools` finds" in text) == (mode != "all")


def test_read_only_server_says_so() -> None:
    text = bridge(read_only=True).description().instructions or ""
    assert "They only read: those that change data are left out (`--read-only`)." in text


def test_package_has_the_overview_of_all_tools() -> None:
    made = metadata.description(bridge(mode="search"))
    assert "9 tools; groups: pets (7), shop (2)." in made
    assert "search_tools" not in made


def test_own_text_is_kept_and_what_is_cut_is_counted(tmp_path: Path) -> None:
    rules = "".join(f"Rule {number}. " for number in range(200)).strip()
    contact = {"email": "a@b.test"}
    source = written(tmp_path, f"The shop.\n\n{rules}", contact=contact)
    made = bridge(source, max_instructions=3000).instructions()
    assert made.text == f"Policy: The shop.\n1 tool.\nThey only read.\n\n{rules}\n\nContact: a@b.test"
    assert made.length == len(made.text)
    usual = bridge(source).instructions().text or ""
    assert len(usual.encode()) <= 1200
    cut = bridge(source, max_instructions=400).instructions()
    assert cut.text is not None
    assert len(cut.text) <= 400
    assert cut.text.startswith("Policy: The shop.\n1 tool.\nThey only read.\n\nRule 0. ")
    assert cut.text.endswith(" …\n\nContact: a@b.test")
    assert cut.length > made.length - 40


@pytest.mark.parametrize("limit", [0, 1, 10, 60, 61, 62, 63, 100, MAX_INSTRUCTIONS, 100_000])
@pytest.mark.parametrize("description", ["", "One.", "A rule. " * 1000, "# Head\n\nText\n\nMore " * 30])
def test_limit_holds_for_overview_and_text(tmp_path: Path, limit: int, description: str) -> None:
    source = written(tmp_path, description, contact={"url": "https://a.test/" + "x" * 30})
    text = bridge(source, max_instructions=limit).description().instructions or ""
    assert len(text) <= limit
    assert bool(text) == (limit > 0)


def test_long_first_paragraph_is_not_repeated(tmp_path: Path) -> None:
    text = bridge(written(tmp_path, "One rule of many. " * 40)).description().instructions or ""
    assert text.count("One rule") == 40
    assert "One rule of many. …\n1 tool.\nThey only read.\n\n… One rule" in text


def test_user_writes_instructions(tmp_path: Path) -> None:
    file = tmp_path / "rules.md"
    file.write_text("Ask before you delete.\n")
    assert bridge(instructions=f"@{file}").description().instructions == "Ask before you delete."
    assert bridge(instructions="Be brief.", max_instructions=3).description().instructions == "Be brief."
    assert bridge(instructions="").description().instructions is None


@pytest.mark.parametrize("value", ["@/nowhere/rules.md", "@/", "x" * 30_000])
def test_instructions_that_cannot_be_used_are_refused(value: str) -> None:
    with pytest.raises(UsageError, match="instructions"):
        bridge(instructions=value)


def about(title: str, description: str, tools: list[Tool]) -> str:
    return overview(title, description, facts_of(tools))


def operation(number: int, *names: str, method: str = "GET", **more: Any) -> Tool:
    path = f"/v1/things{number}/{{id}}"
    arguments = [Argument(name=name, location="query") for name in names]
    return tool(path, *arguments, method=method, annotations=hints(method, path), **more)


def test_groups_come_from_tags_or_paths_and_are_bounded() -> None:
    text = about("Things", "", [operation(number) for number in range(500)])
    assert "500 tools; groups: things0 (1), things1 (1), " in text
    assert " more.\n" in text
    assert len(text.encode()) < 600
    tagged = [operation(1, tags=("a" * 41, "Users")), operation(2, tags=("Users", "Users")), operation(3)]
    assert "3 tools; groups: Users (2), things3 (1)." in about("Things", "", tagged)
    nested = [tool(f"/mail/v1/users/{{id}}/{each}") for each in ("labels", "drafts", "drafts")]
    assert "3 tools; groups: drafts (2), labels (1)." in about("Mail", "", nested)
    wide = about("T" * 120, "D" * 200, [operation(number, tags=("日本語" * 13,)) for number in range(50)])
    assert len(wide.encode()) <= MAX_OVERVIEW


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("page", "per_page"), "`page` is the page's number, `per_page` its size"),
        (
            ("pageToken", "maxResults"),
            "`pageToken` is the cursor that the page before gave, `maxResults` its size",
        ),
        (("starting_after", "limit"), "`starting_after` is the cursor"),
        (("skip", "top"), "`skip` is the number of items before the page, `top` its size"),
        (("limit",), ""),
        (("query",), ""),
    ],
)
def test_paging_is_described_by_the_names_of_arguments(names: tuple[str, ...], sentence: str) -> None:
    text = about("Things", "", [operation(1, *names)])
    assert sentence in text
    assert ("come in pages" in text) == bool(sentence)


def test_links_to_the_next_page_are_mentioned() -> None:
    text = about("Things", "", [operation(1, "page", response_headers=("link",))])
    assert text.endswith("The line `Headers:` of an answer shows its next page.")


def test_overview_is_the_same_for_any_order_of_equal_groups() -> None:
    tools = [operation(number, "page", "limit") for number in range(20)]
    assert about("Things", "x", tools) == about("Things", "x", tools[::-1])


def test_no_tools() -> None:
    assert about("Things", "", []) == "Things.\n0 tools."
