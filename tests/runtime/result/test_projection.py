"""JMESPath over answers: what is taken, what is said where an expression is wrong, and what a hostile one costs."""

import asyncio
import json
import time
from contextlib import suppress
from typing import Any

import httpx
import pytest

from openapi_mcp.runtime import background
from openapi_mcp.runtime.errors import ArgumentError
from openapi_mcp.runtime.result import projection
from openapi_mcp.runtime.result.projection import (
    MAX_QUICK_STEPS,
    Projection,
    ProjectionError,
    TooManySteps,
    outline,
    project,
    selected,
)
from openapi_mcp.runtime.result.sanitizer import NO_SECRETS, Sanitizer
from openapi_mcp.runtime.server.shapes import evaluated

ITEMS = [{"id": number, "name": f"n{number}", "owner": {"login": "ada"}} for number in range(3)]
ANSWER: dict[str, Any] = {"items": ITEMS, "total": 3}


def response(value: Any, **fields: Any) -> httpx.Response:
    return httpx.Response(200, json=value, request=httpx.Request("GET", "http://api.test/x"), **fields)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("items[].name", ["n0", "n1", "n2"]),
        ("items[?id > `0`].{id: id, by: owner.login}", [{"id": 1, "by": "ada"}, {"id": 2, "by": "ada"}]),
        ("length(items)", 3),
        ("sort_by(items, &name)[-1].id", 2),
        ("items[:1] | [0].name", "n0"),
        ("{n: total, first: items[0].id}", {"n": 3, "first": 0}),
    ],
)
def test_an_expression_takes_what_is_needed(expression: str, value: Any) -> None:
    part, note = project([Projection.parse(expression)], response(ANSWER), NO_SECRETS)
    assert (part.json(), note) == (value, "")


def test_expressions_are_applied_one_after_the_other() -> None:
    part, _ = project([Projection.parse("items"), Projection.parse("[1].name")], response(ANSWER), NO_SECRETS)
    assert part.json() == "n1"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("items[", "ends too early"),
        ("", "is empty"),
        ("items[].{id id}", "`id` is not expected at character 13 (…items[].{id  ⟶ id})"),
        ("items[].#", "at character 9"),
        ("lenght(items)", "there is no function lenght(); did you mean length()?"),
        ("(" * 1500, "nested too deeply"),
        ("a" * 3000, "3000 characters; it may have 2000"),
    ],
)
def test_a_wrong_expression_is_explained_before_anything_is_sent(expression: str, reason: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Projection.parse(expression)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("length(total)", "length() takes string or array or object, and got number"),
        ("items[::0]", "slice step cannot be zero"),
        ("length(items, total)", "Expected 1 argument for function length(), received 2"),
        ("items[0].name < `3`", "The answer is an object with items, total"),
        ("&items", "its result is not JSON"),
    ],
)
def test_an_expression_that_does_not_fit_the_answer_is_explained(expression: str, reason: str) -> None:
    with pytest.raises(ProjectionError) as caught:
        project([Projection.parse(expression)], response(ANSWER), NO_SECRETS)
    assert reason in str(caught.value)


def test_names_that_the_answer_does_not_have_are_named() -> None:
    part, note = project([Projection.parse("items[].{n: nmae, x: zzz}")], response(ANSWER), NO_SECRETS)
    assert part.json()[0] == {"n": None, "x": None}
    assert note == "No object of the answer has `nmae`; did you mean `name`? No object of the answer has `zzz`."


def test_an_expression_that_matches_nothing_shows_what_is_there() -> None:
    part, note = project([Projection.parse("data[].id")], response(ANSWER), NO_SECRETS)
    assert part.json() is None
    assert "The answer is an object with items, total (`items`: a list of 3, of objects with id, name, owner)." in note


def test_outlines_are_short_and_names_are_written_as_in_expressions() -> None:
    wide = {f"key {number}": [number] for number in range(500)}
    assert outline(wide).startswith('The answer is an object with "key 0", "key 1"')
    assert len(outline(wide)) < 700
    assert outline([]) == "The answer is a list of 0."
    assert outline({}) == "The answer is an empty object."


