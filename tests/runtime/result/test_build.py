"""`result.build`: every kind of response as content blocks, with structured content, and hints for errors."""

import base64
import gzip
import json
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime import json_schema
from openapi_mcp.runtime.protocol.output_schemas import open_schema
from openapi_mcp.runtime.result.build import CUT, to_result
from openapi_mcp.runtime.tool import Argument, SecurityScheme, Tool
from openapi_mcp.runtime.types import MISSING, CallToolResult, Schema
from openapi_mcp.runtime.upstream.client import TRUNCATED
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
    api_tool: Tool | None = None,
    method: str = "GET",
    limit: int = LIMIT,
    headers: dict[str, str] | None = None,
    missing: str = "",
) -> CallToolResult:
    data = content if isinstance(content, bytes) else content.encode()
    response = httpx.Response(
        status,
        headers=({"content-type": content_type} if content_type is not None else {}) | (headers or {}),
        content=data,
        request=httpx.Request(method, "https://u:p@api.test/v1/pets%20x?key=secret"),
        extensions={TRUNCATED: missing},
    )
    return to_result(api_tool or tool(), response, max_bytes=limit)


def text(result_of_call: CallToolResult) -> str:
    return str(result_of_call.content[0]["text"])


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
def test_json_is_unchanged_text_and_structured_content(content_type: str | None, content: str, value: Any) -> None:
    actual = result(content, content_type)
    is_json = "\n{" not in content and "data:" not in content and "\x1e" not in content
    assert text(actual) == (
        content.strip("\ufeff \n").replace(": ", ":").replace(", ", ",")
        if is_json
        else content.replace("\x1e", "\\u001e")
    )
    assert actual.structured_content == value
    assert len(actual.content) == 1
    assert not actual.is_error


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
def test_json_is_read_in_every_encoding(content_type: str, content: bytes) -> None:
    actual = result(content, content_type)
    assert (text(actual), actual.structured_content) == ('{"é":1}', {"é": 1})


@pytest.mark.parametrize("depth", [100, 900, 5000])
def test_deeply_nested_json_is_text(depth: int) -> None:
    content = "[" * depth + "]" * depth
    for api_tool in (tool(), tool(output_schema=ARRAY), tool(output_schema={"type": "array", "items": {"$ref": "#"}})):
        assert text(result(content, "application/json", api_tool=api_tool)) == content


@pytest.mark.parametrize(
    ("content_type", "content", "expected_text"),
    [
        ("text/plain", "héllo", "héllo"),
        ("text/plain; charset=iso-8859-1", b"h\xe9llo", "héllo"),
        ("text/plain", b"h\xe9llo \x80", "héllo €"),
        ("text/plain; charset=utf-16", "hi".encode("utf-16"), "hi"),
        ("text/plain", b"\xff\xfeh\0i\0", "hi"),
        ("text/plain; charset=nonsense", "é", "é"),
        ("text/html", "<p>a &amp; b", "a & b"),
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
        ("application/json", "[" * 10_000, "[" * 10_000),
    ],
)
def test_text_is_text(content_type: str | None, content: str | bytes, expected_text: str) -> None:
    actual = result(content, content_type)
    assert text(actual) == expected_text
    assert actual.structured_content is MISSING


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
def test_bytes_are_unchanged(content_type: str | None, content: bytes, block: dict[str, str]) -> None:
    (actual,) = result(content, content_type).content
    resource = actual.get("resource", actual)
    assert (actual["type"], resource["mimeType"]) == (block["type"], block["mimeType"])
    assert base64.b64decode(resource.get("data") or resource["blob"]) == content
    if actual["type"] == "resource":
        assert resource["uri"] == "upstream:///v1/pets%20x"


def test_multipart_body_has_a_block_for_each_part() -> None:
    body = (
        b'preamble\r\n--x\r\nContent-Type: application/json\r\n\r\n{"n":1}\r\n'
        b"--x\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.b64encode(PNG) + b"\r\n"
        b"--x \r\n\r\nwords\r\n\r\n--x--\r\nepilogue"
    )
    actual = result(body, 'multipart/mixed; boundary="x"')
    assert [block["type"] for block in actual.content] == ["text", "image", "text"]
    assert [block.get("text") for block in actual.content] == ['{"n":1}', None, "words\r\n"]
    assert base64.b64decode(actual.content[1]["data"]) == PNG


