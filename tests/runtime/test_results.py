"""`results`: every kind of answer as content blocks, with structured content that conforms, and errors that help."""

import base64
import gzip
import json
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime import validation
from openapi_mcp.runtime.models import Argument, SecurityScheme, Tool
from openapi_mcp.runtime.results import CUT_SHORT, to_result
from openapi_mcp.runtime.types import MISSING, CallToolResult, Schema
from tests.runtime.making import tool

LIMIT = 10_000
OBJECT: Schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
ARRAY: Schema = {"type": "array", "items": {"type": "integer"}}
PNG = b"\x89PNG\r\n\x1a\n\0\0"


def result(
    content: bytes | str = b"",
    content_type: str | None = None,
    *,
    status: int = 200,
    made: Tool | None = None,
    method: str = "GET",
    limit: int = LIMIT,
    headers: dict[str, str] | None = None,
    cut_short: bool = False,
) -> CallToolResult:
    data = content if isinstance(content, bytes) else content.encode()
    response = httpx.Response(
        status,
        headers=({"content-type": content_type} if content_type is not None else {}) | (headers or {}),
        content=data,
        request=httpx.Request(method, "https://u:p@api.test/v1/pets%20x?key=secret"),
        extensions={CUT_SHORT: cut_short},
    )
    return to_result(made or tool(), response, max_bytes=limit)


def text(of: CallToolResult) -> str:
    return str(of.content[0]["text"])


@pytest.mark.parametrize(
    ("content_type", "content", "value"),
    [
        ("application/json", '{"n": 1}', {"n": 1}),
        ("application/json; charset=utf-8", "[1, 2]", [1, 2]),
        ("application/json", '"text"', "text"),
        ("application/json", "null", None),
        ("application/json", "0.10", 0.1),
        ("application/problem+json", '{"é": "ü"}', {"é": "ü"}),
        ("text/plain", ' {"n": 1}\n', {"n": 1}),
        ("text/html", '[{"n": 1}]', [{"n": 1}]),
        ("application/octet-stream", '{"n": 1}', {"n": 1}),
        (None, '{"n": 1}', {"n": 1}),
        ("application/json", '\ufeff{"n": 1}', {"n": 1}),
        ("application/jsonl", '{"n":1}\n\n{"n":2}\n', [{"n": 1}, {"n": 2}]),
        ("application/json", '{"n":1}\n{"n":2}', [{"n": 1}, {"n": 2}]),
        ("application/json-seq", '\x1e{"n":1}\n\x1e[2]\n', [{"n": 1}, [2]]),
        (
            "text/event-stream",
            'event: x\ndata: {"n":1}\n\n: note\r\n\r\ndata: [2,\ndata: 3]\n\ndata: [DONE]\n',
            [{"n": 1}, [2, 3]],
        ),
    ],
)
def test_json_is_text_as_it_came_and_the_same_as_a_value(content_type: str | None, content: str, value: Any) -> None:
    got = result(content, content_type)
    assert text(got) == content.removeprefix("\ufeff")
    assert got.structured_content == value
    assert len(got.content) == 1
    assert not got.is_error


@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        ("application/json", '{"é": 1}'.encode("utf-16")),
        ("application/json", '{"é": 1}'.encode("utf-32-le")),
        ("application/json; charset=iso-8859-1", '{"é": 1}'.encode("latin-1")),
        ("application/json", '{"é": 1}'.encode("cp1252")),
        ("application/json; charset=wrong\0", '{"é": 1}'.encode()),
    ],
)
def test_json_is_read_in_whatever_encoding_it_is(content_type: str, content: bytes) -> None:
    got = result(content, content_type)
    assert (text(got), got.structured_content) == ('{"é": 1}', {"é": 1})


@pytest.mark.parametrize("depth", [100, 900, 5000])
def test_deep_json_is_not_lost(depth: int) -> None:
    content = "[" * depth + "]" * depth
    for made in (tool(), tool(output_schema=ARRAY), tool(output_schema={"type": "array", "items": {"$ref": "#"}})):
        assert text(result(content, "application/json", made=made)) == content


