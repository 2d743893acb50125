"""The base URL is that of the nearest usable `servers`; where none can be used, the tool exists without one."""

from dataclasses import replace
from typing import Any

import pytest

from openapi_mcp.compilation import BaseUrlOptions, Compilation
from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.request.context import guess_hint
from openapi_mcp.tools.compiler import build
from tests.compiling import Json, document, kinds

WEB = "https://docs.example.com/specs/v1/openapi.yaml"
FILE = "file:///api/openapi.yaml"


def build_with(servers: Any, uri: str = FILE, options: BaseUrlOptions | None = None) -> Compilation:
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
        ("", WEB + "?sig=x", WEB),
        ("#x", WEB + "?sig=x", WEB + "#x"),
        ("//cdn.example.com/a", WEB, "https://cdn.example.com/a"),
        ("//cdn.example.com/a", FILE, "https://cdn.example.com/a"),
        ("/api/v2", FILE, None),
        ("/api/v2", "stdin:", None),
        ("", FILE, None),
    ],
)
def test_url_is_absolute_or_relative_to_a_web_document(url: str, uri: str, base_url: str | None) -> None:
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
def test_unusable_server_is_reported_and_skipped(server: Any) -> None:
    alone = build_with([server])
    assert (alone.tools[0].base_url, kinds(alone)) == (None, [("server", None)])
    assert alone.problems[0].hint.startswith("give --")
    assert alone.problems[0].hint.endswith("--base-url")
    with_another = build_with([server, {"url": "https://api.example.com"}])
    assert (with_another.tools[0].base_url, with_another.problems) == ("https://api.example.com", ())


VARIABLES = {"region": {"default": "eu", "enum": ["eu", "us"]}, "port": {"default": 8443}}
TEMPLATE = {"url": "https://{region}.example.com:{port}/v1", "variables": VARIABLES}


def test_server_variables_have_defaults_and_the_users_values() -> None:
    assert build_with([TEMPLATE]).tools[0].base_url == "https://eu.example.com:8443/v1"
    options = BaseUrlOptions(variables={"region": "us"})
    assert build_with([TEMPLATE], options=options).tools[0].base_url == "https://us.example.com:8443/v1"


def test_default_outside_its_enum_is_used() -> None:
    server = {"url": "http://{t}.example.com", "variables": {"t": {"default": "c", "enum": ["a", "b"]}}}
    assert build_with([server]).tools[0].base_url == "http://c.example.com"


@pytest.mark.parametrize("chosen", [1, "https://other.example.com", "staging", "for tests"])
def test_user_chooses_among_the_root_servers(chosen: int | str) -> None:
    servers = [{"url": "https://api.example.com"}, {"url": "https://other.example.com", "name": "staging"}]
    servers[1]["description"] = "for tests"
    options = BaseUrlOptions(server=chosen)
    assert build_with(servers, options=options).tools[0].base_url == "https://other.example.com"


@pytest.mark.parametrize("chosen", [2, -1, "https://nowhere.example.com"])
def test_unknown_server_is_an_error_that_lists_the_servers(chosen: int | str) -> None:
    with pytest.raises(UsageError, match="no server") as caught:
        build_with([{"url": "https://api.example.com"}, None], options=BaseUrlOptions(server=chosen))
    assert caught.value.hint == "0: https://api.example.com"


def test_nearest_nonempty_servers_are_used() -> None:
    root, path, own = ([{"url": f"https://{level}.example.com"}] for level in ("root", "path", "own"))
    item = {"servers": path, "get": {"servers": own}, "put": {}, "post": {"servers": []}}
    by_method = {tool.method: tool.base_url for tool in build(document({"/x": item}, servers=root)).tools}
    assert by_method == dict.fromkeys(("PUT", "POST"), "https://path.example.com") | {"GET": "https://own.example.com"}


@pytest.mark.parametrize("servers", [None, [], {}, "https://api.example.com"])
def test_missing_servers_default_to_the_documents_host(servers: Any) -> None:
    assert build_with(servers, WEB).tools[0].base_url == "https://docs.example.com"
    assert build_with(servers).tools[0].base_url is None


