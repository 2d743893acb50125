"""Literals evaluate to their values, and `ruff format` does not change them."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.generator.literals import WIDTH, Group, Source, call, layout, literal, node, quote

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner) | st.tuples(inner, inner),
)


@pytest.mark.slow
@given(VALUES, st.integers(0, 80))
def test_literals_evaluate_to_their_values(value: Any, before: int) -> None:
    text = literal(value, before=before)
    assert ast.literal_eval(f"({text})" if isinstance(value, str) else text) == value


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", '"plain"'),
        ("it's", '"it\'s"'),
        ('a "word"', "'a \"word\"'"),
        ('it\'s a "word"', "'it\\'s a \"word\"'"),
        ("\u202e\x07\ud800", '"\\u202e\\x07\\ud800"'),
        ("back\\slash\n", '"back\\\\slash\\n"'),
    ],
)
def test_quotes_need_the_fewest_escapes(text: str, written: str) -> None:
    assert quote(text) == written


@pytest.mark.parametrize(
    ("value", "written"), [(float("inf"), "1e999"), (-float("inf"), "-1e999"), (1e300, "1e300"), (True, "True")]
)
def test_number_literals(value: float, written: str) -> None:
    assert literal(value) == written


def test_huge_integers_are_not_decimal() -> None:
    assert ast.literal_eval(literal(10**5000)) == 10**5000


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes"])
def test_other_types_raise_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        literal(value)


def test_nan_raises_value_error() -> None:
    with pytest.raises(ValueError, match="NaN"):
        literal([float("nan")])


def test_long_values_have_one_item_on_each_line() -> None:
    lines = literal({"description": "word " * 30, "type": "string"}, indent=4).splitlines()
    assert [line.strip()[:15] for line in lines] == [
        "{",
        '"description": ',
        '"word word word',
        '"word word word',
        *("),", '"type": "string', "}"),
    ]
    assert all(len(line) <= WIDTH for line in lines)


def test_calls_with_values_and_source() -> None:
    assert layout(call("query", "limit", {"type": "integer"}, style=Source("FORM"))) == (
        'query("limit", {"type": "integer"}, style=FORM)'
    )
    assert layout(Group("(", [("", node("one"))], ")", single=True)) == '("one",)'


@pytest.mark.process
@settings(max_examples=40)
@given(st.lists(VALUES, min_size=20, max_size=20))
def test_ruff_format_changes_nothing(values: list[Any]) -> None:
    heads = [f"value_{number} = [" for number in range(len(values))]
    written = [head[:-1] + literal([value], before=len(head) - 1) for head, value in zip(heads, values, strict=True)]
    source = "\n".join(written) + "\n"
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(WIDTH), "-"]
    folder = Path(__file__).parent
    process = subprocess.run(
        command, input=source.encode("utf-8", "replace"), capture_output=True, check=True, cwd=folder
    )
    assert process.stdout.decode() == source
