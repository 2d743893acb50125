"""Test the YAML reader: other values than JSON's stay text, keys are text, no objects, no exponential growth."""

import json
from typing import Any

import pytest

from openapi_mcp.document.parser import parse
from openapi_mcp.errors import DocumentError


def problems(text: str) -> list[tuple[str, str]]:
    return [(problem.pointer, problem.message) for problem in parse(text).problems]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("False", False),
        ("~", None),
        ("NULL", None),
        ("", None),
        ("12", 12),
        ("-7", -7),
        ("+7", 7),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("yes", "yes"),
        ("NO", "NO"),
        ("on", "on"),
        ("y", "y"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2024-02-29", "2024-02-29"),
        ("2024-02-29T10:00:00Z", "2024-02-29T10:00:00Z"),
        ("1.2.3", "1.2.3"),
        ("0b101", "0b101"),
        ("=", "="),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 3", 3),
        ("!!timestamp 2024-02-29", "2024-02-29"),
        ("!!binary aGVs\n  bG8=", "aGVsbG8="),
        ("!!set {a, b}", {"a": None, "b": None}),
        ("!!omap [a: 1]", [{"a": 1}]),
    ],
)
def test_scalars_follow_the_core_schema(written: str, value: Any) -> None:
    read = parse(f"key: {written}")
    assert json.dumps(read.value) == json.dumps({"key": value})
    assert read.problems == ()


@pytest.mark.parametrize(
    "key", ["on", "yes", "no", "true", "null", "~", "123", "1.5", "0503", "2024-01-01", "1e3", "="]
)
def test_keys_are_the_strings_written(key: str) -> None:
    assert list(parse(f"{key}: x").value) == [key]


@pytest.mark.parametrize("written", [".inf", "-.INF", ".nan", "1e999"])
def test_a_number_that_is_not_finite_is_left_out_and_reported(written: str) -> None:
    read = parse(f"schema: {{default: {written}, type: number}}\nlist: [1, {written}]")
    assert read.value == {"schema": {"type": "number"}, "list": [1]}
    assert [problem.pointer for problem in read.problems] == ["#/schema/default", "#/list/1"]


def test_a_repeated_key_is_reported_with_its_line_and_the_last_one_counts() -> None:
    text = "paths:\n  /a: {get: 1}\n  /b: 2\n  /a: {get: 3}\n"
    assert parse(text).value == {"paths": {"/a": {"get": 3}, "/b": 2}}
    message = "line 4, column 3: the key '/a' is written more than once; the last one counts"
    assert problems(text) == [("#/paths/~1a", message)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}", {"l": 3, "k": 1}),
        ("a: &x {k: 1}\nb: {l: 3, <<: *x}", {"k": 1, "l": 3}),
        ("a: &x {k: 1}\nc: &y {k: 2, l: 2}\nb: {<<: [*x, *y]}", {"k": 1, "l": 2}),
        ("a: &x {k: 1}\nc: &y {k: 2}\nb: {<<: *x, <<: *y}", {"k": 1}),
        ("b: {'<<': 1}", {"<<": 1}),
    ],
)
def test_merge_keys_add_missing_entries(text: str, value: Any) -> None:
    read = parse(text)
    assert (read.value["b"], read.problems) == (value, ())


def test_a_merge_key_with_anything_but_mappings_is_reported() -> None:
    assert parse("b: {<<: 5, k: 1}").value == {"b": {"k": 1}}
    assert [pointer for pointer, _ in problems("b: {<<: 5, k: 1}")] == ["#/b"]


def test_aliases_share_their_value() -> None:
    value = parse("a: &x {k: 1}\nb: *x\nc: &s text\nd: *s\n*s : key").value
    assert value["a"] is value["b"]
    assert (value["d"], value["text"]) == ("text", "key")


