"""Answers as large as a server reads them: their result keeps its limit, in bounded time and memory."""

import json
import re
import threading
import time
import tracemalloc
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime.result.build import CUT, to_result
from openapi_mcp.runtime.result.content import MAX_PARTS
from openapi_mcp.runtime.result.sanitizer import Sanitizer
from openapi_mcp.runtime.types import CallToolResult
from openapi_mcp.runtime.upstream.client import MAX_RESPONSE_BYTES
from tests.runtime.making import tool

pytestmark = pytest.mark.slow

LIMIT = 80_000
MAX_SECONDS = 15.0
"""Processor time of the largest answer: it takes about a second on an idle machine, and took ten times as long."""

MAX_BYTES = 20 * 2**20
"""The values of the JSON take 30 MiB."""


def result(content: bytes, content_type: str, *secrets: str, limit: int = LIMIT) -> CallToolResult:
    """The result of an answer, with bounds of time and of the memory that it takes besides the answer's own."""
    request = httpx.Request("GET", "https://api.test/pets")
    response = httpx.Response(200, headers={"content-type": content_type}, content=content, request=request)
    start = time.process_time()
    made = to_result(tool(), response, max_bytes=limit, sanitizer=Sanitizer(secrets))
    assert time.process_time() - start < MAX_SECONDS
    return made


def size(made: CallToolResult) -> int:
    structured = made.structured_content
    return len(
        json.dumps(
            [made.content, structured if isinstance(structured, dict | list) else None], ensure_ascii=False
        ).encode()
    )


def first_text(made: CallToolResult) -> str:
    text: str = made.content[0]["text"]
    return text


ITEM = b'{"id":1,"name":"abc","tags":["x"]},'


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("item", [ITEM, b"1,", b"[],", b'"x",', b"[[[[]]]],"])
def test_json_of_16_mb_is_read_up_to_the_limit(item: bytes) -> None:
    content = b'{"items":[' + item * (MAX_RESPONSE_BYTES // len(item)) + b"0]}"
    made = result(content, "application/json")
    assert size(made) < 2 * LIMIT
    assert re.search(r"`items`: \d+ of (at least )?\d{5}", first_text(made))
    assert made.meta[CUT]["answerBytes"] == len(content)
    assert made.structured_content["items"][0] == json.loads(item[:-1])


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_large_json_takes_little_memory() -> None:
    content = b'{"items":[' + ITEM * 40_000 + b"0]}"
    tracemalloc.start()
    try:
        result(content, "application/json")
        assert tracemalloc.get_traced_memory()[1] < MAX_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.timeout(60)
def test_what_was_not_read_is_counted() -> None:
    content = b'{"items":[' + ITEM * 30_000 + b'0],"next":"abc"}'
    made = result(content, "application/json")
    assert "of 30001 items" in first_text(made)
    assert made.structured_content["next"] == "abc"
    assert json.loads(made.content[1]["text"]) == made.structured_content


@pytest.mark.timeout(60)
def test_what_was_not_read_is_noted_even_if_the_rest_fits() -> None:
    content = b'{"items":[' + b" " * 600_000 + b"1," + b" " * 600_000 + b'2],"next":"abc"}'
    made = result(content, "application/json")
    assert "items" in first_text(made)
    assert made.structured_content["next"] == "abc"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_large_json_in_other_encodings(encoding: str) -> None:
    content = json.dumps([{"name": "é"}] * 100_000, ensure_ascii=False).encode(encoding)
    made = result(content, "application/json")
    assert "of 100000 items" in first_text(made)
    assert made.structured_content[0] == {"name": "é"}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("content_type", ["application/json", "text/plain", ""])
def test_secrets_in_large_json_are_replaced(content_type: str) -> None:
    content = json.dumps({"items": [{"key": "secret-1234567890", "n": 1234567890123}] * 50_000}).encode()
    made = result(content, content_type, "secret-1234567890", "1234567890123")
    written = json.dumps([made.content, made.structured_content])
    assert "1234567890" not in written
    assert made.structured_content["items"][0] == {"key": "***", "n": "***"}
    assert "of 50000 items" in first_text(made)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"line\n" * 1_000_000, "text/plain"),
        ("é😀\n".encode() * 500_000, "text/plain; charset=utf-8"),
        ("é😀\n".encode("utf-16") * 300_000, "text/plain; charset=utf-16"),
        (b"<p>text</p>" * 500_000, "text/html"),
        (b'{"a": 1}\n' * 500_000, "application/x-ndjson"),
        (b'data: {"a": 1}\n\n' * 300_000, "text/event-stream"),
        (b"{" * 2_000_000, "application/json"),
        (b'{"a": ' * 300_000, "application/json"),
        (b"[1, 2" + b" " * 1_000_000, "application/json"),
    ],
)
def test_other_large_texts_keep_the_limit_and_say_so(content: bytes, content_type: str) -> None:
    made = result(content, content_type)
    assert size(made) < 3 * LIMIT
    assert first_text(made).startswith("This is a part of the answer.")
    assert "�" not in made.content[1]["text"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "content",
    [b" " * MAX_RESPONSE_BYTES, b"[" + b" " * MAX_RESPONSE_BYTES],
    ids=["spaces", "spaces in an array"],
)
def test_other_threads_run_while_a_large_text_is_read(content: bytes) -> None:
    turns, ended = 0, threading.Event()

    def take_turns() -> None:
        nonlocal turns
        while not ended.wait(0.001):
            turns += 1

    other = threading.Thread(target=take_turns)
    other.start()
    try:
        result(content, "application/json")
    finally:
        ended.set()
        other.join()
    assert turns > 15  # one or two where the text is searched as a whole


