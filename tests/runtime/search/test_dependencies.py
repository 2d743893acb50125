"""Dependencies: read from the paths and arguments of tools, and resolved by the tools that list such things."""

import pytest

from openapi_mcp.runtime.search.dependencies import Dependencies, dependencies_of, listed_nouns
from openapi_mcp.runtime.tool import Argument, Tool
from openapi_mcp.runtime.types import Schema
from tests.runtime.making import tool

A_LIST: Schema = {"type": "array", "items": {"type": "object"}}
TEXT = Argument(name="query", location="query")


def make_tool(path: str, *more: Argument, method: str = "GET", answer: Schema | None = None) -> Tool:
    """Return a tool with an argument for each variable of its path."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    in_path = [Argument(name=name, location="path", required=True) for name in names]
    required = [argument.name for argument in (*in_path, *more) if argument.required]
    schema = {"type": "object", "required": required}
    return tool(path, *in_path, *more, method=method, name=f"{method}{path}", input_schema=schema, output_schema=answer)


def producers(tools: list[Tool], consumer: int = 0) -> dict[str, list[str]]:
    """Return the paths of the producers of a tool by argument, the best first."""
    pairs = Dependencies(tools).producers(consumer)
    return {
        dependency.argument: [
            tools[producer.index].path for producer in sorted(each, key=lambda producer: -producer.fit)
        ]
        for dependency, each in pairs
    }


def test_path_variable_depends_on_its_name_and_the_segment_before_it() -> None:
    season, series = list(dependencies_of(make_tool("/tv/{series_id}/seasons/{number}")))[::-1]
    assert (series.argument, set(series.nouns), series.collection) == ("series_id", {"seri", "tv"}, "tv")
    assert (season.argument, set(season.nouns), season.collection) == ("number", {"season"}, "tv/{series_id}/seasons")


def test_required_id_outside_of_the_path_is_a_dependency() -> None:
    customer = Argument(name="customerId", location="body", required=True)
    note = Argument(name="note_text", location="body", required=True)
    assert [
        dependency.argument for dependency in dependencies_of(make_tool("/orders", customer, note, method="POST"))
    ] == ["customerId"]


@pytest.mark.parametrize(
    ("listing", "nouns"),
    [
        (make_tool("/movies"), ("movi",)),
        (make_tool("/search/movie", TEXT), ("movi", "search")),
        (make_tool("/movie/popular", answer=A_LIST), ("popular", "movi")),
        (make_tool("/users.list"), ("list", "user")),
        (make_tool("/issues/search", method="POST"), ("search", "issu")),
        (make_tool("/search", TEXT), ("*",)),
        (make_tool("/movies/{id}"), ()),
        (make_tool("/movies", method="POST"), ()),
        (make_tool("/status", answer={"type": "object", "properties": {"ok": {"type": "boolean"}}}), ()),
        (make_tool("/"), ()),
    ],
    ids=lambda value: value.path if isinstance(value, Tool) else None,
)
def test_listed_nouns(listing: Tool, nouns: tuple[str, ...]) -> None:
    assert listed_nouns(listing) == nouns


def test_lists_and_searches_are_producers() -> None:
    tools = [
        make_tool("/movies/{movie_id}/credits"),
        make_tool("/movies"),
        make_tool("/search/movie", TEXT),
        make_tool("/people"),
    ]
    assert set(producers(tools)["movie_id"]) == {"/movies", "/search/movie"}


def test_most_specific_dependency_comes_first() -> None:
    tools = [make_tool("/repos/{repo}/issues/{issue_number}"), make_tool("/repos/{repo}/issues"), make_tool("/repos")]
    assert list(producers(tools).items()) == [("issue_number", ["/repos/{repo}/issues"]), ("repo", ["/repos"])]


def test_tool_that_needs_a_value_is_not_its_producer() -> None:
    tools = [
        make_tool("/users/{user_id}/photo"),
        make_tool("/users/{user_id}/users"),
        make_tool("/teams/{team_id}/users"),
    ]
    assert producers(tools) == {"user_id": ["/teams/{team_id}/users"]}


def test_general_search_is_a_producer_if_no_other_search_is() -> None:
    anything = make_tool("/search", TEXT)
    assert producers([make_tool("/files/{file_id}"), anything]) == {"file_id": ["/search"]}
    assert producers([make_tool("/files/{file_id}"), anything, make_tool("/files", TEXT)]) == {"file_id": ["/files"]}


def test_unrelated_tools_have_no_dependencies() -> None:
    assert producers([make_tool("/a/{id}/b"), make_tool("/c"), make_tool("/d/{x}")]) == {}
