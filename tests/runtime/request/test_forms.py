"""Forms: fields by their Encoding; werkzeug, the form parser of many servers, reads the written fields back."""

from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.formparser import FormDataParser

from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.request import content
from openapi_mcp.runtime.tool import Encoding

TEXT = st.text(st.characters(codec="utf-8"))


@pytest.mark.parametrize(
    ("value", "encoding", "expected"),
    [
        ("a b&c=é+", None, "f=a+b%26c%3D%C3%A9%2B"),
        (1.5, None, "f=1.5"),
        (True, None, "f=true"),
        ("", None, "f="),
        (None, None, ""),
        ([], None, ""),
        (["x", None, "y"], None, "f=x&f=y"),
        ({"zip": "9+1"}, None, "f=%7B%22zip%22%3A%229%2B1%22%7D"),
        ([{"a": 1}, [2]], None, "f=%7B%22a%22%3A1%7D&f=%5B2%5D"),
        ("v", Encoding(content_type="application/json"), "f=%22v%22"),
        ("v", Encoding(content_type="application/json, text/plain"), "f=%22v%22"),
        (["a", "b"], Encoding(style="form"), "f=a,b"),
        (["a", "b"], Encoding(style="form", explode=True), "f=a&f=b"),
        (["a", "b"], Encoding(style="spaceDelimited"), "f=a%20b"),
        (["a", "b"], Encoding(style="pipeDelimited"), "f=a%7Cb"),
        ({"p": 1, "q": 2}, Encoding(style="form", explode=True), "p=1&q=2"),
        ({"k v": ["1", {"z": 2}]}, Encoding(style="deepObject"), "f%5Bk%20v%5D%5B0%5D=1&f%5Bk%20v%5D%5B1%5D%5Bz%5D=2"),
        ([{"price": "p"}], Encoding(style="deepObject"), "f%5B0%5D%5Bprice%5D=p"),
        ("/x:y&z", Encoding(style="form", allow_reserved=True), "f=/x:y%26z"),
        ("AAH/", Encoding(binary=True), "f=%00%01%FF"),
    ],
)
def test_field_is_encoded_by_its_encoding_object(value: Any, encoding: Encoding | None, expected: str) -> None:
    assert content.encode_form({"f": value}, {"f": encoding} if encoding else {}) == expected


def test_fields_are_in_order_and_names_are_escaped() -> None:
    assert content.encode_form({"b": 1, "a b": 2, "ids[]": [3, 4]}, {}) == "b=1&a+b=2&ids%5B%5D=3&ids%5B%5D=4"


def test_binary_field_that_is_not_base64_is_refused() -> None:
    with pytest.raises(ArgumentError, match="`f`"):
        content.encode_form({"f": "?"}, {"f": Encoding(binary=True)})


@given(st.dictionaries(TEXT.filter(bool), st.one_of(TEXT, st.lists(TEXT, min_size=1)), min_size=1))
def test_werkzeug_reads_the_fields_back(fields: dict[str, Any]) -> None:
    encoded = content.encode_form(fields, {})
    expected = [
        (name, text) for name, value in fields.items() for text in (value if isinstance(value, list) else [value])
    ]
    assert parse_qsl(encoded, keep_blank_values=True) == expected
    reader = FormDataParser(max_form_memory_size=None, max_form_parts=None)
    data = encoded.encode("ascii")
    _, form, _ = reader.parse(BytesIO(data), "application/x-www-form-urlencoded", len(data), {})
    assert list(form.items(multi=True)) == expected
