"""Signatures of tools in code mode are those of functions, and an answer has each object once."""

import ast
import re
from dataclasses import replace
from typing import Any

from openapi_mcp.code_mode.tools import write_stubs
from openapi_mcp.runtime.search.signatures import Signature, signature
from tests.code_mode.api import Api
from tests.runtime.making import tool
from tests.runtime.pets import GET_PET, LIST_PETS

OWNER = {"type": "object", "properties": {"name": {"type": "string"}, "email": {"type": "string"}}}
PET = {"type": "object", "properties": {"id": {"type": "integer"}, "owner": {"$ref": "#/$defs/Owner"}}}


def of(properties: dict[str, Any], result: Any = None, required: tuple[str, ...] = (), **options: Any) -> Signature:
    inputs = {"type": "object", "properties": properties, "required": list(required)}
    outputs = None if result is None else {**result, "$defs": {"Pet": PET, "Owner": OWNER}}
    return signature(inputs, outputs, **{"max_bytes": 2000, **options})


def pet(**definitions: Any) -> Signature:
    result = {"$ref": "#/$defs/Pet", "$defs": {"Pet": PET, "Owner": OWNER, **definitions}}
    return signature({"type": "object"}, result, max_bytes=2000)


def test_a_signature_is_that_of_a_function() -> None:
    properties = {
        "limit": {"type": "integer", "default": 20},
        "status": {"enum": ["available", "sold"], "type": "string"},
        "petId": {"type": "integer"},
    }
    [text] = write_stubs([("listPets", of(properties, {"$ref": "#/$defs/Pet"}, ("petId",)))])
    assert text.splitlines() == [
        'async def listPets(*, petId: int, limit=20, status: "available"|"sold" = ...) -> Pet',
        "class Pet: id: int; owner: Owner",
        "class Owner: name: str; email: str",
    ]
    assert write_stubs([("ping", of({}))]) == ["async def ping()"]
    [prose] = write_stubs([("get", of({"id": {"type": "integer", "description": "As the label on its cage says"}}))])
    assert prose.startswith("async def get(*,\n  id: int = ...,  # As the label")


def test_the_text_is_python() -> None:
    texts = write_stubs([("listPets", of({"a": {"type": "integer", "minimum": 1}}, {"$ref": "#/$defs/Pet"}))])
    source = "\n".join(texts)
    for line in source.splitlines():
        ast.parse(line.replace(" -> Pet", " -> Pet: ...") if line.startswith("async") else line)


def test_an_object_is_written_once_in_an_answer() -> None:
    one, two = write_stubs([("a", pet()), ("b", pet())])
    assert "class Pet" in one
    assert "class Owner" in one
    assert two == "async def b() -> Pet"


def test_a_shortened_object_is_written_as_in_its_fullest_signature() -> None:
    many = {"type": "object", "properties": {f"property_{number}": {"type": "string"} for number in range(30)}}
    short, full = (
        signature({"type": "object"}, {"$ref": "#/$defs/Many", "$defs": {"Many": many}}, max_bytes=size)
        for size in (250, 2000)
    )
    assert short.definitions[0].more
    one, two = write_stubs([("a", short), ("b", full)])
    assert "property_29: str" in one
    assert two == "async def b() -> Many"


def test_different_objects_of_one_name_have_numbers() -> None:
    other = {"type": "object", "properties": {"id": {"type": "string"}}}
    texts = write_stubs([("a", pet()), ("b", pet(Pet=other)), ("c", pet(Pet=other))])
    assert texts[1:] == ["async def b() -> Pet_2\nclass Pet_2: id: str", "async def c() -> Pet_2"]


def test_objects_that_differ_within_have_numbers() -> None:
    other = {"type": "object", "properties": {"phone": {"type": "string"}}}
    _, text = write_stubs([("a", pet()), ("b", pet(Owner=other))])
    assert text.splitlines() == [
        "async def b() -> Pet_2",
        "class Pet_2: id: int; owner: Owner_2",
        "class Owner_2: phone: str",
    ]


def test_an_object_that_contains_itself_is_written_once() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Pet"}}}
    one, two = write_stubs([("a", pet(Pet=node)), ("b", pet(Pet=node))])
    assert one.startswith("async def a() -> Pet\nclass Pet: next: Pet")
    assert two == "async def b() -> Pet"


def test_a_result_without_name_and_room_is_a_dict() -> None:
    long = {"type": "object", "properties": {f"a_long_name_{number}": {"type": "string"} for number in range(30)}}
    nameless = signature({"type": "object"}, {"type": "array", "items": long}, max_bytes=20)
    assert nameless.returns == "list[Result]"
    assert write_stubs([("a", nameless)]) == ["async def a() -> list[dict]"]


def test_a_search_and_a_description_show_functions() -> None:
    listing = replace(LIST_PETS, output_schema={"type": "array", "items": {"$ref": "#/$defs/P"}, "$defs": {"P": OWNER}})
    api = Api(
        listing, GET_PET, tool("/odd", name="pets/odd-one", output_schema={"$ref": "#/$defs/P", "$defs": {"P": OWNER}})
    )
    [found] = api.call("search_tools", query="pets").content
    assert "async def listPets() -> list[P]\nclass P: name: str; email: str" in found["text"]
    assert "async def getPet(*, petId: int) -> Result" in found["text"]
    assert found["text"].count("class P:") == 1
    assert re.search(r"^1\. .*\(\w+ /", found["text"], re.MULTILINE)
    [described] = api.call("describe_tool", name="pets/odd-one").content
    assert "async def pets_odd_one() -> P" in described["text"]


def test_a_search_shows_the_properties_of_the_first_results_only() -> None:
    def pets(number: int) -> Any:
        result = {"type": "object", "properties": {f"part_{number}": {"type": "string"}}}
        schema = {"type": "array", "items": {"$ref": f"#/$defs/P{number}"}, "$defs": {f"P{number}": result}}
        return replace(LIST_PETS, name=f"listPets{number}", path=f"/pets/{number}", output_schema=schema)

    [found] = Api(*map(pets, range(9))).call("search_tools", query="list pets").content
    assert len(re.findall(r"^class P\d: part_\d: str$", found["text"], re.MULTILINE)) == 4
    assert len(re.findall(r" -> list\[P\d\]$", found["text"], re.MULTILINE)) == 9
    assert len(found["text"].encode()) <= 300 * 9
