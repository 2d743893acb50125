"""Chains: what a tool needs is read from its path and arguments, and found where the same things are listed."""

import pytest

from openapi_mcp.runtime.chains import Chains, listed, needs
from openapi_mcp.runtime.models import Argument, Tool
from openapi_mcp.runtime.types import Schema
from tests.runtime.making import tool

A_LIST: Schema = {"type": "array", "items": {"type": "object"}}
TEXT = Argument(name="query", location="query")


def made(path: str, *more: Argument, method: str = "GET", answer: Schema | None = None) -> Tool:
    """A tool with an argument for each variable of its path."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    in_path = [Argument(name=name, location="path", required=True) for name in names]
    required = [argument.name for argument in (*in_path, *more) if argument.required]
    schema = {"type": "object", "required": required}
    return tool(path, *in_path, *more, method=method, name=f"{method}{path}", input_schema=schema, output_schema=answer)


def found(tools: list[Tool], consumer: int = 0) -> dict[str, list[str]]:
    """Where the needs of a tool are found, by argument, the best first."""
    sources = Chains(tools).sources(consumer)
    return {
        need.argument: [tools[source.index].path for source in sorted(those, key=lambda source: -source.fit)]
        for need, those in sources
    }


def test_a_variable_of_the_path_needs_what_it_is_called_and_what_stands_before_it() -> None:
    season, series = list(needs(made("/tv/{series_id}/seasons/{number}")))[::-1]
    assert (series.argument, set(series.nouns), series.collection) == ("series_id", {"seri", "tv"}, "tv")
    assert (season.argument, set(season.nouns), season.collection) == ("number", {"season"}, "tv/{series_id}/seasons")


def test_a_required_id_that_is_no_part_of_the_path_is_a_need() -> None:
    customer = Argument(name="customerId", location="body", required=True)
    note = Argument(name="note_text", location="body", required=True)
    assert [need.argument for need in needs(made("/orders", customer, note, method="POST"))] == ["customerId"]


@pytest.mark.parametrize(
    ("made_tool", "things"),
    [
        (made("/movies"), ("movi",)),
        (made("/search/movie", TEXT), ("movi", "search")),
        (made("/movie/popular", answer=A_LIST), ("popular", "movi")),
        (made("/users.list"), ("list", "user")),
        (made("/issues/search", method="POST"), ("search", "issu")),
        (made("/search", TEXT), ("*",)),
        (made("/movies/{id}"), ()),
        (made("/movies", method="POST"), ()),
        (made("/status", answer={"type": "object", "properties": {"ok": {"type": "boolean"}}}), ()),
        (made("/"), ()),
    ],
    ids=lambda value: value.path if isinstance(value, Tool) else None,
)
def test_what_a_tool_lists(made_tool: Tool, things: tuple[str, ...]) -> None:
    assert listed(made_tool) == things


def test_a_thing_is_found_where_it_is_listed_or_searched() -> None:
    tools = [made("/movies/{movie_id}/credits"), made("/movies"), made("/search/movie", TEXT), made("/people")]
    assert set(found(tools)["movie_id"]) == {"/movies", "/search/movie"}


def test_the_most_particular_need_comes_first() -> None:
    tools = [made("/repos/{repo}/issues/{issue_number}"), made("/repos/{repo}/issues"), made("/repos")]
    assert list(found(tools).items()) == [("issue_number", ["/repos/{repo}/issues"]), ("repo", ["/repos"])]


def test_what_needs_the_thing_itself_does_not_find_it() -> None:
    tools = [made("/users/{user_id}/photo"), made("/users/{user_id}/users"), made("/teams/{team_id}/users")]
    assert found(tools) == {"user_id": ["/teams/{team_id}/users"]}


def test_a_search_for_anything_serves_where_nothing_else_searches() -> None:
    anything = made("/search", TEXT)
    assert found([made("/files/{file_id}"), anything]) == {"file_id": ["/search"]}
    assert found([made("/files/{file_id}"), anything, made("/files", TEXT)]) == {"file_id": ["/files"]}


def test_nothing_is_claimed_where_nothing_tells() -> None:
    assert found([made("/a/{id}/b"), made("/c"), made("/d/{x}")]) == {}
