"""Runtime expressions and conditions by the grammar of the specification, and every one that its texts write."""

import re
from typing import Any

import pytest
import yaml

from openapi_mcp.runtime.types import MISSING
from openapi_mcp.workflows.evaluation.conditions import evaluate, is_true, parse_condition
from openapi_mcp.workflows.evaluation.criteria import compile_criterion
from openapi_mcp.workflows.evaluation.expressions import (
    EmbeddedText,
    ExpressionError,
    is_expression,
    parse,
    pointer_tokens,
    text_of,
)
from openapi_mcp.workflows.evaluation.templates import compile_value
from tests.conftest import SHARED

VALID = [
    ("$url", "url", (), ()),
    ("$self", "self", (), ()),
    ("$request.header.accept", "request", ("header", "accept"), ()),
    ("$request.query.filter[x]", "request", ("query", "filter[x]"), ()),
    ("$request.path.id", "request", ("path", "id"), ()),
    ("$request.body#/user/uuid", "request", ("body",), ("user", "uuid")),
    ("$response.body", "response", ("body",), ()),
    ("$response.body#", "response", ("body",), ()),
    ("$response.body#/a~1b/~0c/", "response", ("body",), ("a/b", "~c", "")),
    ("$response.header.X-Rate.Limit", "response", ("header", "X-Rate.Limit"), ()),
    ("$inputs.x-store-id", "inputs", ("x-store-id",), ()),
    ("$inputs.customer#/first name", "inputs", ("customer",), ("first name",)),
    ("$outputs.bar", "outputs", ("bar",), ()),
    ("$steps.find-pet.outputs.pets#/0/id", "steps", ("find-pet", "pets"), ("0", "id")),
    ("$workflows.foo.inputs.username", "workflows", ("foo", "inputs", "username"), ()),
    ("$sourceDescriptions.petstore.getPetById", "sourceDescriptions", ("petstore", "getPetById"), ()),
    ("$components.parameters.foo", "components", ("parameters", "foo"), ()),
    ("$response.body.items[0].id", "response", ("body",), ("items", "0", "id")),
    ("$response.body['a b'].c", "response", ("body",), ("a b", "c")),
]
INVALID = [
    *("$", "url", "$Url", "$url.x", "$statusCode#/a", "$request", "$request.cookie.x", "$response.query.q", "$inputs"),
    *(
        "$inputs.",
        "$steps.a",
        "$steps.a.outputs.",
        "$workflows.a.steps.b",
        "$components.x.y",
        "$components.parameters.",
    ),
    *(
        "$components.parameters.",
        "$response.body#a",
        "$response.body#/~2",
        "$message.payload",
        "$sourceDescriptions.a",
        "$request.header.a b",
    ),
]


@pytest.mark.parametrize(("text", "source", "names", "path"), VALID, ids=[each[0] for each in VALID])
def test_what_the_grammar_has_is_parsed(text: str, source: str, names: Any, path: Any) -> None:
    parsed = parse(text)
    assert (parsed.source, parsed.names, parsed.path) == (source, names, path)
    assert not parsed.is_loose


@pytest.mark.parametrize("text", INVALID)
def test_what_it_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


def test_expressions_are_embedded_in_braces() -> None:
    assert text_of("no $inputs.a {here} {$5}") is None
    embedded = text_of("https://{$inputs.host}/api/{$steps.a.outputs.id}/status")
    assert isinstance(embedded, EmbeddedText)
    assert [part if isinstance(part, str) else part.text for part in embedded.parts] == [
        "https://", "$inputs.host", "/api/", "$steps.a.outputs.id", "/status",
    ]  # fmt: skip
    assert not is_expression("$5.00")
    assert pointer_tokens("") == ()


NOTHING = {"$inputs.none": MISSING, "$inputs.null": None}
VALUES = {"$statusCode": 200, "$inputs.n": 5, "$inputs.s": "Open", "$inputs.t": "12", "$inputs.list": [1], **NOTHING}
CONDITIONS = [
    *(("true", True), ("false", False), ("null", False), ("null == null", True), ("null != null", False)),
    *(("$inputs.none == null", True), ("$inputs.null == null", True), ("$inputs.n == null", False)),
    *(("$inputs.n != null", True), ("$inputs.none < 1", False), ("!$inputs.none", True), ("!!$inputs.n", True)),
    *(
        ("$inputs.s == 'open'", True),
        ("$inputs.s == 'OPEN '", False),
        ("$inputs.s > 'a'", True),
        ("'a''b' == 'A''B'", True),
    ),
    *(("$inputs.t == 12", True), ("$inputs.t > 5", True), ("$inputs.t < '5'", False), ("$inputs.s > 5", False)),
    *(("true == 1", False), ("false == 0", False), ("1 == 1.0", True), ("1e2 == 100", True), ("-1 < 0", True)),
    *(("$statusCode==200&&$inputs.n>4", True), ("false || true && false", False), ("(false || true) && true", True)),
    *(
        ("!(true && false)", True),
        ("! false", True),
        ("$inputs.list == $inputs.list", True),
        ("$inputs.list > 0", False),
    ),
    *(("{$inputs.n} == 5", True), ("$inputs.n >= 5 && $inputs.n <= 5", True), ("'' == null", False), ("'x'", True)),
]
NO_CONDITIONS = [
    *(
        "",
        "$statusCode =",
        "$statusCode = 200",
        "== 200",
        "200 ==",
        "(true",
        "true)",
        "true true",
        "a == 1",
        "1 < 2 < 3",
    ),
    *("'open", "true & false", "!", "$nothing.x == 1", "$statusCode == 200 and true", "()", "1..2 == 1", "f(1)"),
]


@pytest.mark.parametrize(("text", "expected"), CONDITIONS, ids=[each[0] for each in CONDITIONS])
def test_conditions_compare_loosely(text: str, expected: bool) -> None:
    value = evaluate(parse_condition(text), lambda expression: VALUES.get(expression.text, MISSING))
    assert is_true(value) is expected


@pytest.mark.parametrize("text", NO_CONDITIONS)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_condition(text)


VERSIONS = SHARED / "standards" / "arazzo" / "versions"


def parts(node: Any) -> Any:
    """Yield all objects of a value."""
    if isinstance(node, dict):
        yield node
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from parts(item)


@pytest.mark.skipif(not VERSIONS.exists(), reason="the texts are in ../shared/standards, which is absent")
@pytest.mark.parametrize("version", ["1.0.1", "1.1.0"])
def test_the_texts_of_the_specification_are_compiled(version: str) -> None:
    """All criteria and values of the examples in its text, but those of AsyncAPI and XPath."""
    text = (VERSIONS / f"{version}.md").read_text()
    criteria = values = 0
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        try:
            node = yaml.safe_load(block)
        except yaml.YAMLError:  # a fragment
            continue
        for part in parts(node):
            if "xpath" in str(part) or "$message" in str(part) or "components" in str(part):
                continue
            if isinstance(part.get("condition"), str):
                compile_criterion(part)
                criteria += 1
            elif "value" in part or "payload" in part:
                compile_value(part.get("value", part.get("payload")))
                values += 1
    assert criteria >= 8
    assert values >= 15
