"""`x-mcp` on properties within arguments: what models see of an object or list, and what is sent for it."""

import json
from typing import Any

import pytest

from openapi_mcp.curation.arguments import Changes, InputParts
from openapi_mcp.curation.properties import changed_within
from openapi_mcp.runtime.errors import RequestError
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import Argument, Tool
from tests.compiling import STRING, Json, compiled_operation, json_body, ref, schemas

BASE = RequestOptions(base_url="http://api.test")


def curated(**extensions: Any) -> Json:
    """An object with a property for each `x-mcp`."""
    return {"type": "object", "properties": {name: {**STRING, "x-mcp": value} for name, value in extensions.items()}}


def tool_and_problems(schema: Json, **root: Any) -> tuple[Tool, list[str]]:
    result = compiled_operation(json_body(schema), **root)
    return result.tools[0], [problem.message for problem in result.problems]


def with_options(options: Json) -> tuple[Tool, list[str]]:
    return tool_and_problems({"type": "object", "required": ["options"], "properties": {"options": options}})


def sent(tool: Tool, arguments: Json) -> Any:
    return json.loads(build_request(tool, arguments, BASE).read())


def options_of(tool: Tool) -> Any:
    return tool.input_schema["properties"]["options"]


def test_a_fixed_property_is_sent_and_not_shown() -> None:
    tool, problems = with_options({**curated(mode={"fixed": "fast"}, size={}), "required": ["mode"]})
    assert options_of(tool) == {"type": "object", "properties": {"size": STRING}}
    assert sent(tool, {"options": {"size": "x"}}) == {"options": {"size": "x", "mode": "fast"}}
    assert sent(tool, {"options": {"mode": "slow"}}) == {"options": {"mode": "fast"}}
    assert not problems


def test_a_hidden_property_is_never_sent_unless_it_has_a_value() -> None:
    tool, _ = with_options(curated(secret={"hidden": True}, mode={"hidden": True, "default": "slow"}))
    assert options_of(tool)["properties"] == {}
    assert sent(tool, {"options": {}}) == {"options": {"mode": "slow"}}


def test_a_default_is_shown_and_sent_where_a_call_leaves_it_out() -> None:
    tool, _ = with_options({**curated(size={"default": "m"}), "required": ["size"]})
    assert options_of(tool) == {"type": "object", "properties": {"size": {**STRING, "default": "m"}}}
    assert sent(tool, {"options": {}}) == {"options": {"size": "m"}}
    assert sent(tool, {"options": {"size": "l"}}) == {"options": {"size": "l"}}


def test_descriptions_and_examples_reach_models() -> None:
    tool, _ = with_options(curated(size={"description": "How large.", "examples": ["m"]}))
    assert options_of(tool)["properties"]["size"] == {**STRING, "description": "How large.", "examples": ["m"]}


def test_a_required_property_is_not_hidden_without_a_value() -> None:
    tool, problems = with_options({**curated(mode={"hidden": True}), "required": ["mode"]})
    assert options_of(tool)["required"] == ["mode"]
    assert "cannot be hidden" in problems[0]


def test_a_property_within_an_argument_keeps_its_name() -> None:
    tool, problems = with_options(curated(mode={"name": "speed"}))
    assert list(options_of(tool)["properties"]) == ["mode"]
    assert "keeps its name" in problems[0]


def test_each_item_of_a_list_gets_the_value() -> None:
    lines = {"type": "array", "items": curated(sku={}, currency={"fixed": "EUR"})}
    tool, _ = tool_and_problems({"type": "object", "properties": {"lines": lines}})
    assert list(tool.input_schema["properties"]["lines"]["items"]["properties"]) == ["sku"]
    both = {"lines": [{"sku": "1", "currency": "EUR"}, {"currency": "EUR"}]}
    assert sent(tool, {"lines": [{"sku": "1"}, {"currency": "USD"}]}) == both
    assert sent(tool, {}) == {}


