"""Calls go where the nearest `servers` say, as one absolute URL; where none can be used, the tool exists anyway."""

from dataclasses import replace
from typing import Any

import pytest

from openapi_mcp.compiled import Compiled
from openapi_mcp.errors import UsageError
from openapi_mcp.tools import build
from openapi_mcp.wanted import BaseUrlOptions
from tests.compiling import Json, document, kinds

WEB = "https://docs.example.com/specs/v1/openapi.yaml"
FILE = "file:///api/openapi.yaml"


def build_with(servers: Any, uri: str = FILE, options: BaseUrlOptions | None = None) -> Compiled:
    return build(document({"/x": {"get": {}}}, uri=uri, servers=servers), base_url=options)


@pytest.mark.parametrize(
    ("url", "uri", "base_url"),
    [
        ("https://api.example.com/v1/", FILE, "https://api.example.com/v1"),
        ("HTTPS://api.example.com", FILE, "HTTPS://api.example.com"),
        (" https://api.example.com ", FILE, "https://api.example.com"),
        ("http://q.example.com/a?key=1", FILE, "http://q.example.com/a?key=1"),
        ("/api/v2/", WEB, "https://docs.example.com/api/v2"),
        ("../v9", WEB, "https://docs.example.com/specs/v9"),
        ("/", WEB, "https://docs.example.com"),
        ("//cdn.example.com/a", WEB, "https://cdn.example.com/a"),
        ("//cdn.example.com/a", FILE, "https://cdn.example.com/a"),
        ("/api/v2", FILE, None),
        ("/api/v2", "stdin:", None),
        ("", FILE, None),
    ],
)
def test_a_url_is_absolute_or_relative_to_a_document_from_the_web(url: str, uri: str, base_url: str | None) -> None:
    result = build_with([{"url": url}], uri)
    assert result.tools[0].base_url == base_url
    assert result.problems == ()


@pytest.mark.parametrize(
    "server",
    [
        {"url": "file:///etc"},
        {"url": "wss://api.example.com"},
        {"url": "https://"},
        {"url": "http://[::1"},
        {"url": "http://{tenant}.example.com"},
        {"url": "http://{tenant}.example.com", "variables": {"tenant": {"enum": ["a", "b"]}}},
        {"url": "http://{tenant}.example.com", "variables": {"tenant": {"default": None}}},
        {"url": "http://{tenant}.example.com", "variables": ["tenant"]},
        {"url": 5},
        {},
        "https://api.example.com",
        None,
    ],
)
def test_a_server_that_cannot_be_used_is_reported_and_passed_over(server: Any) -> None:
    alone = build_with([server])
    assert (alone.tools[0].base_url, kinds(alone)) == (None, [("server", None)])
    assert alone.problems[0].hint.startswith("give --")
    assert alone.problems[0].hint.endswith("--base-url")
    with_another = build_with([server, {"url": "https://api.example.com"}])
    assert (with_another.tools[0].base_url, with_another.problems) == ("https://api.example.com", ())


VARIABLES = {"region": {"default": "eu", "enum": ["eu", "us"]}, "port": {"default": 8443}}
TEMPLATE = {"url": "https://{region}.example.com:{port}/v1", "variables": VARIABLES}


def test_variables_have_their_defaults_and_the_users_values() -> None:
    assert build_with([TEMPLATE]).tools[0].base_url == "https://eu.example.com:8443/v1"
    options = BaseUrlOptions(variables={"region": "us"})
    assert build_with([TEMPLATE], options=options).tools[0].base_url == "https://us.example.com:8443/v1"


def test_a_default_outside_its_enum_is_used() -> None:
    server = {"url": "http://{t}.example.com", "variables": {"t": {"default": "c", "enum": ["a", "b"]}}}
    assert build_with([server]).tools[0].base_url == "http://c.example.com"


@pytest.mark.parametrize("chosen", [1, "https://other.example.com", "staging", "for tests"])
def test_a_user_chooses_among_the_roots_servers(chosen: int | str) -> None:
    servers = [{"url": "https://api.example.com"}, {"url": "https://other.example.com", "name": "staging"}]
    servers[1]["description"] = "for tests"
    options = BaseUrlOptions(server=chosen)
    assert build_with(servers, options=options).tools[0].base_url == "https://other.example.com"


@pytest.mark.parametrize("chosen", [2, -1, "https://nowhere.example.com"])
def test_a_server_that_is_not_there_is_an_error_that_lists_those_that_are(chosen: int | str) -> None:
    with pytest.raises(UsageError, match="no server") as caught:
        build_with([{"url": "https://api.example.com"}, None], options=BaseUrlOptions(server=chosen))
    assert caught.value.hint == "0: https://api.example.com"


def test_the_nearest_servers_count_and_empty_ones_do_not() -> None:
    root, path, own = ([{"url": f"https://{place}.example.com"}] for place in ("root", "path", "own"))
    item = {"servers": path, "get": {"servers": own}, "put": {}, "post": {"servers": []}}
    by_method = {tool.method: tool.base_url for tool in build(document({"/x": item}, servers=root)).tools}
    assert by_method == dict.fromkeys(("PUT", "POST"), "https://path.example.com") | {"GET": "https://own.example.com"}


@pytest.mark.parametrize("servers", [None, [], {}, "https://api.example.com"])
def test_no_servers_are_the_place_of_the_document(servers: Any) -> None:
    assert build_with(servers, WEB).tools[0].base_url == "https://docs.example.com"
    assert build_with(servers).tools[0].base_url is None


def test_a_server_of_many_operations_is_one_problem() -> None:
    paths: Json = {f"/{number}": {"get": {}} for number in range(9)}
    result = build(document(paths, servers=[{"url": "file:///etc"}]))
    assert kinds(result) == [("server", None)]


def test_a_server_is_relative_to_the_file_that_names_it() -> None:
    files: Json = {"x-openapi-mcp-files": [{"servers": [{"url": "sub/"}], "get": {}}]}
    root = document({"/x": {"$ref": "#/x-openapi-mcp-files/0"}}, uri=WEB, **files)
    inner = replace(root, files=("https://docs.example.com/specs/v1/paths/x.yaml",))
    assert build(inner).tools[0].base_url == "https://docs.example.com/specs/v1/paths/sub"


def test_what_is_given_for_a_variable_is_compared_with_the_document() -> None:
    server = {"url": "http://{a}.example.com", "variables": {"a": {"default": "x", "enum": ["x", "y"]}}}
    found = build_with([server], options=BaseUrlOptions(variables={"a": "z", "b": "1"}))
    assert found.tools[0].base_url == "http://z.example.com"
    assert [(problem.message.split(";")[0], problem.hint) for problem in found.problems] == [
        ("z is none of the values of the server's variable {a}", "they are x, y"),
        ("there is no variable {b} in any server that is used", "see --server-var"),
    ]


def test_servers_that_are_no_list_are_reported() -> None:
    assert kinds(build_with({"url": "https://api.example.com"})) == [("server", None)]
