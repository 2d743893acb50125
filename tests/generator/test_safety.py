"""No text of a document becomes code, a path or a template."""

import ast
import json
import tempfile
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.bridge import Bridge
from openapi_mcp.generator.package import generate
from tests.conftest import ROOT
from tests.generated_syntax import faults
from tests.generating import bridge, without_runtime

ATTACKS = [
    '"""\nimport os\n"""',
    "'''",
    '"\nimport os\n#',
    "\\",
    '\\"""',
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "__import__('os').system('id')",
    "../../../../tmp/evil",
    "/etc/passwd",
    "C:\\evil",
    "evil\0name",
    "a\r\nb",
    "\u202eevil",
    "\ud800",
    "{evil!r}",
    "%s%n",
    "-->",
    "]]>",
    "con",
    "__init__",
    "__main__",
    "import",
    "None",
    "api",
    "others",
    "tools",
    "self",
    "[project]\nname = 'x'",
    "x" * 300,
    "`rm -rf /`",
    "${HOME}",
    "<script>",
    "",
    " ",
    "\n",
    "Literal",
    "Status",
    "dict",
    "éçà",
    "日本語",
    "🦊",
]

TEXTS = st.one_of(st.sampled_from(ATTACKS), st.text(max_size=40), st.lists(st.sampled_from(ATTACKS)).map("".join))
SCALARS = st.one_of(TEXTS, st.integers(), st.floats(allow_nan=False), st.booleans(), st.none())
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "number", "boolean", "null"])},
        optional={
            "description": TEXTS,
            "default": SCALARS,
            "enum": st.lists(SCALARS, min_size=1, max_size=4),
            "format": TEXTS,
            "pattern": TEXTS,
            "title": TEXTS,
        },
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(TEXTS, inner, max_size=4)},
            optional={"required": st.lists(TEXTS, max_size=2), "additionalProperties": st.booleans()},
        ),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)}),
        st.builds(lambda name: {"$ref": f"#/components/schemas/{name}"}, st.sampled_from(["A", "B"])),
    ),
    max_leaves=8,
)
PARAMETERS = st.fixed_dictionaries(
    {"name": TEXTS, "in": st.sampled_from(["query", "header", "cookie"]), "schema": SCHEMAS},
    optional={"description": TEXTS, "required": st.booleans()},
)
OPERATIONS = st.fixed_dictionaries(
    {"responses": st.just({"200": {"description": "ok"}})},
    optional={
        "operationId": TEXTS,
        "summary": TEXTS,
        "description": TEXTS,
        "tags": st.lists(TEXTS, max_size=2),
        "parameters": st.lists(PARAMETERS, max_size=3),
        "requestBody": st.fixed_dictionaries(
            {"content": st.dictionaries(TEXTS, st.fixed_dictionaries({"schema": SCHEMAS}), max_size=2)}
        ),
        "security": st.just([{"key": []}]),
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {
        "openapi": st.just("3.1.0"),
        "info": st.fixed_dictionaries({"title": TEXTS, "version": TEXTS}, optional={"description": TEXTS}),
        "servers": st.lists(st.fixed_dictionaries({"url": TEXTS}), max_size=1),
        "tags": st.lists(st.fixed_dictionaries({"name": TEXTS, "description": TEXTS}), max_size=2),
        "paths": st.dictionaries(
            TEXTS.map(lambda text: "/" + text),
            st.dictionaries(st.sampled_from(["get", "post", "delete"]), OPERATIONS, min_size=1, max_size=2),
            max_size=3,
        ),
        "components": st.fixed_dictionaries(
            {
                "schemas": st.fixed_dictionaries({"A": SCHEMAS, "B": SCHEMAS}),
                "securitySchemes": st.fixed_dictionaries(
                    {"key": st.fixed_dictionaries({"type": st.just("apiKey"), "in": st.just("header"), "name": TEXTS})}
                ),
            }
        ),
    }
)


def bridge_of(root: dict[str, Any]) -> Bridge:
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        document.write_text(json.dumps(root))
        live = bridge(document)
        assert live.document.root  # read before the file is deleted
        return live


def judge(live: Bridge) -> None:
    """Check that the package of a bridge is harmless and declares the tools of the bridge."""
    files = without_runtime(generate(live, name="judged-mcp").files)
    usual = harmless_syntax_elements()
    assert len({str(path).casefold() for path in files}) == len(files)
    for path, content in files.items():
        assert not path.is_absolute()
        assert all(part.isascii() and part not in {"", ".", ".."} and len(part) < 90 for part in path.parts)
        text = content.decode()
        if path.suffix == ".py" and (path.parent.name == "tools" or path.name == "api.py"):
            if path.name != "__init__.py":
                assert list(faults(text)) == []
        elif path.suffix == ".py":
            assert syntax_elements({path: content}) <= usual, path
        elif path.suffix == ".json":
            json.loads(text)
        elif path.suffix == ".toml":
            assert set(tomllib.loads(text)) == {"build-system", "project", "dependency-groups", "tool"}
    check_tools(files, live)


@cache
def harmless_syntax_elements() -> set[str]:
    """Return the syntax elements of a harmless package."""
    return syntax_elements(without_runtime(generate(bridge(ROOT / "specs" / "petstore.yaml"), name="judged-mcp").files))


def syntax_elements(files: Mapping[PurePosixPath, bytes]) -> set[str]:
    """Return the names of all imports, calls, attributes and definitions of modules without tools."""
    elements: set[str] = set()
    for path, content in files.items():
        if path.suffix != ".py" or path.parent.name == "tools" or path.name == "api.py":
            continue
        for node in ast.walk(ast.parse(content)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                elements.add(ast.unparse(node))
            elif isinstance(node, ast.Call | ast.Attribute):
                elements.add(ast.unparse(node.func if isinstance(node, ast.Call) else node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                elements.add(getattr(node, "name", "lambda"))
    return elements | {"test_call_without_sample_arguments", "NotImplementedError", "pytest.mark.skip"}


def check_tools(files: Mapping[PurePosixPath, bytes], live: Bridge) -> None:
    """Run the declarations and compare their tools with those of the live server."""
    tools = []
    for path, content in files.items():
        if path.suffix == ".py" and path.parent.name == "tools" and path.name != "__init__.py":
            names = run(files[path.parents[1] / "api.py"].decode(), {})
            schemas = files.get(path.with_suffix(".json"), b"{}")
            names |= {"read_schemas": lambda _, schemas=schemas: json.loads(schemas), "__file__": ""}
            names = run(content.decode(), names)
            tools += [value.tool for value in names.values() if hasattr(value, "tool") and hasattr(value, "answer")]
    assert {tool.name: tool for tool in tools} == {tool.name: tool for tool in live.tools}


def run(source: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run a module, whose imports from the package are `names`, and return its names."""
    from openapi_mcp.runtime import toolkit

    names = {name: getattr(toolkit, name) for name in toolkit.__all__} | names
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.ImportFrom) and node.level)]
    exec(compile(tree, "generated", "exec"), names)  # noqa: S102 - its syntax has been checked
    return names


def test_hostile_document_gives_a_harmless_package(torture: Path) -> None:
    judge(bridge(torture / "15-hostile.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("text", ATTACKS)
def test_hostile_text_in_every_field(text: str) -> None:
    schema = {"type": "object", "properties": {text: {"type": "string", "description": text, "default": text}}}
    operation = {
        "operationId": text,
        "summary": text,
        "description": text,
        "tags": [text],
        "parameters": [
            {"name": text, "in": "query", "description": text, "schema": {"type": "string", "enum": [text]}}
        ],
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"200": {"content": {"application/json": {"schema": schema}}}},
        "security": [{text: []}],
    }
    judge(
        bridge_of(
            {
                "openapi": "3.1.0",
                "info": {"title": text, "version": text, "description": text},
                "servers": [{"url": f"https://example.com/{text}"}],
                "tags": [{"name": text, "description": text}],
                "paths": {f"/{text}": {"post": operation}},
                "components": {"securitySchemes": {text: {"type": "apiKey", "in": "header", "name": text}}},
            }
        )
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(DOCUMENTS)
def test_random_text_in_every_field(root: dict[str, Any]) -> None:
    judge(bridge_of(root))
