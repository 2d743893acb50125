"""Arguments that multiply what is to be judged: the verdict and its reason come in bounded time and memory."""

import asyncio
import logging
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing.exceptions import Unresolvable

from openapi_mcp.runtime.arguments import check_aside
from openapi_mcp.runtime.arguments.validation import check
from openapi_mcp.runtime.json_schema import MAX_SEARCHED, patterns, repetition, undeclared_names, verdict
from openapi_mcp.runtime.json_schema.judge import MAX_FAILURES, BudgetSpent, Judge
from openapi_mcp.runtime.types import Schema
from tests.runtime.making import tool
from tests.runtime.test_json_schema import SCHEMAS, VALUES

MAX_SECONDS = 10.0
"""Processor time of one check: the issue's cases took from 14 s to minutes; now at most one on an idle machine."""

MAX_BYTES = 30 * 2**20
"""The issue's cases took from 1 to 4.7 GiB."""

REFERENCE = {"$ref": "#/$defs/F"}
TREE: Schema = {
    "anyOf": [
        {"type": "object", "properties": {"a": REFERENCE}, "required": ["a"]},
        {"type": "object", "properties": {"a": REFERENCE, "b": {"type": "integer"}}, "required": ["a"]},
        {"type": "integer"},
    ]
}
AND = {"type": "array", "items": REFERENCE}
FILTER: Schema = {
    "anyOf": [
        {"type": "object", "properties": {"and": AND}, "required": ["and"]},
        {"type": "object", "properties": {"not": REFERENCE, "and": AND}, "required": ["not", "and"]},
        {
            "type": "object",
            "properties": {"field": {"type": "string"}, "eq": {"type": "integer"}},
            "required": ["field", "eq"],
            "additionalProperties": False,
        },
    ]
}
INTEGERS: Schema = {"type": "array", "items": {"type": "integer"}}


def nested(levels: int, leaf: Any, wrap: Callable[[Any], Any]) -> Any:
    for _ in range(levels):
        leaf = wrap(leaf)
    return leaf


def checked(expected: Schema, value: Any, **definitions: Schema) -> tuple[Any, str]:
    """The value of the argument `a` after a check, and the refusal; bounded in time."""
    schema = {"type": "object", "properties": {"a": expected}, "additionalProperties": False, "$defs": definitions}
    start = time.process_time()
    arguments, refusal = check(tool(input_schema=schema), {"a": value})
    assert time.process_time() - start < MAX_SECONDS
    return arguments["a"], refusal


