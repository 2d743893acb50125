"""`jsontext`: written text is always JSON, and invalid JSON of APIs is repaired."""

import asyncio
import json
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime import background, jsontext
from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.protocol import jsonrpc


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        ('\ufeff"x"', "x"),
        ('{"a":1}'.encode("utf-16"), {"a": 1}),
        ("[NaN,Infinity,-Infinity,1e400]", [None, None, None, None]),
        ('"\\ud800"', "\ufffd"),
        (b'{"\\udc00":["a\\uD83D"]}', {"\ufffd": ["a\ufffd"]}),
        ('"\\ud83d\\ude00"', "😀"),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_invalid_json_of_an_api_is_read_and_repaired(text: str | bytes, value: Any) -> None:
    assert jsontext.read(text) == value


@pytest.mark.parametrize("text", ["", "{", "{'a':1}", b"\xff\xfe\x00", "[" * 100_000])
def test_text_that_is_not_json_is_an_error(text: str | bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        jsontext.read(text)


def test_strict_reader_refuses_nan_and_infinity() -> None:
    with pytest.raises(ValueError, match="NaN"):
        jsontext.read_strictly("[NaN]")


def test_nan_and_infinity_are_not_written() -> None:
    with pytest.raises(ArgumentError):
        jsontext.write([math.nan])
    with pytest.raises(ArgumentError):
        jsontext.number(math.inf)


def test_lone_surrogate_is_written_as_its_escape() -> None:
    assert jsontext.write_bytes({"a": "\ud800é"}) == b'{"a":"\\ud800\\u00e9"}'


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_exact_and_have_no_exponent(value: float) -> None:
    text = jsontext.number(value)
    assert set(text) <= set("-.0123456789")
    assert float(text) == value
    assert Decimal(text) == Decimal(repr(value)) or value.is_integer()


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_written_value_is_read_back(value: Any) -> None:
    assert json.loads(jsontext.write(value)) == value


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_byte_length_is_the_size_of_the_written_bytes(value: Any) -> None:
    assert jsontext.byte_length(value) == len(jsontext.write_bytes(value))
    assert json.loads(jsontext.write_ascii(value)) == value
    assert jsontext.write_ascii(value).isascii()


def test_byte_length_counts_values_that_cannot_be_sent() -> None:
    assert jsontext.byte_length([math.nan, "\ud800"]) == len('[NaN,"?"]')


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ([], ""),
        (["body", "items", 0, "name"], "body.items[0].name"),
        ([1, "a"], "[1].a"),
        (["query.q"], "query.q"),
        (["defaultProgram", ""], 'defaultProgram[""]'),
        ([""], '[""]'),
        (["labels", "a.b", "c d"], 'labels["a.b"]["c d"]'),
        (["labels", "a]"], 'labels["a]"]'),
    ],
)
def test_path_is_formatted_with_dots_and_indices(path: list[str | int], text: str) -> None:
    assert jsontext.format_path(path) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [
        [],
        [1] * 100_000,
        [[[]]] * 30_000,
        {str(number): [number, "é"] for number in range(30_000)},
        {"a": 1, "b": [{"c": list(range(50_000))}, {}], "d": {"e": {"f": ["x" * 3_000_000]}}, "g": "y" * 3_000_000},
        "z" * 3_000_000,
    ],
)
def test_text_written_in_pieces_is_that_of_the_whole(value: Any) -> None:
    whole = jsontext.write(value)
    assert asyncio.run(background.run("large", jsontext.write, value)) == whole
    assert json.loads(whole) == value
    with pytest.raises(ArgumentError):
        asyncio.run(background.run("large", jsontext.write, [value, float("nan")]))


@pytest.mark.slow
@given(
    st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
    st.sampled_from([None, 1, "\t", "\r\n "]),
)
def test_minified_text_has_the_tokens_of_the_text(value: Any, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert jsontext.minify(text) == json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize(
    ("text", "minified"),
    [
        ('{ "a" : 1.00 ,\r\n\t"b c" : [ true , null ] }', '{"a":1.00,"b c":[true,null]}'),
        (r'[ "x \" y" , "z  \\" , " " ]', r'["x \" y","z  \\"," "]'),
        (' " a  b " ', '" a  b "'),
        ("\ufeff[ 1e5 ]", "[1e5]"),
    ],
)
def test_white_space_within_strings_stays(text: str, minified: str) -> None:
    assert jsontext.minify(text) == minified


NUMBERS = st.one_of(
    st.integers(), st.integers(-(10**30), 10**30), st.floats(), st.floats(-0.001, 0.001), st.floats(-1e-300, 1e-300)
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(), st.text('\ud83d\ude00\udfff"\\/\u2028\x7f\x00 e-0.')),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)),
    max_leaves=12,
)


@given(VALUES, st.booleans())
def test_quick_reader_and_writer_do_what_json_does(value: Any, ensure_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ensure_ascii)
    with suppress(jsontext.NotQuick, UnicodeEncodeError):
        assert repr(jsontext.quick_read(text.encode())) == repr(json.loads(text))
    with suppress(jsontext.NotQuick):
        written = jsontext.quick_write(value).decode()
        if "NaN" not in text and "Infinity" not in text:
            assert written == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    "text",
    [
        *("18446744073709551616", "-9223372036854775809", "[1234567890123456789012345]", '{"a":1,"a":2}', "1e400"),
        *("1e5", "1E16", "1e-5", "-0", "-0.0", "12.50", '"\\ud800"', '"\\u0041\\/"', "[NaN]", "\ufeff1", " 1 ", "01"),
        *('"a\tb"', '"\x7f"', "1.", "[1,]", "", "[" * 1500 + "]" * 1500),
    ],
)
def test_quick_reader_leaves_to_json_what_it_reads_differently(text: str) -> None:
    def outcome(read: Callable[[Any], Any]) -> str:
        try:
            return repr(read(text.encode()))
        except (ValueError, RecursionError):
            return "refused"

    quick = outcome(jsontext.quick_read)
    assert quick in {outcome(json.loads), "refused"}


@pytest.mark.parametrize(
    "value", [datetime(2026, 1, 1, tzinfo=UTC), object(), {1: 2}, 2**64, 1e-05, 1.5e-07, {"\ud800"}]
)
def test_quick_writer_leaves_to_json_what_it_writes_differently(value: Any) -> None:
    with pytest.raises(jsontext.NotQuick):
        jsontext.quick_write(value)


@given(VALUES, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_minified_text_does_not_depend_on_its_value(value: Any, indent: int | str | None, ensure_ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ensure_ascii)
    assert jsontext.minify(text, json.loads(text)) == jsontext.minify(text)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', "[1e5, 12.50]", '["\\u0020 ", "a b"]', '{"a": -0}', '["\\/"]'])
def test_minified_text_keeps_the_spelling_and_duplicates_of_the_text(text: str) -> None:
    assert jsontext.minify(text, json.loads(text)) == jsontext.minify(text)


def test_json_does_all_without_orjson(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "orjson", None)
    jsontext._quick_functions.cache_clear()
    try:
        for use in (lambda: jsontext.quick_read(b"{}"), lambda: jsontext.quick_write({})):
            with pytest.raises(jsontext.NotQuick):
                use()
        assert jsontext.read(b'{"a": [1, "b"]}') == jsonrpc.decode(b'{"a": [1, "b"]}') == {"a": [1, "b"]}
        assert jsonrpc.encode({"a": [1, "ü"]}) == '{"a":[1,"ü"]}'.encode()
        assert jsontext.minify('{"a": 1}', {"a": 1}) == '{"a":1}'
    finally:
        jsontext._quick_functions.cache_clear()