@pytest.mark.parametrize(
    ("content_type", "content", "shown"),
    [
        ("text/plain", "héllo", "héllo"),
        ("text/plain; charset=iso-8859-1", b"h\xe9llo", "héllo"),
        ("text/plain", b"h\xe9llo \x80", "héllo €"),
        ("text/plain; charset=utf-16", "hi".encode("utf-16"), "hi"),
        ("text/plain", b"\xff\xfeh\0i\0", "hi"),
        ("text/plain; charset=nonsense", "é", "é"),
        ("text/html", "<p>", "<p>"),
        ("text/csv", "a,b\n1,2", "a,b\n1,2"),
        ("application/xml", "<a/>", "<a/>"),
        ("application/soap+xml", "<a/>", "<a/>"),
        ("image/svg+xml", "<svg/>", "<svg/>"),
        ("application/x-yaml", "a: 1", "a: 1"),
        ("text/plain", "17", "17"),
        ("text/plain", "{not json}", "{not json}"),
        ("application/json", "{not json}", "{not json}"),
        ("application/jsonl", '{"n":1}\nnot json', '{"n":1}\nnot json'),
        ("text/event-stream", "data: hello\n\n", "data: hello\n\n"),
        (None, "plain words", "plain words"),
        ("application/octet-stream", "plain words", "plain words"),
        ("application/json", "[" * 100_000, "[" * 10_000),
    ],
)
def test_text_is_text(content_type: str | None, content: str | bytes, shown: str) -> None:
    got = result(content, content_type)
    assert text(got) == shown
    assert got.structured_content is MISSING


@pytest.mark.parametrize(
    ("content_type", "content", "block"),
    [
        ("image/png", PNG, {"type": "image", "mimeType": "image/png"}),
        ("audio/mpeg; x=y", b"\xff\xfb", {"type": "audio", "mimeType": "audio/mpeg"}),
        ("application/pdf", b"%PDF-1.7\0", {"type": "resource", "mimeType": "application/pdf"}),
        ("application/octet-stream", b"\0\1\xff", {"type": "resource", "mimeType": "application/octet-stream"}),
        (None, b"\0\1\xff", {"type": "resource", "mimeType": "application/octet-stream"}),
        ("application/zip", b"PK", {"type": "resource", "mimeType": "application/zip"}),
    ],
)
def test_bytes_come_back_intact(content_type: str | None, content: bytes, block: dict[str, str]) -> None:
    (got,) = result(content, content_type).content
    held = got.get("resource", got)
    assert (got["type"], held["mimeType"]) == (block["type"], block["mimeType"])
    assert base64.b64decode(held.get("data") or held["blob"]) == content
    if got["type"] == "resource":
        assert held["uri"] == "upstream:///v1/pets%20x"


def test_each_part_of_a_multipart_answer_is_a_block() -> None:
    body = (
        b'preamble\r\n--x\r\nContent-Type: application/json\r\n\r\n{"n":1}\r\n'
        b"--x\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.b64encode(PNG) + b"\r\n"
        b"--x \r\n\r\nwords\r\n\r\n--x--\r\nepilogue"
    )
    got = result(body, 'multipart/mixed; boundary="x"')
    assert [block["type"] for block in got.content] == ["text", "image", "text"]
    assert [block.get("text") for block in got.content] == ['{"n":1}', None, "words\r\n"]
    assert base64.b64decode(got.content[1]["data"]) == PNG


@pytest.mark.parametrize(
    ("content_type", "content", "shown"),
    [
        ("multipart/mixed; boundary=x", b"--x\n\nunix\n--x\n\nno end", ["unix", "no end"]),
        ("multipart/mixed; boundary=x", b"--x\r\n\r\n--xy is no delimiter\r\n--x--", ["--xy is no delimiter"]),
        ("multipart/mixed; boundary=x", b"--x\r\nbroken header\r\n\r\nbody\r\n--x--", ["body"]),
        (
            "multipart/mixed; boundary=x",
            b"--x\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n\r\nin\r\n--y--\r\n--x--",
            ["in"],
        ),
    ],
)
def test_a_multipart_answer_may_be_sloppy(content_type: str, content: bytes, shown: list[str]) -> None:
    assert [block["text"] for block in result(content, content_type).content] == shown


