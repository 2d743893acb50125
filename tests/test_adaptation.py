"""Client profiles: every limit has its source, and tools that are listed for a client keep to its limits."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from openapi_mcp.adaptation import changes, listed, named, report
from openapi_mcp.bridge import Bridge
from openapi_mcp.cli.main import app
from openapi_mcp.clients.dialect import MAX_SCHEMAS, in_dialect
from openapi_mcp.clients.limits import broken_limits
from openapi_mcp.clients.profiles import GENERIC, PROFILES, Profile, installed_name
from openapi_mcp.config import Config
from openapi_mcp.errors import UsageError
from openapi_mcp.modes import MAX_LISTED_TOOLS
from openapi_mcp.options.table import SETTINGS
from openapi_mcp.runtime.tool import Argument, Tool
from openapi_mcp.runtime.types import JsonObject
from tests.conftest import ROOT

SPECS = sorted(
    path for path in (ROOT / "specs").iterdir() if path.suffix in (".yaml", ".json") and "schema" not in path.name
)
NAMES = sorted(PROFILES.keys() - {"generic"})
HARD: JsonObject = {
    "type": "object",
    "properties": {
        "when": {"type": "string", "format": "uuid", "description": "An id."},
        "at": {"type": "string", "format": "date-time"},
        "size": {"type": "integer", "enum": [1, 2, 3], "format": "int32"},
        "kind": {"const": "pet"},
        "color": {"enum": ["red", "blue", None]},
        "either": {"oneOf": [{"type": "string"}, {"type": "null"}]},
        "many": {"type": ["string", "integer", "null"]},
        "list": {"type": "array"},
        "tuple": {"type": "array", "prefixItems": [{"type": "string"}]},
        "above": {"type": "integer", "exclusiveMinimum": 0},
        "below": {"type": "number", "exclusiveMaximum": 1.5},
        "both": {"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}]},
        "tree": {"$ref": "#/$defs/Tree"},
        "map": {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": "^x"}},
        "format": {"type": "string"},
        "header": {"type": "string", "x-mcp-header": "X-H"},
    },
    "additionalProperties": False,
    "$defs": {
        "A": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        "Tree": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}},
    },
}


def tool(name: str, schema: JsonObject = HARD, description: str = "Does it.") -> Tool:
    arguments = tuple(Argument(name=each, location="query", wire_name=each) for each in schema["properties"])
    return Tool(
        name=name,
        description=description,
        input_schema=schema,
        method="GET",
        annotations={},
        path=f"/{name}",
        arguments=arguments,
    )


def schemas(schema: Any) -> Iterator[JsonObject]:
    """All schemas of a schema, itself first; a property is one and its name is no keyword."""
    if not isinstance(schema, dict):
        return
    yield schema
    for name, value in schema.items():
        if name in ("properties", "$defs", "patternProperties"):
            for inner in value.values():
                yield from schemas(inner)
        elif name in ("items", "additionalProperties", "not"):
            yield from schemas(value)
        elif name in ("anyOf", "oneOf", "allOf", "prefixItems"):
            for inner in value:
                yield from schemas(inner)


def faults(schema: JsonObject, profile: Profile) -> Iterator[str]:
    """Yield the parts of a schema that a client would refuse."""
    for each in schemas(schema):
        if profile.keywords is not None and each.keys() - profile.keywords:
            yield f"keywords {each.keys() - profile.keywords}"
        if profile.inline_references and "$ref" in each:
            yield "a reference"
        if profile.needs_items and "array" in str(each.get("type")) and "items" not in each:
            yield "an array without items"
        if profile.string_enums and not all(isinstance(value, str) for value in each.get("enum", [])):
            yield "an enum of other values than strings"
        formats = profile.string_formats
        if formats is not None and each.get("type") == "string" and each.get("format", "enum") not in formats:
            yield f"the format {each['format']}"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAPI_MCP_CACHE", str(tmp_path / "cache"))


def test_every_limit_has_a_source_and_every_source_a_limit() -> None:
    defaults = {each.name: each.default for each in fields(Profile) if each.default is not MISSING}
    for name in NAMES:
        profile = PROFILES[name]
        limits = {each for each, default in defaults.items() if getattr(profile, each) != default}
        assert limits - {"title"} <= profile.sources.keys(), name
        assert profile.sources.keys() - limits <= {"max_name"}, name
        assert all(url.startswith("https://") for url in profile.sources.values())
    assert not GENERIC.sources


def test_profiles_are_those_of_the_option() -> None:
    assert set(SETTINGS["client"].choices) == PROFILES.keys()
    assert get_args(Profile) == ()


@pytest.mark.parametrize("client", NAMES)
def test_listed_schemas_keep_to_the_dialect(client: str) -> None:
    profile = PROFILES[client]
    shown = listed(tool("hard"), profile)
    assert list(faults(shown.input_schema, profile)) == []
    assert shown.input_schema["type"] == "object"
    assert shown.input_schema["properties"].keys() == HARD["properties"].keys()


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_all_tools_of_documents_keep_to_the_limits(client: str, path: Path) -> None:
    config = Config.from_options(str(path), {"client": client, "no_cache": True, "base_url": ["https://a.test"]})
    bridge, profile = Bridge.open(config), PROFILES[client]
    prefix = profile.name_prefix.format(server=bridge.implementation.name)
    for each in bridge.catalog.tools:
        assert list(faults(each.input_schema, profile)) == [], each.name
        assert len(prefix + each.name) <= profile.max_name
        assert len(each.description) <= (profile.max_description or len(each.description))


def test_gemini_is_told_in_words_what_its_dialect_cannot_say() -> None:
    properties = in_dialect(HARD, PROFILES["gemini"])["properties"]
    assert properties["when"] == {"type": "string", "description": "An id. Format: uuid."}
    assert properties["at"] == {"type": "string", "format": "date-time"}
    assert properties["size"] == {"type": "integer", "format": "int32", "description": "One of: 1, 2, 3."}
    assert properties["kind"] == {"type": "string", "enum": ["pet"]}
    assert properties["color"] == {"type": "string", "enum": ["red", "blue"], "nullable": True}
    assert properties["either"] == {"type": "string", "nullable": True}
    assert properties["many"] == {"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": True}
    assert properties["list"] == {"type": "array", "items": {}}
    assert properties["above"] == {"type": "integer", "minimum": 1}
    assert properties["below"] == {"type": "number", "maximum": 1.5, "description": "Less than 1.5."}
    assert properties["both"]["required"] == ["a", "b"]
    assert properties["both"]["properties"].keys() == {"a", "b"}
    assert properties["tree"]["properties"]["children"]["items"]["type"] == "object"
    assert properties["map"] == {"type": "object"}


def test_schemas_that_explode_are_bounded() -> None:
    definitions = {
        f"D{index}": {"type": "object", "properties": {key: {"$ref": f"#/$defs/D{index + 1}"} for key in "abcdefgh"}}
        for index in range(20)
    }
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/D0"}}, "$defs": definitions}
    written = in_dialect(schema, PROFILES["gemini"])
    assert sum(1 for _ in schemas(written)) <= MAX_SCHEMAS * 9
    assert in_dialect({**schema, "properties": {"x": {"$ref": "#/$defs/none"}}}, PROFILES["gemini"])


def test_names_are_shortened_within_the_prefix_of_the_client() -> None:
    tools = tuple(tool(f"{'aVeryLongNameOfAnOperation' * 2}{end}") for end in ("One", "Two", "Three"))
    for client in NAMES:
        profile = PROFILES[client]
        result = named(tools, "shop", profile, "my-server")
        prefix = profile.name_prefix.format(server="my-server")
        assert len({each.name for each in result}) == len(tools)
        assert all(len(prefix + each.name) <= profile.max_name for each in result)
        assert all(each.name.startswith("shop_") for each in result)
    assert named(tools, None, GENERIC, "my-server") is tools


def test_a_name_for_gemini_begins_with_a_letter() -> None:
    [result] = named((tool("2fa"),), None, PROFILES["gemini"], "s")
    assert result.name == "_2fa"
    assert "x-mcp-header" not in json.dumps(result.input_schema)


def test_descriptions_are_cut_for_openai() -> None:
    original = tool("a", description="A sentence of some words. " * 100)
    shown = listed(original, PROFILES["openai"])
    assert len(shown.description) <= 1024
    assert [change for _, change in changes([original], [original], PROFILES["openai"])] == [
        f"a description cut from 2,600 to {len(shown.description):,} characters",
        "a schema in its dialect",
    ]
    assert listed(original, PROFILES["cursor"]) is original


@pytest.mark.parametrize(("client", "searches"), [("generic", False), ("cursor", True), ("vscode", False)])
def test_automatic_mode_counts_what_the_client_takes(tmp_path: Path, client: str, searches: bool) -> None:
    count = 100
    assert PROFILES["cursor"].max_tools < count < MAX_LISTED_TOOLS  # type: ignore[operator]
    paths = {f"/{index}": {"get": {"operationId": f"get{index}"}} for index in range(count)}
    path = tmp_path / "many.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "M", "version": "1"}, "paths": paths}))
    bridge = Bridge.open(Config.from_options(str(path), {"client": client}))
    assert bridge.mode_decision.searches is searches
    if searches:
        assert "more than the 80 that the client accepts" in bridge.mode_decision.reason
        cures = {
            searched: report(bridge.tools, bridge.tools, PROFILES[client], searched=searched)[0]
            for searched in (True, False)
        }
        assert cures[True] == "for Cursor: 100 tools are more than the 80 that it takes: they are searched"
        assert cures[False].endswith("it takes: use --mode search, --include or --read-only")


def test_results_and_instructions_keep_to_the_limits_of_the_client() -> None:
    options = {"client": "claude", "max_result_tokens": 90_000, "max_instructions": 9_000}
    config = Config.from_options("petstore.yaml", options)
    assert (config.result_tokens, config.instructions_limit) == (25_000, 2048)
    assert Config.from_options("petstore.yaml", {**options, "client": "generic"}).result_tokens == 90_000


def test_arguments_are_judged_by_the_original_schema() -> None:
    document = str(ROOT / "specs" / "petstore.yaml")
    bridge = Bridge.open(Config.from_options(document, {"client": "gemini", "base_url": ["http://127.0.0.1:1"]}))
    [shown] = [each for each in bridge.catalog.tools if each.name == "getPet"]
    assert "additionalProperties" not in shown.input_schema

    async def run() -> str:
        server = bridge.server()
        result = await server.call("getPet", {"petId": 1, "nonsense": True})
        await server.aclose()
        return str(result.content[0]["text"])

    assert "nonsense" in asyncio.run(run())


def test_inspect_shows_what_a_profile_changes() -> None:
    document = str(ROOT / "specs" / "petstore.yaml")
    words = ["inspect", document, "--no-validate", "--client", "gemini"]
    output = CliRunner().invoke(app, words).stderr
    assert "for Gemini: 9 with a schema in its dialect: listPets, createPet" in output
    facts = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["client"]
    assert facts["name"] == "gemini"
    assert facts["limits"]["max_tools"] == 512
    assert {change["tool"] for change in facts["changes"]} >= {"listPets", "createPet"}
    assert "for " not in CliRunner().invoke(app, words[:3]).stderr.split("serve:")[0].split("\n\n")[-1]


def test_a_prefix_is_before_the_names_of_one_api_too() -> None:
    document = str(ROOT / "specs" / "petstore.yaml")
    bridge = Bridge.open(Config.from_options(document, {"prefix": "shop"}))
    plain = Bridge.open(Config.from_options(document, {}))
    assert [tool.name for tool in bridge.tools] == [f"shop_{tool.name}" for tool in plain.tools]
    assert sum(bridge.sizes.values()) == sum(plain.sizes.values()) + len("shop_") * len(plain.tools)
    assert bridge.catalog.get("shop_getPet") is not None
    with pytest.raises(UsageError, match="not a prefix"):
        Config.from_options(document, {"prefix": "bad prefix"})


def test_a_long_title_leaves_names_that_can_be_read() -> None:
    assert installed_name("shop") == "shop"
    assert installed_name("github-official-openapi-spec-octokit-extension") == "github-official"
    assert installed_name("x" * 40) == "x" * 20
    room = PROFILES["cursor"].room_for_name("github-official-openapi-spec-octokit-extension")
    assert room == 59 - len("github-official")


def test_each_tool_that_breaks_a_limit_is_named_with_the_source_of_the_limit(tmp_path: Path) -> None:
    name = "create_the_monthly_report_of_everything_that_was_sold_in_a_region"
    body = {"type": "object", "properties": {"at": {"type": "string", "format": "uri"}, "n": {"enum": [1, 2]}}}
    content = {"requestBody": {"content": {"application/json": {"schema": body}}}}
    root = {
        "openapi": "3.1.0",
        "info": {"title": "Reports", "version": "1"},
        "paths": {
            "/a": {"post": {"operationId": name, **content}},
            "/b": {"get": {"operationId": "2nd"}},
        },
    }  # fmt: skip
    (tmp_path / "reports.json").write_text(json.dumps(root))

    def broken(client: str) -> dict[str, str]:
        bridge = Bridge.open(Config(source=str(tmp_path / "reports.json"), client=client, no_cache=True))
        whole = named(bridge.compilation.tools, None, GENERIC, "reports")
        profile = bridge.config.profile
        pairs = zip(bridge.tools, whole, strict=True)
        return {tool.path: "; ".join(broken_limits(tool, each.name, profile, "reports")) for tool, each in pairs}

    claude = broken("claude")
    assert f"mcp__reports__{whole_name(claude['/a'])} has " in claude["/a"]
    assert claude["/b"] == ""
    gemini = broken("gemini")
    assert "formats that are not known: uri (https://" in gemini["/a"]
    assert "values are enumerated that are no strings (https://" in gemini["/a"]
    assert "2nd does not begin with a letter (https://" in gemini["/b"]
    made = tool("a", {"properties": {"x": {"type": "array"}}}, "x" * 1025)
    openai = "; ".join(broken_limits(made, "a", PROFILES["openai"], "reports"))
    assert "the description has 1,025 characters, and 1,024 are accepted (https://" in openai
    assert "a list does not say what its items are (https://" in openai
    assert broken("generic") == {"/a": "", "/b": ""}


def whole_name(text: str) -> str:
    """Return the name after the client's prefix in a sentence."""
    return text.removeprefix("mcp__reports__").partition(" ")[0]