def test_an_alias_bomb_is_cut_and_the_rest_is_read() -> None:
    levels = ["x-0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    read = parse("\n".join([*levels, "paths: {/a: &ok {get: 1}, /b: *ok}"]))
    assert read.value["paths"] == {"/a": {"get": 1}, "/b": {"get": 1}}
    assert len(json.dumps(read.value)) < 10_000_000
    assert {problem.pointer for problem in read.problems} == {"#/x-5/3", "#/x-6/0"}


def test_aliases_of_a_long_text_are_limited() -> None:
    read = parse(f"a: &x {'long ' * 100_000}\nb: [{', '.join(['*x'] * 1000)}]")
    assert len(read.value["b"]) < 300
    assert len(read.problems) == 1


def test_an_alias_inside_its_own_value_is_left_out() -> None:
    read = parse("a: &x {b: *x, c: [*x, 1]}")
    assert read.value == {"a": {"c": [1]}}
    assert [problem.pointer for problem in read.problems] == ["#/a/b", "#/a/c/0"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: !!python/object/apply:os.system ['exit 1']", {"a": ["exit 1"]}),
        ("a: !!python/name:os.system ''", {"a": ""}),
        ("a: !Sub 'x-${y}'", {"a": "x-${y}"}),
        ("a: !thing {b: 1}", {"a": {"b": 1}}),
        ("a: !number 12", {"a": 12}),
    ],
)
def test_unknown_tags_construct_nothing_and_are_reported(text: str, value: Any) -> None:
    assert parse(text).value == value
    assert len(problems(text)) == 1


def test_only_the_first_document_of_a_stream_is_read() -> None:
    assert parse("%YAML 1.1\n---\na: 1\n...\n").value == {"a": 1}
    assert parse("a: 1\n---\nb: {{{{").value == {"a": 1}
    assert problems("a: 1\n---\nb: 2") == [
        ("#", "line 2, column 1: a second YAML document begins here; only the first is read")
    ]


def test_a_complex_key_becomes_text() -> None:
    assert parse("? 200\n: ok\n? >-\n  folded\n  key\n: x").value == {"200": "ok", "folded key": "x"}
    assert parse("? {a: 1}\n: x").value == {'{"a": 1}': "x"}
    assert len(problems("? [a]\n: x")) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: x\t# c\nb: 'y' \t # c\nc:\t# c\n  - z\t# c\n", {"a": "x", "b": "y", "c": ["z"]}),
        ("\t# c\na: 1\n", {"a": 1}),
        ("a: 1\n\t# c\nb: 2\n", {"a": 1, "b": 2}),
        ("a:\n  b: 1\n  \t# c\n\t\n  c: 2\t\n", {"a": {"b": 1, "c": 2}}),
        ("a: [1,\n\t# c\n 2]\n\t# c", {"a": [1, 2]}),
    ],
)
def test_tab_before_a_comment_or_in_an_empty_line_is_white_space(text: str, value: Any) -> None:
    assert parse(text).value == value
    assert problems(text) == []


def test_scalars_keep_their_tabs_beside_a_repaired_line() -> None:
    text = "\t# é\nquoted: \"é\t# a\"\nsingle: 'b\t#'\nblock: |\n  c\t# d\n  \t\n  e\t\nend: 1\n\t# f\n"
    assert parse(text).value == {"quoted": "é\t# a", "single": "b\t#", "block": "c\t# d\n\t\ne\t\n", "end": 1}


@pytest.mark.parametrize(("text", "line"), [("a:\n\tb: 1\n", 2), ("a: 1\n\t# c\n\tb: 2\n", 3)])
def test_tab_for_indentation_is_an_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DocumentError) as error:
        parse(text)
    assert error.value.where == f"line {line}, column 1"


@pytest.mark.parametrize("written", ["9" * 5000, "0x" + "f" * 4000, "0o" + "7" * 100_000])
def test_integers_that_have_no_decimal_form_in_python_stay_text(written: str) -> None:
    assert parse(f"a: {written}").value == {"a": written}


@pytest.mark.parametrize("written", ["9" * 4300, "0x" + "f" * 2000, "0o" + "7" * 2000])
def test_long_integers_can_be_written_as_json(written: str) -> None:
    assert json.loads(json.dumps(parse(f"a: {written}").value)) == {"a": int(written, 0)}