@pytest.mark.timeout(60)
@pytest.mark.parametrize("part", [b"\r\n\r\nx", b"\r\nContent-Type: image/png\r\n\r\nx", b"\r\n\r\n", b"\r\n\r\n[1,2]"])
def test_200_000_parts_keep_the_limit(part: bytes) -> None:
    content = (b"--b" + part + b"\r\n") * 200_000 + b"--b--"
    made = result(content, "multipart/mixed; boundary=b")
    assert size(made) < 2 * LIMIT
    assert len(made.content) <= MAX_PARTS + 1
    assert f"{MAX_PARTS} of 200000 parts" in first_text(made)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("content", "boundary"),
    [
        (b"--b\r\n" + b"A: b\r\n" * 2_000_000 + b"\r\n", "b"),
        (b"--b\r\nContent-Disposition: form-data; name=" + b'a";' * 5_000_000 + b"\r\n\r\nx", "b"),
        (b"\r\n--" * 4_000_000, "-"),
        (b"\n--b" * 4_000_000, "b"),
        (b"--b" + b" " * MAX_RESPONSE_BYTES + b"c", "b"),
    ],
    ids=["fields", "parameters", "dashes", "delimiters", "white space"],
)
def test_malformed_parts_take_little_time(content: bytes, boundary: str) -> None:
    assert size(result(content, f"multipart/mixed; boundary={boundary}")) < 2 * LIMIT


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "undefined", "rot13", "zlib"])
def test_codecs_of_names_and_literals_are_no_charsets(charset: str) -> None:
    text = r"a-b\x41" + "z" * 1_000_000
    made = result(text.encode(), f"text/plain; charset={charset}")
    assert made.content[1]["text"].startswith(r"a-b\x41zzz")


@pytest.mark.timeout(60)
def test_large_bytes_are_described() -> None:
    made = result(bytes(30_000_000), "image/png")
    assert "30000000 bytes of image/png left out" in first_text(made)
    assert size(made) < 1000


def test_larger_limit_reads_more() -> None:
    value: Any = {"items": [{"id": number} for number in range(100_000)]}
    content = json.dumps(value).encode()
    assert result(content, "application/json", limit=20_000_000).structured_content == value


@pytest.mark.timeout(60)
@pytest.mark.parametrize("character", ["x", "\\n", "\\u00e9", "é😀"])
@pytest.mark.parametrize("frame", ["{}", '{{"text": {}, "next": 1}}', "[1, {}]"])
def test_large_string_is_read_up_to_the_limit(character: str, frame: str) -> None:
    content = frame.format('"' + character * (3_000_000 // len(character)) + '"').encode()
    made = result(content, "application/json")
    assert re.search(r" of about \d{7} characters", first_text(made))
    assert size(made) < 3 * LIMIT
    assert "\\\\" not in json.dumps(made.structured_content)
    if "next" in frame:
        assert made.structured_content["next"] == 1
