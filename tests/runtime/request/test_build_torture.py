"""The torture documents of parameters, multipart and forms, sent to a server that records the exact bytes.

The tools are built here; the tests of the compiler show that the documents become such tools.
"""

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.parser import BytesParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import yaml

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import Encoding, MediaType, Tool
from openapi_mcp.runtime.upstream.client import Upstream
from tests.runtime.echo import Echo, Recorded, echoing
from tests.runtime.making import BODY, CHOICE, form, parameter, tool, with_body

TORTURE = Path(__file__).parents[4] / "shared" / "torture"
pytestmark = pytest.mark.skipif(not TORTURE.is_dir(), reason=f"{TORTURE} does not exist")

JSON = Encoding(content_type="application/json")
FILE = Encoding(content_type="application/octet-stream", binary=True)
PNG = Encoding(content_type="image/png", binary=True)
DEEP = Encoding(style="deepObject", explode=True)
CSV = Encoding(style="form")

Sent = Callable[[Tool, dict[str, Any]], Recorded]

BODIES: dict[str, Tool] = {
    "upload": with_body(form("multipart/form-data", file=FILE, meta=JSON, more=PNG, things=JSON)),
    "upload_with_encoding": with_body(
        form(
            "multipart/form-data",
            picture=Encoding(content_type="image/png, image/jpeg", binary=True),
            history=Encoding(content_type="application/xml; charset=utf-8"),
            csv=CSV,
        )
    ),
    "upload_format_binary": with_body(form("multipart/form-data", file=FILE)),
    "upload_raw": with_body(MediaType(content_type="application/octet-stream", binary=True)),
    "upload_image_or_json": with_body(
        MediaType(content_type="image/png", binary=True), "application/json", "*/*", arguments=(BODY, CHOICE)
    ),
    "plain_text": with_body("text/plain; charset=utf-8"),
    "form_default": with_body(form(address=JSON)),
    "form_deep": with_body(form(metadata=DEEP, card=DEEP, items=DEEP, expand=DEEP)),
    "form_styles": with_body(
        form(
            comma=CSV,
            space=Encoding(style="spaceDelimited"),
            pipe=Encoding(style="pipeDelimited"),
            raw=Encoding(style="form", explode=True, allow_reserved=True),
            flat=Encoding(style="form", explode=True),
            json=JSON,
        )
    ),
    "form_or_json": with_body(form(), "application/json", "application/xml", arguments=(BODY, CHOICE)),
}


def cases(document: str) -> list[dict[str, Any]]:
    if not TORTURE.is_dir():
        return []
    calls = json.loads((TORTURE / "expected.json").read_text("utf-8"))["calls"]
    return [call for call in calls if call["document"] == document and "args" in call]


def named(document: str) -> list[Any]:
    return [pytest.param(call, id=call["id"]) for call in cases(document)]


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    with echoing() as server:
        yield server


@pytest.fixture(scope="module")
def operations() -> dict[str, Tool]:
    """Document 04: every operation is a GET with parameters and nothing else."""
    document = yaml.safe_load((TORTURE / "04-param-styles.yaml").read_text("utf-8"))
    return {
        item["get"]["operationId"]: tool(path, *map(parameter, item["get"]["parameters"]))
        for path, item in document["paths"].items()
    }


@pytest.fixture(scope="module")
def sent(echo: Echo) -> Iterator[Sent]:
    with asyncio.Runner() as runner:
        upstream = Upstream()

        def send(operation: Tool, arguments: dict[str, Any]) -> Recorded:
            request = build_request(operation, arguments, RequestOptions(base_url=f"{echo.url}/base"))
            runner.run(upstream.send(request))
            return echo.last()

        yield send
        runner.run(upstream.aclose())


@pytest.mark.parametrize("call", named("04-param-styles.yaml"))
def test_parameters_have_the_expected_bytes(call: dict[str, Any], sent: Sent, operations: dict[str, Tool]) -> None:
    operation = operations[call["operationId"]]
    arguments = {f"{location}.{name}": v for location, values in call["args"].items() for name, v in values.items()}
    expect = call["expect"]
    if "refused_or_without_header" in expect:
        with pytest.raises(ArgumentError, match="line break"):
            build_request(operation, arguments, RequestOptions(base_url="http://api.test"))
        return
    if "refused_or_path_stays_under" in expect:  # `..%2F..`: servers decode before they match, so it is refused
        with pytest.raises(ArgumentError, match=r"has the part `\.\.`"):
            build_request(operation, arguments, RequestOptions(base_url="http://api.test"))
        return
    received = sent(operation, arguments)
    assert received.path in expect.get("path", [received.path])
    assert received.query in expect.get("query", [received.query])
    assert received.one("cookie") in expect.get("cookie", [None])
    for name, accepted in expect.get("headers", {}).items():
        assert received.one(name) in accepted


@pytest.mark.parametrize(
    "call", [case for document in ("05-multipart.yaml", "06-form.yaml") for case in named(document)]
)
def test_bodies_are_read_as_expected(call: dict[str, Any], sent: Sent) -> None:
    operation = BODIES[call["operationId"]]
    arguments = {"body": as_argument(call["args"]["body"])}
    if "content_type" in call["args"]:
        arguments["content_type"] = call["args"]["content_type"]
    expect = call["expect"]
    received = sent(replace(operation, method=call["method"]), arguments)
    content_type = received.one("content-type") or ""
    assert content_type.partition("; boundary=")[0] in expect.get("content_type_one_of", [expect.get("content_type")])
    if "parts" in expect:
        assert_parts(content_type, received.body, expect["parts"])
    if "form_decoded" in expect:
        decoded = parse_qsl(received.body.decode(), keep_blank_values=True)
        assert len(decoded) == len(expect["form_decoded"])
        for (name, text), (expected_name, expected_text) in zip(decoded, expect["form_decoded"], strict=True):
            assert (name, as_read(text, expected_text)) == (expected_name, expected_text)
    for text in expect.get("raw_contains", []):
        assert text in received.body.decode()
    if "base64" in expect:
        assert received.body == base64.b64decode(expect["base64"])
    if "json" in expect:
        assert json.loads(received.body) == expect["json"]
    if "text" in expect:
        assert received.body.decode("utf-8") == expect["text"]


def as_argument(value: Any) -> Any:
    """Return a value with each file as base64 text."""
    if isinstance(value, dict):
        return value["$file"]["base64"] if "$file" in value else {k: as_argument(v) for k, v in value.items()}
    return [as_argument(item) for item in value] if isinstance(value, list) else value


def as_read(text: str, expected: Any) -> Any:
    return {"$json": json.loads(text)} if isinstance(expected, dict) else text


def assert_parts(content_type: str, body: bytes, expected: list[dict[str, Any]]) -> None:
    message = BytesParser().parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    parts = message.get_payload()
    assert isinstance(parts, list)
    assert len(parts) == len(expected)
    for part, expected_part in zip(parts, expected, strict=True):
        disposition = dict(part.raw_items())["Content-Disposition"].encode("ascii", "surrogateescape").decode("utf-8")
        assert f'name="{expected_part["name"]}"' in disposition
        data = part.get_payload(decode=True)
        assert isinstance(data, bytes)
        assert ("filename=" in disposition) == expected_part.get("filename", "base64" in expected_part)
        assert part["content-type"] in expected_part.get("content_type", [part["content-type"]])
        assert data == base64.b64decode(expected_part["base64"]) if "base64" in expected_part else True
        assert data.decode("utf-8") == expected_part["text"] if "text" in expected_part else True
        assert json.loads(data) == expected_part["json"] if "json" in expected_part else True
