"""`--set` with the name of a property within an argument: what models see, what is sent, what a wrong name is told."""

import json
from typing import Any

import pytest

from openapi_mcp.curation.settings import ArgumentValues
from openapi_mcp.errors import UsageError
from openapi_mcp.runtime.request.build import RequestOptions, build_request
from openapi_mcp.runtime.tool import Tool
from tests.compiling import STRING, Json, json_body, ref, schemas, tool_of

ITEM = {"type": "object", "required": ["sku", "currency"], "properties": {"sku": STRING, "currency": STRING}}
ACCOUNT = {
    "type": "object",
    "required": ["id", "region"],
    "properties": {
        "id": {"type": "integer"},
        "region": STRING,
        "key.id": STRING,
        "owner": {"type": "object", "properties": {"team": {**STRING, "x-mcp": {"fixed": "mine"}}, "name": STRING}},
    },
}
ORDER = {
    "type": "object",
    "required": ["account"],
    "properties": {"account": ref("Account"), "items": {"type": "array", "items": ITEM}, "note": STRING},
}
BASE = RequestOptions(base_url="http://api.test")


def with_values(*texts: str, body: Json = ORDER) -> Tool:
    tool = tool_of(json_body(body), **schemas(Account=ACCOUNT))
    values = ArgumentValues.parse(texts)
    values.check([tool])
    return values.apply(tool)


def sent(tool: Tool, arguments: Json, **options: Any) -> Any:
    options = {"base_url": "http://api.test", **options}
    return json.loads(build_request(tool, arguments, RequestOptions(**options)).read())


@pytest.mark.parametrize("name", ["account.id", "body.account.id", "it:account.id", "i*:body.account.id"])
def test_a_property_of_an_object_is_fixed_and_hidden(name: str) -> None:
    tool = with_values(f"{name}=7")
    account = tool.input_schema["properties"]["account"]
    assert "id" not in account["properties"]
    assert account["required"] == ["region"]
    assert sent(tool, {"account": {"region": "eu"}}) == {"account": {"id": 7, "region": "eu"}}
    assert sent(tool, {"account": {"region": "eu", "id": 8}}) == {"account": {"id": 7, "region": "eu"}}
    assert sent(tool, {"note": "x"}) == {"note": "x"}


def test_a_property_of_each_item_of_a_list() -> None:
    tool = with_values("items[].currency=EUR")
    assert "currency" not in json.dumps(tool.input_schema)
    assert sent(tool, {"items": [{"sku": "a"}, {"sku": "b", "currency": "USD"}]}) == {
        "items": [{"sku": "a", "currency": "EUR"}, {"sku": "b", "currency": "EUR"}]
    }


def test_a_body_that_is_one_argument() -> None:
    tool = with_values("body[].sku=s", body={"type": "array", "items": ITEM})
    assert sent(tool, {"body": [{"currency": "EUR"}]}) == [{"currency": "EUR", "sku": "s"}]


def test_a_name_with_a_dot_and_one_that_the_document_has_fixed() -> None:
    tool = with_values("account.key.id=k", "account.owner.team=yours")
    assert sent(tool, {"account": {"owner": {"name": "n"}}}) == {
        "account": {"owner": {"name": "n", "team": "yours"}, "key.id": "k"}
    }


def test_a_value_for_some_tools_and_a_later_one_win() -> None:
    assert [
        preset.value for preset in with_values("account.id=1", "account.id=2").presets if preset.value != "mine"
    ] == [2]
    tool = with_values("it:account.id=1", "body.account.id=2")
    assert sent(tool, {"account": {}}) == {"account": {"id": 1}}


def test_a_variable_is_read_at_the_start_and_shown_to_nobody() -> None:
    tool = with_values("account.region=env:REGION")
    assert sent(tool, {"account": {}}, variables={"REGION": "eu-1"}) == {"account": {"region": "eu-1"}}
    assert "region" not in json.dumps(tool.input_schema)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("account.idd=1", "no tool has an argument account with such a property"),
        ("account.id.x=1", "no tool has an argument account with such a property"),
        ("account[].id=1", "no tool has an argument account with such a property"),
        ("acount.id=1", "no tool has an argument acount.id"),
        ("." * 40 + "=1", "no tool has an argument"),
        ("account" + ".a" * 400 + "=1", "no tool has an argument account"),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        with_values(text)
    assert "=1" not in str(caught.value)


def test_a_number_is_demanded_where_the_property_is_one() -> None:
    with pytest.raises(UsageError, match="not JSON"):
        with_values("account.id=seven")