@pytest.mark.parametrize(
    ("content_type", "content", "expected_text"),
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
def test_malformed_multipart_body_is_accepted(content_type: str, content: bytes, expected_text: list[str]) -> None:
    assert [block["text"] for block in result(content, content_type).content] == expected_text


@pytest.mark.parametrize(
    "content_type", ["multipart/mixed", "multipart/mixed; boundary=z", "multipart/form-data; boundary="]
)
def test_multipart_body_without_parts_is_text_or_bytes(content_type: str) -> None:
    (block,) = result(b"--x\r\n\r\nbody\r\n--x--", content_type).content
    assert base64.b64decode(block["resource"]["blob"]) == b"--x\r\n\r\nbody\r\n--x--"


@pytest.mark.parametrize(
    ("status", "method", "headers", "expected_text"),
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
def test_response_without_body_is_its_status_and_headers(
    status: int, method: str, headers: dict[str, str], expected_text: str
) -> None:
    actual = result(status=status, method=method, headers=headers)
    assert text(actual).replace("\ncontent-length: 0", "") == expected_text
    assert (actual.is_error, actual.structured_content) == (False, MISSING)


@pytest.mark.parametrize(
    ("schema", "content_type", "content", "structured"),
    [
        (OBJECT, "application/json", '{"n": 1, "more": 2}', {"n": 1, "more": 2}),
        (OBJECT, "application/json", '{"n": "1", "more": 2}', {"n": "1", "more": 2}),
        (OBJECT, "application/json", '{"n": null}', {"n": None}),
        (OBJECT, "application/json", "[1]", [1]),
        (OBJECT, "application/json", "null", None),
        (OBJECT, "text/plain", "words", {}),
        (OBJECT, "application/json", "{broken", {}),
        (OBJECT, "image/png", PNG, {}),
        (OBJECT, None, b"", {}),
        (ARRAY, "application/json", '[1, "x", 2]', [1, "x", 2]),
        (ARRAY, "application/json", '{"n": 1}', {"n": 1}),
        (ARRAY, "application/jsonl", "1\n2\n", [1, 2]),
        (ARRAY, None, b"", []),
    ],
)
def test_structured_content_and_text_are_complete_and_accepted(
    schema: Schema, content_type: str | None, content: str | bytes, structured: Any
) -> None:
    actual = result(content, content_type, api_tool=tool(output_schema=schema))
    assert actual.structured_content == structured
    assert json_schema.is_valid(open_schema(schema), actual.structured_content)
    assert not actual.is_error
    if isinstance(content, str):
        assert "".join(text(actual).split()) == "".join(content.split())


@pytest.mark.parametrize(
    ("content", "content_type", "expected"),
    [
        ('{"error": "no such pet"}', "application/json", '404 Not Found: no such pet\n\n{"error": "no such pet"}'),
        ('{"pet": null}', "application/json", '404 Not Found\n\n{"pet": null}'),
        ("<h1>Gone</h1>\n", "text/html", "404 Not Found\n\n# Gone"),
        ("", None, "404 Not Found"),
        (PNG, "image/png", "404 Not Found"),
        ("x" * 100_000, "text/plain", "404 Not Found\n\n" + "x" * 8192 + "\n… (91808 bytes more)"),
    ],
)
def test_error_status_is_an_error_with_status_reason_and_body(
    content: str | bytes, content_type: str | None, expected: str
) -> None:
    actual = result(content, content_type, status=404, api_tool=tool(output_schema=OBJECT), limit=100_000)
    assert actual.is_error
    assert [block["text"] for block in actual.content] == [expected]
    assert actual.structured_content is MISSING


BEARER = SecurityScheme(name="bearer", type="http", scheme="bearer", variable="PETS_TOKEN")
NOT_CONFIGURED = (
    "No credential was sent, since none is configured. "
    "Credentials for it are read from the environment of the server: `PETS_TOKEN` (a token)"
)


@pytest.mark.parametrize(
    ("status", "headers", "hint"),
    [
        (
            401,
            {},
            f"{NOT_CONFIGURED}.",
        ),
        (
            403,
            {"www-authenticate": 'Bearer error="insufficient_scope", scope="pets:write"'},
            f"{NOT_CONFIGURED}. The API says: insufficient_scope; required scope: pets:write.",
        ),
        (407, {}, "Credentials for it are read from the environment of the server: `PETS_TOKEN` (a token)."),
        (429, {"retry-after": "30"}, "Try again in 30 seconds."),
        (503, {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, "Try again after Fri, 31 Dec 1999 23:59:59 GMT."),
    ],
)
def test_correctable_error_has_a_hint(status: int, headers: dict[str, str], hint: str) -> None:
    actual = result("no", "text/plain", status=status, headers=headers, api_tool=tool(security=((BEARER,),)))
    assert actual.content[1]["text"] == hint


def test_503_to_a_post_without_retry_after_says_that_its_effect_is_unknown() -> None:
    actual = result("no", "text/plain", status=503, method="POST")
    assert actual.content[1]["text"].endswith("check its effect before you repeat the call.")


@pytest.mark.parametrize("headers", [{}, {"retry-after": "soon"}, {"retry-after": "-1"}])
def test_unreadable_retry_after_is_no_hint(headers: dict[str, str]) -> None:
    texts = [block["text"] for block in result("no", "text/plain", status=503, headers=headers).content]
    assert not any("Try again" in each for each in texts)


@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_other_errors_have_no_hint(status: int) -> None:
    assert len(result("no", "text/plain", status=status, api_tool=tool(security=((BEARER,),))).content) == 1


PAGED = tool(
    "/x",
    *(Argument(name=name, location="query") for name in ("name", "per_page", "page", "$filter")),
    output_schema={"type": "object", "properties": {"items": {"type": "array", "items": {"type": "integer"}}}},
)


def test_large_json_is_truncated_to_json_with_a_note() -> None:
    actual = result(
        json.dumps({"items": list(range(5000)), "total": 5000}), "application/json", api_tool=PAGED, limit=2000
    )
    note, body = (block["text"] for block in actual.content)
    cut = json.loads(body)
    assert cut["total"] == 5000
    assert cut["items"] == list(range(len(cut["items"])))
    assert actual.structured_content == cut
    assert len(body.encode()) <= 1000
    left_out = f"`items`: {len(cut['items'])} of 5000 items"
    assert note == (
        f"This is a part of the answer. It was cut to 2000 bytes: {left_out}. "
        "Ask for less with `per_page` or `page` or `$filter`."
    )
    assert actual.meta[CUT] == {
        "limitBytes": 2000,
        "answerBytes": 28916,
        "leftOut": [left_out],
        "arguments": ["per_page", "page", "$filter"],
    }


def test_whitespace_does_not_truncate_the_value() -> None:
    value = {"n": 1, "list": [1, 2, 3]}
    actual = result(json.dumps(value, indent=400), "application/json", limit=200)
    assert (json.loads(text(actual)), actual.structured_content, len(actual.content)) == (value, value, 1)


@pytest.mark.parametrize(
    ("content_type", "content", "start", "note"),
    [
        ("text/plain", "é" * 100, "é" * 50, "the first 100 of 200 bytes"),
        ("application/jsonl", '{"n":1}\n' * 100, '{"n":1}\n' * 5 + '{"n":1}', "6 of 100 items"),
    ],
)
def test_large_text_is_truncated_with_a_note(content_type: str, content: str, start: str, note: str) -> None:
    actual = result(content, content_type, limit=100)
    assert actual.content[1]["text"] == start
    more = "The server shows more with a larger `--max-result-tokens`."
    assert text(actual) == f"This is a part of the answer. It was cut to 100 bytes: {note}. {more}"


def test_too_large_bytes_are_replaced_by_a_description() -> None:
    actual = result(b"\0" * 4000, "application/pdf", limit=100)
    assert actual.content[1]["text"] == "[4000 bytes of application/pdf: too large to be shown]"
    assert "left out" in text(actual)
    assert base64.b64decode(result(PNG * 100, "image/png", limit=100).content[0]["data"]) == PNG * 100


def test_limit_applies_to_all_parts_together() -> None:
    part = b"--x\r\n\r\n" + b"y" * 60 + b"\r\n"
    actual = result(part * 3 + b"--x--", "multipart/mixed; boundary=x", limit=150)
    assert [len(block["text"]) for block in actual.content[1:]] == [60, 10]  # each block takes 40 bytes besides
    assert "the first 10 of 60 bytes of a part; 2 of 3 parts" in text(actual)


def test_partly_read_response_has_a_note() -> None:
    actual = result('{"n": 1', "application/json", missing="Only its first 7 bytes were read.")
    assert text(actual) == "This is a part of the answer. Only its first 7 bytes were read."
    assert actual.meta[CUT]["leftOut"] == ["Only its first 7 bytes were read."]


@pytest.mark.parametrize("content", [b"", b"<html>Moved to https://user:secret@evil.test/</html>"])
def test_redirect_that_was_not_followed_shows_its_address_without_secrets(content: bytes) -> None:
    headers = {"location": "//user:secret@evil.test/a?page=2&sig=secret"}
    actual = result(content, "text/html", status=302, headers=headers)
    assert text(actual).startswith("302 Found: the API redirects to https://evil.test/a?")
    assert "secret" not in repr(actual)
    assert not actual.is_error


def test_redirect_is_an_error_where_the_document_describes_an_answer() -> None:
    described = tool(output_schema={"type": "object"})
    actual = result(
        b'{"hint": "moved"}', "application/json", status=307, headers={"location": "/x"}, api_tool=described
    )
    assert actual.is_error
    assert text(actual).endswith('{"hint": "moved"}')


def test_compressed_response_is_read() -> None:
    actual = result(gzip.compress(b'{"n": 1}'), "application/json", headers={"content-encoding": "gzip"})
    assert (text(actual), actual.structured_content) == ('{"n":1}', {"n": 1})


def test_values_outside_json_are_not_in_structured_content() -> None:
    actual = result('{"a": NaN, "b": "\\ud800"}', "application/json")
    json.dumps(actual.structured_content, allow_nan=False).encode()
    assert actual.structured_content == {"a": None, "b": "\ufffd"}


@pytest.mark.parametrize("status", [200, 404])
def test_result_has_no_secret_of_the_request(status: int) -> None:
    for content_type in ("application/pdf", "text/plain", "image/png", "application/json", None):
        assert "secret" not in repr(result(b"\0", content_type, status=status))
