"""Docstrings are read as the descriptions they were written for, and the generator writes no others."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.generator import literals
from openapi_mcp.generator.literals import WIDTH
from openapi_mcp.runtime import declarations


@pytest.mark.parametrize(
    ("docstring", "description"),
    [
        (None, ""),
        ("One line.", "One line."),
        ("A paragraph\n    that goes on.\n    ", "A paragraph that goes on."),
        ("One.\n\n    Two,\n    in two lines.\n", "One.\n\nTwo, in two lines."),
        ("A list:\n\n    - one\n    - two\n", "A list:\n\n- one\n- two"),
        ("Before\n    > a quotation\n", "Before\n> a quotation"),
    ],
)
def test_a_line_that_begins_with_a_letter_goes_on(docstring: str | None, description: str) -> None:
    assert declarations.description_of(docstring) == description


@given(st.text(st.sampled_from(list("aB1 .-\\\"'\n\té\u202e日\x7f")), max_size=300))
def test_what_is_written_is_read_back_or_not_written(description: str) -> None:
    written = literals.exact_docstring(description)
    if written is not None:
        assert declarations.description_of(ast.literal_eval(written)) == description
        assert all(literals.width(line) + 4 <= WIDTH for line in written.splitlines())


@pytest.mark.parametrize("description", ["Plain words.", "word " * 80 + "end", "One.\n\nTwo.", 'A `\\` and a "b" c'])
def test_most_descriptions_are_docstrings(description: str) -> None:
    assert literals.exact_docstring(description) is not None


@pytest.mark.parametrize("description", ["", " space", 'quoted "', "line\nbreak", "tab\there", "x" * 200, "end "])
def test_others_are_not(description: str) -> None:
    assert literals.exact_docstring(description) is None


@given(st.text())
def test_a_summary_is_a_line_whatever_it_says(text: str) -> None:
    written = literals.summary_docstring(text)
    assert isinstance(ast.literal_eval(written), str)
    assert "\n" not in written
    assert literals.width(written) + 4 <= WIDTH
