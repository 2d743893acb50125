"""Drive each call of the torture documents through the bridge, from the document to the bytes on the wire.

`expected.json` beside the documents has the expected request of each call. Calls whose wire form no specification
defines are checked as well; a difference is only a warning.
"""

import asyncio
import base64
import json
import warnings
from collections.abc import Callable, Iterator
from email.parser import BytesParser
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx
import pytest

from openapi_mcp.compilation import BaseUrlOptions
from openapi_mcp.document import loader
from openapi_mcp.document.swagger2.conversion import convert
from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.server.catalog import Catalog
from openapi_mcp.runtime.server.server import Server
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import CallToolResult, Implementation
from openapi_mcp.runtime.upstream.client import Upstream
from openapi_mcp.tools import compiler
from tests.conftest import SHARED
from tests.runtime.echo import NO_CONTENT, Echo, Recorded, answer, echoing

TORTURE = SHARED / "torture"
EXPECTED = TORTURE / "expected.json"
CALLS: list[dict[str, Any]] = json.loads(EXPECTED.read_text())["calls"] if EXPECTED.exists() else []
pytestmark = pytest.mark.skipif(not CALLS, reason=f"{EXPECTED} is not there")

LOCATIONS = {"formData": "body"}
DOCUMENT_URL = "http://127.0.0.1:9/specs/openapi.yaml"


def about_urls(call: dict[str, Any]) -> bool:
    """Return whether a call expects a URL rather than bytes."""
    return bool({"url", "url_scheme", "clear_error_or_not_offered"} & call.get("expect", {}).keys())


def call_id(call: dict[str, Any]) -> str:
    return f"{call['document']}:{call['id']}"


@cache
def compiled(document: str, server: str = "null") -> tuple[Tool, ...]:
    """Return the tools of a torture document; `server` is JSON: a server's index and variables, or null."""
    chosen = json.loads(server) or {}
    options = BaseUrlOptions(server=chosen.get("index"), variables=chosen.get("variables", {}))
    loaded = convert(loader.load(str(TORTURE / document)))
    if document.startswith("11-"):
        loaded = loader.Document(loaded.root, DOCUMENT_URL, loaded.version, loaded.problems)
    return compiler.build(loaded, base_url=options).tools


def the_tool(call: dict[str, Any]) -> Tool:
    matches = [
        tool
        for tool in compiled(call["document"], json.dumps(call.get("server")))
        if tool.operation_id == call["operationId"] and call.get("method", tool.method) in (tool.method, "*")
    ]
    assert len(matches) == 1, f"{len(matches)} tools for {call['operationId']}"
    return matches[0]


def arguments_of(tool: Tool, call: dict[str, Any]) -> dict[str, Any]:
    """Return the call's values, which are listed by location and name, as arguments of this tool."""
    arguments: dict[str, Any] = {}
    for in_name, values in call["args"].items():
        location = LOCATIONS.get(in_name, in_name)
        if location == "content_type":
            [name] = [argument.name for argument in tool.arguments if argument.location == "media_type"]
            arguments[name] = values
        elif location in ("body", "querystring"):
            arguments |= as_body_arguments(tool, location, values)
        else:
            for wire_name, value in values.items():
                arguments[named(tool, location, wire_name)] = value
    converted: dict[str, Any] = plain(arguments)
    return converted


def as_body_arguments(tool: Tool, location: str, value: Any) -> dict[str, Any]:
    """Return a body or query string as one argument, or as one for each property, undeclared ones included."""
    [*matches] = [argument for argument in tool.arguments if argument.location == location]
    alone = [a for a in matches if a.wire_name is None or location == "querystring"]
    if alone:
        return {alone[0].name: value}
    names = {argument.wire_name: argument.name for argument in matches}
    return {names.get(name, name): inner for name, inner in value.items()}


def named(tool: Tool, location: str, wire_name: str) -> str:
    [name] = [a.name for a in tool.arguments if a.location == location and a.wire_name == wire_name]
    return name


