"""Every call of the torture documents through the whole bridge, from the document to the bytes on the wire.

The expectations are data: `expected.json` beside the documents says what a call's request must look like. Calls whose
wire form no specification defines are checked as well, and reported as such where they differ.
"""

import asyncio
import base64
import json
import re
import warnings
from collections.abc import Callable, Iterator
from email.parser import BytesParser
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx
import pytest

from openapi_mcp import loader, swagger2, tools
from openapi_mcp.runtime.catalog import Catalog
from openapi_mcp.runtime.models import Tool
from openapi_mcp.runtime.protocol import ServerDescription
from openapi_mcp.runtime.requests import RequestOptions
from openapi_mcp.runtime.server import Server
from openapi_mcp.runtime.types import CallToolResult, Implementation
from openapi_mcp.runtime.upstream import Upstream
from openapi_mcp.wanted import BaseUrlOptions
from tests.conftest import SHARED
from tests.runtime.echo import NO_CONTENT, Echo, Recorded, answer, echoing

TORTURE = SHARED / "torture"
EXPECTED = TORTURE / "expected.json"
CALLS: list[dict[str, Any]] = json.loads(EXPECTED.read_text())["calls"] if EXPECTED.exists() else []
pytestmark = pytest.mark.skipif(not CALLS, reason=f"{EXPECTED} is not there")

ARGUMENTS_BY_PLACE = {"formData": "body"}
HOME = "http://127.0.0.1:9/specs/openapi.yaml"


def about_urls(call: dict[str, Any]) -> bool:
    """Whether a call is about where it goes, rather than about its bytes."""
    return bool({"url", "url_scheme", "clear_error_or_not_offered"} & call.get("expect", {}).keys())


def identified(call: dict[str, Any]) -> str:
    return f"{call['document']}:{call['id']}"


@cache
def compiled(document: str, server: str = "null") -> tuple[Tool, ...]:
    """The tools of a torture document; `server` is JSON: which of its servers is chosen, with which variables."""
    chosen = json.loads(server) or {}
    options = BaseUrlOptions(server=chosen.get("index"), variables=chosen.get("variables", {}))
    loaded = swagger2.convert(loader.load(str(TORTURE / document)))
    if document.startswith("11-"):
        loaded = loader.Document(loaded.root, HOME, loaded.version, loaded.problems)
    return tools.build(loaded, base_url=options).tools


def the_tool(call: dict[str, Any]) -> Tool:
    found = [
        tool
        for tool in compiled(call["document"], json.dumps(call.get("server")))
        if tool.operation_id == call["operationId"] and call.get("method", tool.method) in (tool.method, "*")
    ]
    assert len(found) == 1, f"{len(found)} tools for {call['operationId']}"
    return found[0]


def arguments_of(tool: Tool, call: dict[str, Any]) -> dict[str, Any]:
    """The call's values, which are given by place and name, as this tool's arguments."""
    arguments: dict[str, Any] = {}
    for place, values in call["args"].items():
        location = ARGUMENTS_BY_PLACE.get(place, place)
        if location == "content_type":
            [name] = [argument.name for argument in tool.arguments if argument.location == "media_type"]
            arguments[name] = values
        elif location in ("body", "querystring"):
            arguments |= whole(tool, location, values)
        else:
            for wire_name, value in values.items():
                arguments[named(tool, location, wire_name)] = value
    converted: dict[str, Any] = plain(arguments)
    return converted


def whole(tool: Tool, location: str, value: Any) -> dict[str, Any]:
    """A body or query string: one argument, or one for each of its properties and what the schema does not name."""
    [*found] = [argument for argument in tool.arguments if argument.location == location]
    alone = [a for a in found if a.wire_name is None or location == "querystring"]
    if alone:
        return {alone[0].name: value}
    names = {argument.wire_name: argument.name for argument in found}
    return {names.get(name, name): inner for name, inner in value.items()}


def named(tool: Tool, location: str, wire_name: str) -> str:
    [name] = [a.name for a in tool.arguments if a.location == location and a.wire_name == wire_name]
    return name


def plain(value: Any) -> Any:
    """`{"$file": …}` is how the expectations write a file; here it is base64."""
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
@pytest.mark.parametrize("call", [call for call in CALLS if "args" in call and not about_urls(call)], ids=identified)
def test_requests_are_what_the_document_says(echo: Echo, call: dict[str, Any]) -> None:
    tool = the_tool(call)
    before = len(echo.requests)
    base = urlsplit(tool.base_url or "").path
    result = send(tool, call, echo.url + base, Upstream())
    sent = echo.requests[before:]
    assert len(sent) <= 1
    if not sent:
        assert result.is_error, result
        assert MAY_BE_REFUSED & call["expect"].keys(), result.content
        return
    for key, wanted in call.get("expect", {}).items():
        try:
            CHECKS[key](sent[0], wanted, call, tool)
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