def test_unusable_server_of_many_operations_is_one_problem() -> None:
    paths: Json = {f"/{number}": {"get": {}} for number in range(9)}
    result = build(document(paths, servers=[{"url": "file:///etc"}]))
    assert kinds(result) == [("server", None)]


def test_server_is_relative_to_its_file() -> None:
    files: Json = {"x-openapi-mcp-files": [{"servers": [{"url": "sub/"}], "get": {}}]}
    root = document({"/x": {"$ref": "#/x-openapi-mcp-files/0"}}, uri=WEB, **files)
    inner = replace(root, files=("https://docs.example.com/specs/v1/paths/x.yaml",))
    assert build(inner).tools[0].base_url == "https://docs.example.com/specs/v1/paths/sub"


def test_values_of_variables_are_compared_with_the_document() -> None:
    server = {"url": "http://{a}.example.com", "variables": {"a": {"default": "x", "enum": ["x", "y"]}}}
    other = {"url": "http://{b}.example.com"}
    result = build_with([server, other], options=BaseUrlOptions(variables={"a": "z", "b": "1"}))
    assert result.tools[0].base_url == "http://z.example.com"
    assert [(problem.message.split(";")[0], problem.hint) for problem in result.problems] == [
        ("z is not in the `enum` of the server variable {a}", "the documented values are x, y"),
        (
            "no server in use has the variable {b}",
            "choose a server that has it with --server, or leave its --server-var out",
        ),
    ]


@pytest.mark.parametrize(
    "value", ["..", "../admin", "eu/../../admin", "%2e%2e", "..%2Fadmin", "a\\..\\b", "%252e%252e/x"]
)
def test_value_of_a_variable_that_leads_to_another_path_is_an_error(value: str) -> None:
    server = {"url": "https://example.com/{tenant}/v1", "variables": {"tenant": {"default": "a"}}}
    with pytest.raises(UsageError, match="another path") as caught:
        build_with([server], options=BaseUrlOptions(variables={"tenant": value}))
    assert caught.value.where == "--server-var tenant=…"
    assert build_with([server], options=BaseUrlOptions(variables={"tenant": "a.b/c"})).tools


@pytest.mark.parametrize(
    ("name", "hint"), [("Region", "did you mean region?"), ("x", "the variables of its servers are: region, port")]
)
def test_value_of_an_unknown_variable_is_an_error(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"no server of the document has the variable {{{name}}}") as caught:
        build_with([TEMPLATE], options=BaseUrlOptions(variables={name: "eu"}))
    assert (caught.value.where, caught.value.hint) == (f"--server-var {name}=…", hint)


def test_variable_of_a_server_of_one_operation_is_known() -> None:
    paths: Json = {"/x": {"get": {"servers": [TEMPLATE]}}, "/y": {"get": {}}}
    options = BaseUrlOptions(variables={"region": "us"})
    urls = [tool.base_url for tool in build(document(paths), base_url=options).tools]
    assert urls == ["https://us.example.com:8443/v1", None]


def test_servers_of_a_wrong_type_are_reported() -> None:
    assert kinds(build_with({"url": "https://api.example.com"})) == [("server", None)]


@pytest.mark.parametrize(
    ("servers", "is_guess"),
    [(None, True), ([{"url": "/v1"}], True), ([{"url": "https://api.test"}], False), ([{"url": "//api.test"}], False)],
)
def test_host_of_the_document_itself_is_a_guess(servers: Any, is_guess: bool) -> None:
    root = {} if servers is None else {"servers": servers}
    paths = {"/x": {"get": {"operationId": "it", "responses": {}}}}
    (tool,) = build(document(paths, uri="https://docs.test/openapi.yaml", **root)).tools
    assert tool.base_url_is_guess is is_guess
    sent = build_request(tool, {}, RequestOptions())
    assert bool(guess_hint(sent)) is is_guess
    assert not guess_hint(build_request(tool, {}, RequestOptions(base_url="https://api.test")))
