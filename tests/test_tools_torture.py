"""The torture documents become the tools that their facts demand (`documents` in expected.json beside them)."""

import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from openapi_mcp import loader, swagger2
from openapi_mcp.compiled import Compiled
from openapi_mcp.naming import ToolKey, tool_names
from openapi_mcp.runtime.models import Tool
from openapi_mcp.tools import build
from tests.conftest import SHARED

TORTURE = SHARED / "torture"
EXPECTED = TORTURE / "expected.json"
FACTS: dict[str, Any] = json.loads(EXPECTED.read_text())["documents"] if EXPECTED.exists() else {}
pytestmark = pytest.mark.skipif(not FACTS, reason=f"{EXPECTED} is not there")


@cache
def compiled(name: str) -> Compiled:
    return build(swagger2.convert(loader.load(str(TORTURE / name))))


def tools(name: str) -> dict[str | None, Tool]:
    return {tool.operation_id: tool for tool in compiled(name).tools}


def lost(name: str) -> set[str | None]:
    return {problem.operation for problem in compiled(name).problems} - {None}


@pytest.mark.parametrize("name", FACTS)
def test_every_operation_is_counted_and_every_schema_is_valid(name: str) -> None:
    result = compiled(name)
    assert result.operations == len(result.tools) + result.lost + result.excluded
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
def test_an_input_schema_gives_the_verdict_of_the_document(
    name: str, operation_id: str, value: Any, valid: bool
) -> None:
    tool = tools(name)[operation_id]
    whole = [each.name for each in tool.arguments if each.location == "body" and each.wire_name is None]
    arguments = {whole[0]: value} if whole else value
    assert Draft202012Validator(tool.input_schema).is_valid(arguments) is valid


def test_the_facts_hold_all_the_verdicts() -> None:
    assert len(VERDICTS) == 35


def test_references_that_only_point_at_each_other_cost_little() -> None:
    assert lost("01-recursive.yaml") == {"GET /param-loop"}
    assert tools("01-recursive.yaml")["refs_that_only_point_at_each_other"].input_schema["properties"] == {"body": {}}


def test_files_that_are_missing_cost_what_needs_them() -> None:
    assert lost("02-external/openapi.yaml") == {"GET /gone", "POST /half-gone", "GET /remote"}
    schema = tools("02-external/openapi.yaml")["two_schemas_named_error"].input_schema
    mine, theirs = (schema["properties"][name]["properties"] for name in ("mine", "theirs"))
    assert (mine, theirs) == ({"code": {"type": "integer"}}, {"reason": {"type": "string"}})


def test_parameters_of_every_place_are_settable_by_names_of_their_own() -> None:
    for tool in compiled("03-collisions.yaml").tools:
        assert (
            len({each.name for each in tool.arguments}) == len(tool.arguments) == len(tool.input_schema["properties"])
        )


def test_identifiers_of_json_schema_lead_somewhere() -> None:
    found = tools("07-schema-3.1.yaml")
    assert compiled("07-schema-3.1.yaml").problems == ()
    assert found["boolean_false_property"].input_schema["properties"]["never"] == {"not": {}}
    by_id = found["ref_by_id_and_anchor"].input_schema["properties"]
    assert by_id["byAnchor"]["pattern"] == r"^\d+ kg$"
    assert by_id["byId"]["properties"]["currency"] == by_id["byRelative"] == {"type": "string", "enum": ["EUR", "USD"]}


def test_methods_that_3_2_added_are_sent_as_written() -> None:
    methods = {tool.operation_id: tool.method for tool in compiled("08-openapi-3.2.yaml").tools}
    named = ("search", "copy_thing", "purge_thing", "lower_case_method")
    assert [methods[name] for name in named] == ["QUERY", "COPY", "PURGE", "notify"]


def test_twenty_eight_names_whatever_the_order() -> None:
    found = compiled("09-operation-ids.yaml").tools
    assert len({tool.name.casefold() for tool in found}) == 28
    keys = [ToolKey(tool.method, tool.path, tool.operation_id) for tool in found]
    assert tool_names(keys[::-1]) == [tool.name for tool in found][::-1]


def test_a_bare_document_is_served_as_far_as_it_can_be() -> None:
    result = compiled("10-bare.json")
    by_path = {tool.path: tool for tool in result.tools}
    assert by_path["/undeclared/{thing}/{other}"].input_schema["required"] == ["other", "thing"]
    assert not {"x-ignore", "/x"} & by_path.keys()
    assert lost("10-bare.json") == {"GET /nothing"}
    reported = {problem.pointer for problem in result.problems}
    bad = "#/paths/~1bad-params/get/parameters"
    assert {f"{bad}/{index}" for index in (0, 1, 2, 3, 4, 5, 6, 7, 9)} <= reported
    assert [each.name for each in by_path["/bad-params"].arguments] == ["y", "ok"]


def test_credentials_are_no_arguments() -> None:
    found = tools("12-security.yaml")
    assert [each.name for each in found["key_in_query"].arguments] == ["q"]
    assert found["authorization_as_parameter"].arguments == ()
    assert found["undefined_scheme"].security == ()


def test_what_yaml_reads_as_numbers_stays_the_text_that_was_written() -> None:
    properties = tools("13-yaml-traps.yaml")["norway"].input_schema["properties"]
    assert properties["country"]["enum"] == ["NO", "SE", "DK"]
    assert properties["flag"]["enum"] == ["yes", "no", "on", "off", "y", "n"]
    assert properties["version"]["enum"] == ["1.0", "1.10", "2", "010", "0x10", "1e3", "1_000"]
    assert properties["time"]["default"] == "12:30:45"
    assert "default" not in properties["huge"]
    keys = tools("13-yaml-traps.yaml")["keys_that_are_not_strings"].input_schema["properties"]
    assert set(keys["body"]["properties"]) == {"on", "yes", "no", "true", "123", "1.5", "~", "2024-01-01"}


def test_hostile_texts_and_names_are_harmless() -> None:
    result = compiled("15-hostile.yaml")
    assert lost("15-hostile.yaml") == {"GET /local-file", "GET /metadata"}
    found = tools("15-hostile.yaml")
    assert found["parameter_named_host"].arguments == ()
    assert found["slow_pattern"].input_schema["properties"] == {"q": {"type": "string"}}
    assert all(
        text.isprintable() for tool in result.tools for text in (tool.title or "", *tool.description.splitlines())
    )
