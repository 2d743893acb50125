"""The examples of docs/projection.md are what happens, and its figures are those of the code."""

import json
import re

import httpx
import pytest

from openapi_mcp.answers.arguments import MAX_ADDED_TOKENS, MAX_PAGES, MIN_ANSWER_TOKENS
from openapi_mcp.answers.shape import _SHARE, MAX_BYTES
from openapi_mcp.answers.size import ITEMS
from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.result.projection import (
    MAX_LENGTH,
    MAX_RESULT_PARTS,
    MAX_STEPS,
    Projection,
    ProjectionError,
    project,
)
from openapi_mcp.runtime.result.sanitizer import NO_SECRETS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "projection.md").read_text()
ANSWER, *_ = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
ROWS = re.findall(r"^\| `([^`]+)` \| (`.+`) \|$", PAGE, re.MULTILINE)
"""Expressions, and what the page shows for each: between one backtick or two."""


def said(expression: str) -> str:
    response = httpx.Response(200, json=json.loads(ANSWER), request=httpx.Request("GET", "http://api.test/pets"))
    try:
        part, note = project([Projection.parse(expression)], response, NO_SECRETS)
    except (ArgumentError, ProjectionError) as error:
        return str(error)
    return note or part.text


@pytest.mark.parametrize(("expression", "shown"), ROWS, ids=lambda text: text[:20])
def test_expressions_do_what_the_page_says(expression: str, shown: str) -> None:
    text = shown[3:-3] if shown.startswith("``") else shown[1:-1]
    try:
        assert json.loads(said(expression)) == json.loads(text)
    except ValueError:
        assert text in said(expression)


def test_the_page_has_all_examples_and_the_figures_of_the_code() -> None:
    assert len(ROWS) == 10
    for figure in (
        f"1 to {MAX_PAGES}",
        f"{MAX_LENGTH:,} characters",
        f"{MAX_RESULT_PARTS:,} parts",
        f"{MIN_ANSWER_TOKENS:,} tokens",
        f"{MAX_ADDED_TOKENS:,} tokens",
        f"{MAX_BYTES // 2**20} MiB",
    ):
        assert figure in PAGE, figure
    assert (MAX_STEPS, ITEMS, _SHARE) == (1_000_000, 30, 0.8)
