"""The form of a tool and what its inputs mean, without a browser."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from openapi_mcp.ui.access import FormError
from openapi_mcp.ui.fields import MAX_FIELDS, FormField, FormSchema
from openapi_mcp.ui.form import MAX_INPUTS, arguments_of, read_form

NODE = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}}


def form(properties: dict[str, Any], **more: Any) -> FormSchema:
    return FormSchema({"type": "object", "properties": properties, **more})


def only(properties: dict[str, Any], **more: Any) -> FormField:
    (field,) = form(properties, **more).fields()
    return field


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "string"),
        ({"type": "string", "maxLength": 5000}, "text"),
        ({"type": "string", "contentEncoding": "base64"}, "file"),
        ({"type": "integer"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"enum": ["a", 1, None]}, "choice"),
        ({"const": 5}, "choice"),
        ({"type": "array", "items": {"type": "string"}}, "array"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "choices"),
        ({"type": "array"}, "json"),
        ({"type": "object"}, "json"),
        ({"type": "object", "properties": {"a": {}}}, "object"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "union"),
        ({"allOf": [{"type": "object", "properties": {"a": {}}}, {"properties": {"b": {}}}]}, "object"),
        ({"type": ["string", "integer"]}, "json"),
        ({}, "json"),
        (True, "json"),
    ],
)
def test_each_schema_has_an_input(schema: Any, kind: str) -> None:
    assert only({"it": schema}).kind == kind


def test_required_inputs_come_first() -> None:
    fields = form({"a": {}, "b": {}}, required=["b"]).fields()
    assert [(field.label, field.required) for field in fields] == [("b", True), ("a", False)]


def test_recursion_ends_and_goes_on_where_somebody_asks() -> None:
    schema = form({"it": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": NODE}})
    (field,) = schema.fields()
    levels = 0
    while field.kind == "object":
        field = field.fields[1]
        levels += 1
    assert (levels, field.kind) == (3, "json")
    assert schema.field(field.at, field.name).kind == "object"
    circle = {"$ref": "#/$defs/Circle"}
    assert only({"it": circle}, **{"$defs": {"Circle": circle}}).kind == "json"


def test_wide_schemas_are_bounded() -> None:
    inner = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(50)}}
    fields = form({f"o{number}": inner for number in range(1000)}).fields()
    assert sum(len(field.fields) for field in fields) < MAX_FIELDS + 50
    assert fields[-1].kind == "json"


@pytest.mark.parametrize("at", ["/p:no", "/i", "/u:7", "/x", "/p:it/p:no", "/p:it" + "/i" * 100, "p"])
def test_addresses_that_lead_nowhere_are_errors(at: str) -> None:
    schema = form({"it": {"oneOf": [{"type": "string"}, {"type": "array", "items": True}]}})
    if at == "p":
        assert schema.field(at, "/it").kind == "object"
        return
    with pytest.raises((LookupError, AttributeError, TypeError, ValueError)):
        schema.field(at, "/it")


def test_parts_are_found_by_their_address() -> None:
    pet = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer", "minimum": 1}}]}
    field = form({"a/b": pet}).field("/p:a~1b/u:1/i", "/a~1b/k")
    assert (field.kind, field.hint, field.name) == ("number", "integer, at least 1", "/a~1b/k")


def sent(*inputs: tuple[str, str]) -> Any:
    return arguments_of(read_form(urlencode(inputs).encode()))


def test_inputs_are_places_with_kinds() -> None:
    assert sent(
        ("as", "form"),
        ("/a#string", "x"),
        ("/b#number", "2.5"),
        ("/c#json", "true"),
        ("/d/e~1f#string", "y"),
        ("/list#array", ""),
        ("/list/k2#number", "1"),
        ("/list/k1/name#string", "z"),
        ("other", "ignored"),
    ) == {"a": "x", "b": 2.5, "c": True, "d": {"e/f": "y"}, "list": [1, {"name": "z"}]}


def test_empty_inputs_are_no_arguments() -> None:
    assert sent(("/a#string", " "), ("/b/c#json", ""), ("/d#array", ""), ("/e/f#number", "")) == {}
    assert sent(("/a#object!", ""), ("/b#array!", "")) == {"a": {}, "b": []}
    assert sent() == {}


def test_the_server_judges_numbers_that_are_none() -> None:
    assert sent(("/a#number", "many")) == {"a": "many"}


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([("/a/b#json", "{")], "a/b: not JSON"),
        ([("as", "json"), ("json", "[1]")], "must be a JSON object"),
        ([("as", "json"), ("json", "{")], "The arguments: not JSON"),
        ([("/a#json", "[" * 100_000)], "a: not JSON"),
        ([(f"/a{number}#string", "") for number in range(MAX_INPUTS + 1)], "more than 5,000 inputs"),
    ],
)
def test_forms_that_cannot_be_read_say_why(inputs: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(FormError, match=message):
        sent(*inputs)


def test_arguments_may_be_a_text_of_json() -> None:
    assert sent(("as", "json"), ("json", '{"a": [1]}'), ("/b#string", "x")) == {"a": [1]}
    assert sent(("as", "json"), ("json", "")) == {}


def test_bodies_that_are_no_utf8_are_refused() -> None:
    with pytest.raises(FormError):
        read_form(b"\xff=1")


def test_deep_names_are_ignored() -> None:
    assert sent(("/a" * 100 + "#string", "x")) == {}
    assert json.dumps(sent(("/a" * 60 + "#string", "x"))).count("a") == 60
