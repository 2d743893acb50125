"""Hidden characters of a document are reported with their place, and are not in what a model reads."""

import json
from typing import Any

import pytest

from openapi_mcp.document.hidden_text import MAX_REPORTED
from tests.compiling import compiled_operation

TAGS = "\U000e0049\U000e0067"


def operation(**fields: Any) -> dict[str, Any]:
    return {"responses": {}, **fields}


@pytest.mark.parametrize("hidden", ["\u202e", TAGS, "\x1b[2J", "\u200b\u200d", "\u2066", "\0"])
def test_hidden_character_of_a_description_is_a_problem(hidden: str) -> None:
    result = compiled_operation(operation(description=f"Read{hidden} it."))
    (problem,) = result.problems
    assert (problem.pointer, problem.kind) == ("#/paths/~1x/post/description", "text")
    assert not set(hidden) & set(problem.message) - set("[2J")
    assert result.tools[0].description == f"Read{'[2J' if '[2J' in hidden else ''} it."


def test_hidden_characters_of_names_titles_and_parameters_are_problems_and_not_shown() -> None:
    fields = operation(
        summary="Sum\u202emary",
        parameters=[{"name": f"a{TAGS}", "in": "query", "schema": {"type": "string", "title": "\x1bT"}}],
    )
    result = compiled_operation(fields)
    assert {problem.pointer.rpartition("/")[2] for problem in result.problems} == {"summary", "name", "title"}
    (tool,) = result.tools
    listed = json.dumps([tool.name, tool.title, tool.description, tool.input_schema], ensure_ascii=False)
    assert not set(listed) & {"\u202e", *TAGS, "\x1b"}


@pytest.mark.parametrize("before", range(2**20 - 30, 2**20))
def test_hidden_characters_are_found_wherever_a_long_text_is_divided(before: int) -> None:
    result = compiled_operation(operation(description="x" * before + "\u200b\u200d"))
    assert [problem.kind for problem in result.problems] == ["text"]


def test_harmless_characters_are_no_problem() -> None:
    assert compiled_operation(operation(description="soft\xadhyphen 👨\u200d👩\r\nline")).problems == ()


def test_problems_of_hidden_characters_are_limited() -> None:
    result = compiled_operation(operation(**{f"x-{number}": "\u202e" for number in range(MAX_REPORTED + 5)}))
    assert len(result.problems) == MAX_REPORTED
