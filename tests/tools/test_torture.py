"""The tools of the torture documents have the expected properties (`documents` in their expected.json)."""

import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from openapi_mcp.compilation import Compilation
from openapi_mcp.document import loader
from openapi_mcp.document.swagger2.conversion import convert
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.tools.compiler import build
from openapi_mcp.tools.names import ToolKey, tool_names
from tests.conftest import SHARED

TORTURE = SHARED / "torture"
EXPECTED = TORTURE / "expected.json"
FACTS: dict[str, Any] = json.loads(EXPECTED.read_text())["documents"] if EXPECTED.exists() else {}
pytestmark = pytest.mark.skipif(not FACTS, reason=f"{EXPECTED} is not there")


@cache
def compiled(name: str) -> Compilation:
    return build(convert(loader.load(str(TORTURE / name))))


def tools(name: str) -> dict[str | None, Tool]:
    return {tool.operation_id: tool for tool in compiled(name).tools}


def labels_of_lost_operations(name: str) -> set[str | None]:
    return {problem.operation for problem in compiled(name).problems} - {None}


@pytest.mark.parametrize("name", FACTS)
def test_every_operation_is_counted_and_every_schema_is_valid(name: str) -> None:
    result = compiled(name)
    assert result.operations == len(result.tools) + result.lost_operations + result.excluded
    assert result.operations == FACTS[name].get("operations", result.operations)
    labels = {f"{tool.method} {tool.path}" for tool in result.tools}
    assert set(FACTS[name].get("operations_at_least", ())) <= labels
    for tool in result.tools:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema or {})


VERDICTS = [
    (name, case["operationId"], verdict["value"], verdict["valid"])
    for name, facts in FACTS.items()
    if (case := facts.get("schema_cases"))
    for verdict in case["cases"]
]


@pytest.mark.parametrize(("name", "operation_id", "value", "valid"), VERDICTS)
def test_input_schema_accepts_what_the_document_accepts(name: str, operation_id: str, value: Any, valid: bool) -> None:
    tool = tools(name)[operation_id]
    body_arguments = [each.name for each in tool.arguments if each.location == "body" and each.wire_name is None]
    arguments = {body_arguments[0]: value} if body_arguments else value
    assert Draft202012Validator(tool.input_schema).is_valid(arguments) is valid


def test_number_of_schema_cases() -> None:
    assert len(VERDICTS) == 35


def test_circular_references_cost_one_operation() -> None:
    assert labels_of_lost_operations("01-recursive.yaml") == {"GET /param-loop"}
    assert tools("01-recursive.yaml")["refs_that_only_point_at_each_other"].input_schema["properties"] == {"body": {}}


def test_missing_files_cost_only_their_users() -> None:
    assert labels_of_lost_operations("02-external/openapi.yaml") == {"GET /gone", "POST /half-gone", "GET /remote"}
    schema = tools("02-external/openapi.yaml")["two_schemas_named_error"].input_schema
    names = (schema["properties"][name]["$ref"].removeprefix("#/$defs/") for name in ("mine", "theirs"))
    mine, theirs = (schema["$defs"][name]["properties"] for name in names)
    assert (mine, theirs) == ({"code": {"type": "integer"}}, {"reason": {"type": "string"}})


def test_parameters_of_every_location_have_unique_names() -> None:
    for tool in compiled("03-collisions.yaml").tools:
        assert (
            len({each.name for each in tool.arguments}) == len(tool.arguments) == len(tool.input_schema["properties"])
        )


def test_schema_identifiers_and_anchors_are_resolved() -> None:
    compiled_tools = tools("07-schema-3.1.yaml")
    assert compiled("07-schema-3.1.yaml").problems == ()
    assert compiled_tools["boolean_false_property"].input_schema["properties"]["never"] == {"not": {}}
    by_id = compiled_tools["ref_by_id_and_anchor"].input_schema
    references = {name: schema["$ref"] for name, schema in by_id["properties"].items()}
    assert references | {"byRelative": "#/$defs/Currency"} == references
    assert by_id["$defs"][references["byAnchor"].removeprefix("#/$defs/")]["pattern"] == "^[0-9]+ kg$"
    money = by_id["$defs"][references["byId"].removeprefix("#/$defs/")]
    assert money["properties"]["currency"] == {"$ref": "#/$defs/Currency"}
    assert by_id["$defs"]["Currency"] == {"type": "string", "enum": ["EUR", "USD"]}


def test_methods_of_openapi_3_2_keep_their_case() -> None:
    methods = {tool.operation_id: tool.method for tool in compiled("08-openapi-3.2.yaml").tools}
    named = ("search", "copy_thing", "purge_thing", "lower_case_method")
    assert [methods[name] for name in named] == ["QUERY", "COPY", "PURGE", "notify"]


def test_names_of_28_operations_are_unique_in_any_order() -> None:
    compiled_tools = compiled("09-operation-ids.yaml").tools
    assert len({tool.name.casefold() for tool in compiled_tools}) == 28
    keys = [ToolKey(tool.method, tool.path, tool.operation_id) for tool in compiled_tools]
    assert tool_names(keys[::-1]) == [tool.name for tool in compiled_tools][::-1]


def test_valid_parts_of_a_bare_document_are_served() -> None:
    result = compiled("10-bare.json")
    by_path = {tool.path: tool for tool in result.tools}
    assert by_path["/undeclared/{thing}/{other}"].input_schema["required"] == ["other", "thing"]
    assert not {"x-ignore", "/x"} & by_path.keys()
    assert labels_of_lost_operations("10-bare.json") == {"GET /nothing"}
    reported = {problem.pointer for problem in result.problems}
    bad = "#/paths/~1bad-params/get/parameters"
    assert {f"{bad}/{index}" for index in (0, 1, 2, 3, 4, 5, 6, 7, 9)} <= reported
    assert [each.name for each in by_path["/bad-params"].arguments] == ["y", "ok"]


def test_credentials_are_no_arguments() -> None:
    compiled_tools = tools("12-security.yaml")
    assert [each.name for each in compiled_tools["key_in_query"].arguments] == ["q"]
    assert compiled_tools["authorization_as_parameter"].arguments == ()
    assert compiled_tools["undefined_scheme"].security == ()


def test_yaml_scalars_stay_the_original_text() -> None:
    properties = tools("13-yaml-traps.yaml")["norway"].input_schema["properties"]
    assert properties["country"]["enum"] == ["NO", "SE", "DK"]
    assert properties["flag"]["enum"] == ["yes", "no", "on", "off", "y", "n"]
    assert properties["version"]["enum"] == ["1.0", "1.10", "2", "010", "0x10", "1e3", "1_000"]
    assert properties["time"]["default"] == "12:30:45"
    assert "default" not in properties["huge"]
    keys = tools("13-yaml-traps.yaml")["keys_that_are_not_strings"].input_schema["properties"]
    assert set(keys["body"]["properties"]) == {"on", "yes", "no", "true", "123", "1.5", "~", "2024-01-01"}


def test_hostile_texts_and_names_are_escaped() -> None:
    result = compiled("15-hostile.yaml")
    assert labels_of_lost_operations("15-hostile.yaml") == {"GET /local-file", "GET /metadata"}
    compiled_tools = tools("15-hostile.yaml")
    assert compiled_tools["parameter_named_host"].arguments == ()
    assert compiled_tools["slow_pattern"].input_schema["properties"] == {"q": {"type": "string"}}
    assert all(
        text.isprintable() for tool in result.tools for text in (tool.title or "", *tool.description.splitlines())
    )