@contextmanager
def little_memory() -> Iterator[None]:
    """Assert that the statements within take no more than `MAX_BYTES` besides what there was before."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MAX_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("levels", [12, 26, 39, 60])
def test_union_that_contains_itself_is_explained(keyword: str, levels: int) -> None:
    value = nested(levels, "x", lambda inner: {"a": inner})
    with little_memory():
        _, refusal = checked(REFERENCE, value, F={keyword: TREE["anyOf"]})
    assert refusal == f'`a{".a" * levels}` must be an object or an integer, not "x".'


@pytest.mark.timeout(60)
@pytest.mark.parametrize("levels", [8, 12, 24])
def test_filter_that_contains_itself_is_explained_or_coerced(levels: int) -> None:
    wrong = nested(levels, {"field": "x", "eq": "y"}, lambda inner: {"and": [inner]})
    with little_memory():
        _, refusal = checked(REFERENCE, wrong, F=FILTER)
    assert refusal.startswith(f"`a{'.and[0]' * levels}.")
    fixable = nested(levels, {"field": "x", "eq": "5"}, lambda inner: {"and": [inner]})
    coerced, refusal = checked(REFERENCE, fixable, F=FILTER)
    assert not refusal
    assert coerced == nested(levels, {"field": "x", "eq": 5}, lambda inner: {"and": [inner]})


@pytest.mark.timeout(60)
@pytest.mark.parametrize("count", [5_000, 20_000])
def test_unique_objects_are_told_apart_by_hash(count: int) -> None:
    unique: Schema = {"type": "array", "uniqueItems": True, "items": {"type": "object"}}
    objects = [{"id": number, "name": "x"} for number in range(count)]
    assert checked(unique, objects) == (objects, "")
    _, refusal = checked(unique, [*objects, {"name": "x", "id": 7.0}])
    assert refusal.startswith("`a` must not repeat an item, not [")


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("expected", "value", "sentence"),
    [
        (INTEGERS, ["x"] * 500_000, '`a[0]` must be an integer, not "x".'),
        (INTEGERS, [1] * 500_000 + ["x"], '`a[500000]` must be an integer, not "x".'),
        (
            {"type": "array", "items": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}},
            ["x"] * 100_000,
            '`a[0]` must be an integer or true or false, not "x".',
        ),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            {f"k{number}": "x" for number in range(100_000)},
            '`a.k0` must be an integer, not "x".',
        ),
        (
            {"type": "object", "properties": {"b": {}}, "additionalProperties": False},
            {f"k{number}": "x" for number in range(100_000)},
            "There is no `k0` in `a`.",
        ),
        (
            {"type": "object", "patternProperties": {"^k": {"type": "integer"}}},
            {f"k{number}": "x" for number in range(100_000)},
            '`a.k0` must be an integer, not "x".',
        ),
        ({"type": "array", "items": {"enum": [{"a": n} for n in range(1000)]}}, [{"a": -1}] * 50_000, "`a[0]` must be"),
    ],
    ids=["integers", "last", "oneOf", "additionalProperties", "closed", "patternProperties", "enum"],
)
def test_many_wrong_values_end_the_search_at_the_first_few(expected: Schema, value: Any, sentence: str) -> None:
    _, refusal = checked(expected, value)
    assert sentence in refusal
    assert len(refusal) < 2000


@pytest.mark.timeout(60)
def test_many_numbers_as_text_are_coerced() -> None:
    assert checked(INTEGERS, [str(number) for number in range(5_000)]) == (list(range(5_000)), "")


def test_number_of_failures_is_a_lower_bound_where_the_search_ended() -> None:
    with little_memory():
        _, refusal = checked(INTEGERS, ["x"] * 20_000)
    assert refusal.endswith(f"… and at least {MAX_FAILURES - 5} more.")


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_what_takes_too_many_steps_is_left_to_the_api_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    by_pattern: Schema = {"patternProperties": {"^k": {"type": "integer"}}}  # jsonschema-rs is not asked
    value = {f"k{number}": number for number in range(500_000)}
    with caplog.at_level(logging.WARNING, "openapi_mcp"):
        assert checked(by_pattern, value) == (value, "")
    assert "too complex to be judged; the API judges them" in caplog.text


@pytest.mark.timeout(60)
def test_chain_of_definitions_that_doubles_has_a_verdict() -> None:
    chain: dict[str, Any] = {str(n): {"anyOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)}
    schema = {"$ref": "#/$defs/0", "$defs": {**chain, "60": {"type": "integer"}}}
    assert repetition.repetition(schema) > 2**60
    assert verdict(schema, 1) is None
    assert Judge(schema).fits(schema, 1)
    assert not Judge(schema).fits(schema, "x")


def test_judge_without_steps_says_so() -> None:
    with pytest.raises(BudgetSpent):
        Judge(INTEGERS, 10).fits(INTEGERS, list(range(100)))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^(a+)+$", "a" * 60 + "!", False),
        ("^(a+)+$", "a" * 60, True),
        ("a+b$", "a" * 1_000_000, False),
        (r"^(\w+\s?)*$", "a" * 1_000_000 + "!", False),
        (r"^(\w+\s?)*$", "é" * 100, True),  # the bounded engine takes \w as ASCII, so that its no is not certain
        ("^" + "a?" * 40 + "a" * 40 + "$", "a" * 39, False),
        ("^(?=a)(a+)+$", "a" * 60 + "!", True),  # not decided
        ("^(a|b)?-[0-9]{1,3}$", "a-12", True),
        # Short texts, which some patterns match in more ways than there are seconds in a year:
        ("^" + "a?" * 64 + "b$", "a" * 16, False),
        ("^" + "a*" * 30 + "b$", "a" * 16, False),
        ("^" + "(?:ab|ab|ab|ab|ab|ab|ab|ab|ab|ab)" * 10 + "c$", "ab" * 10 + "d", False),
        ("^(?:a?a|a|aa|a{1,2}|a{1,3}|aa?a)*$", "a" * 15 + "b", False),
        ("^(?:a?a?a?a?a?){16}$", "a" * 15 + "b", False),
        ("^(?:((a*)*)*)*$", "a" * 12 + "b", False),
        ("^(?=a)(?:a|a|a|a|a|a|a|a)*$", "a" * 15 + "b", True),  # not decided
    ],
)
def test_pattern_takes_bounded_time(pattern: str, text: str, matches: bool) -> None:
    start = time.process_time()
    assert patterns.search(pattern, text) is matches
    schema = {"pattern": pattern}
    assert verdict(schema, text) is matches
    assert Judge(schema).fits(schema, text) is matches
    assert time.process_time() - start < 5


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("pattern", "text", "is_decided"),
    [
        ("^(?=a)(a+)+$", "a" * 60 + "!", False),
        (r"^(\w+\s?)*$", "é" * 100, False),
        ("^(a+)+$", "a" * 60, True),
        ("^a+$", "aaa", True),
    ],
)
def test_pattern_that_is_not_decided_is_left_to_the_api_and_logged(
    pattern: str, text: str, is_decided: bool, caplog: pytest.LogCaptureFixture
) -> None:
    called = tool(input_schema={"type": "object", "properties": {"a": {"pattern": pattern}}})
    with caplog.at_level(logging.WARNING, "openapi_mcp"):
        assert asyncio.run(check_aside(called, {"a": text})) == ({"a": text}, "")
    sentence = f"A pattern takes too long for the arguments of {called.name}; the API judges them."
    assert [record.getMessage() for record in caplog.records] == ([] if is_decided else [sentence])


@pytest.mark.timeout(60)
def test_long_names_and_values_are_shortened() -> None:
    name = "n" * 1_000_000
    schema: Schema = {"type": "object", "properties": {"abc": {"type": "integer"}}, "additionalProperties": False}
    for arguments in ({name: 1}, {"abc": [{name: name}] * 1000}, {"abc": name}):
        _, refusal = check(tool(input_schema=schema), arguments)
        assert 0 < len(refusal) < 1000


@pytest.mark.slow
def test_search_for_undeclared_names_remembers_few_objects() -> None:
    schema: Schema = {"properties": {"a": {"items": {"properties": {"b": {}}}}}}
    with little_memory():
        assert len(list(undeclared_names(schema, {"a": [{"c": 1}] * 300_000}))) < MAX_SEARCHED


@pytest.mark.parametrize(
    ("sent", "coerced", "refusal"),
    [
        ([1], [1], ""),
        (["1"], [1], ""),
        (list(range(5_000)), list(range(5_000)), ""),
        (["x"], ["x"], '`a[0]` must be an integer, not "x".'),
    ],
)
def test_arguments_checked_aside_are_those_that_are_checked_at_once(sent: Any, coerced: Any, refusal: str) -> None:
    called = tool(input_schema={"type": "object", "properties": {"a": INTEGERS}})
    assert check(called, {"a": sent}) == ({"a": coerced}, refusal)
    assert asyncio.run(check_aside(called, {"a": sent})) == ({"a": coerced}, refusal)


def places(errors: "list[ValidationError]") -> set[tuple[str, tuple[str | int, ...]]]:
    """The keyword and the place of each failure that jsonschema finds."""
    return {(str(error.validator), tuple(error.absolute_path)) for error in errors}


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(SCHEMAS, VALUES)
def test_failures_are_among_those_of_jsonschema(schema: dict[str, Any], value: Any) -> None:
    if any(f"'{keyword}'" in repr(schema) for keyword in ("multipleOf", "$dynamicRef", "$recursiveRef", "$anchor")):
        return
    try:
        failures = Judge(schema).failures(schema, value)
        errors = list(Draft202012Validator(schema).iter_errors(value))
    except (Unresolvable, RecursionError):
        return
    assert bool(failures) == bool(errors)
    others = {"None": "false"}
    expected = {(others.get(keyword, keyword), path) for keyword, path in places(errors)}
    for failure in failures:
        path = () if failure.keyword == "false" else failure.path  # jsonschema has no path of the schema `false`
        keywords = {keyword for keyword, other in expected if other == path or failure.keyword == "false"}
        # jsonschema does not say what fails within `unevaluatedProperties` and `unevaluatedItems`.
        within = any(name.startswith("unevaluated") and failure.path[: len(at)] == at for name, at in expected)
        assert failure.keyword in keywords or within or failure.keyword.startswith("unevaluated"), failure
