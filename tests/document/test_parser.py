"""Test parsing into plain JSON values; a value that is left out is reported with its pointer."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.document import yaml
from openapi_mcp.document.model import Limits
from openapi_mcp.document.parser import parse
from openapi_mcp.errors import DocumentError

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    # YAML takes keys of at most 1,024 characters (1.2.2, section 7.4.2), and twelve stand for one in an escape.
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=80), inner),
    max_leaves=20,
)


def messages(text: str) -> list[tuple[str, str]]:
    return [(problem.pointer, problem.message) for problem in parse(text).problems]


@pytest.mark.slow
@given(JSON_VALUES)
def test_json_reads_back_as_it_was_written(value: Any) -> None:
    assert parse(json.dumps({"value": value})).value == {"value": value}


@pytest.mark.slow
@given(JSON_VALUES)
def test_the_yaml_reader_reads_json_as_json_does(value: Any) -> None:
    text = json.dumps(value).replace("\x7f", r"\u007f")  # the one character that JSON may hold raw and YAML may not
    read, problems, *_ = yaml.parse(text, Limits())
    assert (read, problems) == (value, ())
    assert json.dumps(read) == json.dumps(value), "and of the same types"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{openapi: 3.0.0}", {"openapi": "3.0.0"}),
        ('{"a": 1,}', {"a": 1}),
        ('\n\t {"a": [1]}', {"a": [1]}),
        ("[1, 2]", [1, 2]),
        ("a: 1", {"a": 1}),
        ("", None),
        ("# nothing but a comment\n", None),
        ("<html></html>", "<html></html>"),
    ],
)
def test_the_format_is_detected_by_content(text: str, value: Any) -> None:
    assert parse(text).value == value


@pytest.mark.process
def test_single_file_json_imports_no_yaml() -> None:
    program = "import sys; from openapi_mcp.document import loader, parser; parser.parse('{}'); print(*sys.modules)"
    import subprocess

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"yaml", "prance"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": {"b": 1, "b": 2}}', [("#/a/b", "the key 'b' is written more than once; the last one counts")]),
        (
            '{"a": NaN, "b": [1, Infinity, 1e999]}',
            [
                ("#/a", "this number is not finite, which JSON does not allow; it is left out"),
                ("#/b/1", "this number is not finite, which JSON does not allow; it is left out"),
                ("#/b/2", "this number is not finite, which JSON does not allow; it is left out"),
            ],
        ),
    ],
)
def test_repeated_keys_and_infinite_numbers_of_json_are_reported(text: str, found: list[tuple[str, str]]) -> None:
    assert messages(text) == found


def test_of_very_many_infinite_numbers_the_first_are_reported_and_the_rest_counted() -> None:
    parsed = parse(f"[{'1e999,0,' * 200_000}1]")
    assert parsed.value == [0] * 200_000 + [1]
    assert len(parsed.problems) == 1001
    assert parsed.problems[-1].message == "199,000 more numbers are not finite; they are left out"


def test_numbers_that_are_not_finite_are_left_out() -> None:
    assert parse('{"a": NaN, "b": [1, Infinity, 2], "c": 1.5}').value == {"b": [1, 2], "c": 1.5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'["\ud800"]', ["\ufffd"]),
        (r'["\udc00 \ud83d\ude00 \ud83d"]', ["\ufffd \U0001f600 \ufffd"]),
        (r'["\\ud800", "\ud800"]', ["\\ud800", "\ufffd"]),
    ],
)
def test_lone_surrogates_are_replaced(text: str, value: Any) -> None:
    assert parse(f'{{"a": {text}}}').value == {"a": value}


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ('{"a": 1\n "b": 2}', "line 2, column 2", "this is neither JSON nor YAML: Expecting ',' delimiter"),
        ("a: [1\nb: 2", "line 2, column 2", "this is not YAML: did not find expected ',' or ']'"),
        ("a: *nobody", "line 1, column 4", "there is no anchor for the alias *nobody"),
        ("%YAML 3.0\n---\na: 1", "line 1, column 1", "this is not YAML: found incompatible YAML document"),
    ],
)
def test_an_error_names_line_and_column(text: str, where: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(text)
    assert (caught.value.where, caught.value.message) == (where, message)


def test_a_control_character_is_an_error_that_names_it() -> None:
    with pytest.raises(DocumentError, match="control characters are not allowed"):
        parse("a: \x00")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000 + "]" * 100_000, id="json"),
        pytest.param('{"a":' * 300 + "1" + "}" * 300, id="json that Python could still read"),
        pytest.param("[a, " * 300 + "]" * 300, id="yaml flow"),
        pytest.param("\n".join(" " * depth + "a:" for depth in range(300)), id="yaml block"),
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="nested deeper than 256"):
        parse(text)


def test_a_number_too_long_for_python_is_refused_in_json_and_stays_text_in_yaml() -> None:
    with pytest.raises(DocumentError, match="Exceeds the limit"):
        parse(f'{{"a": {"9" * 5000}}}')
    assert parse(f"a: {'9' * 5000}").value == {"a": "9" * 5000}


def test_a_key_written_twice_among_many_is_found_in_time() -> None:
    keys = ", ".join(f'"k{number}": 0' for number in range(50_000))
    read = parse(f'{{"a": {{{keys}, "k1": 1}}}}')
    assert [(problem.pointer, problem.message) for problem in read.problems] == [
        ("#/a/k1", "the key 'k1' is written more than once; the last one counts")
    ]


@pytest.mark.parametrize("text", ['{"a": {"LONG": {"b": 1}, "c": 2}}', "a:\n  ? LONG\n  : {b: 1}\n  c: 2\n"])
def test_a_key_beyond_the_limit_is_left_out(text: str) -> None:
    read = parse(text.replace("LONG", "x" * 2001))
    assert read.value == {"a": {"c": 2}}
    [problem] = read.problems
    assert problem.pointer == "#/a"
    assert problem.message.endswith(f"the key '{'x' * 40}…' is longer than 2,000 characters; it is left out")


@pytest.mark.parametrize("text", ["[{}, [], 1, 2, 3]", "- {}\n- []\n- 1\n- 2\n- 3\n", '{"a": [1, {"b": 2}, 3]}'])
def test_values_beyond_the_limit_are_refused(text: str) -> None:
    assert parse(text, Limits(values=6)).values == 6
    with pytest.raises(DocumentError, match="more than 5 values"):
        parse(text, Limits(values=5))


def test_commas_in_texts_are_no_values() -> None:
    assert parse('["a, b, c, [d], {e}", "\\", f"]', Limits(values=3)).values == 3


@pytest.mark.parametrize("offset", range(3))
def test_values_of_a_long_text_are_counted_in_pieces(offset: int) -> None:
    item = '{"a, b": [], "[\\"{,": {}}'
    text = "[" + " " * offset + ", ".join([item] * 60_000) + "]"
    assert parse(text, Limits(values=180_001)).values == 180_001
    with pytest.raises(DocumentError, match="more than 180,000 values"):
        parse(text, Limits(values=180_000))


def test_directives_of_yaml_are_limited() -> None:
    with pytest.raises(DocumentError, match="more than 100 directives"):
        parse("".join(f"%TAG !t{n}! tag:x{n}\n" for n in range(102)) + "---\na: 1")


def test_runs_of_tabs_take_linear_time() -> None:
    with pytest.raises(DocumentError, match="this is not YAML"):
        parse("a:" + "\t" * 200_000 + "b: c: d")