@pytest.mark.parametrize(
    "content_type", ["multipart/mixed", "multipart/mixed; boundary=z", "multipart/form-data; boundary="]
)
def test_a_multipart_answer_that_cannot_be_split_is_not_lost(content_type: str) -> None:
    (block,) = result(b"--x\r\n\r\nbody\r\n--x--", content_type).content
    assert base64.b64decode(block["resource"]["blob"]) == b"--x\r\n\r\nbody\r\n--x--"


@pytest.mark.parametrize(
    ("status", "method", "headers", "shown"),
    [
        (204, "DELETE", {}, "204 No Content: the answer has no content."),
        (200, "GET", {}, "200 OK: the answer has no content."),
        (304, "GET", {"etag": '"x"'}, '304 Not Modified: the answer has no content.\netag: "x"'),
        (
            201,
            "POST",
            {"location": "/pets/1", "x-other": "1"},
            "201 Created: the answer has no content.\nlocation: /pets/1",
        ),
        (202, "POST", {"retry-after": "5"}, "202 Accepted: the answer has no content.\nretry-after: 5"),
        (
            200,
            "HEAD",
            {"x-total": "5", "content-length": "7", "set-cookie": "s=1"},
            "200 OK\nx-total: 5\ncontent-length: 7",
        ),
        (299, "GET", {}, "299: the answer has no content."),
    ],
)
def test_an_answer_without_a_body_says_its_status(
    status: int, method: str, headers: dict[str, str], shown: str
) -> None:
    got = result(status=status, method=method, headers=headers)
    assert text(got).replace("\ncontent-length: 0", "") == shown
    assert (got.is_error, got.structured_content) == (False, MISSING)


@pytest.mark.parametrize(
    ("schema", "content_type", "content", "structured"),
    [
        (OBJECT, "application/json", '{"n": 1, "more": 2}', {"n": 1, "more": 2}),
        (OBJECT, "application/json", '{"n": "1", "more": 2}', {"more": 2}),
        (OBJECT, "application/json", "[1]", {}),
        (OBJECT, "application/json", "null", {}),
        (OBJECT, "text/plain", "words", {}),
        (OBJECT, "application/json", "{broken", {}),
        (OBJECT, "image/png", PNG, {}),
        (OBJECT, None, b"", {}),
        (ARRAY, "application/json", '[1, "x", 2]', [1, 2]),
        (ARRAY, "application/json", '{"n": 1}', []),
        (ARRAY, "application/jsonl", "1\n2\n", [1, 2]),
        (ARRAY, None, b"", []),
    ],
)
def test_structured_content_always_conforms_and_the_text_has_all(
    schema: Schema, content_type: str | None, content: str | bytes, structured: Any
) -> None:
    got = result(content, content_type, made=tool(output_schema=schema))
    assert got.structured_content == structured
    assert validation.fits(validation.compiled(schema), got.structured_content)
    assert not got.is_error
    if isinstance(content, str):
        assert text(got) == content


@pytest.mark.parametrize(
    ("content", "content_type", "expected"),
    [
        ('{"error": "no such pet"}', "application/json", '404 Not Found\n\n{"error": "no such pet"}'),
        ("<h1>Gone</h1>\n", "text/html", "404 Not Found\n\n<h1>Gone</h1>"),
        ("", None, "404 Not Found"),
        (PNG, "image/png", "404 Not Found"),
        ("x" * 100_000, "text/plain", "404 Not Found\n\n" + "x" * 8192 + "\n… (91808 bytes more)"),
    ],
)
def test_an_error_status_is_an_error_with_status_reason_and_body(
    content: str | bytes, content_type: str | None, expected: str
) -> None:
    got = result(content, content_type, status=404, made=tool(output_schema=OBJECT), limit=100_000)
    assert got.is_error
    assert [block["text"] for block in got.content] == [expected]
    assert got.structured_content is MISSING


BEARER = SecurityScheme(name="bearer", type="http", scheme="bearer", variable="PETS_TOKEN")


