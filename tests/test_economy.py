"""The more tools there are, the less each says; what decides about a call is never cut, and what is cut is said."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp import budget
from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.economy import COMPACT, WHOLE, Economy
from openapi_mcp.mode import Mode
from openapi_mcp.runtime.types import Schema
from openapi_mcp.savings import with_options
from openapi_mcp.tools import build
from tests.compiling import document
from tests.conftest import ROOT

SENTENCE = "This sentence is one of many that say the same about a thing. "
FEW, MANY = 64, 600


def paths(count: int) -> dict[str, Any]:
    """Operations that have much to say."""
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
    """A schema without its descriptions."""
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


def test_few_tools_say_everything() -> None:
    whole = document(paths(FEW))
    assert build(whole, economy=Economy()) == build(whole)


@pytest.mark.parametrize("economy", [Economy(), Economy(budget=0), Economy(compact=True)], ids=repr)
def test_many_tools_say_less_and_take_the_same(economy: Economy) -> None:
    whole = document(paths(MANY))
    full, cut = build(whole), build(whole, economy=economy)
    room = economy.room(MANY)
    assert not room.is_whole
    for before, after in zip(full.tools, cut.tools, strict=True):
        assert bare(after.input_schema) == bare(before.input_schema)
        assert (after.arguments, after.body, after.path) == (before.arguments, before.body, before.path)
        assert len(after.description) <= room.description < len(before.description)
        assert max(map(len, descriptions(after.input_schema))) <= room.argument
        assert _size(after.output_schema) <= room.output < _size(before.output_schema)
    assert budget.size(cut.tools[0]) < budget.size(full.tools[0]) / 2


def _size(schema: Schema | None) -> int:
    return len(json.dumps(schema, separators=(",", ":"))) if schema else 0


def test_descriptions_keep_whole_sentences() -> None:
    [tool, *_] = build(document(paths(MANY)), economy=Economy()).tools
    assert tool.description.removesuffix("\n\nDeprecated.").removesuffix(" …").endswith("about a thing.")


@given(st.integers(0, 20_000), st.integers(0, 1_000_000))
def test_more_tools_never_have_more_room(tools: int, tokens: int) -> None:
    less, more = (Economy(budget=tokens).room(count) for count in (tools + 1, tools))
    assert (less.output, less.description, less.argument) <= (more.output, more.description, more.argument)
    assert more.output <= WHOLE.output
    assert COMPACT.description < less.description <= WHOLE.description
    assert COMPACT.argument < less.argument <= WHOLE.argument


@pytest.mark.parametrize(
    ("options", "whole"),
    [
        ({"mode": Mode.ALL}, False),
        ({"mode": Mode.SEARCH}, True),
        ({"mode": Mode.AUTO}, True),
        ({"mode": Mode.AUTO, "budget": 1000}, False),
        ({"mode": Mode.SEARCH, "compact": True}, False),
    ],
    ids=repr,
)
def test_tools_that_are_searched_say_everything_unless_asked_otherwise(options: dict[str, Any], whole: bool) -> None:
    assert Config(source="-", **options).wanted.economy.room(MANY).is_whole is whole


def test_the_first_tools_stay_and_deprecated_ones_go() -> None:
    whole = document(paths(30))
    kept = build(whole, economy=Economy(max_tools=20))
    assert [tool.path for tool in kept.tools] == [f"/things/{n}" for n in range(23) if n % 10]
    assert (kept.operations, kept.excluded) == (30, 10)
    assert build(whole, economy=Economy(max_tools=30)) == build(whole)


def test_names_do_not_depend_on_how_many_stay() -> None:
    whole = document(paths(30))
    names = {tool.path: tool.name for tool in build(whole).tools}
    assert all(names[tool.path] == tool.name for tool in build(whole, economy=Economy(max_tools=7)).tools)


def test_what_options_would_make_of_the_list_is_what_they_make_of_it() -> None:
    source = str(ROOT / "specs" / "petstore.yaml")
    promised = dict(with_options(Bridge.open(Config(source=source))))
    assert promised.keys() == {"--read-only", "--compact", "--mode search"}
    assert promised["--compact"] == budget.total(Bridge.open(Config(source=source, compact=True)).compiled.sizes)
    shortened = Bridge.open(Config(source=source, budget=0))
    assert dict(with_options(shortened))["nothing shortened"] == budget.total(
        Bridge.open(Config(source=source)).sizes.values()
    )


def test_sizes_are_those_of_the_list() -> None:
    bridge = Bridge.open(Config(source=str(ROOT / "specs" / "petstore.yaml")))
    assert bridge.sizes == {tool.name: budget.size(tool) for tool in bridge.tools}
    assert list(map(budget.of_bytes, bridge.compiled.sizes)) == list(map(budget.tokens, bridge.tools))


def test_sizes_count_what_tools_share_in_each_of_them() -> None:
    tree = {"type": "object", "properties": {"größer": {"$ref": "#/components/schemas/Tree"}}}
    forest = {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}, "description": "Bäume"}
    names = {"Tree": tree, "Forest": {**forest, "items": {"anyOf": [forest["items"], {"type": "null"}]}}}
    bodies = [{"properties": {"a": {"$ref": f"#/components/schemas/{name}"}}} for name in names] + [tree, forest]
    content = [{"requestBody": {"content": {"application/json": {"schema": body}}}} for body in bodies]
    whole = document({f"/{n}": {"post": each} for n, each in enumerate(content)}, components={"schemas": names})
    tools = build(whole).tools
    assert sum("$defs" in tool.input_schema for tool in tools) == 4
    assert list(budget.sizes(tools)) == [budget.size(tool) for tool in tools]