def plain(value: Any) -> Any:
    """Replace each file of the expectations, `{"$file": …}`, by its base64 text."""
    if isinstance(value, dict):
        return value["$file"]["base64"] if "$file" in value else {key: plain(inner) for key, inner in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


def send(tool: Tool, call: dict[str, Any], base_url: str | None, upstream: Upstream) -> CallToolResult:
    options = RequestOptions(base_url=base_url, credentials=call.get("credentials", {}))
    description = ServerDescription(implementation=Implementation("torture", "1"))

    async def once() -> CallToolResult:
        server = Server(Catalog([tool]), description, upstream, options=options)
        try:
            return await server.call(tool.name, arguments_of(tool, call))
        finally:
            await server.aclose()

    return asyncio.run(once())


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("call", [call for call in CALLS if "args" in call and not about_urls(call)], ids=call_id)
def test_requests_match_the_expectations(echo: Echo, call: dict[str, Any]) -> None:
    tool = the_tool(call)
    before = len(echo.requests)
    base = urlsplit(tool.base_url or "").path
    result = send(tool, call, echo.url + base, Upstream())
    sent = echo.requests[before:]
    assert len(sent) <= 1
    if "refused_or_path_stays_under" in call.get("expect", {}):
        assert not sent, "a path value with a part `.` or `..` is sent, and servers decode before they match"
        assert "Give a value without the parts `.` and `..`" in result.content[0]["text"]
    if not sent:
        assert result.is_error, result
        assert MAY_BE_REFUSED & call["expect"].keys(), result.content
        return
    for key, expected in call.get("expect", {}).items():
        try:
            CHECKS[key](sent[0], expected, call, tool)
        except AssertionError as error:
            if not call.get("undefined_by_spec"):
                raise
            warnings.warn(f"{call['id']} differs where nothing is specified: {error}", stacklevel=1)


MAY_BE_REFUSED = {
    "refused_or_path_stays_under",
    "refused_by_schema_or_sent",
    "refused_or_without_header",
    "clear_error_or_sent_without",
    "no_crash",
}

Check = Callable[[Recorded, Any, dict[str, Any], Tool], None]


def is_path(sent: Recorded, expected: Any, *_: Any) -> None:
    assert sent.path in expected


def is_query(sent: Recorded, expected: Any, call: dict[str, Any], *_: Any) -> None:
    ignored = call["expect"].get("query_ignoring", [])
    pairs = [pair for pair in sent.query.split("&") if pair.partition("=")[0] not in ignored]
    if call["expect"].get("query_any_order"):
        assert sorted(pairs) in [sorted(each.split("&")) for each in expected]
    else:
        assert "&".join(pairs) in expected


def is_query_decoded(sent: Recorded, expected: Any, *_: Any) -> None:
    assert sorted(map(list, parse_qsl(sent.query, keep_blank_values=True))) == sorted(expected)


def is_query_json(sent: Recorded, expected: Any, *_: Any) -> None:
    assert {name: json.loads(text) for name, text in parse_qsl(sent.query)} == expected


def is_querystring_json(sent: Recorded, expected: Any, *_: Any) -> None:
    assert json.loads(unquote(sent.query)) == expected


def has_headers(sent: Recorded, expected: Any, *_: Any) -> None:
    for name, values in expected.items():
        assert sent.one(name) in values, name


def has_headers_if_any(sent: Recorded, expected: Any, *_: Any) -> None:
    for name, values in expected.items():
        assert sent.one(name) in [None, *values], name


def lacks_headers(sent: Recorded, expected: Any, *_: Any) -> None:
    assert [name for name in expected if sent.all(name)] == []


def has_cookie(sent: Recorded, expected: Any, *_: Any) -> None:
    assert sent.one("cookie") in expected


def is_method(sent: Recorded, expected: Any, *_: Any) -> None:
    assert sent.method == expected


def is_json(sent: Recorded, expected: Any, *_: Any) -> None:
    assert json.loads(sent.body) == expected


def is_text(sent: Recorded, expected: Any, *_: Any) -> None:
    assert sent.body.decode() == expected


def is_bytes(sent: Recorded, expected: Any, *_: Any) -> None:
    assert sent.body == base64.b64decode(expected)


def are_json_lines(sent: Recorded, expected: Any, *_: Any) -> None:
    assert [json.loads(line) for line in sent.body.decode().splitlines()] == expected


def is_content_type(sent: Recorded, expected: Any, *_: Any) -> None:
    content_type = sent.one("content-type") or ""
    assert expected in (content_type, content_type.partition(";")[0])


def is_one_content_type(sent: Recorded, expected: Any, *_: Any) -> None:
    assert (sent.one("content-type") or "").partition(";")[0] in expected


def has_no_body(sent: Recorded, *_: Any) -> None:
    assert (sent.body, sent.one("content-type")) == (b"", None)


def is_form(sent: Recorded, expected: Any, *_: Any) -> None:
    pairs = parse_qsl(sent.body.decode(), keep_blank_values=True)
    assert len(pairs) == len(expected)
    for (name, text), (expected_name, value) in zip(pairs, expected, strict=True):
        read = json.loads(text) if isinstance(value, dict) else text
        assert (name, read) == (expected_name, value["$json"] if isinstance(value, dict) else value)


def holds(sent: Recorded, expected: Any, *_: Any) -> None:
    assert all(piece in sent.body.decode() for piece in expected)


def has_parts(sent: Recorded, expected: Any, *_: Any) -> None:
    head = f"Content-Type: {sent.one('content-type')}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + sent.body).get_payload()
    assert len(parts) == len(expected)
    for part, expected_part in zip(parts, expected, strict=True):
        assert not isinstance(part, str)
        assert f'name="{expected_part["name"]}"'.encode() in sent.body
        check_part(part, expected_part)


def check_part(part: Any, expected: dict[str, Any]) -> None:
    data = part.get_payload(decode=True)
    checks: dict[str, Callable[[Any], bool]] = {
        "name": lambda _: True,
        "text": lambda value: data.decode() == value,
        "json": lambda value: json.loads(data) == value,
        "base64": lambda value: data == base64.b64decode(value),
        "content_type": lambda value: part["content-type"] in value,
        "filename": lambda value: bool(part.get_filename()) is value,
    }
    assert [key for key, value in expected.items() if not checks[key](value)] == []


def schema_lacks(_sent: Recorded, expected: Any, _call: dict[str, Any], tool: Tool) -> None:
    assert not set(expected) & {argument.wire_name for argument in tool.arguments}


def has_one_authorization(sent: Recorded, *_: Any) -> None:
    assert len(sent.all("authorization")) <= 1


def sends_no_defaults(sent: Recorded, expected: Any, *_: Any) -> None:
    assert not set(expected) & {name for name, _ in parse_qsl(sent.query)}


def is_refused_or_lacks_header(sent: Recorded, expected: Any, *_: Any) -> None:
    assert not sent.all(expected if isinstance(expected, str) else "x-injected")


def accepts_any(*_: Any) -> None:
    """Accept: another check of the call applies this key, or sending the request satisfies it."""


CHECKS: dict[str, Check] = {
    "path": is_path,
    "query": is_query,
    "query_decoded": is_query_decoded,
    "query_json": is_query_json,
    "query_whole_json": is_querystring_json,
    "headers": has_headers,
    "headers_or_absent": has_headers_if_any,
    "absent_headers": lacks_headers,
    "cookie": has_cookie,
    "method": is_method,
    "json": is_json,
    "text": is_text,
    "base64": is_bytes,
    "text_lines_json": are_json_lines,
    "content_type": is_content_type,
    "content_type_one_of": is_one_content_type,
    "no_body": has_no_body,
    "form_decoded": is_form,
    "raw_contains": holds,
    "parts": has_parts,
    "schema_lacks": schema_lacks,
    "single_authorization_header": has_one_authorization,
    "not_sent": sends_no_defaults,
    "refused_or_without_header": is_refused_or_lacks_header,
    **dict.fromkeys(("query_ignoring", "query_any_order", "after_normalising", "no_crash", "consistent"), accepts_any),
    **dict.fromkeys(("refused_by_schema_or_sent", "clear_error_or_sent_without"), accepts_any),
    "refused_or_path_stays_under": accepts_any,  # always refused: see the test
}


@pytest.mark.parametrize("call", [call for call in CALLS if about_urls(call)], ids=call_id)
def test_calls_use_the_documented_server(call: dict[str, Any]) -> None:
    """The transport records the request instead of sending it, since its host is not a test server."""
    urls: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        urls.append(request.url)
        return httpx.Response(204)

    result = send(the_tool(call), call, None, Upstream(transport=httpx.MockTransport(answer)))
    expect = call["expect"]
    if "clear_error_or_not_offered" in expect:
        assert result.is_error
        assert "--base-url" in result.content[0]["text"]
        assert urls == []
    elif "url" in expect:
        assert str(urls[0]) in [url.replace("PORT", "9") for url in expect["url"]]
    else:
        assert urls[0].scheme == expect["url_scheme"]


def test_ignored_header_parameters_are_no_arguments() -> None:
    for call in CALLS:
        for name in call.get("schema", {}).get("header_params_ignored", []):
            assert name not in {argument.wire_name for argument in the_tool(call).arguments}


def test_every_expected_call_and_key_is_checked() -> None:
    assert len(CALLS) == 192
    assert {key for call in CALLS for key in call.get("expect", {})} <= {
        *CHECKS,
        *("url", "url_scheme", "clear_error_or_not_offered", "never_sent_to"),
    }


@pytest.mark.parametrize("content_type", ["application/octet-stream", "image/png", "application/pdf"])
def test_downloads_are_unchanged_bytes(echo: Echo, content_type: str) -> None:
    data = bytes(range(256))
    call = {"document": "05-multipart.yaml", "operationId": "download", "args": {}}
    echo.respond = lambda _: answer(data, f"Content-Type: {content_type}")
    try:
        [block] = send(the_tool(call), call, echo.url, Upstream()).content
    finally:
        echo.respond = lambda _: NO_CONTENT
    assert base64.b64decode(block["data"] if block["type"] == "image" else block["resource"]["blob"]) == data


def test_credentials_are_not_in_lists_errors_and_logs(echo: Echo, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "openapi_mcp")
    secrets = {name: f"hunter2-{number}" for number, name in enumerate(["bearer", "basic", "keyHeader", "keyQuery"])}
    echo.respond = lambda _: answer(b"no", status="401 Unauthorized")
    try:
        for tool in compiled("12-security.yaml"):
            assert "hunter2" not in json.dumps([tool.input_schema, tool.description])
            call = {"document": "12-security.yaml", "args": {}, "credentials": secrets}
            assert "hunter2" not in str(send(tool, call, echo.url, Upstream()).content)
    finally:
        echo.respond = lambda _: NO_CONTENT
    assert "401" in caplog.text
    assert "hunter2" not in caplog.text
