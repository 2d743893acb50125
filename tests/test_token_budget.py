"""The more tools there are, the shorter their texts; names, types and enums are never cut, and cuts are reported."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp import token_budget
from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.inspect.output import savings
from openapi_mcp.config import Config
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.types import Schema
from openapi_mcp.token_budget import COMPACT, FULL, TokenBudget
from openapi_mcp.tools.compiler import build
from tests.compiling import document
from tests.conftest import ROOT

SENTENCE = "This sentence is one of many that say the same about a thing. "
FEW, MANY = 64, 600


def paths(count: int) -> dict[str, Any]:
    """Return operations with long texts."""
    return {f"/things/{number}": {"post": _operation(deprecated=number % 10 == 0)} for number in range(count)}


def _operation(*, deprecated: bool) -> dict[str, Any]:
    fields = {f"field{number}": {"type": "string", "enum": ["a", "b"], "description": SENTENCE} for number in range(30)}
    thing = {"type": "object", "properties": fields, "required": ["field1"], "description": SENTENCE * 30}
    return {
        "description": SENTENCE * 30,
        "deprecated": deprecated,
        "parameters": [{"name": "q", "in": "query", "description": SENTENCE * 30, "schema": {"maxLength": 5}}],
        "requestBody": {"content": {"application/json": {"schema": thing}}},
        "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": thing}}}},
    }


def bare(node: Any) -> Any:
    """Return a schema without its descriptions."""
    if isinstance(node, dict):
        return {key: bare(value) for key, value in node.items() if key != "description"}
    return [bare(item) for item in node] if isinstance(node, list) else node


def descriptions(node: Any) -> list[str]:
    if isinstance(node, list):
        return [text for item in node for text in descriptions(item)]
    if not isinstance(node, dict):
        return []
    own = [node["description"]] if isinstance(node.get("description"), str) else []
    return own + [text for value in node.values() for text in descriptions(value)]


@pytest.mark.slow
def test_few_tools_are_not_cut() -> None:
    root = document(paths(FEW))
    assert build(root, token_budget=TokenBudget()) == build(root)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [TokenBudget(), TokenBudget(budget=0), TokenBudget(compact=True)], ids=repr)
def test_many_tools_have_shorter_texts_and_the_same_arguments(budget: TokenBudget) -> None:
    root = document(paths(MANY))
    full, cut = build(root), build(root, token_budget=budget)
    limits = budget.limits(MANY)
    assert not limits.is_full
    for before, after in zip(full.tools, cut.tools, strict=True):
        assert bare(after.input_schema) == bare(before.input_schema)
        assert (after.arguments, after.body, after.path) == (before.arguments, before.body, before.path)
        assert len(after.description) <= limits.description < len(before.description)
        assert max(map(len, descriptions(after.input_schema))) <= limits.argument
        assert _size(after.output_schema) <= limits.output < _size(before.output_schema)
    assert token_budget.size(cut.tools[0]) < token_budget.size(full.tools[0]) * 2 / 3


def _size(schema: Schema | None) -> int:
    return len(json.dumps(schema, separators=(",", ":"))) if schema else 0


@pytest.mark.slow
def test_descriptions_are_cut_after_a_sentence() -> None:
    [tool, *_] = build(document(paths(MANY)), token_budget=TokenBudget()).tools
    assert tool.description.removesuffix("\n\nDeprecated.").removesuffix(" …").endswith("about a thing.")


@given(st.integers(0, 20_000), st.integers(0, 1_000_000))
def test_more_tools_never_have_higher_limits(tools: int, tokens: int) -> None:
    less, more = (TokenBudget(budget=tokens).limits(count) for count in (tools + 1, tools))
    assert (less.output, less.description, less.argument) <= (more.output, more.description, more.argument)
    assert more.output <= FULL.output
    assert COMPACT.description < less.description <= FULL.description
    assert COMPACT.argument < less.argument <= FULL.argument


@pytest.mark.parametrize(
    ("options", "is_full"),
    [
        ({"mode": Mode.ALL}, False),
        ({"mode": Mode.SEARCH}, True),
        ({"mode": Mode.AUTO}, True),
        ({"mode": Mode.AUTO, "budget": 1000}, False),
        ({"mode": Mode.SEARCH, "compact": True}, False),
    ],
    ids=repr,
)
def test_searched_tools_are_cut_only_on_request(options: dict[str, Any], is_full: bool) -> None:
    assert Config(source="-", **options).compile_options.token_budget.limits(MANY).is_full is is_full


def test_max_tools_takes_the_first_and_deprecated_ones_last() -> None:
    root = document(paths(30))
    selected = build(root, token_budget=TokenBudget(max_tools=20))
    assert [tool.path for tool in selected.tools] == [f"/things/{n}" for n in range(23) if n % 10]
    assert (selected.operations, selected.excluded) == (30, 10)
    assert build(root, token_budget=TokenBudget(max_tools=30)) == build(root)


def test_names_do_not_depend_on_max_tools() -> None:
    root = document(paths(30))
    names = {tool.path: tool.name for tool in build(root).tools}
    assert all(names[tool.path] == tool.name for tool in build(root, token_budget=TokenBudget(max_tools=7)).tools)


def test_savings_are_those_of_the_options() -> None:
    source = str(ROOT / "specs" / "petstore.yaml")
    promises = dict(savings(Bridge.open(Config(source=source))))
    assert promises.keys() == {"--read-only", "--compact", "--mode search"}
    assert promises["--compact"] == token_budget.total(
        Bridge.open(Config(source=source, compact=True)).compilation.sizes
    )
    shortened = Bridge.open(Config(source=source, budget=0))
    assert dict(savings(shortened))["nothing shortened"] == token_budget.total(
        Bridge.open(Config(source=source)).sizes.values()
    )


def test_sizes_are_those_of_list_entries() -> None:
    bridge = Bridge.open(Config(source=str(ROOT / "specs" / "petstore.yaml")))
    assert bridge.sizes == {tool.name: token_budget.size(tool) for tool in bridge.tools}
    assert list(map(token_budget.tokens_of_bytes, bridge.compilation.sizes)) == list(
        map(token_budget.tokens, bridge.tools)
    )


def test_sizes_count_shared_definitions_in_each_tool() -> None:
    tree = {"type": "object", "properties": {"größer": {"$ref": "#/components/schemas/Tree"}}}
    forest = {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}, "description": "Bäume"}
    names = {"Tree": tree, "Forest": {**forest, "items": {"anyOf": [forest["items"], {"type": "null"}]}}}
    bodies = [{"properties": {"a": {"$ref": f"#/components/schemas/{name}"}}} for name in names] + [tree, forest]
    content = [{"requestBody": {"content": {"application/json": {"schema": body}}}} for body in bodies]
    root = document({f"/{n}": {"post": each} for n, each in enumerate(content)}, components={"schemas": names})
    tools = build(root).tools
    assert sum("$defs" in tool.input_schema for tool in tools) == 4
    assert list(token_budget.sizes(tools)) == [token_budget.size(tool) for tool in tools]
