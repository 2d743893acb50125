"""Test that references lead to their targets, and broken ones raise with pointer and reason."""

from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.document.loader import load
from openapi_mcp.document.model import FILES, UNREAD, Document
from openapi_mcp.document.resolver import BrokenReference, Resolver


def resolver(root: dict[str, Any], version: str = "3.1", **fields: Any) -> Resolver:
    return Resolver(Document(root, "file:///api/openapi.yaml", version, **fields))


ODD = {
    "components": {
        "schemas": {
            "odd/na~me x": {"properties": {"in{ner}": {"enum": ["found"]}}},
            "50%25": {"title": "written with an escape"},
            "50%": {"title": "written without"},
            "list": {"allOf": [{"title": "first"}, {"title": "second"}]},
            "alias": {"$ref": "#/components/schemas/list"},
        }
    },
    "paths": {"/a/{b}": {"get": {"summary": "here"}}},
}


@pytest.mark.parametrize(
    ("ref", "value", "pointer"),
    [
        ("#", ODD, "#"),
        ("#/paths/~1a~1{b}/get/summary", "here", "#/paths/~1a~1{b}/get/summary"),
        ("#/paths/~1a~1%7Bb%7D/get/summary", "here", "#/paths/~1a~1{b}/get/summary"),
        (
            "#/components/schemas/odd~1na~0me%20x/properties/in%7Bner%7D",
            {"enum": ["found"]},
            "#/components/schemas/odd~1na~0me x/properties/in{ner}",
        ),
        ("#/components/schemas/50%25/title", "written with an escape", "#/components/schemas/50%2525/title"),
        ("#/components/schemas/50%2525/title", "written with an escape", "#/components/schemas/50%2525/title"),
        ("#/components/schemas/list/allOf/1", {"title": "second"}, "#/components/schemas/list/allOf/1"),
        ("#%2Fpaths%2F~1a~1%7Bb%7D/get/summary", "here", "#/paths/~1a~1{b}/get/summary"),
        ("#/components/schemas/alias/allOf/0", {"title": "first"}, "#/components/schemas/list/allOf/0"),
        ("openapi.yaml#/paths/~1a~1{b}/get/summary", "here", "#/paths/~1a~1{b}/get/summary"),
    ],
)
@pytest.mark.parametrize("version", ["2.0", "3.0", "3.1"])
def test_a_pointer_is_decoded_and_normalised(ref: str, value: Any, pointer: str, version: str) -> None:
    found = resolver(ODD, version).lookup(ref, "#/anywhere")
    assert found == (value, pointer)
    assert resolver(ODD, version).lookup(found[1], "#") == found


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("#/components/schemas/Nope", "there is nothing at #/components/schemas/Nope"),
        ("#/components/schemas/list/allOf/2", "there is nothing at #/components/schemas/list/allOf/2"),
        ("#/components/schemas/list/allOf/-1", "there is nothing at #/components/schemas/list/allOf/-1"),
        ("#/components/schemas/list/allOf/x", "there is nothing at #/components/schemas/list/allOf/x"),
        ("#/", "there is nothing at #/"),
        ("#anchor", "there is nothing at #anchor"),
        ("other.yaml#/x", "there is nothing at other.yaml#/x"),
        ("http://[", "there is nothing at http://["),
        ("", "this $ref is empty"),
        (7, "a $ref must be a string, this one is a number"),
        (None, "a $ref must be a string, this one is null"),
        ({"type": "string"}, "a $ref must be a string, this one is an object"),
    ],
)
@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_a_broken_reference_has_pointer_and_message(ref: Any, message: str, version: str) -> None:
    with pytest.raises(BrokenReference) as caught:
        resolver(ODD, version).follow({"$ref": ref}, "#/paths/~1a/get")
    problem = caught.value.problem
    assert (problem.pointer, problem.kind, problem.message) == ("#/paths/~1a/get", "reference", message)


def test_follow_returns_the_end_of_a_chain() -> None:
    root = {"a": {"$ref": "#/b"}, "b": {"$ref": "#/c"}, "c": {"type": "string"}}
    assert resolver(root).follow(root["a"], "#/a") == ({"type": "string"}, "#/c")
    assert resolver(root).follow(root["c"], "#/c") == ({"type": "string"}, "#/c")
    assert resolver(root).follow(None, "#/x") == (None, "#/x")


@pytest.mark.parametrize(
    "root",
    [
        pytest.param({"a": {"$ref": "#/a"}}, id="itself"),
        pytest.param({"a": {"$ref": "#/b"}, "b": {"$ref": "#/c"}, "c": {"$ref": "#/a"}}, id="a circle"),
        pytest.param({"a": {"$ref": "#/b"}, "b": {"$ref": "#/b"}}, id="a tail with a circle"),
        pytest.param({"a": {"$ref": "#/a/x"}}, id="through itself"),
        pytest.param({"a": {"$ref": "#/b/x"}, "b": {"$ref": "#/a/y"}}, id="through each other"),
    ],
)
def test_reference_loops_are_broken(root: dict[str, Any]) -> None:
    with pytest.raises(BrokenReference):
        resolver(root).follow(root["a"], "#/a")


IDENTIFIED = {
    "$self": "https://api.example.com/v1/openapi.yaml",
    "components": {
        "schemas": {
            "Money": {"$id": "https://example.com/schemas/money", "properties": {"currency": {"$ref": "currency"}}},
            "Currency": {"$id": "https://example.com/schemas/currency", "title": "currency"},
            "Weight": {"$anchor": "weight", "title": "weight"},
            "Inner": {
                "$id": "urn:example:inner",
                "$defs": {"x": {"title": "inner x"}, "y": {"$anchor": "weight", "title": "inner weight"}},
            },
            "Tree": {"$id": "tree", "$dynamicAnchor": "node", "title": "tree"},
            "Trap": {"properties": {"$id": {"type": "string"}}, "example": {"$id": "https://example.com/schemas/trap"}},
        }
    },
}
SCHEMAS = "#/components/schemas"


