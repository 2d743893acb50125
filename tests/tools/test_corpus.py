"""Real documents: each operation is a tool or a Problem, and names and schemas keep the rules of the strictest clients.

`benchmarks/` measures the time of each document; here a document that exceeds the timeout fails.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from openapi_mcp.compilation import Compilation
from openapi_mcp.document import loader
from openapi_mcp.document.swagger2.conversion import convert
from openapi_mcp.errors import DocumentError
from openapi_mcp.runtime.tool import Tool
from openapi_mcp.runtime.types import Schema
from openapi_mcp.schemas.definitions import referenced_names
from openapi_mcp.token_budget import FULL
from openapi_mcp.tools.compiler import build
from tests.conftest import SHARED
from tests.tools.test_ajv import refused, schemas_of_clients

CORPUS = SHARED / "corpus"
MANIFEST = CORPUS / "manifest.json"
ENTRIES: list[dict[str, Any]] = json.loads(MANIFEST.read_text()) if MANIFEST.exists() else []
pytestmark = [pytest.mark.corpus, pytest.mark.skipif(not ENTRIES, reason=f"{MANIFEST} is not there")]

BIG = {
    *("github-rest", "stripe", "kubernetes", "digitalocean", "openai", "elasticsearch", "netbox", "zoom", "jira"),
    *("box", "discord", "twilio-api-v2010"),
}
"""Documents whose schemas the npm client's Ajv compiles too: one that it refused would cost a user all tools."""

UNIONS = {"oneOf", "anyOf", "allOf", "not", "if", "$ref"}
OUTPUT_KEYWORDS = {"type", "properties", "items", "additionalProperties", "description"}


def compile_root(entry: dict[str, Any], root: str) -> Compilation | None:
    """Compile one root document; return None for a file that is no OpenAPI document."""
    try:
        return build(convert(loader.load(str(CORPUS / entry["name"] / root))))
    except DocumentError:
        return None


def parameters() -> list[Any]:
    """Return the documents; a process compiles the schemas of the large ones."""
    return [
        pytest.param(entry, id=entry["name"], marks=[pytest.mark.process] if entry["name"] in BIG else [])
        for entry in ENTRIES
    ]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("entry", parameters())
def test_tools_of_every_document_are_valid(entry: dict[str, Any], request: pytest.FixtureRequest) -> None:
    counted = 0
    for root in entry["roots"]:
        result = compile_root(entry, root)
        if result is None:
            continue
        counted += result.operations
        assert result.operations == len(result.tools) + result.lost_operations + result.excluded
        names = [tool.name for tool in result.tools]
        assert len({name.casefold() for name in names}) == len(names)
        definitions: dict[str, Schema] = {}
        schemas: dict[str, Schema] = {}
        for tool in result.tools:
            check_tool(tool)
            for schema in (*tool.input_schema["properties"].values(), tool.output_schema or {}):
                schemas.setdefault(json.dumps(schema, allow_nan=False), schema)
            for name, schema in tool.input_schema.get("$defs", {}).items():
                assert definitions.setdefault(name, schema) is schema, "a definition is one object in all tools"
        for schema in (*schemas.values(), *definitions.values()):
            check_schema(schema)
        if entry["name"] in BIG and root == entry["root"]:
            assert refused(schemas_of_clients(result.tools), request.getfixturevalue("node")) == []
    assert counted == entry["operations"] or len(entry["roots"]) > 1


def check_schema(schema: Schema) -> None:
    """Assert that a schema is valid: by jsonschema-rs in a hundredth of the time, by jsonschema if it has patterns."""
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    if '"pattern' in json.dumps(schema):
        Draft202012Validator.check_schema(schema)


def check_tool(tool: Tool) -> None:
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", tool.name)
    assert tool.title
    assert 0 < len(tool.description) <= 1024
    assert len({each.name for each in tool.arguments}) == len(tool.arguments)
    assert all(re.fullmatch("[A-Za-z0-9_.-]{1,64}", each.name) for each in tool.arguments)
    check_input(tool)
    if tool.output_schema is not None:
        check_output(tool.output_schema)


def check_input(tool: Tool) -> None:
    schema = tool.input_schema
    definitions = schema.get("$defs", {})
    without = {key: value for key, value in schema.items() if key != "$defs"}
    assert schema["type"] == "object"
    assert not UNIONS & schema.keys()
    assert list(schema["properties"]) == [each.name for each in tool.arguments]
    assert all(isinstance(each, dict) for each in schema["properties"].values())
    assert schema.get("required", []) == [each.name for each in tool.arguments if each.required]
    reached = set(referenced_names(without))
    waiting = list(reached)
    while waiting:
        names = set(referenced_names(definitions[waiting.pop()])) - reached
        reached |= names
        waiting += names
    assert reached == definitions.keys(), "what is reached is defined, and nothing else"


def check_output(schema: Schema) -> None:
    assert schema["type"] in ("object", "array")
    assert len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()) <= FULL.output
    for part in parts(schema):
        assert isinstance(part, dict)
        assert part.keys() <= OUTPUT_KEYWORDS


def parts(schema: Any) -> Iterator[Any]:
    yield schema
    inner = [
        *schema.get("properties", {}).values(),
        *(schema[key] for key in ("items", "additionalProperties") if key in schema),
    ]
    for part in inner:
        yield from parts(part)
