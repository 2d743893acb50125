"""Headers that mirror a message: what counts as there, and what `=?base64?…?=` stands for."""

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
def test_a_header_is_visible_ascii_or_as_if_not_there(text: str, value: str | None) -> None:
    assert headers.value({"mcp-method": text}, "mcp-method") == value


def test_a_header_that_was_not_sent_is_not_there() -> None:
    assert headers.value({}, "mcp-method") is None


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
def test_encoded_values_are_decoded_and_all_others_stand_for_themselves(text: str | None, meaning: str | None) -> None:
    assert headers.decoded(text) == meaning


@given(st.text())
def test_every_name_can_be_encoded(name: str) -> None:
    assert headers.decoded(f"=?base64?{base64.b64encode(name.encode()).decode()}?=") == name