LARGE = {"items": [{"id": number, "tags": ["a", "b"]} for number in range(2_000)]}


@pytest.mark.parametrize(
    "expression",
    [
        "@ | [@,@]" + " | [@,@]" * 60,
        "to_string(@)" + " | to_string([@,@])" * 50,
        "items" + "[].[@,@][]" * 40,
        "'a' | join('', [@,@])" + " | join('', [@,@])" * 60,
        "[@,@]" + " | [@,@]" * 60 + " == [@,@]",
        "[@,@]" + " | [@,@]" * 60 + " | contains(@, [@,@])",
        "map(&to_string(@), [" + ",".join("@" * 300) + "])",
        "items[?contains(to_string(@), 'z')] | " + " || ".join(["items[?id == `-1`]"] * 60),
        "a." * 900 + "a",
    ],
)
def test_a_hostile_expression_is_bounded(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "MAX_STEPS", 50_000)
    monkeypatch.setattr(projection, "MAX_RESULT_PARTS", 20_000)
    try:
        part, _ = project([Projection.parse(expression)], response(LARGE), NO_SECRETS)
    except ProjectionError:
        pass
    else:
        assert len(part.content) < 2_000_000


def test_secrets_are_removed_before_an_expression_can_change_them() -> None:
    answer = response({"token": "s3cr3t-value-77"})
    part, _ = project([Projection.parse("reverse(token)")], answer, Sanitizer(["s3cr3t-value-77"]))
    assert part.json() == "***"


def test_headers_stay_and_those_of_the_old_body_go() -> None:
    answer = response(ANSWER, headers={"Link": "<x>; rel=next", "Content-Encoding": "identity"})
    part, _ = project([Projection.parse("total")], answer, NO_SECRETS)
    assert part.headers["link"] == "<x>; rel=next"
    assert part.headers["content-type"] == "application/json"
    assert part.headers["content-length"] == str(len(part.content))


def test_text_is_left_as_it_is() -> None:
    answer = httpx.Response(200, text="hello", request=httpx.Request("GET", "http://api.test/x"))
    part, note = project([Projection.parse("a")], answer, NO_SECRETS)
    assert part is answer
    assert "not a JSON object or list" in note


def test_large_answers_are_read_whole() -> None:
    many = [{"id": number, "text": "x" * 100} for number in range(20_000)]
    part, _ = project([Projection.parse("[-1].id")], response(many), NO_SECRETS)
    assert json.loads(part.content) == 19_999


def test_the_first_part_of_an_answer_that_is_too_large_is_read_with_a_note() -> None:
    many = [{"id": number, "text": "x" * 1_000} for number in range(5_000)]
    part, note = project([Projection.parse("length(items)")], response({"items": many}), NO_SECRETS)
    assert 3_000 < json.loads(part.content) < 5_000
    assert note == "Nothing was selected of what follows the first 4 MiB of the answer."


ZEROS = json.dumps([0] * 180)
COSTLY = [
    f"map(&map(&map(&@, `{ZEROS}`), `{ZEROS}`), `{ZEROS}`)",
    "|".join(["[@,@]"] * 18) + "|[?@==@]",
    "|".join(["[@,@]"] * 16),
]


@pytest.mark.parametrize("expression", COSTLY)
def test_a_short_expression_for_a_small_answer_takes_few_steps_where_others_wait(expression: str) -> None:
    start = time.process_time()
    with pytest.raises(TooManySteps):
        selected([Projection.parse(expression)], {"fine": True}, response({"fine": True}), MAX_QUICK_STEPS)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("expression", COSTLY)
def test_what_takes_many_steps_is_evaluated_beside_the_event_loop(expression: str) -> None:
    asides = []

    def function(steps: int) -> object:
        asides.append(background.is_aside())
        return selected([Projection.parse(expression)], {"fine": True}, response({"fine": True}), steps)

    with suppress(TooManySteps):
        asyncio.run(evaluated(1, function))
    assert asides == [False, True]