@pytest.mark.parametrize(
    ("status", "headers", "hint"),
    [
        (401, {}, "Credentials for it are read from the environment of the server: `PETS_TOKEN` (a token)."),
        (403, {}, "Credentials for it are read from the environment of the server: `PETS_TOKEN` (a token)."),
        (429, {"retry-after": "30"}, "Try again in 30 seconds."),
        (503, {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, "Try again after Fri, 31 Dec 1999 23:59:59 GMT."),
    ],
)
def test_an_error_that_somebody_can_cure_says_how(status: int, headers: dict[str, str], hint: str) -> None:
    got = result("no", "text/plain", status=status, headers=headers, made=tool(security=((BEARER,),)))
    assert got.content[1]["text"] == hint


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_an_error_that_nobody_can_cure_says_no_more(status: int) -> None:
    assert len(result("no", "text/plain", status=status, made=tool(security=((BEARER,),))).content) == 1


PAGED = tool(
    "/x",
    *(Argument(name=name, location="query") for name in ("name", "per_page", "page", "$filter")),
    output_schema={"type": "object", "properties": {"items": {"type": "array", "items": {"type": "integer"}}}},
)


def test_large_json_is_cut_to_json_and_says_what_was_cut_and_how_to_ask_for_less() -> None:
    got = result(json.dumps({"items": list(range(5000)), "total": 5000}), "application/json", made=PAGED, limit=1000)
    cut = json.loads(text(got))
    assert cut["total"] == 5000
    assert cut["items"] == list(range(len(cut["items"])))
    assert got.structured_content == cut
    assert len(text(got).encode()) <= 1000
    assert got.content[1]["text"] == (
        f"The answer was cut to 1000 bytes: `items`: {len(cut['items'])} of 5000 items. "
        "Ask for less with `per_page` or `page` or `$filter`."
    )


def test_json_that_is_only_written_widely_is_not_cut() -> None:
    value = {"n": 1, "list": [1, 2, 3]}
    got = result(json.dumps(value, indent=400), "application/json", limit=200)
    assert (json.loads(text(got)), got.structured_content, len(got.content)) == (value, value, 1)


@pytest.mark.parametrize(
    ("content_type", "content", "kept", "note"),
    [
        ("text/plain", "é" * 100, "é" * 50, "the first 100 of 200 bytes"),
        ("application/jsonl", '{"n":1}\n' * 100, '{"n":1}\n' * 11 + '{"n":1}', "12 of 100 items"),
    ],
)
def test_large_text_is_cut_and_says_so(content_type: str, content: str, kept: str, note: str) -> None:
    got = result(content, content_type, limit=100)
    assert text(got) == kept
    assert got.content[1]["text"] == f"The answer was cut to 100 bytes: {note}."


def test_bytes_that_are_too_large_are_named_instead() -> None:
    got = result(b"\0" * 4000, "application/pdf", limit=100)
    assert text(got) == "[4000 bytes of application/pdf: too large to be shown]"
    assert "left out" in got.content[1]["text"]
    assert base64.b64decode(result(PNG * 100, "image/png", limit=100).content[0]["data"]) == PNG * 100


def test_all_parts_together_have_the_limit() -> None:
    part = b"--x\r\n\r\n" + b"y" * 60 + b"\r\n"
    got = result(part * 3 + b"--x--", "multipart/mixed; boundary=x", limit=100)
    assert [len(block["text"]) for block in got.content[:3]] == [60, 40, 0]
    assert "the first 40 of 60 bytes of a part; the first 0 of 60 bytes of a part" in got.content[3]["text"]


def test_an_answer_of_which_only_the_beginning_was_read_says_so() -> None:
    got = result('{"n": 1', "application/json", cut_short=True)
    assert "only its first 7 bytes were read" in got.content[1]["text"]


def test_a_compressed_answer_is_read() -> None:
    got = result(gzip.compress(b'{"n": 1}'), "application/json", headers={"content-encoding": "gzip"})
    assert (text(got), got.structured_content) == ('{"n": 1}', {"n": 1})


def test_what_json_cannot_say_does_not_reach_structured_content() -> None:
    got = result('{"a": NaN, "b": "\\ud800"}', "application/json")
    json.dumps(got.structured_content, allow_nan=False).encode()
    assert got.structured_content == {"a": None, "b": "\ufffd"}


@pytest.mark.parametrize("status", [200, 404])
def test_no_secret_of_the_request_is_in_a_result(status: int) -> None:
    for content_type in ("application/pdf", "text/plain", "image/png", "application/json", None):
        assert "secret" not in repr(result(b"\0", content_type, status=status))
