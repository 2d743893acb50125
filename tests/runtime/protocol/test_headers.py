"""HTTP headers that repeat a message: valid values, and the `=?base64?…?=` encoding."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.protocol import headers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("tools/call", "tools/call"),
        (" \ttools/call\t ", "tools/call"),
        ("two words", "two words"),
        ("a\tb", "a\tb"),
        ("", ""),
        (" ", ""),
        ("caf\xe9", None),
        ("a\x00b", None),
        ("a\x7f", None),
    ],
)
def test_header_value_is_visible_ascii_or_none(text: str, value: str | None) -> None:
    assert headers.header_value({"mcp-method": text}, "mcp-method") == value


def test_missing_header_is_none() -> None:
    assert headers.header_value({}, "mcp-method") is None


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (None, None),
        ("getPet", "getPet"),
        ("=?base64?Z2V0UGV0?=", "getPet"),
        ("=?base64?w6k=?=", "é"),
        ("=?base64??=", ""),
        ("=?base64?w6k?=", None),
        ("=?base64?w6k==?=", None),
        ("=?base64?w6l=?=", None),
        ("=?base64?Z2V0 UGV0?=", None),
        ("=?base64?Z2V0-_V0?=", None),
        ("=?base64?/w==?=", None),
        ("=?base64?=", "=?base64?="),
        ("=?base64?Z2V0UGV0", "=?base64?Z2V0UGV0"),
        ("Z2V0UGV0?=", "Z2V0UGV0?="),
        ("=?Base64?Z2V0UGV0?=", "=?Base64?Z2V0UGV0?="),
        (" =?base64?Z2V0UGV0?=", " =?base64?Z2V0UGV0?="),
    ],
)
def test_encoded_values_are_decoded_and_others_unchanged(text: str | None, meaning: str | None) -> None:
    assert headers.decode_value(text) == meaning


@given(st.text())
def test_every_name_can_be_encoded(name: str) -> None:
    assert headers.decode_value(f"=?base64?{base64.b64encode(name.encode()).decode()}?=") == name