def test_a_body_that_is_one_argument_is_curated_too() -> None:
    tool, problems = tool_and_problems({"type": "array", "items": curated(sku={}, currency={"fixed": "EUR"})})
    assert list(tool.input_schema["properties"]["body"]["items"]["properties"]) == ["sku"]
    assert sent(tool, {"body": [{"sku": "1"}]}) == [{"sku": "1", "currency": "EUR"}]
    assert not problems


def test_objects_that_a_call_leaves_out_are_not_made() -> None:
    tool, _ = tool_and_problems({"type": "object", "properties": {"a": {"type": "object", "properties": {
        "b": curated(c={"fixed": "x"})}}}})  # fmt: skip
    assert sent(tool, {"a": {}}) == {"a": {}}
    assert sent(tool, {"a": {"b": {}}}) == {"a": {"b": {"c": "x"}}}


def test_a_shared_schema_changes_for_each_use_and_its_definition_stays() -> None:
    address = curated(city={}, country={"fixed": "DE"})
    properties = {"home": ref("Address"), "work": {"allOf": [ref("Address")]}}
    tool, problems = tool_and_problems({"type": "object", "properties": properties}, **schemas(Address=address))
    assert "country" not in json.dumps(tool.input_schema)
    assert sent(tool, {"home": {"city": "B"}, "work": {}})["home"] == {"city": "B", "country": "DE"}
    assert not problems


def test_of_a_schema_in_itself_the_first_level_is_meant() -> None:
    tree = curated(note={"hidden": True})
    tree["properties"]["child"] = ref("Tree")
    tool, problems = tool_and_problems({"type": "object", "properties": {"tree": ref("Tree")}}, **schemas(Tree=tree))
    assert list(tool.input_schema["properties"]["tree"]["properties"]) == ["child"]
    assert not problems


def test_what_models_do_not_see_is_reported() -> None:
    read_only = {"type": "object", "properties": {"id": {**STRING, "readOnly": True, "x-mcp": {"fixed": "1"}}}}
    tool, problems = with_options(read_only)
    assert problems == ["`x-mcp` has no effect: models do not see this property"]
    assert not tool.presets


def test_a_variable_within_an_argument_is_read_when_the_server_starts() -> None:
    tool, _ = with_options(curated(token={"fixed": "env:API_PET_TOKEN"}))
    options = RequestOptions(base_url="http://api.test", variables={"API_PET_TOKEN": "s"})
    assert json.loads(build_request(tool, {"options": {}}, options).read()) == {"options": {"token": "s"}}
    with pytest.raises(RequestError, match="API_PET_TOKEN"):
        sent(tool, {"options": {}})


def test_a_property_that_another_branch_demands_is_not_demanded_of_models() -> None:
    demand = {"required": ["mode", "size"]}
    tool, problems = with_options({"allOf": [curated(mode={"fixed": "fast"}, size={}), demand]})
    assert options_of(tool) == {
        "allOf": [{"type": "object", "properties": {"size": STRING}}, {"required": ["size"]}],
    }
    assert sent(tool, {"options": {"size": "x"}}) == {"options": {"size": "x", "mode": "fast"}}
    assert not problems


def test_a_property_of_an_object_and_of_its_branches_is_hidden_in_all() -> None:
    hidden = {"mode": {**STRING, "x-mcp": {"fixed": "fast"}}}
    tool, _ = with_options(
        {"type": "object", "properties": hidden, "anyOf": [{"properties": {"mode": {"enum": ["a"]}}}, {}]}
    )
    assert "mode" not in json.dumps(options_of(tool))


def test_branches_that_multiply_are_given_up_in_bounded_time() -> None:
    definitions: Json = {f"L{level}": {"allOf": [{"$ref": f"#/$defs/L{level + 1}"}] * 2} for level in range(50)}
    definitions["L50"] = {"type": "object", "properties": {"mode": STRING}}
    schema = {"type": "object", "properties": {"options": {"$ref": "#/$defs/L0"}}, "$defs": definitions}
    argument = Argument(name="options", location="body", wire_name="options")
    change = Changes(keys={"fixed": "fast"}, problem=lambda _: None)
    assert changed_within(InputParts(schema, (argument,)), "options", ("mode",), change, 0) is None
