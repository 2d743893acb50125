"""Test decoding: Unicode with certainty, other encodings by a reported guess, anything else is an error."""

import codecs
from pathlib import Path

import pytest

from openapi_mcp.document.parser import text_of
from openapi_mcp.errors import DocumentError

TEXT = 'title: "Ärger \U0001f600"'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_every_unicode_encoding_is_recognised(encoding: str) -> None:
    assert text_of(TEXT.encode(encoding)) == (TEXT, ())


def test_a_byte_order_mark_is_removed() -> None:
    assert text_of(codecs.BOM_UTF8 + b"a: 1") == ("a: 1", ())


def test_bytes_of_no_known_encoding_are_an_error_with_their_line() -> None:
    with pytest.raises(DocumentError) as caught:
        text_of(b"a: 1\nb: \xff\n")
    assert (caught.value.where, caught.value.message) == ("line 2", "the byte 0xff is not UTF-8")


def test_damaged_utf8_keeps_the_rest() -> None:
    text, problems = text_of("äöü\nß".encode() + b"\xff")
    assert text == "äöü\nß\ufffd"
    assert problems[0].message == "line 2: the byte 0xff is not UTF-8; 1 such characters are replaced"


def test_the_charset_of_the_server_is_used_where_the_text_is_not_unicode() -> None:
    text, problems = text_of("Grüße".encode("latin-1"), "https://example.com/a.yaml", "iso-8859-1")
    assert text == "Grüße"
    assert problems[0].message.endswith("it is read as iso-8859-1")


def test_the_encoding_of_a_local_file_is_detected(tmp_path: Path) -> None:
    german = "description: Die Prüfung der Größe für jede Straße wäre möglich, falls nötig.\n" * 20
    file = tmp_path / "a.yaml"
    file.write_bytes(german.encode("windows-1252"))
    text, problems = text_of(file.read_bytes(), file.as_uri())
    assert text == german
    assert len(problems) == 1