def is_path(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert sent.path in wanted


def is_query(sent: Recorded, wanted: Any, call: dict[str, Any], *_: Any) -> None:
    ignored = call["expect"].get("query_ignoring", [])
    pairs = [pair for pair in sent.query.split("&") if pair.partition("=")[0] not in ignored]
    if call["expect"].get("query_any_order"):
        assert sorted(pairs) in [sorted(each.split("&")) for each in wanted]
    else:
        assert "&".join(pairs) in wanted


def is_query_decoded(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert sorted(map(list, parse_qsl(sent.query, keep_blank_values=True))) == sorted(wanted)


def is_query_json(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert {name: json.loads(text) for name, text in parse_qsl(sent.query)} == wanted


def is_whole_query_json(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert json.loads(unquote(sent.query)) == wanted


def has_headers(sent: Recorded, wanted: Any, *_: Any) -> None:
    for name, values in wanted.items():
        assert sent.one(name) in values, name


def has_headers_if_any(sent: Recorded, wanted: Any, *_: Any) -> None:
    for name, values in wanted.items():
        assert sent.one(name) in [None, *values], name


def lacks_headers(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert [name for name in wanted if sent.all(name)] == []


def has_cookie(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert sent.one("cookie") in wanted


def is_method(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert sent.method == wanted


def is_json(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert json.loads(sent.body) == wanted


def is_text(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert sent.body.decode() == wanted


def is_bytes(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert sent.body == base64.b64decode(wanted)


def are_json_lines(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert [json.loads(line) for line in sent.body.decode().splitlines()] == wanted


def is_content_type(sent: Recorded, wanted: Any, *_: Any) -> None:
    written = sent.one("content-type") or ""
    assert wanted in (written, written.partition(";")[0])


def is_one_content_type(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert (sent.one("content-type") or "").partition(";")[0] in wanted


def has_no_body(sent: Recorded, *_: Any) -> None:
    assert (sent.body, sent.one("content-type")) == (b"", None)


def is_form(sent: Recorded, wanted: Any, *_: Any) -> None:
    pairs = parse_qsl(sent.body.decode(), keep_blank_values=True)
    assert len(pairs) == len(wanted)
    for (name, text), (wanted_name, value) in zip(pairs, wanted, strict=True):
        read = json.loads(text) if isinstance(value, dict) else text
        assert (name, read) == (wanted_name, value["$json"] if isinstance(value, dict) else value)


def holds(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert all(piece in sent.body.decode() for piece in wanted)


def has_parts(sent: Recorded, wanted: Any, *_: Any) -> None:
    head = f"Content-Type: {sent.one('content-type')}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + sent.body).get_payload()
    assert len(parts) == len(wanted)
    for part, expected in zip(parts, wanted, strict=True):
        assert not isinstance(part, str)
        assert f'name="{expected["name"]}"'.encode() in sent.body
        check_part(part, expected)


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


def schema_lacks(_sent: Recorded, wanted: Any, _call: dict[str, Any], tool: Tool) -> None:
    assert not set(wanted) & {argument.wire_name for argument in tool.arguments}


def stays_under(sent: Recorded, wanted: Any, *_: Any) -> None:
    segments: list[str] = []
    for segment in re.split(r"[/\\]", sent.path[len(wanted) :]):
        segments = segments[:-1] if segment in ("..", "%2e%2e", "%2E%2E") else [*segments, segment]
    assert sent.path.startswith(wanted)
    assert segments


def has_one_authorization(sent: Recorded, *_: Any) -> None:
    assert len(sent.all("authorization")) <= 1


def sends_no_defaults(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert not set(wanted) & {name for name, _ in parse_qsl(sent.query)}


def is_refused_or_lacks_header(sent: Recorded, wanted: Any, *_: Any) -> None:
    assert not sent.all(wanted if isinstance(wanted, str) else "x-injected")


def says_nothing_here(*_: Any) -> None:
    """A rule that another check of the same call applies, or that holds by having come here."""


CHECKS: dict[str, Check] = {
    "path": is_path,
    "query": is_query,
    "query_decoded": is_query_decoded,
    "query_json": is_query_json,
    "query_whole_json": is_whole_query_json,
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
    "refused_or_path_stays_under": stays_under,
    "single_authorization_header": has_one_authorization,
    "not_sent": sends_no_defaults,
    "refused_or_without_header": is_refused_or_lacks_header,
    **dict.fromkeys(
        ("query_ignoring", "query_any_order", "after_normalising", "no_crash", "consistent"), says_nothing_here
    ),
    **dict.fromkeys(("refused_by_schema_or_sent", "clear_error_or_sent_without"), says_nothing_here),
}


@pytest.mark.parametrize("call", [call for call in CALLS if about_urls(call)], ids=identified)
def test_calls_go_to_the_server_that_the_document_names(call: dict[str, Any]) -> None:
    """The request is caught where it would leave, since its host is not ours."""
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


def test_parameters_that_the_specification_ignores_are_no_arguments() -> None:
    for call in CALLS:
        for name in call.get("schema", {}).get("header_params_ignored", []):
            assert name not in {argument.wire_name for argument in the_tool(call).arguments}


def test_every_call_is_driven() -> None:
    assert len(CALLS) == 192
    assert {key for call in CALLS for key in call.get("expect", {})} <= {
        *CHECKS,
        *("url", "url_scheme", "clear_error_or_not_offered", "never_sent_to"),
    }


@pytest.mark.parametrize("content_type", ["application/octet-stream", "image/png", "application/pdf"])
def test_downloads_arrive_byte_for_byte(echo: Echo, content_type: str) -> None:
    data = bytes(range(256))
    call = {"document": "05-multipart.yaml", "operationId": "download", "args": {}}
    echo.respond = lambda _: answer(data, f"Content-Type: {content_type}")
    try:
        [block] = send(the_tool(call), call, echo.url, Upstream()).content
    finally:
        echo.respond = lambda _: NO_CONTENT
    assert base64.b64decode(block["data"] if block["type"] == "image" else block["resource"]["blob"]) == data


def test_no_credential_shows_in_a_list_an_error_or_a_log(echo: Echo, caplog: pytest.LogCaptureFixture) -> None:
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