@pytest.mark.parametrize(
    ("ref", "place", "title", "pointer"),
    [
        ("https://example.com/schemas/currency", "#/paths", "currency", f"{SCHEMAS}/Currency"),
        ("currency", f"{SCHEMAS}/Money/properties/currency", "currency", f"{SCHEMAS}/Currency"),
        ("/schemas/currency", f"{SCHEMAS}/Money", "currency", f"{SCHEMAS}/Currency"),
        ("#weight", "#/paths", "weight", f"{SCHEMAS}/Weight"),
        ("#weight", f"{SCHEMAS}/Inner/$defs/x", "inner weight", f"{SCHEMAS}/Inner/$defs/y"),
        ("#weight", f"{SCHEMAS}/Money", "weight", f"{SCHEMAS}/Weight"),
        ("#/$defs/x", f"{SCHEMAS}/Inner", "inner x", f"{SCHEMAS}/Inner/$defs/x"),
        ("urn:example:inner#/$defs/x", "#", "inner x", f"{SCHEMAS}/Inner/$defs/x"),
        ("https://api.example.com/v1/openapi.yaml#weight", "#", "weight", f"{SCHEMAS}/Weight"),
        ("https://api.example.com/v1/tree", "#", "tree", f"{SCHEMAS}/Tree"),
        ("tree#node", "#/paths", "tree", f"{SCHEMAS}/Tree"),
        ("#/components/schemas/Weight", f"{SCHEMAS}/Money", "weight", f"{SCHEMAS}/Weight"),
    ],
)
def test_identifiers_of_json_schema_are_resolved(ref: str, place: str, title: str, pointer: str) -> None:
    value, found = resolver(IDENTIFIED, "3.2").lookup(ref, place)
    assert (value["title"], found) == (title, pointer)


def test_an_identifier_in_data_is_ignored() -> None:
    assert not resolver(IDENTIFIED, "3.2").owns("https://example.com/schemas/trap", "#")


def test_openapi_3_0_has_no_identifiers() -> None:
    with pytest.raises(BrokenReference):
        resolver(IDENTIFIED, "3.0").lookup("#weight", "#")


BUNDLED = {FILES: [{"definitions": {"X": {"title": "x"}}}, {UNREAD: "does not exist", "hint": "add the file"}, [], {}]}
URIS = (
    "file:///api/schemas/a%20b.yaml",
    "file:///api/gone.yaml",
    "file:///shared/c.yaml",
    "https://example.com/d.yaml?v=1",
)


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        ("#/paths/~1pets", "#/paths/~1pets"),
        (f"#/{FILES}/0/definitions/X", "schemas/a b.yaml#/definitions/X"),
        (f"#/{FILES}/0", "schemas/a b.yaml#"),
        (f"#/{FILES}/2/0", "../shared/c.yaml#/0"),
        (f"#/{FILES}/3/x", "https://example.com/d.yaml?v=1#/x"),
        (f"#/{FILES}/9/x", f"#/{FILES}/9/x"),
    ],
)
def test_pointers_are_displayed_with_the_name_of_their_file(pointer: str, shown: str) -> None:
    assert resolver(BUNDLED, files=URIS).display(pointer) == shown


def test_pointers_into_a_converted_document_are_displayed_as_in_the_original() -> None:
    converted = resolver({}, "3.0", source={"swagger": "2.0"})
    assert converted.display("#/components/schemas/Pet/type") == "#/definitions/Pet/type"
    assert converted.display("#/paths/~1pets") == "#/paths/~1pets"


@pytest.mark.parametrize(("rest", "named"), [("", "gone.yaml"), ("/definitions/Y", "gone.yaml#/definitions/Y")])
def test_a_reference_into_an_unread_file_has_its_reason(rest: str, named: str) -> None:
    with pytest.raises(BrokenReference) as caught:
        resolver(BUNDLED, files=URIS).lookup(f"#/{FILES}/1{rest}", f"#/{FILES}/0/definitions/X")
    problem = caught.value.problem
    assert problem.pointer == "schemas/a b.yaml#/definitions/X"
    assert problem.message == f"{named} does not exist"
    assert problem.hint == "add the file"


def test_an_anchor_is_resolved_in_the_file_of_the_reference() -> None:
    root = {
        FILES: [{"a": {"$dynamicAnchor": "node", "title": "in the file"}}],
        "b": {"$anchor": "node", "title": "in the root"},
    }
    bundled = resolver(root, files=("file:///api/a.yaml",))
    assert bundled.lookup("#node", f"#/{FILES}/0/a")[0]["title"] == "in the file"
    assert bundled.lookup("#node", "#/b")[0]["title"] == "in the root"


def test_the_torture_references_of_json_schema_are_resolved(torture: Path) -> None:
    loaded = load(str(torture / "07-schema-3.1.yaml"))
    at = "#/paths/~1by-id/post/requestBody/content/application~1json/schema/properties"
    names, _ = Resolver(loaded).lookup(at, "#")
    found = {name: Resolver(loaded).follow(node, f"{at}/{name}")[1] for name, node in names.items()}
    assert found == {
        "byId": f"{SCHEMAS}/Money",
        "byRelative": f"{SCHEMAS}/Currency",
        "byAnchor": f"{SCHEMAS}/Weight",
    }
