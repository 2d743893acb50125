"""Signatures: what they say, that they are Python, and that their size has a bound."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.bridge import Bridge
from openapi_mcp.config import Config
from openapi_mcp.modes import Mode
from openapi_mcp.runtime.search.signatures import BRIEF, FULL, Detail, Signature, signature
from openapi_mcp.runtime.types import Schema

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"


def one_argument(schema: Schema, *, required: bool = True, detail: Detail = FULL) -> str:
    root = {"type": "object", "properties": {"x": schema}, "required": ["x"] * required}
    return signature(root, max_bytes=2000, detail=detail).text("f")


def as_python(text: str) -> str:
    """Return a signature as source: a function without a body, and classes; quoted names become identifiers."""
    head, *classes = re.split(r"\nclass ", text)
    body = re.sub(r"(\)[^)\n]*?)(  #.*)?$", r"\1: ...\2", head)
    return re.sub(
        r'(^\s*|[(,;:] )"[^"]*"(: |=)', r"\1quoted\2", "\nclass ".join([f"def {body}", *classes]), flags=re.MULTILINE
    )


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string"}, "f(x: str)"),
        ({"type": "string", "format": "date-time"}, "f(x: str(date-time))"),
        ({"type": "string", "contentEncoding": "base64"}, "f(x: str(base64))"),
        ({"type": "integer", "format": "int64"}, "f(x: int)"),
        ({"type": "integer", "minimum": 1, "maximum": 100}, "f(x: int(ge=1, le=100))"),
        ({"type": "integer", "minimum": 0, "maximum": 2**63 - 1}, "f(x: int)"),
        ({"type": "string", "pattern": "^[a-z]+$", "maxLength": 30}, 'f(x: str(max_length=30, pattern="^[a-z]+$"))'),
        ({"type": "string", "maxLength": 5000}, "f(x: str)"),
        ({"enum": ["a", 1, None, True]}, 'f(x: "a"|1|None|True)'),
        ({"const": "only"}, 'f(x: "only")'),
        ({"type": ["string", "null"]}, "f(x: str|None)"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "string"}]}, "f(x: str|int)"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 3}, "f(x: list[str](max_items=3))"),
        ({"type": "array"}, "f(x: list)"),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}, "f(x: tuple[str, float])"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "f(x: dict[str, int])"),
        (
            {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}},
            'f(x: dict["a"|"b", int])',
        ),
        ({"type": "object", "propertyNames": {"enum": ["a", "b"]}}, 'f(x: dict["a"|"b", Any])'),
        ({"type": "object", "propertyNames": {"minLength": 1}}, "f(x: dict)"),
        ({"type": "object"}, "f(x: dict)"),
        ({}, "f(x: Any)"),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, "f(x: X)\nclass X: a: str = ..."),
        (
            {"type": "object", "title": "Cat Food", "properties": {"a": {}}},
            "f(x: CatFood)\nclass CatFood: a: Any = ...",
        ),
        (
            {"type": "object", "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "f(x: X)\nclass X: a: Any = ...; b: Any = ...",
        ),
        (
            {"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            "f(x: X)\nclass X: a: int; b: Any = ...",
        ),
        ({"type": "string", "description": "What [it](http://x) is.\nMore."}, "f(\n  x: str,  # What it is\n)"),
    ],
    ids=json.dumps,
)
def test_type(schema: Schema, text: str) -> None:
    assert one_argument(schema) == text
    ast.parse(as_python(text))


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "integer", "default": 30}, "f(x=30)"),
        ({"type": "number", "default": 30}, "f(x: float = 30)"),
        ({"type": "boolean", "default": False}, "f(x=False)"),
        ({"type": "string", "enum": ["a", "b"], "default": "a"}, 'f(x: "a"|"b" = "a")'),
        ({"type": "string", "default": "long " * 20}, "f(x: str = ...)"),
        ({"type": "array", "items": {"type": "string"}, "default": []}, "f(x: list[str] = [])"),
        ({"type": "string"}, "f(x: str = ...)"),
        ({"type": "string", "deprecated": True}, "f(\n  x: str = ...,  # deprecated\n)"),
    ],
    ids=json.dumps,
)
def test_optional_argument(schema: Schema, text: str) -> None:
    assert one_argument(schema, required=False) == text


def test_required_arguments_come_first_and_deprecated_ones_last() -> None:
    properties = {"old": {"type": "string", "deprecated": True}, "b": {"type": "string"}, "a": {"type": "string"}}
    shown = signature({"type": "object", "properties": properties, "required": ["a"]}, max_bytes=2000)
    assert [field.name for field in shown.arguments] == ["a", "b", "old"]
    assert shown.argument_list() == "a: str, b: str = ..., old: str = ..."


def test_prose_is_left_out_where_it_repeats_the_name() -> None:
    assert one_argument({"type": "string", "description": "The X."}) == "f(x: str)"


def test_an_example_stands_for_missing_prose() -> None:
    assert one_argument({"type": "string", "examples": ["a-1"]}) == 'f(\n  x: str,  # e.g. "a-1"\n)'


PET: Schema = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "owner": {"$ref": "#/$defs/Owner"},
        "vet": {"$ref": "#/$defs/Owner"},
        "mother": {"$ref": "#/$defs/Pet"},
    },
    "required": ["name"],
}
DEFINITIONS: Schema = {
    "Pet": PET,
    "Owner": {
        "type": "object",
        "properties": {
            "email": {"type": "string", "format": "email"},
            "pets": {"type": "array", "items": {"$ref": "#/$defs/Pet"}},
        },
    },
}


def test_an_object_is_defined_once_also_if_it_contains_itself() -> None:
    shown = signature({**PET, "$defs": DEFINITIONS}, max_bytes=2000)
    assert shown.text("add") == (
        "add(name: str, owner: Owner = ..., vet: Owner = ..., mother: Pet = ...)\n"
        "class Owner: email: str(email) = ...; pets: list[Pet] = ...\n"
        "class Pet: name: str; owner: Owner = ...; vet: Owner = ...; mother: Pet = ..."
    )
    assert shown.omitted == ""


def test_results_share_the_names_of_arguments_and_have_no_optional_mark() -> None:
    result: Schema = {"type": "object", "properties": {"id": {"type": "integer"}, "owner": {"$ref": "#/$defs/Owner"}}}
    definitions: Schema = {"Owner": {"type": "object", "properties": {"name": {"type": "string"}}}}
    shown = signature(
        {"type": "object", "properties": {"owner": {"$ref": "#/$defs/Owner"}}, "$defs": DEFINITIONS},
        {**result, "title": "Pet", "$defs": definitions},
        max_bytes=2000,
    )
    assert shown.returns == "Pet"
    assert "class Owner: email" in shown.text("f")
    assert "class Pet: id: int; owner: Owner_2" in shown.text("f")
    assert "class Owner_2: name: str" in shown.text("f")
    ast.parse(as_python(shown.text("f")))


def test_definitions_that_refer_to_themselves_in_all_of_end() -> None:
    knot: Schema = {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}, "B": {"$ref": "#/$defs/A"}}
    root: Schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": knot}
    assert signature(root, max_bytes=2000).text("f") == "f(a: Any = ...)"


def deep(levels: int) -> Schema:
    definitions = {
        f"Level{n}": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "Words that explain it at some length, in every level."},
                "below": {"$ref": f"#/$defs/Level{n + 1}"},
            },
        }
        for n in range(levels)
    }
    return {"type": "object", "properties": {"top": {"$ref": "#/$defs/Level0"}}, "$defs": definitions}


def test_deeper_levels_are_omitted_first_and_named() -> None:
    shown = signature(deep(30), max_bytes=600)
    names = [definition.name for definition in shown.definitions]
    assert names == [f"Level{n}" for n in range(len(names))]
    assert 3 < len(names) < 30
    assert shown.omitted == f"the fields of Level{len(names)}"
    assert shown.without_prose
    assert len(shown.text("")) <= 600
    assert signature(deep(30), max_bytes=600) == shown


def test_arguments_without_room_are_named() -> None:
    properties: Schema = {f"filter_{n}": {"type": "string"} for n in range(60)}
    shown = signature({"type": "object", "properties": {**properties, "id": {}}, "required": ["id"]}, max_bytes=300)
    assert shown.arguments[0].name == "id"
    assert len(shown.arguments) + len(shown.more) == 61
    assert shown.omitted == f"{len(shown.more)} arguments"
    assert f"  # {len(shown.more)} more: {shown.more[0]}, " in shown.text("f")
    assert len(shown.text("f")) <= 302


def test_required_arguments_are_always_shown() -> None:
    properties: Schema = {f"part_{n}": {"type": "string"} for n in range(60)}
    shown = signature({"type": "object", "properties": properties, "required": list(properties)}, max_bytes=100)
    assert len(shown.arguments) == 60


def test_long_enums_are_cut_with_a_note() -> None:
    shown = signature(
        {"type": "object", "properties": {"x": {"enum": [f"value{n}" for n in range(100)]}}},
        max_bytes=2000,
        detail=BRIEF,
    )
    assert shown.arguments[0].text.endswith('|"value9"|... = ...')
    assert shown.omitted == "values"


@pytest.mark.parametrize(
    "schema", [{"properties": 3}, {"properties": {"x": 3}}, {"properties": {"x": {"type": 3}}}, {}]
)
def test_malformed_schemas_have_signatures(schema: Any) -> None:
    assert isinstance(signature(schema, max_bytes=100), Signature)


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["github-rest", "stripe", "kubernetes", "box"])
def test_signatures_of_real_tools_are_python_within_their_limit(name: str) -> None:
    manifest = json.loads((CORPUS / "manifest.json").read_text())
    root = next(CORPUS / name / entry["root"] for entry in manifest if entry["name"] == name)
    for tool in Bridge.open(Config(source=str(root), mode=Mode.SEARCH)).tools:
        for limit, detail in ((240, BRIEF), (2800, FULL)):
            shown = signature(tool.input_schema, tool.output_schema, max_bytes=limit, detail=detail)
            text = shown.text("f")
            ast.parse(as_python(text))
            required = sum(len(field.text) + 2 for field in shown.arguments if field.required)
            assert len(text.encode()) <= max(limit, required + 100) + 10
