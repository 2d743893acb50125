"""`media_types`: parameters, families, and the types that are sent for ranges."""

import time
from collections.abc import Callable

import pytest

from openapi_mcp.runtime import media_types


@pytest.mark.parametrize(
    ("content_type", "essence", "charset"),
    [
        ("application/json", "application/json", None),
        ("Text/Plain; Charset=UTF-8", "text/plain", "UTF-8"),
        ('text/plain;charset="utf-16 le" ; x=y', "text/plain", "utf-16 le"),
        ("", "", None),
        ("text/plain; charset=utf-8\r\nX: 1", "text/plain", "utf-8 X: 1"),
    ],
)
def test_content_type_has_essence_and_parameters(content_type: str, essence: str, charset: str | None) -> None:
    assert media_types.essence(content_type) == essence
    assert media_types.parameter(content_type, "charset") == charset


@pytest.mark.parametrize(
    ("charset", "codec"),
    [("UTF8", "utf-8"), ("ISO-8859-1", "iso8859-1"), ("none", ""), ("\0", ""), ("punycode", ""), ("base64", "")],
)
def test_codec_of_a_charset_is_one_of_texts(charset: str, codec: str) -> None:
    assert media_types.codec(f"text/plain; charset={charset}") == codec


@pytest.mark.parametrize("parameters", ['; a="' + ";" * 90_000, ";a=b" * 20_000, ";a*=utf-8''b" * 8000])
def test_type_as_long_as_a_head_has_no_parameters(parameters: str) -> None:
    start = time.process_time()
    assert media_types.parameter(f"text/plain{parameters}", "charset") is None
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("content_type", "test"),
    [
        ("application/problem+json; charset=utf-8", media_types.is_json),
        ("text/json", media_types.is_json),
        ("application/x-ndjson", media_types.is_json_lines),
        ("application/geo+json-seq", media_types.is_json_sequence),
        ("image/svg+xml", media_types.is_xml),
        ("image/svg+xml", media_types.is_text),
        ("text/csv", media_types.is_text),
        ("application/openapi+yaml", media_types.is_text),
    ],
)
def test_media_type_belongs_to_its_family(content_type: str, test: Callable[[str], bool]) -> None:
    assert test(content_type)


@pytest.mark.parametrize("content_type", ["image/png", "application/octet-stream", "application/pdf", "audio/mpeg", ""])
def test_binary_types_are_not_text(content_type: str) -> None:
    assert not media_types.is_text(content_type)
    assert not media_types.is_json(content_type)


@pytest.mark.parametrize(
    ("declared", "binary", "detected", "sent"),
    [
        ("application/json", False, None, "application/json"),
        ("image/png, image/jpeg", True, None, "image/png"),
        ("image/png, image/jpeg", True, "image/jpeg", "image/jpeg"),
        ("image/png", True, "image/gif", "image/png"),
        ("image/*", True, "image/gif", "image/gif"),
        ("image/*", True, None, "application/octet-stream"),
        ("image/*, image/webp", True, None, "image/webp"),
        ("*/*", False, None, "application/json"),
        ("*/*", True, None, "application/octet-stream"),
        ("text/*", False, None, "text/plain"),
        ("font/*", False, None, "application/octet-stream"),
        ("", True, None, "application/octet-stream"),
    ],
)
def test_one_type_is_sent_for_a_list_or_range(declared: str, binary: bool, detected: str | None, sent: str) -> None:
    assert media_types.concrete(declared, binary=binary, detected=detected) == sent
